import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigintToBytes, bytesToHex, type Hex, hexToBytes } from '../bytes.ts'
import { toQuantity } from '../rpc/provider.ts'
import type { World } from '../world/world.ts'
import { describeBlock } from './block.ts'
import type { FullChain } from './chain.ts'

/** A JSON-RPC error to send to the client. */
export class MethodError extends Error {
  override readonly name: string = 'MethodError'
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
  internal: -32603,
  serverError: -32000,
} as const

/** Returns the result for these parameters. @throws MethodError */
export type Method = (params: readonly unknown[]) => unknown
export type Methods = ReadonlyMap<string, Method>

/** Storage keys per request. Each one costs a proof. */
const MAX_KEYS = 1024
/** Logs per answer. Each one takes some 600 bytes of JSON. */
const MAX_LOGS = 10_000
/** Alternatives per position in a log filter. */
const MAX_ALTERNATIVES = 100

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
  readonly error?: string
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

/** The methods of the rollup's endpoint. */
export function l2Methods(chain: FullChain, chainId: bigint, accessList?: AccessListFunction): Methods {
  const numberOf = (block: unknown) =>
    parseBlock(block, {
      latest: chain.latest(),
      earliest: 0n,
      pending: chain.latest() + 1n,
      finalized: chain.finalized(),
    })

  /** The state at a block. `pending` is the state of the next block. */
  function stateAt(block: unknown): World {
    if (block === 'pending') return chain.pending
    const state = chain.at(numberOf(block))
    if (state === undefined) throw blockNotFound()
    return state
  }

  /** A method whose parameters are an address and a block. */
  const accountMethod =
    (answer: (state: World, address: Hex) => unknown): Method =>
    params => {
      const [address, block = 'latest'] = takeParams(params, 2, 1)
      return answer(stateAt(block), parseHex(address, 20, 'address'))
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

  function getCode(state: World, address: Hex): Hex {
    const code = state.getCode(address)
    if (code === null) throw new MethodError(rpcCodes.serverError, `only the hash of the code at ${address} is known`)
    return code
  }

  async function createAccessList(run: AccessListFunction, params: readonly unknown[]): Promise<object> {
    const [call, block = 'latest'] = takeParams(params, 2, 1)
    const parsed = parseCall(call)
    const state = stateAt(block).fork()
    const number = numberOf(block)
    const timestamp = chain.timestamp(number) ?? (chain.timestamp(chain.latest()) ?? 0n) + 1n
    const { accessList, gasUsed, error } = await run(parsed, state, { number, timestamp })
    return { accessList, gasUsed: toQuantity(gasUsed), ...(error !== undefined && { error }) }
  }

  return new Map<string, Method>([
    ...commonMethods(chainId),
    ['rollup_getProof', getProof],
    ['linea_getProof', getProof],
    ['eth_blockNumber', params => takeParams(params, 0) && toQuantity(chain.latest())],
    ['eth_getBalance', accountMethod((state, address) => toQuantity(state.getAccount(address)?.balance ?? 0n))],
    ['eth_getTransactionCount', accountMethod((state, address) => toQuantity(state.getAccount(address)?.nonce ?? 0n))],
    ['eth_getCode', accountMethod(getCode)],
    [
      'eth_getStorageAt',
      params => {
        const [address, slot, block = 'latest'] = takeParams(params, 3, 2)
        return stateAt(block).getStorage(parseHex(address, 20, 'address'), parseSlot(slot))
      },
    ],
    ...blockMethods(numberOf, chain.numberOf, number => {
      const block = chain.block(number)
      return block && describeBlock(block)
    }),
    ...(accessList
      ? [['eth_createAccessList', params => createAccessList(accessList, params)] satisfies [string, Method]]
      : []),
  ])
}

/** The methods of the simulated L1's endpoint. */
export function l1Methods({ l1 }: FullChain, chainId: bigint, maxLogRange = 10_000): Methods {
  const numberOf = (block: unknown): bigint => {
    const hash = typeof block === 'object' ? ownField(block, 'blockHash') : undefined
    if (hash !== undefined) {
      const number = l1.numberOf(parseHex(hash, 32, 'block hash'))
      if (number === null) throw blockNotFound()
      return number
    }
    return parseBlock(block, {
      latest: l1.blockNumber(),
      earliest: 0n,
      pending: l1.blockNumber(),
      finalized: l1.blockNumber('finalized'),
      safe: l1.blockNumber('safe'),
    })
  }

  /** Full nodes keep all blocks, but only recent states. */
  const stateNotKept = (number: bigint) =>
    l1.getBlock(number)
      ? new MethodError(rpcCodes.serverError, `historical state of block ${number} is not available`)
      : blockNotFound()

  function getLogs(params: readonly unknown[]): unknown {
    const [filter] = takeParams(params, 1)
    if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) {
      throw invalidParams('filter: expected an object')
    }
    const blockHash = ownField(filter, 'blockHash')
    const isRange = ['fromBlock', 'toBlock'].some(name => ownField(filter, name) !== undefined)
    if (blockHash !== undefined && isRange) throw invalidParams('filter: blockHash excludes fromBlock and toBlock')
    const from = numberOf(blockHash === undefined ? (ownField(filter, 'fromBlock') ?? 'latest') : filter)
    const to = blockHash === undefined ? numberOf(ownField(filter, 'toBlock') ?? 'latest') : from
    const matches = parseLogFilter(filter)
    if (to < from) throw invalidParams('filter: fromBlock is after toBlock')
    if (to - from >= BigInt(maxLogRange)) throw invalidParams(`filter: at most ${maxLogRange} blocks at once`)
    const logs = l1.logs(from, to).filter(({ topics }) => matches(address, topics))
    if (logs.length > MAX_LOGS) throw invalidParams(`filter: more than ${MAX_LOGS} logs`)
    return logs.map(({ topics, data, block }) => ({
      address,
      topics,
      data,
      blockNumber: toQuantity(block.number),
      blockHash: block.hash,
      blockTimestamp: toQuantity(block.timestamp),
      transactionHash: bytesToHex(keccak_256(hexToBytes(block.hash, 32))),
      transactionIndex: '0x0',
      logIndex: '0x0',
      removed: false,
    }))
  }
  const address = l1.contract

  return new Map<string, Method>([
    ...commonMethods(chainId),
    ['eth_blockNumber', params => takeParams(params, 0) && toQuantity(l1.blockNumber())],
    ...blockMethods(numberOf, l1.numberOf, l1.getBlock),
    ['eth_getLogs', getLogs],
    [
      'eth_getProof',
      params => {
        const [target, keys, block] = takeParams(params, 3)
        const storageKeys = takeKeys(keys).map(parseSlot)
        const number = numberOf(block)
        const proof = l1.getProof(parseHex(target, 20, 'address'), storageKeys, number)
        if (proof === null) throw stateNotKept(number)
        return proof
      },
    ],
    [
      'eth_getStorageAt',
      params => {
        const [target, slot, block = 'latest'] = takeParams(params, 3, 2)
        const number = numberOf(block)
        const value = l1.getStorage(parseHex(target, 20, 'address'), parseSlot(slot), number)
        if (value === null) throw stateNotKept(number)
        return bytesToHex(bigintToBytes(value, 32))
      },
    ],
  ])
}

/** Blocks have no transactions, so the parameter that requests them in full is ignored. */
const blockMethods = (
  numberOf: (block: unknown) => bigint,
  numberOfHash: (hash: Hex) => bigint | null,
  blockAt: (number: bigint) => object | null,
): [string, Method][] => [
  ['eth_getBlockByNumber', params => blockAt(numberOf(takeParams(params, 2, 1)[0]))],
  [
    'eth_getBlockByHash',
    params => {
      const number = numberOfHash(parseHex(takeParams(params, 2, 1)[0], 32, 'block hash'))
      return number === null ? null : blockAt(number)
    },
  ],
]

const commonMethods = (chainId: bigint): [string, Method][] => [
  ['eth_chainId', params => takeParams(params, 0) && toQuantity(chainId)],
  ['net_version', params => takeParams(params, 0) && chainId.toString()],
  ['web3_clientVersion', params => takeParams(params, 0) && 'rollup-state-proof'],
]

const invalidParams = (message: string) => new MethodError(rpcCodes.invalidParams, message)

const blockNotFound = () => new MethodError(rpcCodes.serverError, 'block not found')

/** @param least number of required parameters. Default: all */
function takeParams(params: readonly unknown[], count: number, least = count): readonly unknown[] {
  if (params.length < least || params.length > count) {
    throw invalidParams(`expected ${count} parameters, got ${params.length}`)
  }
  return params
}

const ownField = (source: object | null, name: string): unknown =>
  source !== null && Object.hasOwn(source, name) ? (Reflect.get(source, name) ?? undefined) : undefined

function parseCall(call: unknown): AccessListCall {
  if (typeof call !== 'object' || call === null || Array.isArray(call)) throw invalidParams('call: expected an object')
  const field = <T>(name: string, parse: (value: unknown) => T): T | undefined => {
    const value = ownField(call, name)
    return value === undefined ? undefined : parse(value)
  }
  const parseAddress = (name: string) => field(name, value => parseHex(value, 20, name))
  const parseNumber = (name: string) => field(name, value => parseQuantityParam(value, name))
  return {
    from: parseAddress('from') ?? `0x${'00'.repeat(20)}`,
    to: parseAddress('to'),
    // Clients use one name or the other.
    data: field('input', parseData) ?? field('data', parseData) ?? '0x',
    value: parseNumber('value') ?? 0n,
    gas: parseNumber('gas'),
  }
}

/** Needs no length limit, because the request body has one. */
function parseData(value: unknown): Hex {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !/^0x[0-9a-f]*$/i.test(value)) {
    throw invalidParams('data: expected 0x-prefixed hexadecimal')
  }
  return `0x${value.slice(2).toLowerCase()}`
}

function parseQuantityParam(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]{0,63})$/i.test(value)) {
    throw invalidParams(`${name}: expected a quantity`)
  }
  return BigInt(value)
}

/** Returns a predicate on a log's address and topics. In a filter, null matches anything, and an array any of its items. */
function parseLogFilter(filter: object): (address: Hex, topics: readonly Hex[]) => boolean {
  const oneOf = (value: unknown, length: number, name: string): readonly Hex[] | null => {
    if (value === undefined || value === null) return null
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (values.length > MAX_ALTERNATIVES) throw invalidParams(`${name}: expected at most ${MAX_ALTERNATIVES}`)
    return values.length === 0 ? null : values.map(item => parseHex(item, length, name))
  }
  const addresses = oneOf(ownField(filter, 'address'), 20, 'address')
  const wanted = ownField(filter, 'topics') ?? []
  if (!Array.isArray(wanted) || wanted.length > 4) throw invalidParams('topics: expected an array of at most 4')
  const places = wanted.map((topic, index) => oneOf(topic, 32, `topic ${index}`))
  return (address, topics) =>
    (addresses === null || addresses.includes(address)) &&
    places.length <= topics.length &&
    places.every((place, index) => place === null || place.includes(topics[index] ?? '0x'))
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

/** The standard methods also accept a slot as a quantity. */
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
