import { bytesToHex, type Hex } from '../bytes.ts'
import { encodeQuantity } from '../hex.ts'
import type { CallPlan } from './call.ts'
import { readCall, refuseOverrides } from './call-request.ts'
import type { CurrentView } from './current-view.ts'
import { MAX_LISTED } from './limits.ts'
import { meterReads } from './metered-reader.ts'
import type { VerifiedOptions } from './options.ts'
import { params } from './params.ts'
import type { ProvenState } from './proven-state.ts'

/** Gets the parameters of a request as they came. Throws a ProviderError if they do not fit. */
type Method = (given: unknown) => unknown

/** Imported on first use: bundlers put it into a separate chunk, which programs that only read balances never load. */
const execution = () => import('./call.ts')

/** The methods whose results are proven, by name. */
export function createMethods(
  settings: VerifiedOptions,
  { current, heldAt }: CurrentView,
): ReadonlyMap<string, Method> {
  const { chainId, l2, maxGas, hardfork } = settings
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  /** A method whose parameters are an address and a block. */
  const ofAccount =
    (answer: (state: ProvenState, address: Hex) => Promise<Hex>): Method =>
    async given => {
      const [address, block] = params.take(given, 1, 2)
      const account = addressOf(address)
      return answer((await heldAt(block)).state, account)
    }
  const numberOf = (name: 'balance' | 'nonce') =>
    ofAccount(async (state, address) => encodeQuantity((await state.getAccount(address))?.[name] ?? 0n))
  const getProof =
    (method: string): Method =>
    async given => {
      const [address, keys, block] = params.take(given, 3, 3)
      const account = addressOf(address)
      const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
      return (await heldAt(block)).state.getProof(method, account, storageKeys)
    }

  /** The other answers come from the endpoints, which compare the chain by themselves. */
  async function chainFor(given: unknown): Promise<bigint> {
    params.take(given, 0, 0)
    await l2.run(async () => {})
    return chainId
  }

  async function planCall(given: unknown, overrides: number): Promise<CallPlan> {
    const [transaction, block, ...rest] = params.take(given, 1, 2 + overrides)
    refuseOverrides(...rest)
    const call = readCall(transaction, chainId, settings.environment.baseFee)
    const { l2BlockNumber: blockNumber, timestamp, state } = await heldAt(block)
    // Without a prototype, as they are themselves.
    const environment = Object.assign(
      Object.create(null),
      timestamp !== undefined && { timestamp },
      settings.environment,
    )
    const reader = meterReads(state, call, { ...settings, block: blockNumber })
    return { call, reader, maxGas, context: { chainId, hardfork, blockNumber, environment } }
  }

  const methods: Readonly<Record<string, Method>> = {
    eth_chainId: async given => encodeQuantity(await chainFor(given)),
    net_version: async given => (await chainFor(given)).toString(),
    eth_blockNumber: async given => params.take(given, 0, 0) && encodeQuantity((await current()).l2BlockNumber),
    eth_getBalance: numberOf('balance'),
    eth_getTransactionCount: numberOf('nonce'),
    eth_getCode: ofAccount(async (state, address) => bytesToHex(await state.getCode(address))),
    async eth_getStorageAt(given) {
      const [address, slot, block] = params.take(given, 2, 3)
      const [account, key] = [addressOf(address), params.slot('slot', slot)]
      return (await heldAt(block)).state.getStorage(account, key)
    },
    rollup_getProof: getProof('rollup_getProof'),
    linea_getProof: getProof('linea_getProof'),
    eth_call: async given => (await execution()).runCall(await planCall(given, 2)),
    eth_estimateGas: async given => encodeQuantity(await (await execution()).estimateGas(await planCall(given, 2))),
    eth_createAccessList: async given => (await execution()).createAccessList(await planCall(given, 0)),
  }
  return new Map(Object.entries(methods))
}
