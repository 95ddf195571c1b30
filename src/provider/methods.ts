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

/** The methods whose results are proven, by name. */
export const createMethods = (settings: VerifiedOptions, views: CurrentView): ReadonlyMap<string, Method> =>
  new Map<string, Method>(
    Object.entries({
      ...chainMethods(settings, views),
      ...stateMethods(views),
      ...callMethods(settings, views),
    }),
  )

/** Which chain, and which block of it. */
const chainMethods = ({ chainId }: VerifiedOptions, { current }: CurrentView) => ({
  eth_chainId: (given: unknown) => params.take(given, 0, 0) && encodeQuantity(chainId),
  net_version: (given: unknown) => params.take(given, 0, 0) && chainId.toString(),
  eth_blockNumber: async (given: unknown) => params.take(given, 0, 0) && encodeQuantity((await current()).blockNumber),
})

/** Accounts, slots and codes of one block, and their proofs. */
function stateMethods({ heldAt }: CurrentView) {
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  /** A method whose parameters are an address and a block. */
  const ofAccount = (answer: (state: ProvenState, address: Hex) => Promise<Hex>) => async (given: unknown) => {
    const [address, block] = params.take(given, 1, 2)
    const account = addressOf(address)
    return answer((await heldAt(block)).state, account)
  }
  const numberOf = (name: 'balance' | 'nonce') =>
    ofAccount(async (state, address) => encodeQuantity((await state.getAccount(address))?.[name] ?? 0n))
  const getProof = (method: string) => async (given: unknown) => {
    const [address, keys, block] = params.take(given, 3, 3)
    const account = addressOf(address)
    const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
    return (await heldAt(block)).state.getProof(method, account, storageKeys)
  }
  return {
    eth_getBalance: numberOf('balance'),
    eth_getTransactionCount: numberOf('nonce'),
    eth_getCode: ofAccount(async (state, address) => bytesToHex(await state.getCode(address))),
    async eth_getStorageAt(given: unknown) {
      const [address, slot, block] = params.take(given, 2, 3)
      const [account, key] = [addressOf(address), params.slot('slot', slot)]
      return (await heldAt(block)).state.getStorage(account, key)
    },
    rollup_getProof: getProof('rollup_getProof'),
    linea_getProof: getProof('linea_getProof'),
  }
}

/** Imported on first use: bundlers put it into a separate chunk, which programs that only read balances never load. */
const execution = () => import('./call.ts')

/** Calls, executed on proven state. */
function callMethods(settings: VerifiedOptions, { heldAt }: CurrentView) {
  const { chainId, maxGas, hardfork } = settings

  async function planCall(given: unknown, overrides: number): Promise<CallPlan> {
    const [transaction, block, ...rest] = params.take(given, 1, 2 + overrides)
    refuseOverrides(...rest)
    const call = readCall(transaction, chainId, settings.environment.baseFee)
    const { blockNumber, timestamp, state } = await heldAt(block)
    // Without a prototype, as they are themselves.
    const environment = Object.assign(Object.create(null), timestamp !== null && { timestamp }, settings.environment)
    const reader = meterReads(state, call, { ...settings, block: blockNumber })
    return { call, reader, maxGas, context: { chainId, hardfork, blockNumber, environment } }
  }

  return {
    eth_call: async (given: unknown) => (await execution()).runCall(await planCall(given, 2)),
    eth_estimateGas: async (given: unknown) =>
      encodeQuantity(await (await execution()).estimateGas(await planCall(given, 2))),
    eth_createAccessList: async (given: unknown) => (await execution()).createAccessList(await planCall(given, 0)),
  }
}
