import type { Hex } from '../base/bytes.ts'
import { abortedBy } from '../client/transport/error.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/contract.ts'
import { refusedFor } from './error.ts'
import type { ExecutionContext } from './evm.ts'
import { type CallRequest, execute, intrinsicGas } from './execute.ts'
import {
  MAX_GUESSED,
  MAX_GUESSED_AT_ONCE,
  MAX_GUESSED_CONTRACTS,
  MAX_GUESSED_PARTS,
  MAX_IDLE_STEPS,
  MAX_REHEARSALS,
  MAX_REHEARSED_GAS,
  MAX_REHEARSED_STEPS,
} from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Budget, Pace } from './pace.ts'
import {
  type KnownState,
  type Part,
  type ProvenState,
  type ReadAccount,
  type StateReader,
  ZERO,
} from './proven-state.ts'

/** Executes the call with at most this gas, besides what it costs to begin, on a state that is partly guessed. What comes of it does not count. */
export type Rehearse = (guesses: StateReader, pace: Pace, most: bigint) => Promise<unknown>

export const rehearsalOf =
  (call: CallRequest, gas: bigint, context: ExecutionContext): Rehearse =>
  (guesses, pace, most) => {
    const limit = intrinsicGas(call, context.hardfork).least + most
    return execute(guesses, call, limit < gas ? limit : gas, context, pace)
  }

export interface Meter extends Pick<VerifiedOptions, 'maxRequests' | 'maxKeysPerRequest'> {
  /** Waited for before the first request. */
  readonly pace: Pace
  readonly known: KnownState
  readonly rehearse: Rehearse
}

/** What a guess costs: a slot that was proven in another block, another slot, and an account or a code, which take a request each. */
const [KNOWN_SLOT, SLOT, ACCOUNT] = [1, 4, 16]
/** How many codes of accounts about which nothing is known are fetched together with the accounts. Several may have the same. */
const EARLY_CODES = 4

/** The account about which nothing is known. It can pay for everything, so that the rehearsal goes on. */
const STRANGER: ReadAccount = { nonce: 0n, balance: 2n ** 128n, codeHash: EMPTY_CODE_HASH, hasStorage: false }
/** Code that returns a kilobyte of zeros, which most callers can decode. */
const STRANGE_CODE = Uint8Array.of(0x61, 4, 0, 0x60, 0, 0xf3)

/** What all rehearsals of a call have guessed and computed. */
interface Tally {
  /** What was guessed and the call itself has not read yet, with its cost. */
  readonly unused: Map<string, number>
  /** The cost of the guesses that the call has read, and of what it had to read alone. */
  used: number
  guessed: number
  steps: number
}

/** The guesses of one rehearsal, and those that it has read. */
function createGuesses(state: ProvenState, known: KnownState, tally: Tally) {
  const reads = new Map<Hex, Set<Part>>()
  let [count, cost, codes, idle] = [0, 0, 0, 0]

  const end = (): never => {
    // So that it does not go on, whatever the contract makes of the error.
    idle = MAX_IDLE_STEPS
    throw new Error('the rehearsal has come to its bounds')
  }
  const budget: Budget = {
    left: () => Math.min(MAX_REHEARSED_STEPS + 2 ** 10 * tally.used - tally.steps, MAX_IDLE_STEPS - idle),
    spend(steps) {
      tally.steps += steps
      if (count > 0) idle += steps
      if (budget.left() <= 0) end()
    },
  }
  function guess(address: Hex, part: Part | undefined, price: number): void {
    const parts = reads.get(address)
    if (parts !== undefined && (part === undefined || parts.has(part))) return
    const more = 2 * tally.used
    const fits = tally.guessed + price <= MAX_GUESSED + more && cost + price <= MAX_GUESSED_AT_ONCE + more
    const isFull = count === MAX_GUESSED_PARTS || (reads.size === MAX_GUESSED_CONTRACTS && parts === undefined)
    if (!fits || isFull || budget.left() <= 0) end()
    reads.set(address, new Set([...(parts ?? []), ...(part === undefined ? [] : [part])]))
    tally.unused.set(address + (part ?? ''), price)
    tally.guessed += price
    cost += price
    count++
    idle = 0
  }

  const guesses: StateReader = {
    async getAccount(address) {
      if (state.holds(address)) return state.getAccount(address)
      guess(address, undefined, ACCOUNT)
      const likely = known.account(address)
      return likely === undefined ? STRANGER : likely.account
    },
    async getStorage(address, key) {
      if (state.holds(address, key)) return state.getStorage(address, key)
      const likely = known.account(address)?.slots.get(key)
      guess(address, key, likely === undefined ? SLOT : KNOWN_SLOT)
      return likely ?? ZERO
    },
    async getCode(address) {
      if (state.holds(address, 'code')) return state.getCode(address)
      const isHeld = state.holds(address)
      const likely = isHeld ? undefined : known.codeOf(known.account(address))
      if (likely !== undefined) return likely
      if (isHeld || codes++ < EARLY_CODES) guess(address, 'code', ACCOUNT)
      return STRANGE_CODE
    },
  }
  return { reads, guesses, budget }
}

/**
 * What a call reads: proven values only. When one is missing, the call is first executed beside, from its start, on what is proven and
 * on guesses for the rest, and what this rehearsal reads is fetched and proven all at once. Nothing else remains of it: so a wrong
 * guess costs requests and time, and both are bounded by what the call has read so far.
 *
 * @throws ProviderError `LIMIT_REACHED`, from the functions of the reader, if the call needs too many requests
 */
export function meterReads(state: ProvenState, meter: Meter): StateReader {
  const { pace, maxRequests, maxKeysPerRequest, known, rehearse } = meter
  const tally: Tally = { unused: new Map(), used: 0, guessed: 0, steps: 0 }
  let [requests, rehearsals] = [0, 0]

  function spend(more: number, most: number): boolean {
    if (requests + more > most) return false
    requests += more
    return true
  }
  /** For guesses. Half of the requests is left for what the call reads; more, as the call reads more. */
  const spare = (more: number) => spend(more, Math.min(maxRequests, maxRequests / 2 + tally.used / 16))

  function load([address, parts]: readonly [Hex, ReadonlySet<Part>]): Promise<void>[] {
    const keys = [...parts].filter(part => part !== 'code')
    const isWanted = keys.length > 0 || !state.holds(address)
    return [
      ...(isWanted && spare(Math.ceil(keys.length / maxKeysPerRequest) || 1) ? [state.load(address, keys)] : []),
      ...(parts.has('code') && spare(1) ? [state.loadCode(address)] : []),
    ]
  }

  async function prepare(): Promise<void> {
    await pace.beSlow()
    const { reads, guesses, budget } = createGuesses(state, known, tally)
    // One that finds a single read saves nothing, so there are fewer of them than reads.
    if (rehearsals < MAX_REHEARSALS + tally.used / 32 && budget.left() > 0) {
      rehearsals++
      const isDue = (): boolean => {
        budget.spend(1)
        return pace.isDue()
      }
      const most = MAX_REHEARSED_GAS + 2n ** 13n * BigInt(tally.used)
      await rehearse(guesses, { ...pace, isDue, budget }, most).catch(() => {})
    }
    if (pace.signal.aborted) throw abortedBy(pace.signal)
    // What fails here is repeated when the call needs it, and fails there: so the order of answers does not matter.
    await Promise.allSettled([...reads].flatMap(load))
  }

  async function metered<T>(address: Hex, part: Part | undefined, read: () => Promise<T>): Promise<T> {
    if (!state.holds(address, part)) await prepare()
    const isMissed = !state.holds(address, part)
    if (isMissed && !spend(1, maxRequests)) throw refusedFor('LIMIT_REACHED', { found: `It is ${maxRequests}.` })
    const id = address + (part ?? '')
    tally.used += tally.unused.get(id) ?? (isMissed ? SLOT : 0)
    tally.unused.delete(id)
    return read()
  }
  return {
    getAccount: address => metered(address, undefined, () => state.getAccount(address)),
    getStorage: (address, key) => metered(address, key, () => state.getStorage(address, key)),
    getCode: address => metered(address, 'code', () => state.getCode(address)),
  }
}
