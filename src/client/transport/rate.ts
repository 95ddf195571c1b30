/** Time and chance, so that tests need neither. */
export interface Clock {
  /** Milliseconds since some moment. It never goes back. */
  now(): number
  /** Calls `work` later. @returns prevents it */
  after(milliseconds: number, work: () => void): () => void
  /** From 0 to below 1. */
  random(): number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** Milliseconds before the first attempt after a refusal, before jitter. Doubles with each further refusal in a row, up to a bound. */
const [FIRST_PAUSE, LONGEST_OWN_PAUSE] = [250, 8_000]
/** The longest pause in milliseconds, whatever the endpoint asks for. After it, one request finds out. */
export const LONGEST_PAUSE = 60_000
/** Requests per second: fewer are not of use, more are no limit, and so many are likely if too few were sent to tell. */
const [LEAST, MOST, LIKELY] = [0.1, 500, 4]
/** Accepted requests since the last refusal with which a rate has gone well, and with which nothing can be measured. */
const [PROVEN, FEW] = [20, 3]
/** Milliseconds over which accepted requests are counted at first, and at least. */
const [WINDOW, LEAST_WINDOW] = [1_000, 300]
/** Of a rate that was refused, this much is allowed. */
const BEGIN = 0.85
/**
 * Milliseconds until a rate is back where it was refused: twice as long after each refusal there, up to a bound. So many later it
 * is twice that; of a guess, which nothing has refused yet and which may be far too low, sooner.
 */
const [FIRST_PATIENCE, MOST_PATIENCE, DOUBLING, GUESS_DOUBLING] = [20_000, 100_000, 16_000, 6_000]

/** A rate that an endpoint has refused. */
interface Learnt {
  readonly refused: number
  readonly at: number
  readonly patience: number
  readonly isGuess: boolean
  /** Milliseconds in which requests were accepted at a rate while others waited. */
  busy: number
}

/** What is tried: it grows slowly up to the rate that was refused, stays near it, and then grows faster and faster. */
function rateOf({ refused, busy, patience, isGuess }: Learnt): number {
  const left = patience - busy
  if (left > 0) return refused * (1 - ((1 - BEGIN) * left) / patience)
  return refused * (1 + (left / (isGuess ? GUESS_DOUBLING : DOUBLING)) ** 2)
}

interface Refused {
  /** When, and how many requests at once. */
  readonly at: number
  readonly atOnce: number
  /** When those were accepted that came before, since the last rate was learnt. */
  readonly accepted: readonly number[]
}

function learnFrom(learnt: Learnt | undefined, { at: refusedAt, atOnce, accepted }: Refused, at: number): Learnt {
  const { length } = accepted
  if (learnt === undefined) {
    const lately = BEGIN * accepted.filter(one => one >= refusedAt - WINDOW).length
    return { refused: Math.max(lately, atOnce < FEW ? LIKELY : LEAST), at, patience: 0, isGuess: true, busy: 0 }
  }
  const rate = rateOf(learnt)
  const measured = Math.max((length * 1000) / Math.max(refusedAt - learnt.at, LEAST_WINDOW), rate / 4)
  const refused = Math.max(length < FEW || length >= PROVEN ? rate : Math.min(rate, measured), LEAST)
  const isThere = !learnt.isGuess && rate < 1.3 * learnt.refused
  const patience = isThere ? Math.min(2 * learnt.patience, MOST_PATIENCE) : FIRST_PATIENCE
  return { refused, at, patience, isGuess: false, busy: 0 }
}

/**
 * What an endpoint allows, learnt from what it refuses: at first everything. After a refusal nothing is sent for as long as it asks
 * for, or for a while. Then requests go at the rate at which it accepted them before, which grows until the next refusal.
 */
export function createRate({ now, random }: Clock) {
  /** When the pause ends, how many there were, and how many in a row. */
  let [until, round, inARow] = [0, 0, 0]
  /** When requests were refused last, and how many at once. */
  let [refusedAt, atOnce, hasToLearn] = [0, 0, false]
  let learnt: Learnt | undefined
  let [nextAt, accepted] = [0, [] as number[]]

  return {
    get perSecond() {
      return learnt && rateOf(learnt)
    },
    /** Milliseconds of the pause that are left. */
    get pause() {
      return Math.max(until - now(), 0)
    },
    /** Whether one request alone finds out if the endpoint is still busy. */
    get isProbing() {
      return inARow > 0
    },
    /** Milliseconds until the next request may be sent. */
    delay(): number {
      const isOver = now() >= until
      // If nothing was accepted, the pause was too short.
      if (hasToLearn && isOver && accepted.length > 0) {
        learnt = learnFrom(learnt, { at: refusedAt, atOnce, accepted }, now())
        accepted = []
      }
      if (isOver) hasToLearn = false
      return Math.max(until, learnt === undefined ? 0 : nextAt) - now()
    },
    /** A request is sent. @returns the round in which, for what becomes of it */
    begin(): number {
      if (learnt === undefined) return round
      const interval = 1000 / rateOf(learnt)
      // A timer that fired late does not slow everything down.
      nextAt = Math.max(nextAt, now() - interval / 10) + interval
      return round
    },
    /** @param isShort whether others wait */
    accept(ofRound: number, isShort: boolean): void {
      if (accepted.push(now()) > 4 * MOST) accepted = accepted.slice(-MOST)
      if (ofRound === round) inARow = 0
      if (learnt === undefined || !isShort || hasToLearn) return
      learnt.busy += 1000 / rateOf(learnt)
      if (rateOf(learnt) > MOST) learnt = undefined
    },
    /** @param isRate whether it says that requests are too many, rather than that it cannot serve any @returns milliseconds to wait */
    refuse(ofRound: number, asked: number | undefined, isRate: boolean): number {
      // Requests that were under way together are refused together.
      const isNew = ofRound === round
      if (isNew) {
        round++
        inARow++
        refusedAt = now()
        atOnce = 0
        hasToLearn ||= isRate
      }
      atOnce++
      // If it refuses after as long as it asked to wait, that was not enough.
      const isOwn = isNew && (asked === undefined || inARow > 1)
      const own = isOwn ? Math.min(FIRST_PAUSE * 2 ** (inARow - 1), LONGEST_OWN_PAUSE) * (1 + random()) : 0
      // What is longer than any pause counts for whoever has asked.
      until = Math.max(until, now() + Math.min(Math.max(own, asked ?? 0), LONGEST_PAUSE))
      return Math.max(asked ?? 0, until - now())
    },
  }
}
