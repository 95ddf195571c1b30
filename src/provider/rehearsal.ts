import type { Hex } from '../base/bytes.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/code.ts'
import type { CallRequest } from './call-request.ts'
import { type ExecutionContext, execute } from './execute.ts'
import {
  MAX_GUESSED,
  MAX_GUESSED_AT_ONCE,
  MAX_GUESSED_CONTRACTS,
  MAX_HINTED_KEYS,
  MAX_IDLE_STEPS,
  MAX_REHEARSALS,
  MAX_REHEARSED_STEPS,
} from './limits.ts'
import type { Budget, Pace } from './pace.ts'
import type { KnownState, ProvenState } from './proven-state.ts'
import { type ReadAccount, readHistory, type StateReader, ZERO } from './state-reader.ts'

/** A slot, or the code. */
export type Part = Hex | 'code'
/** What a call reads of which account, or is said to read: a hint of what to fetch, and nothing else. */
export type CallReads = Map<Hex, Set<Part>>

export function partsOf(reads: CallReads, address: Hex): Set<Part> {
  const parts = reads.get(address) ?? new Set()
  reads.set(address, parts)
  return parts
}

/** Executes the call on a state that is partly guessed. What it returns or throws does not count. */
export type Rehearse = (guesses: StateReader, pace: Pace) => Promise<unknown>

export const rehearsalOf =
  (call: CallRequest, gas: bigint, context: ExecutionContext): Rehearse =>
  (guesses, pace) => {
    // Of BLOCKHASH, what the state holds, if that is known. No header is fetched for it.
    const claim = (number: bigint) => ({ number, stateBlock: context.blockNumber })
    const hashAt = (number: bigint): Promise<Hex> => readHistory(guesses, claim(number)).catch(() => ZERO)
    return execute(guesses, call, gas, { ...context, hashAt }, pace)
  }

/** What a guess costs: a slot that was proven in another block, another slot, and an account or a code, which take a request each. */
const [KNOWN_SLOT, SLOT, ACCOUNT] = [1, 4, 16]
/** How many codes of accounts about which nothing is known are fetched together with the accounts. Several may have the same. */
const EARLY_CODES = 4

/** The account about which nothing is known. It can pay for everything, so that the rehearsal goes on. */
const STRANGER: ReadAccount = { nonce: 0n, balance: 2n ** 128n, codeHash: EMPTY_CODE_HASH, hasStorage: false }
/** Code that returns a kilobyte of zeros, which most callers can decode. */
const STRANGE_CODE = Uint8Array.of(0x61, 4, 0, 0x60, 0, 0xf3)

interface Tally {
  /** What was guessed and the call itself has not read yet, with its cost. */
  readonly unused: Map<string, number>
  /** The cost of the guesses that the call has read, and of what it had to read alone. */
  used: number
  guessed: number
  steps: number
}

function createRehearsal(state: ProvenState, known: KnownState, pace: Pace, tally: Tally) {
  const reads: CallReads = new Map()
  let [count, cost, codes, idle, isBlind] = [0, 0, 0, 0, false]

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
    const isKnown = reads.has(address)
    if (part === undefined ? isKnown : reads.get(address)?.has(part)) return
    const more = 2 * tally.used
    const fits = tally.guessed + price <= MAX_GUESSED + more && cost + price <= MAX_GUESSED_AT_ONCE + more
    const isFull = count === MAX_HINTED_KEYS || (reads.size === MAX_GUESSED_CONTRACTS && !isKnown)
    if (!fits || isFull || budget.left() <= 0) end()
    const parts = partsOf(reads, address)
    if (part !== undefined) parts.add(part)
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
      const likely = known.likelyAccount(address)
      return likely === undefined ? STRANGER : likely
    },
    async getStorage(address, key) {
      if (state.holds(address, key)) return state.getStorage(address, key)
      const likely = known.likelySlot(address, key)
      guess(address, key, likely === undefined ? SLOT : KNOWN_SLOT)
      return likely ?? ZERO
    },
    async getCode(address) {
      if (state.holdsCode(address)) return state.getCode(address)
      const isHeld = state.holds(address)
      const likely = isHeld ? undefined : known.likelyCode(address)
      if (likely !== undefined) return likely
      isBlind = true
      if (isHeld || codes++ < EARLY_CODES) guess(address, 'code', ACCOUNT)
      return STRANGE_CODE
    },
  }
  const isDue = (): boolean => {
    budget.spend(1)
    return pace.isDue()
  }
  return { guesses, pace: { ...pace, isDue, budget }, found: () => ({ reads, isBlind }) }
}

/**
 * Finds out what a call will read. The call itself reads proven values only. When one is missing, the call is executed beside,
 * from its start, on what is proven and on guesses for the rest, and what this rehearsal reads can be fetched all at once. Nothing
 * else remains of it: so a wrong guess costs requests and time, and both are bounded by what the call has read so far.
 */
export function createRehearsals(state: ProvenState, known: KnownState, pace: Pace, rehearse: Rehearse) {
  const tally: Tally = { unused: new Map(), used: 0, guessed: 0, steps: 0 }
  let count = 0
  return {
    /** The cost of what the call has read. */
    used: (): number => tally.used,
    /** Notes what the call itself reads. @param isMissed whether it is fetched alone */
    use(address: Hex, part: Part | undefined, isMissed: boolean): void {
      const id = address + (part ?? '')
      tally.used += tally.unused.get(id) ?? (isMissed ? SLOT : 0)
      tally.unused.delete(id)
    },
    /** What the next rehearsal reads that is not proven, and whether it knew nothing of some code. Nothing if none is due. */
    async next(): Promise<{ readonly reads: CallReads; readonly isBlind: boolean }> {
      const { guesses, pace: limited, found } = createRehearsal(state, known, pace, tally)
      // One that finds a single read saves nothing, so there are fewer of them than reads.
      if (count < MAX_REHEARSALS + tally.used / 32 && limited.budget.left() > 0) {
        count++
        await rehearse(guesses, limited).catch(() => {})
      }
      return found()
    },
  }
}
