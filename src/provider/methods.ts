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

type Method = (given: unknown, pace: Pace, client: string) => unknown
type Filters = Register<Query>

/** Imported on first use: bundlers put it into a separate chunk, which programs that only read balances never load. */
const execution = () => import('./call.ts')

/**
 * What happens with each method. Whatever dispatches, refuses or documents them reads it here.
 *
 * - `proven`: `how` says from what. A method `ofBlocks` is imported on first use, for it carries the curve of signatures.
 * - `stateless`: answered without a proof, because the answer states nothing about the chain.
 * - `forwarded`: passed to `l2` unproven if `forward` names it. `how` says what an endpoint can do with that.
 * - `refused`: `how` says why. Methods in no row are refused, too.
 */
export const METHOD_ROWS = [
  {
    kind: 'proven',
    methods: ['eth_blockNumber'],
    how: 'the root on L1 of the state that holds the hash of this block',
  },
  {
    kind: 'proven',
    methods: ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode', 'eth_getStorageAt'],
    how: 'the account and its slot, from the root on L1; code by its hash',
  },
  {
    kind: 'proven',
    methods: ['rollup_getProof', 'linea_getProof', 'eth_getProof'],
    how: 'the root on L1. The last is for a state of Ethereum, the others for any other',
  },
  {
    kind: 'proven',
    methods: ['eth_call', 'eth_estimateGas', 'eth_createAccessList'],
    how: 'everything that the call reads; it is executed here',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: [
      ...(['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockTransactionCountByNumber'] as const),
      ...(['eth_getBlockTransactionCountByHash', 'debug_getRawHeader'] as const),
      ...(['eth_getUncleCountByBlockNumber', 'eth_getUncleCountByBlockHash'] as const),
      ...(['eth_getUncleByBlockNumberAndIndex', 'eth_getUncleByBlockHashAndIndex'] as const),
    ],
    how: 'the header, and all transactions of the block',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: [
      ...(['eth_getTransactionByHash', 'eth_getTransactionByBlockNumberAndIndex'] as const),
      ...(['eth_getTransactionByBlockHashAndIndex', 'eth_getRawTransactionByHash', 'debug_getRawTransaction'] as const),
      ...(['eth_getRawTransactionByBlockNumberAndIndex', 'eth_getRawTransactionByBlockHashAndIndex'] as const),
    ],
    how: 'the same. The sender is recovered from the signature',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: ['eth_getBlockReceipts', 'eth_getTransactionReceipt', 'debug_getRawReceipts'],
    how: 'all transactions and all receipts of the block',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: [
      ...(['eth_getLogs', 'eth_newFilter', 'eth_newBlockFilter', 'eth_getFilterChanges', 'eth_getFilterLogs'] as const),
      'eth_uninstallFilter',
    ],
    how: 'each header of the range, and all receipts of each block whose bloom filter admits a log: none is missing, added or changed. With `completeLogs: false`, some may be missing',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: ['eth_subscribe', 'eth_unsubscribe'],
    how: 'what is pushed: heads as headers, logs as of a filter. Over a WebSocket of the proxy only',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: ['eth_feeHistory', 'eth_blobBaseFee'],
    how: 'the headers, and the receipts if rewards are asked for',
  },
  {
    kind: 'proven',
    ofBlocks: true,
    methods: ['eth_maxPriorityFeePerGas', 'eth_gasPrice'],
    how: 'the newest blocks that have transactions: the median tip, without and with the base fee',
  },
  {
    kind: 'stateless',
    methods: ['eth_chainId', 'net_version'],
    how: 'what you passed. Nothing is answered if the endpoint names another chain',
  },
  {
    kind: 'stateless',
    methods: ['web3_clientVersion', 'web3_sha3', 'net_listening', 'eth_accounts', 'eth_syncing'],
    how: 'whoever answers, which holds no accounts and is not a node',
  },
  {
    kind: 'forwarded',
    methods: ['eth_sendRawTransaction'],
    how: 'keep the transaction to itself. It cannot change it, because it is signed',
  },
  {
    kind: 'forwarded',
    methods: ['linea_estimateGas'],
    how: 'name a wrong limit or wrong fees: look at what your wallet shows. The network computes them from the compressed size of the transaction and its margins, which nothing proves. Without it, clients use eth_estimateGas and eth_gasPrice',
  },
  {
    kind: 'refused',
    methods: [
      ...(['eth_sendTransaction', 'eth_sign', 'eth_signTransaction', 'eth_signTypedData_v4'] as const),
      ...(['eth_requestAccounts', 'personal_sign'] as const),
    ],
    how: 'no keys are held here: sign in a wallet, which may use this as its endpoint, and send the signed transaction',
  },
  {
    kind: 'refused',
    methods: ['eth_newPendingTransactionFilter', 'txpool_content', 'txpool_status'],
    how: 'nothing proves what is pending',
  },
  {
    kind: 'refused',
    methods: ['eth_simulateV1', 'eth_callMany'],
    how: 'not here: use eth_call with overrides',
  },
  {
    kind: 'refused',
    methods: ['debug_traceTransaction', 'debug_traceCall', 'trace_block', 'trace_call'],
    how: 'traces of the EVM are not made here',
  },
] as const

type Row = (typeof METHOD_ROWS)[number]
type AnsweredMethod = Extract<Row, { kind: 'proven' | 'stateless' }>['methods'][number]
export type BlockMethod = Extract<Row, { ofBlocks: true }>['methods'][number]

const rowOf = (method: string): Row | undefined =>
  METHOD_ROWS.find(({ methods }) => methods.some(one => one === method))

/** Whether `forward` cannot name it: its answer is proven. */
export const isProven = (method: string): boolean => rowOf(method)?.kind === 'proven'

export const isPushed = (method: string): boolean => method === 'eth_subscribe' || method === 'eth_unsubscribe'

/** Why a method is refused, unless it is forwarded. */
export const whyRefused = (method: string): string | undefined => {
  if (isPushed(method))
    return 'nothing is pushed here: use filters, which clients do by themselves, or a WebSocket of the proxy'
  const row = rowOf(method)
  return row?.kind === 'refused' ? row.how : undefined
}

const BLOCK_METHODS: readonly BlockMethod[] = METHOD_ROWS.flatMap(row => ('ofBlocks' in row ? row.methods : []))

function createLazyBlockMethods(settings: VerifiedOptions, current: CurrentView['current'], filters: Filters) {
  let loading: Promise<Readonly<Record<BlockMethod, Method>>> | undefined
  const load = () => {
    loading ??= import('./blocks/methods.ts').then(module => module.createBlockMethods(settings, current, filters))
    return loading
  }
  const methodOf =
    (name: BlockMethod): Method =>
    async (given, pace, client) =>
      (await load())[name](given, pace, client)
  // The list has all of them.
  return Object.fromEntries(BLOCK_METHODS.map(name => [name, methodOf(name)])) as Record<BlockMethod, Method>
}

/** @throws ProviderError `PARAMS_INVALID` if the state of the block is of another kind than the method's */
function verifyProvedBy(method: string, { state, l2BlockNumber }: Held): void {
  const { method: served } = stateKind(state.scheme)
  // All other methods are names of the one for trees.
  if (served === method || (served === null && method !== 'eth_getProof')) return
  const kind = served === null ? "a tree of the rollup's own" : 'one of Ethereum'
  throw invalidParams(`The state after block ${l2BlockNumber} is ${kind}: ask ${served ?? 'rollup_getProof'}.`)
}

const fixed =
  (answer: unknown): Method =>
  given =>
    params.take(given, 0, 0) && answer

export function createMethods(
  settings: VerifiedOptions,
  known: KnownState,
  views: CurrentView,
  filters: Filters,
): ReadonlyMap<string, Method> {
  const { chainId, l2 } = settings
  const { current, heldAt } = views

  /** The other answers come from the endpoints, which compare the chain by themselves. */
  async function chainFor(given: unknown): Promise<bigint> {
    params.take(given, 0, 0)
    await l2.run(async () => {})
    return chainId
  }

  const sources = { settings, known, heldAt, current }
  const methods: Readonly<Record<AnsweredMethod, Method>> = {
    eth_chainId: async given => encodeQuantity(await chainFor(given)),
    net_version: async given => (await chainFor(given)).toString(),
    web3_clientVersion: fixed('rollup-state-proof'),
    web3_sha3(given) {
      const data = params.data('data', params.take(given, 1, 1)[0], MAX_DATA_BYTES)
      return bytesToHex(keccak256(hexToBytes(data, hexLength(data))))
    },
    net_listening: fixed(true),
    eth_accounts: fixed([]),
    eth_syncing: fixed(false),
    eth_blockNumber: async given => params.take(given, 0, 0) && encodeQuantity(newestIn(await current())),
    ...createStateMethods(heldAt),
    ...createLazyBlockMethods(settings, current, filters),
    eth_call: async (given, pace) => (await execution()).runCall(sources, given, pace),
    eth_estimateGas: async (given, pace) => encodeQuantity(await (await execution()).estimateGas(sources, given, pace)),
    eth_createAccessList: async (given, pace) => (await execution()).createAccessList(sources, given, pace),
  }
  return new Map(Object.entries(methods))
}

function createStateMethods(heldAt: CurrentView['heldAt']) {
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  const ofAccount =
    (answer: (state: ProvenState, address: Hex) => Promise<Hex>): Method =>
    async (given, pace) => {
      const [address, block] = params.take(given, 1, 2)
      const account = addressOf(address)
      return answer((await heldAt(block, pace)).state, account)
    }
  const numberOf = (name: 'balance' | 'nonce') =>
    ofAccount(async (state, address) => encodeQuantity((await state.getAccount(address))?.[name] ?? 0n))
  const getProof =
    (method: string): Method =>
    async (given, pace) => {
      const [address, keys, block] = params.take(given, 2, 3)
      const account = addressOf(address)
      const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
      const held = await heldAt(block, pace)
      verifyProvedBy(method, held)
      return held.state.getProof(method, account, storageKeys)
    }
  const getStorageAt: Method = async (given, pace) => {
    const [address, slot, block] = params.take(given, 2, 3)
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
