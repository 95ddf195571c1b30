import { bytesToHex, type Hex } from '../bytes.ts'
import { encodeQuantity } from '../hex.ts'
import type { BlockMethod } from './blocks/methods.ts'
import type { CurrentView } from './current-view.ts'
import { invalidParams } from './error.ts'
import type { KnownCodes } from './known-codes.ts'
import { createKnownReads } from './known-reads.ts'
import { MAX_LISTED } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { ProvenState } from './proven-state.ts'
import { type Held, newestIn } from './view.ts'

/** Gets the parameters of a request as they came. Throws a ProviderError if they do not fit. */
type Method = (given: unknown, pace: Pace) => unknown

/** Imported on first use: bundlers put it into a separate chunk, which programs that only read balances never load. */
const execution = () => import('./call.ts')

const BLOCK_METHODS: readonly BlockMethod[] = [
  ...(['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockReceipts', 'eth_getTransactionByHash'] as const),
  ...(['eth_getTransactionReceipt', 'eth_getLogs', 'eth_feeHistory'] as const),
  ...(['eth_maxPriorityFeePerGas', 'eth_gasPrice'] as const),
]

/** Also imported on first use: they carry the curve of signatures. */
function createLazyBlockMethods(settings: VerifiedOptions, current: CurrentView['current']) {
  const load = async () => (await import('./blocks/methods.ts')).createBlockMethods(settings, current)
  let loading: ReturnType<typeof load> | undefined
  const methodOf =
    (name: BlockMethod): Method =>
    async (given, pace) => {
      loading ??= load()
      return (await loading)[name](given, pace)
    }
  return Object.fromEntries(BLOCK_METHODS.map(name => [name, methodOf(name)]))
}

/** @throws ProviderError `PARAMS_INVALID` if the state of the block is of another kind than the method's */
function verifyProvedBy(method: string, { state, l2BlockNumber }: Held): void {
  const isEthereum = state.scheme === 'ethereum'
  if (isEthereum === (method === 'eth_getProof')) return
  const kind = isEthereum ? 'one of Ethereum: ask eth_getProof' : "a tree of the rollup's own: ask rollup_getProof"
  throw invalidParams(`The state after block ${l2BlockNumber} is ${kind}.`)
}

/** The methods whose results are proven, by name. */
export function createMethods(
  settings: VerifiedOptions,
  codes: KnownCodes,
  { current, heldAt }: CurrentView,
): ReadonlyMap<string, Method> {
  const { chainId, l2 } = settings
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  /** A method whose parameters are an address and a block. */
  const ofAccount =
    (
      answer: (state: ProvenState, address: Hex) => Promise<Hex>,
      holds = (state: ProvenState, address: Hex) => state.holds(address),
    ): Method =>
    async (given, pace) => {
      const [address, block] = params.take(given, 1, 2)
      const account = addressOf(address)
      const { state } = await heldAt(block, pace)
      if (!holds(state, account)) await pace.beSlow()
      return answer(state, account)
    }
  const numberOf = (name: 'balance' | 'nonce') =>
    ofAccount(async (state, address) => encodeQuantity((await state.getAccount(address))?.[name] ?? 0n))
  const getProof =
    (method: string): Method =>
    async (given, pace) => {
      const [address, keys, block] = params.take(given, 3, 3)
      const account = addressOf(address)
      const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
      const held = await heldAt(block, pace)
      const { state } = held
      verifyProvedBy(method, held)
      await pace.beSlow()
      return state.getProof(method, account, storageKeys)
    }

  /** The other answers come from the endpoints, which compare the chain by themselves. */
  async function chainFor(given: unknown): Promise<bigint> {
    params.take(given, 0, 0)
    await l2.run(async () => {})
    return chainId
  }

  const sources = { settings, codes, reads: createKnownReads(), heldAt, current }
  const methods: Readonly<Record<string, Method>> = {
    eth_chainId: async given => encodeQuantity(await chainFor(given)),
    net_version: async given => (await chainFor(given)).toString(),
    eth_blockNumber: async given => params.take(given, 0, 0) && encodeQuantity(newestIn(await current())),
    eth_getBalance: numberOf('balance'),
    eth_getTransactionCount: numberOf('nonce'),
    eth_getCode: ofAccount(
      async (state, address) => bytesToHex(await state.getCode(address)),
      (state, address) => state.holdsCode(address),
    ),
    async eth_getStorageAt(given, pace) {
      const [address, slot, block] = params.take(given, 2, 3)
      const [account, key] = [addressOf(address), params.slot('slot', slot)]
      const { state } = await heldAt(block, pace)
      if (!state.holds(account, key)) await pace.beSlow()
      return state.getStorage(account, key)
    },
    ...createLazyBlockMethods(settings, current),
    rollup_getProof: getProof('rollup_getProof'),
    linea_getProof: getProof('linea_getProof'),
    eth_getProof: getProof('eth_getProof'),
    eth_call: async (given, pace) => (await execution()).runCall(sources, given, pace),
    eth_estimateGas: async (given, pace) => encodeQuantity(await (await execution()).estimateGas(sources, given, pace)),
    eth_createAccessList: async (given, pace) => (await execution()).createAccessList(sources, given, pace),
  }
  return new Map(Object.entries(methods))
}
