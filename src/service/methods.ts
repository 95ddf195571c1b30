import { bigintToBytes, bytesToHex, type Hex } from '../bytes.ts'
import { toQuantity } from '../rpc/provider.ts'
import type { World } from '../world/world.ts'
import type { Chain } from './chain.ts'

/** A JSON-RPC error, on its way to whoever asked. */
export class MethodError extends Error {
  override readonly name = 'MethodError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  serverError: -32000,
} as const

/** A method's answer to its parameters. @throws MethodError */
export type Method = (params: readonly unknown[]) => unknown
export type Methods = ReadonlyMap<string, Method>

/** One request costs as many proofs as it has keys. */
const MAX_KEYS = 1024

/** What the rollup's endpoint serves. */
export function l2Methods(chain: Chain, chainId: bigint): Methods {
  const numberOf = (block: unknown) =>
    parseBlock(block, {
      latest: chain.latest(),
      earliest: 0n,
      pending: chain.latest() + 1n,
      finalized: chain.finalized(),
    })

  /** The state to read: `pending` is the one that the next block will have. */
  function stateAt(block: unknown): World {
    if (block === 'pending') return chain.pending
    const state = chain.at(numberOf(block))
    if (state === undefined) throw new MethodError(rpcCodes.serverError, 'block not found')
    return state
  }

  function getProof(params: readonly unknown[]): unknown {
    const [address, keys, block] = takeParams(params, 3)
    const number = numberOf(block)
    const storageKeys = parseKeys(keys)
    const account = parseHex(address, 20, 'address')
    const state = chain.at(number)
    const missing = () =>
      new MethodError(rpcCodes.invalidRequest, `BLOCK_MISSING_IN_CHAIN - block ${number} is missing`)
    if (state === undefined && block !== 'pending') throw missing()
    if (state === undefined || number > chain.finalized()) {
      throw new MethodError(rpcCodes.serverError, `block ${number} is not finalized on L1`)
    }
    if (number > chain.provable()) throw missing()
    return state.getProof(account, storageKeys)
  }

  return new Map<string, Method>([
    ...commonMethods(chainId),
    ['rollup_getProof', getProof],
    ['linea_getProof', getProof],
    ['eth_blockNumber', params => takeParams(params, 0) && toQuantity(chain.latest())],
    [
      'eth_getBalance',
      params => {
        const [address, block] = takeParams(params, 2)
        return toQuantity(stateAt(block).getAccount(parseHex(address, 20, 'address'))?.balance ?? 0n)
      },
    ],
    [
      'eth_getTransactionCount',
      params => {
        const [address, block] = takeParams(params, 2)
        return toQuantity(stateAt(block).getAccount(parseHex(address, 20, 'address'))?.nonce ?? 0n)
      },
    ],
    [
      'eth_getStorageAt',
      params => {
        const [address, slot, block] = takeParams(params, 3)
        return stateAt(block).getStorage(parseHex(address, 20, 'address'), parseSlot(slot))
      },
    ],
  ])
}

/** What the endpoint of the simulated L1 serves. */
export function l1Methods({ l1 }: Chain, chainId: bigint): Methods {
  const numberOf = (block: unknown) => {
    const newest = l1.blockNumber()
    return parseBlock(block, { latest: newest, earliest: 0n, pending: newest, finalized: newest, safe: newest })
  }
  return new Map<string, Method>([
    ...commonMethods(chainId),
    ['eth_blockNumber', params => takeParams(params, 0) && toQuantity(l1.blockNumber())],
    ['eth_getBlockByNumber', params => l1.getBlock(numberOf(takeParams(params, 2)[0]))],
    [
      'eth_getProof',
      params => {
        const [address, keys, block] = takeParams(params, 3)
        const storageKeys = takeKeys(keys).map(parseSlot)
        const proof = l1.getProof(parseHex(address, 20, 'address'), storageKeys, numberOf(block))
        if (proof === null) throw new MethodError(rpcCodes.serverError, 'block not found')
        return proof
      },
    ],
    [
      'eth_getStorageAt',
      params => {
        const [address, slot, block] = takeParams(params, 3)
        const value = l1.getStorage(parseHex(address, 20, 'address'), parseSlot(slot), numberOf(block))
        if (value === null) throw new MethodError(rpcCodes.serverError, 'block not found')
        return bytesToHex(bigintToBytes(value, 32))
      },
    ],
  ])
}

const commonMethods = (chainId: bigint): [string, Method][] => [
  ['eth_chainId', params => takeParams(params, 0) && toQuantity(chainId)],
  ['net_version', params => takeParams(params, 0) && chainId.toString()],
  ['web3_clientVersion', params => takeParams(params, 0) && 'rollup-state-proof'],
]

const invalidParams = (message: string) => new MethodError(rpcCodes.invalidParams, message)

function takeParams(params: readonly unknown[], count: number): readonly unknown[] {
  if (params.length !== count) throw invalidParams(`expected ${count} parameters, got ${params.length}`)
  return params
}

function parseHex(value: unknown, length: number, name: string): Hex {
  if (typeof value !== 'string' || value.length !== 2 + 2 * length || !/^0x[0-9a-f]+$/i.test(value)) {
    throw invalidParams(`${name}: expected 0x-prefixed hexadecimal of ${length} bytes`)
  }
  return `0x${value.slice(2).toLowerCase()}`
}

function takeKeys(keys: unknown): readonly unknown[] {
  if (!Array.isArray(keys)) throw invalidParams('storage keys: expected an array')
  if (keys.length > MAX_KEYS) throw invalidParams(`storage keys: expected at most ${MAX_KEYS}`)
  return keys
}

const parseKeys = (keys: unknown): Hex[] =>
  takeKeys(keys).map((key, index) => parseHex(key, 32, `storage key ${index}`))

/** The standard methods take a slot as a quantity too. */
function parseSlot(slot: unknown): Hex {
  if (typeof slot !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(slot)) throw invalidParams('slot: expected 32 bytes')
  return `0x${slot.slice(2).toLowerCase().padStart(64, '0')}`
}

/** @param tags the number that each tag stands for */
function parseBlock(block: unknown, tags: Readonly<Record<string, bigint>>): bigint {
  if (typeof block === 'string') {
    if (/^0x(0|[1-9a-f][0-9a-f]{0,15})$/i.test(block)) return BigInt(block)
    const tagged = Object.hasOwn(tags, block) ? tags[block] : undefined
    if (tagged !== undefined) return tagged
  }
  throw invalidParams(`block: expected a quantity or one of ${Object.keys(tags).join(', ')}`)
}
