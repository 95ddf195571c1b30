import { bytesToHex, type Hex, hexLength, hexToBytes } from '../base/bytes.ts'
import { encodeQuantity } from '../base/hex.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { stateKind } from '../verify/state/kind.ts'
import type { Query } from './blocks/filters.ts'
import type { CurrentView } from './current-view.ts'
import { invalidParams } from './error.ts'
import type { Register } from './filter-register.ts'
import { MAX_DATA_BYTES, MAX_LISTED } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { KnownState, ProvenState } from './proven-state.ts'
import { type Held, newestIn } from './view.ts'

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
  eth_call: [1, 4],
  eth_estimateGas: [1, 4],
  eth_createAccessList: [1, 3],
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
const ANSWERED = { ...STATELESS, ...PROVEN }

export type BlockMethod = keyof typeof OF_BLOCKS
type AnsweredMethod = keyof typeof ANSWERED

/** Why those are refused that clients ask for all the same. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [
    /^eth_(?:sendTransaction$|sign|requestAccounts$)|^personal_/,
    'no keys are held here: sign in a wallet, which may use this as its endpoint, and send the signed transaction',
  ],
  [/^eth_newPendingTransactionFilter$|^txpool_/, 'nothing proves what is pending'],
  [/^eth_(?:simulateV1|callMany)$/, 'not here: use eth_call with overrides'],
  [/^trace_|^debug_trace/, 'traces of the EVM are not made here'],
  [
    /^eth_(?:un)?subscribe$/,
    'nothing is pushed here: use filters, which clients do by themselves, or a WebSocket of the proxy',
  ],
]

export const whyRefused = (method: string): string | undefined => REFUSED.find(([names]) => names.test(method))?.[1]

export const isAnswered = (method: string): method is AnsweredMethod => Object.hasOwn(ANSWERED, method)
export const isProven = (method: string): boolean => Object.hasOwn(PROVEN, method)
const isOfBlocks = (method: AnsweredMethod): method is BlockMethod => Object.hasOwn(OF_BLOCKS, method)

/** @throws ProviderError `PARAMS_INVALID` if the state of the block is of another kind than the method's */
function verifyProvedBy(method: string, { state, l2BlockNumber }: Held): void {
  const { method: served } = stateKind(state.scheme)
  // All other methods are names of the one for trees.
  if (served === method || (served === null && method !== 'eth_getProof')) return
  const kind = served === null ? "a tree of the rollup's own" : 'one of Ethereum'
  throw invalidParams(`The state after block ${l2BlockNumber} is ${kind}: ask ${served ?? 'rollup_getProof'}.`)
}

/** Answers each method. What others do not need is imported on first use: bundlers put it into chunks of its own. */
export function createMethods(
  settings: VerifiedOptions,
  known: KnownState,
  { current, heldAt }: CurrentView,
  filters: Register<Query>,
) {
  const { chainId, l2 } = settings
  const sources = { settings, known, heldAt, current }
  // They carry the EVM.
  const calls = () => import('./call.ts')
  let loading: Promise<Readonly<Record<BlockMethod, Method>>> | undefined
  /** They carry the curve of signatures. */
  function loadBlockMethods() {
    loading ??= import('./blocks/methods.ts').then(module => module.createBlockMethods(settings, current, filters))
    return loading
  }

  /** The other answers come from the endpoints, which compare the chain by themselves. */
  async function chainNow(): Promise<bigint> {
    await l2.run(async () => {})
    return chainId
  }
  const own: Readonly<Record<Exclude<AnsweredMethod, BlockMethod>, Method>> = {
    eth_chainId: async () => encodeQuantity(await chainNow()),
    net_version: async () => (await chainNow()).toString(),
    web3_clientVersion: () => 'rollup-state-proof',
    web3_sha3([given]) {
      const data = params.data('data', given, MAX_DATA_BYTES)
      return bytesToHex(keccak256(hexToBytes(data, hexLength(data))))
    },
    net_listening: () => true,
    eth_accounts: () => [],
    eth_syncing: () => false,
    eth_blockNumber: async () => encodeQuantity(newestIn(await current())),
    ...createStateMethods(heldAt),
    eth_call: async (given, pace) => (await calls()).runCall(sources, given, pace),
    eth_estimateGas: async (given, pace) => encodeQuantity(await (await calls()).estimateGas(sources, given, pace)),
    eth_createAccessList: async (given, pace) => (await calls()).createAccessList(sources, given, pace),
  }

  return async (method: AnsweredMethod, given: unknown, pace: Pace, client: string): Promise<unknown> => {
    const [least, most] = ANSWERED[method]
    const taken = params.take(given, least, most)
    const answer = isOfBlocks(method) ? (await loadBlockMethods())[method] : own[method]
    return answer(taken, pace, client)
  }
}

function createStateMethods(heldAt: CurrentView['heldAt']) {
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  const ofAccount =
    (answer: (state: ProvenState, address: Hex) => Promise<Hex>): Method =>
    async ([address, block], pace) => {
      const account = addressOf(address)
      return answer((await heldAt(block, pace)).state, account)
    }
  const numberOf = (name: 'balance' | 'nonce') =>
    ofAccount(async (state, address) => encodeQuantity((await state.getAccount(address))?.[name] ?? 0n))
  const getProof =
    (method: string): Method =>
    async ([address, keys, block], pace) => {
      const account = addressOf(address)
      const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
      const held = await heldAt(block, pace)
      verifyProvedBy(method, held)
      return held.state.getProof(method, account, storageKeys)
    }
  const getStorageAt: Method = async ([address, slot, block], pace) => {
    const [account, key] = [addressOf(address), params.slot('slot', slot)]
    return (await heldAt(block, pace)).state.getStorage(account, key)
  }

  return {
    eth_getBalance: numberOf('balance'),
    eth_getTransactionCount: numberOf('nonce'),
    eth_getCode: ofAccount(async (state, address) => bytesToHex(await state.getCode(address))),
    eth_getStorageAt: getStorageAt,
    rollup_getProof: getProof('rollup_getProof'),
    linea_getProof: getProof('linea_getProof'),
    eth_getProof: getProof('eth_getProof'),
  }
}
