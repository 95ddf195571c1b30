import type { Hex } from '../../../base/bytes.ts'
import { decodeQuantity } from '../../../base/hex.ts'
import type { World } from '../../world/world.ts'
import { MAX_BODY_LENGTH } from '../limits.ts'
import { invalidParams, read } from './common.ts'

/** The call in an `eth_createAccessList` request. */
export interface AccessListCall {
  /** 20 bytes. Default: zeros. */
  readonly from: Hex
  /** 20 bytes; undefined if the call creates a contract. */
  readonly to: Hex | undefined
  /** Of any length. */
  readonly data: Hex
  /** In wei. */
  readonly value: bigint
  /** Undefined if the request has no gas limit. */
  readonly gas: bigint | undefined
}

/** The block in which a call is executed. */
export interface AccessListBlock {
  /** From 0. */
  readonly number: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
}

/** The result of an executed call. */
export interface AccessListResult {
  /** Each address once, with the storage keys that were read or written. */
  readonly accessList: readonly {
    /** 20 bytes. */
    readonly address: Hex
    /** 32 bytes each. */
    readonly storageKeys: readonly Hex[]
  }[]
  /** Gas used by the transaction. */
  readonly gasUsed: bigint
  /** Why the call failed; undefined if it succeeded. */
  readonly error?: string | undefined
}

/**
 * Executes a call for `eth_createAccessList`. The service itself has no EVM.
 *
 * @param call the call in the request
 * @param state a fork of the state at that block, so writes to it do not affect the service
 * @param block the block in which the call is executed
 */
export type AccessListFunction = (
  call: AccessListCall,
  state: World,
  block: AccessListBlock,
) => AccessListResult | Promise<AccessListResult>

/** Reads the call of a request. @throws MethodError */
export function readCall(call: unknown): AccessListCall {
  const fields = read.fields('call', call, ['from', 'to', 'input', 'data', 'value', 'gas'])
  type Name = keyof typeof fields
  const readAddress = (name: Name) => (fields[name] !== undefined ? read.bytes(name, fields[name], 20) : undefined)
  const readNumber = (name: Name) => {
    const number = fields[name] !== undefined ? decodeQuantity(fields[name], 256) : undefined
    if (number === null) throw invalidParams(`${name}: expected a quantity`)
    return number
  }
  return {
    from: readAddress('from') ?? `0x${'00'.repeat(20)}`,
    to: readAddress('to'),
    // Clients use one name or the other.
    data: read.data('data', fields.input ?? fields.data ?? '0x', MAX_BODY_LENGTH),
    value: readNumber('value') ?? 0n,
    gas: readNumber('gas'),
  }
}
