import type { Hex } from '../base/bytes.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/code.ts'
import {
  MAX_GUESSED,
  MAX_GUESSED_AT_ONCE,
  MAX_GUESSED_CONTRACTS,
  MAX_HINTED_KEYS,
  MAX_IDLE_STEPS,
  MAX_REHEARSED_STEPS,
  REHEARSED_AGAIN,
} from './limits.ts'
import type { Budget, Pace } from './pace.ts'
import type { KnownState, ProvenState } from './proven-state.ts'
import { type ReadAccount, readHistory, type StateReader, ZERO } from './state-reader.ts'

/** What a call reads, or is said to read: a hint of what to fetch, and nothing else. */
export type CallReads = ReadonlyMap<Hex, AccountReads>

interface AccountReads {
  readonly keys: ReadonlySet<Hex>
  readonly isCodeRead: boolean
}

/** Executes the call on a state that is partly guessed. What it returns or throws does not count. */
export type Rehearse = (guesses: StateReader, pace: Pace) => Promise<unknown>

/** What a guess costs: a slot that was proven in another block, another slot, and an account or a code, which take a request each. */
const [KNOWN_SLOT, SLOT, ACCOUNT] = [1, 4, 16]
/** How many codes of accounts about which nothing is known are fetched together with the accounts. Several may have the same. */
const EARLY_CODES = 4
/** After so many rehearsals in a row that saved nothing, one miss is not rehearsed, then two, four, and so on. */
const VAIN = 5

/** The account about which nothing is known. It can pay for everything, so that the rehearsal goes on. */
const STRANGER: ReadAccount = { nonce: 0n, balance: 2n ** 128n, codeHash: EMPTY_CODE_HASH, hasStorage: false }
/** Code that returns a kilobyte of zeros, which most callers can decode. */
const STRANGE_CODE = Uint8Array.of(0x61, 4, 0, 0x60, 0, 0xf3)

export function collectReads() {
  const reads = new Map<Hex, { readonly keys: Set<Hex>; isCodeRead: boolean }>()
  return {
    reads: reads as CallReads,
    of(address: Hex) {
      const one = reads.get(address) ?? { keys: new Set<Hex>(), isCodeRead: false }
      reads.set(address, one)
      return one
    },
  }
}

/** For BLOCKHASH in a rehearsal: what the state holds, if that is known. No header is fetched for it. */
export const guessHash =
  (guesses: StateReader, stateBlock: bigint) =>
  (number: bigint): Promise<Hex> =>
    readHistory(guesses, { number, stateBlock }).catch(() => ZERO)

interface Tally {
  /** What was guessed and the call itself has not read yet, with its cost. */
  readonly unused: Map<string, number>
  /** The cost of the guesses that the call has read, and of what it had to read alone. */
  used: number
  /** The same without what had to be read alone, and without the first one that the call read after each rehearsal. */
  saved: number
  guessed: number
  /** The steps of all rehearsals, and those of the call up to its last miss: each rehearsal begins with these. */
  steps: number
  own: number
}

function createRehearsal(state: ProvenState, known: KnownState, pace: Pace, tally: Tally) {
  const { reads, of } = collectReads()
  const seen = new Set<string>()
  let [cost, codes, steps, idle, isBlind] = [0, 0, 0, 0, false]

  const end = (): never => {
    // So that it does not go on, whatever the contract makes of the error.
    idle = MAX_IDLE_STEPS
    throw new Error('the rehearsal has come to its bounds')
  }
  const budget: Budget = {
    left() {
      const most = MAX_REHEARSED_STEPS + 2 ** 10 * tally.saved + REHEARSED_AGAIN * tally.own
      return Math.min(most - tally.steps, MAX_IDLE_STEPS - idle)
    },
    spend(more) {
      steps += more
      tally.steps += more
      if (seen.size > 0) idle += more
      else tally.own = Math.max(tally.own, steps)
      if (budget.left() <= 0) end()
    },
  }
  function guess(address: Hex, part: Hex | 'code' | '', price: number) {
    const id = address + part
    if (seen.has(id)) return of(address)
    const more = 2 * tally.used
    const fits = tally.guessed + price <= MAX_GUESSED + more && cost + price <= MAX_GUESSED_AT_ONCE + more
    const isFull = seen.size === MAX_HINTED_KEYS || (reads.size === MAX_GUESSED_CONTRACTS && !reads.has(address))
    if (!fits || isFull || budget.left() <= 0) end()
    seen.add(id)
    tally.unused.set(id, price)
    tally.guessed += price
    cost += price
    idle = 0
    return of(address)
  }

  const guesses: StateReader = {
    async getAccount(address) {
      if (state.holds(address)) return state.getAccount(address)
      guess(address, '', ACCOUNT)
      const likely = known.likelyAccount(address)
      return likely === undefined ? STRANGER : likely
    },
    async getStorage(address, key) {
      if (state.holds(address, key)) return state.getStorage(address, key)
      const likely = known.likelySlot(address, key)
      guess(address, key, likely === undefined ? SLOT : KNOWN_SLOT).keys.add(key)
      return likely ?? ZERO
    },
    async getCode(address) {
      if (state.holdsCode(address)) return state.getCode(address)
      const isHeld = state.holds(address)
      const likely = isHeld ? undefined : known.likelyCode(address)
      if (likely !== undefined) return likely
      isBlind = true
      if (isHeld || codes++ < EARLY_CODES) guess(address, 'code', ACCOUNT).isCodeRead = true
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
  const tally: Tally = { unused: new Map(), used: 0, saved: 0, guessed: 0, steps: 0, own: 0 }
  /** How many reads the call made use of since the last rehearsal, how often that was one at most, and misses until the next one. */
  let [gained, vain, skipped] = [0, 0, 0]
  return {
    /** The cost of what the call has read. */
    used: (): number => tally.used,
    /** Notes what the call itself reads. @param part a slot, or `code` @param isMissed whether it is fetched alone */
    use(address: Hex, part: Hex | 'code' | undefined, isMissed: boolean): void {
      const id = address + (part ?? '')
      const price = tally.unused.get(id)
      tally.used += price ?? (isMissed ? SLOT : 0)
      if (price !== undefined && gained++ > 0) tally.saved += price
      tally.unused.delete(id)
    },
    /** What the next rehearsal reads that is not proven, and whether it knew nothing of some code. Nothing if none is due. */
    async next(): Promise<{ reads: CallReads; isBlind: boolean }> {
      const { guesses, pace: limited, found } = createRehearsal(state, known, pace, tally)
      if (skipped > 0 || limited.budget.left() <= 0) {
        skipped--
        return found()
      }
      // One that finds a single read saves nothing. After some of these, ever fewer are tried.
      vain = gained > 1 ? 0 : vain + 1
      ;[gained, skipped] = [0, Math.floor(2 ** (vain - VAIN))]
      await rehearse(guesses, limited).catch(() => {})
      return found()
    },
  }
}
