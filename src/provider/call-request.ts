import type { Hex } from '../base/bytes.ts'
import { isGiven } from '../base/json/known-fields.ts'
import { invalidParams, unprovenValue } from './error.ts'
import { MAX_DATA_BYTES, MAX_LISTED } from './limits.ts'
import { params } from './params.ts'
import { NOBODY } from './state-reader.ts'

export type AccessList = readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[]

/** The call parameter of `eth_call` and similar methods. Addresses are 20 bytes, in lower case. */
export interface CallRequest {
  readonly from: Hex
  /** null if the call creates a contract. */
  readonly to: Hex | null
  readonly data: Hex
  readonly value: bigint
  readonly gas: bigint | null
  /** The result of GASPRICE, and what the sender pays per unit of gas. */
  readonly gasPrice: bigint
  /** What the sender must be able to pay per unit of gas. */
  readonly maxGasPrice: bigint
  readonly accessList: AccessList
}

/** Of a call that pays nothing and declares nothing. */
export const FREE = { gasPrice: 0n, maxGasPrice: 0n, accessList: [] } as const satisfies Partial<CallRequest>

const QUANTITIES = ['value', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'chainId'] as const
type Quantity = (typeof QUANTITIES)[number]
const OTHERS = ['from', 'to', 'data', 'input', 'accessList'] as const
/** Fields that nodes read, and that are not supported here, unless they are empty. Nodes ignore all others, as is done here. */
const UNSUPPORTED = ['authorizationList', 'blobVersionedHashes', 'blobs', 'maxFeePerBlobGas'] as const

/**
 * Reads a call once, for a block whose base fee may only be known later: what is returned throws `VALUE_UNPROVEN` if a fee depends on
 * an unknown one. An estimate is for a later block, and then pays the most that it offers.
 */
export function readCall(
  call: unknown,
  chainId: bigint,
  isEstimate = false,
): (baseFee: bigint | undefined) => CallRequest {
  const fields = params.fields('call', call, [...QUANTITIES, ...OTHERS])
  refuseUnsupported(call)
  const optional = <T>(name: keyof typeof fields, read: (place: string, value: unknown) => T): T | undefined =>
    fields[name] === undefined ? undefined : read(name, fields[name])
  const quantity = (name: Quantity) => optional(name, (place, value) => params.quantity(place, value, 256))
  const bytes = (place: string, value: unknown) => params.data(place, value, MAX_DATA_BYTES)

  const [data, input] = [optional('data', bytes), optional('input', bytes)]
  if (data !== undefined && input !== undefined && data !== input) throw invalidParams('data and input differ.')
  const stated = quantity('chainId')
  if (stated !== undefined && stated !== chainId) throw invalidParams('chainId is that of another chain.')
  const address = (place: string, value: unknown) => params.bytes(place, value, 20)
  const read = {
    from: optional('from', address) ?? NOBODY,
    to: optional('to', address) ?? null,
    data: data ?? input ?? '0x',
    value: quantity('value') ?? 0n,
    gas: quantity('gas') ?? null,
    accessList: optional('accessList', readAccessList) ?? [],
  } as const
  const feesAt = readFees(quantity, isEstimate)
  return baseFee => ({ ...read, ...feesAt(baseFee) })
}

function readFees(
  quantity: (name: Quantity) => bigint | undefined,
  isEstimate: boolean,
): (baseFee: bigint | undefined) => Pick<CallRequest, 'gasPrice' | 'maxGasPrice'> {
  const [gasPrice, maxFee, tip] = [quantity('gasPrice'), quantity('maxFeePerGas'), quantity('maxPriorityFeePerGas')]
  if (gasPrice !== undefined) {
    if (maxFee !== undefined || tip !== undefined) throw invalidParams('gasPrice excludes maxFeePerGas and its tip.')
    // It does not depend on the base fee, so that is compared only where it is known: a call that reads it makes it known.
    return baseFee => ({ gasPrice: verifyCovers(gasPrice, baseFee ?? 0n), maxGasPrice: gasPrice })
  }
  const [maxGasPrice, priority] = [maxFee ?? 0n, tip ?? 0n]
  if (priority > maxGasPrice) throw invalidParams('maxPriorityFeePerGas is above maxFeePerGas.')
  if (maxGasPrice === 0n) return () => ({ gasPrice: 0n, maxGasPrice: 0n })
  return baseFee => {
    if (baseFee === undefined && isEstimate) return { gasPrice: maxGasPrice, maxGasPrice }
    if (baseFee === undefined) throw unprovenValue('BASEFEE')
    verifyCovers(maxGasPrice, baseFee)
    return { gasPrice: maxGasPrice < baseFee + priority ? maxGasPrice : baseFee + priority, maxGasPrice }
  }
}

/** What would change the result cannot be ignored. @throws ProviderError `PARAMS_INVALID` */
function refuseUnsupported(call: unknown): void {
  const fields = params.fields('call', call, UNSUPPORTED)
  const isEmpty = (value: unknown) => !isGiven(value) || value === '0x0' || (Array.isArray(value) && value.length === 0)
  const name = UNSUPPORTED.find(name => !isEmpty(fields[name]))
  if (name === undefined) return
  const why = name === 'authorizationList' ? 'delegations are not applied' : 'the rollup has no blobs'
  throw invalidParams(`The call has a field that is not supported here: ${name}. In calls, ${why}.`)
}

/** In the words of nodes, by which clients know the reason. A call that pays nothing is not compared. */
function verifyCovers(price: bigint, baseFee: bigint): bigint {
  if (price === 0n || price >= baseFee) return price
  throw invalidParams(`max fee per gas less than block base fee: ${price} of ${baseFee}.`)
}

const readAccessList = (place: string, value: unknown): AccessList =>
  params.list(place, value, MAX_LISTED, (at, item) => {
    const { address, storageKeys = [] } = params.fields(at, item, ['address', 'storageKeys'])
    return {
      address: params.bytes(`${at}.address`, address, 20),
      storageKeys: params.list(`${at}.storageKeys`, storageKeys, MAX_LISTED, params.slot),
    }
  })
