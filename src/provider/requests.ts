import type { Hex } from '../base/bytes.ts'
import { lowerCase } from '../base/hex.ts'
import { isGiven } from '../base/json/known-fields.ts'
import { readerOf } from '../base/json/reader.ts'
import { invalidParams } from './error.ts'
import type { Pace } from './pace.ts'

/** Answers a request whose parameters are counted. */
export type Method = (given: readonly unknown[], pace: Pace, client: string) => unknown

/** Every method that is answered here, with the least and the most parameters that it takes. These state nothing about the chain. */
export const STATELESS = {
  eth_chainId: [0, 0],
  net_version: [0, 0],
  web3_clientVersion: [0, 0],
  web3_sha3: [1, 1],
  net_listening: [0, 0],
  eth_accounts: [0, 0],
  eth_syncing: [0, 0],
} as const

const OF_STATE = {
  eth_blockNumber: [0, 0],
  eth_getBalance: [1, 2],
  eth_getTransactionCount: [1, 2],
  eth_getCode: [1, 2],
  eth_getStorageAt: [2, 3],
  rollup_getProof: [2, 3],
  linea_getProof: [2, 3],
  eth_getProof: [2, 3],
  eth_call: [1, 2],
  eth_estimateGas: [1, 2],
  eth_createAccessList: [1, 2],
} as const

const OF_BLOCKS = {
  eth_getBlockByNumber: [1, 2],
  eth_getBlockByHash: [1, 2],
  eth_getBlockTransactionCountByNumber: [1, 1],
  eth_getBlockTransactionCountByHash: [1, 1],
  debug_getRawHeader: [1, 1],
  eth_getUncleCountByBlockNumber: [1, 1],
  eth_getUncleCountByBlockHash: [1, 1],
  eth_getUncleByBlockNumberAndIndex: [2, 2],
  eth_getUncleByBlockHashAndIndex: [2, 2],
  eth_getTransactionByHash: [1, 1],
  eth_getTransactionByBlockNumberAndIndex: [2, 2],
  eth_getTransactionByBlockHashAndIndex: [2, 2],
  eth_getRawTransactionByHash: [1, 1],
  debug_getRawTransaction: [1, 1],
  eth_getRawTransactionByBlockNumberAndIndex: [2, 2],
  eth_getRawTransactionByBlockHashAndIndex: [2, 2],
  eth_getBlockReceipts: [1, 1],
  eth_getTransactionReceipt: [1, 1],
  debug_getRawReceipts: [1, 1],
  eth_getLogs: [1, 1],
  eth_newFilter: [1, 1],
  eth_newBlockFilter: [0, 0],
  eth_getFilterChanges: [1, 1],
  eth_getFilterLogs: [1, 1],
  eth_uninstallFilter: [1, 1],
  eth_subscribe: [1, 2],
  eth_unsubscribe: [1, 1],
  eth_feeHistory: [2, 3],
  eth_blobBaseFee: [0, 0],
  eth_maxPriorityFeePerGas: [0, 0],
  eth_gasPrice: [0, 0],
} as const

export const PROVEN = { ...OF_STATE, ...OF_BLOCKS }
export const ANSWERED = { ...STATELESS, ...PROVEN }

export type BlockMethod = keyof typeof OF_BLOCKS
export type AnsweredMethod = keyof typeof ANSWERED

/** Why those are refused that clients ask for all the same. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [
    /^eth_(?:sendTransaction$|sign|requestAccounts$)|^personal_/,
    'no keys are held here: sign in a wallet, which may use this as its endpoint, and send the signed transaction',
  ],
  [/^eth_newPendingTransactionFilter$|^txpool_/, 'nothing proves what is pending'],
  [/^eth_(?:simulateV1|callMany)$/, 'not here: nothing proves what a client assumes'],
  [/^trace_|^debug_trace/, 'traces of the EVM are not made here'],
  [
    /^eth_(?:un)?subscribe$/,
    'nothing is pushed here: use filters, which clients do by themselves, or a WebSocket of the proxy',
  ],
]

export const whyRefused = (method: string): string | undefined => REFUSED.find(([names]) => names.test(method))?.[1]

export const isAnswered = (method: string): method is AnsweredMethod => Object.hasOwn(ANSWERED, method)
export const isProven = (method: string): boolean => Object.hasOwn(PROVEN, method)
export const isOfBlocks = (method: AnsweredMethod): method is BlockMethod => Object.hasOwn(OF_BLOCKS, method)

const reader = readerOf('ARGUMENT_INVALID')
/** Whether it is hexadecimal of `least` to `most` digits. The length is checked before the digits. */
const isHex = (value: unknown, least: number, most: number): value is string =>
  typeof value === 'string' && value.length >= 2 + least && value.length <= 2 + most && /^0x[0-9a-f]*$/i.test(value)

/** Readers of the parameters that clients send. `place` names one in messages. Hexadecimal is returned in lower case. */
export const params = {
  /** Of any length up to `most` bytes. */
  data(place: string, value: unknown, most: number): Hex {
    if (isHex(value, 0, 2 * most) && value.length % 2 === 0) return lowerCase(value)
    throw invalidParams(`${place}: expected 0x-prefixed hexadecimal of at most ${most} bytes.`)
  },
  /** Leading zeros are allowed, because clients send them. */
  quantity(place: string, value: unknown, bits: number): bigint {
    const number = isHex(value, 1, 64) ? BigInt(value) : null
    if (number !== null && number < 1n << BigInt(bits)) return number
    throw invalidParams(`${place}: expected a quantity below 2^${bits}.`)
  },
  /** Returns `least` to `most` parameters. Omitted parameters at the end are undefined. */
  take(params: unknown, least: number, most: number): readonly unknown[] {
    const given = params === undefined ? [] : params
    if (!Array.isArray(given)) throw invalidParams('params: expected an array.')
    if (given.length >= least && !given.slice(most).some(isGiven)) return given.slice(0, most)
    const count = least === most ? least : `${least} to ${most}`
    throw invalidParams(`params: expected ${count} parameters, got ${given.length}.`)
  },
  /** The own properties of an object. A null counts as undefined. */
  fields<Name extends string>(place: string, value: unknown, names: readonly Name[]) {
    try {
      return reader.fields(value, names)
    } catch {
      throw invalidParams(`${place}: expected an object.`)
    }
  },
  bytes(place: string, value: unknown, length: number): Hex {
    if (isHex(value, 2 * length, 2 * length)) return lowerCase(value)
    throw invalidParams(`${place}: expected 0x-prefixed hexadecimal of ${length} bytes.`)
  },
  /** The number of a slot, as a quantity or as 32 bytes. */
  slot: (place: string, value: unknown): Hex =>
    `0x${params.quantity(place, value, 256).toString(16).padStart(64, '0')}`,
  list<T>(place: string, value: unknown, most: number, read: (place: string, item: unknown) => T): T[] {
    if (!Array.isArray(value)) throw invalidParams(`${place}: expected an array.`)
    if (value.length > most) throw invalidParams(`${place}: expected at most ${most} items.`)
    return Array.from(value, (item, index) => read(`${place}[${index}]`, item))
  },
}

/** @param isForWallet whether `pending` is the block of the view, too: whoever sends asks for it, and nothing proves what waits */
export function readBlock(value: unknown, isForWallet: boolean): bigint | 'latest' {
  // EIP-1898. Few blocks have a state that is proven, and clients name these by number.
  const isObject = typeof value === 'object' && value !== null
  const given = isObject ? params.fields('block', value, ['blockNumber', 'blockHash']) : { blockNumber: value }
  if (isObject && (given.blockNumber === undefined || given.blockHash !== undefined)) {
    throw invalidParams('The block is not given by its number: none is looked up by its hash.')
  }
  const named = given.blockNumber ?? 'latest'
  if (named === 'latest' || named === 'safe' || named === 'finalized') return 'latest'
  if (named === 'pending' && isForWallet) return 'latest'
  if (named === 'pending')
    throw invalidParams(
      'The block tag pending has no proof: use latest. With `wallet` in `forward` (of the proxy, --forward wallet), it means latest.',
    )
  if (named === 'earliest') throw invalidParams('The block tag earliest has no proof.')
  return params.quantity('block', named, 64)
}
