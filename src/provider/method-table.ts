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
