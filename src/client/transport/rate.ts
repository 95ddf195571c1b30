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
/** Requests per second: fewer are not of use, more are no limit, and so many are likely if too few were accepted to tell. */
const [LEAST, MOST, LIKELY] = [0.1, 500, 4]
/** Requests accepted at a rate before it is refused: with fewer the pause was too short, and with fewer than so many it is far too high. */
const [FEW, PROVEN] = [3, 12]
/** Milliseconds over which accepted requests are counted at first. */
const WINDOW = 1_000
/** Of a rate that was refused, so much less is tried; of one that was far too high, so much counts as what was refused. */
const [LESS, FAR_LESS] = [0.15, 0.6]
/** Milliseconds until it is tried again. A first guess may be far too low. */
const [PATIENCE, PATIENCE_WITH_GUESS] = [30_000, 4_000]

/** A rate that an endpoint has refused. */
interface Learnt {
  readonly refused: number
  readonly patience: number
  /** Milliseconds in which requests were sent about as fast as it allows. */
  busy: number
  accepted: number
}

/** What is tried: it nears the rate that was refused, stays there, and then grows faster and faster, as in RFC 9438 (CUBIC). */
const rateOf = ({ refused, busy, patience }: Learnt): number => refused * (1 + LESS * (busy / patience - 1) ** 3)

function learnFrom(learnt: Learnt | undefined, lately: number): Learnt {
  const fresh = { busy: 0, accepted: 0 }
  if (learnt === undefined) return { ...fresh, refused: Math.max(lately, LIKELY), patience: PATIENCE_WITH_GUESS }
  if (learnt.accepted < FEW) return learnt
  const refused = rateOf(learnt) * (learnt.accepted < PROVEN ? FAR_LESS : 1)
  return { ...fresh, refused: Math.max(refused, LEAST), patience: PATIENCE }
}

/**
 * What an endpoint allows, learnt from what it refuses: at first everything. After a refusal nothing is sent for as long as it asks
 * for, or for a while. Then requests go at the rate at which it accepted them before, which grows until the next refusal.
 */
export function createRate({ now, random }: Clock) {
  /** When the pause ends, how many there were, and how many in a row. */
  let [until, round, inARow] = [0, 0, 0]
  let learnt: Learnt | undefined
  /** When requests were accepted lately, as long as no rate is known. */
  let accepted: number[] = []
  let nextAt = 0

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
    delay: (): number => Math.max(until, nextAt) - now(),
    /** A request is sent. @returns the round in which, for what becomes of it */
    begin(): number {
      if (learnt === undefined) return round
      const interval = 1000 / rateOf(learnt)
      if (now() - nextAt < interval) learnt.busy += interval
      // A timer that fired late does not slow everything down.
      nextAt = Math.max(nextAt, now() - interval / 10) + interval
      if (rateOf(learnt) > MOST) learnt = undefined
      return round
    },
    accept(ofRound: number): void {
      if (ofRound === round) inARow = 0
      if (learnt !== undefined) learnt.accepted++
      else if (accepted.push(now()) > 2 * MOST) accepted = accepted.slice(-MOST)
    },
    /** @param isRate whether it says that requests are too many, rather than that it cannot serve any @returns milliseconds to wait */
    refuse(ofRound: number, asked: number | undefined, isRate: boolean): number {
      // Requests that were under way together are refused together.
      const isNew = ofRound === round
      if (isNew) {
        round++
        inARow++
        if (isRate) learnt = learnFrom(learnt, accepted.filter(at => at >= now() - WINDOW).length)
      }
      // If it refuses after as long as it asked to wait, that was not enough.
      const isOwn = isNew && (asked === undefined || inARow > 1)
      const own = isOwn ? Math.min(FIRST_PAUSE * 2 ** (inARow - 1), LONGEST_OWN_PAUSE) * (1 + random()) : 0
      // What is longer than any pause counts for whoever has asked.
      until = Math.max(until, now() + Math.min(Math.max(own, asked ?? 0), LONGEST_PAUSE))
      return Math.max(asked ?? 0, until - now())
    },
  }
}
