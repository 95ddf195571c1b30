import { bytesToHex } from '../../src/base/bytes.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import type { ExecutionContext } from '../../src/provider/evm.ts'
import type { CallRequest } from '../../src/provider/execute.ts'
import { execute } from '../../src/provider/execute.ts'
import type { Environment } from '../../src/provider/options.ts'
import { inPace, type Pace } from '../../src/provider/pace.ts'
import { createKnownState, type KnownState, type Part, type ProvenState } from '../../src/provider/proven-state.ts'
import { meterReads, type Rehearse, rehearsalOf } from '../../src/provider/rehearsal.ts'
import { keccak256 } from '../../src/verify/hash/keccak/index.ts'
import { UNHURRIED } from './endpoints.ts'
import { bytesOf, CHAIN_ID, type FullCall, type FullState } from './full-state.ts'
import { readerOver } from './proving/full-reader.ts'

/** Calls on a state of which nothing is proven at first, without proofs, so that there can be many. */

const BLOCK = 9n
const MOST_KEYS = 100

/** A state that is proven as it is read, and what was asked of it. */
function createLazyState(state: FullState, known: KnownState, asked: string[]) {
  const full = readerOver(state)
  const [accounts, slots] = [new Set<Hex>(), new Set<string>()]
  let keyCount = 0
  const codeOf = (address: Hex) => state.get(address)?.code ?? '0x'
  const holds = (address: Hex, key?: Hex) =>
    accounts.has(address) &&
    (key === undefined || slots.has(address + key) || Object.keys(state.get(address)?.storage ?? {}).length === 0)
  const hashOf = (address: Hex) => bytesToHex(keccak256(bytesOf(codeOf(address))))
  const holdsCode = (address: Hex) =>
    accounts.has(address) && (codeOf(address) === '0x' || known.code(hashOf(address)) !== undefined)
  const holdsPart = (address: Hex, part?: Part) => (part === 'code' ? holdsCode(address) : holds(address, part))
  async function prove(address: Hex, keys: readonly Hex[]) {
    keyCount += keys.length
    const requests = Math.max(1, Math.ceil(keys.length / MOST_KEYS))
    asked.push(...Array.from({ length: requests }, () => address))
    // An answer takes at least a turn.
    await Promise.resolve()
    accounts.add(address)
    for (const key of keys) slots.add(address + key)
    const account = await full.getAccount(address)
    const values = account?.hasStorage ? await Promise.all(keys.map(key => full.getStorage(address, key))) : []
    known.note(address, { account, slots: new Map(values.map((value, index) => [keys[index] ?? '0x', value])) })
  }
  async function proveCode(address: Hex) {
    asked.push(`${address} code`)
    await Promise.resolve()
    known.addCode(hashOf(address), await full.getCode(address))
  }
  const proven: ProvenState = {
    scheme: poseidon2,
    by: () => proven,
    holds: holdsPart,
    load: prove,
    loadCode: proveCode,
    getProof: () => Promise.reject(new Error('not part of a call')),
    async getAccount(address) {
      if (!holds(address)) await prove(address, [])
      return full.getAccount(address)
    },
    async getStorage(address, key) {
      if (!holds(address, key)) await prove(address, [key])
      return full.getStorage(address, key)
    },
    async getCode(address) {
      if (!holds(address)) await prove(address, [])
      if (!holdsCode(address)) await proveCode(address)
      return full.getCode(address)
    },
  }
  return { proven, keyCount: () => keyCount }
}

export interface Setting {
  readonly known?: KnownState
  readonly environment?: Environment
  readonly maxRequests?: number
  /** Sees each rehearsal's pace, which counts its steps. For {@link runPlain}: that of the call. */
  readonly watch?: (pace: Pace) => Pace
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** In place of rehearsals. */
  readonly rehearse?: Rehearse
  /** Gets what is asked for. */
  readonly asked?: string[]
}

const requestOf = ({ from, to, data, value = 0n }: FullCall): CallRequest => ({
  ...{ from, to: to ?? null, data, value, gas: null, gasPrice: 0n, maxGasPrice: 0n, accessList: [] },
})
const contextOf = (environment: Environment = {}): ExecutionContext => ({
  ...{ chainId: CHAIN_ID, hardfork: 'prague', blockNumber: BLOCK, environment },
})

/** Everything about an execution that anybody could see, as text. */
async function outcomeOf(running: ReturnType<typeof execute>): Promise<string> {
  const ended = await running.catch(
    (error: unknown) => `${error} ${JSON.stringify(Reflect.get(Object(error), 'data'))}`,
  )
  const seen = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return `${value}n`
    if (value instanceof Uint8Array) return bytesToHex(value)
    if (value instanceof Map) return [...value].sort(([a], [b]) => (a < b ? -1 : 1))
    return value instanceof Set ? [...value].sort() : value
  }
  return JSON.stringify({ ended }, seen)
}

/** The call as it is without any guess: each value is read from the state when the call needs it. */
export const runPlain = (state: FullState, call: FullCall, { environment, watch }: Setting = {}) =>
  inPace(UNHURRIED, given => {
    const unlimited = { left: () => Number.MAX_SAFE_INTEGER, spend: () => {} }
    const pace = watch?.({ ...given, budget: unlimited }) ?? given
    const gas = call.gas ?? 50_000_000n
    return outcomeOf(execute(readerOver(state), requestOf(call), gas, contextOf(environment), pace))
  })

/** The call as a provider executes it, with rehearsals. */
export async function runRehearsed(state: FullState, call: FullCall, setting: Setting = {}) {
  const { known = createKnownState(), environment, maxRequests = 1_000_000, watch = pace => pace } = setting
  const { asked = [] } = setting
  const { proven, keyCount } = createLazyState(state, known, asked)
  const [request, gas, context] = [requestOf(call), call.gas ?? 50_000_000n, contextOf(environment)]
  /** What had been asked for before each rehearsal, and the gas that it gets. */
  const before: { readonly requests: number; readonly keys: number; readonly gas: bigint }[] = []
  const rehearse: Rehearse = (guesses, limited, most) => {
    before.push({ requests: asked.length, keys: keyCount(), gas: most })
    if (setting.rehearse !== undefined) return setting.rehearse(guesses, limited, most)
    return rehearsalOf(request, gas, context)(guesses, watch(limited), most)
  }
  const outcome = await inPace(
    { timeoutMs: setting.timeoutMs ?? UNHURRIED.timeoutMs, signals: [setting.signal] },
    pace => {
      const reader = meterReads(proven, { maxRequests, maxKeysPerRequest: MOST_KEYS, pace, known, rehearse })
      return outcomeOf(execute(reader, request, gas, context, pace))
    },
  )
  return { outcome, asked, keys: keyCount(), before, rehearsals: before.length }
}
