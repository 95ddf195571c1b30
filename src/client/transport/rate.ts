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
/** Milliseconds over which accepted requests are counted. */
const WINDOW = 1000
/** Of what the endpoint has just accepted, and of a rate that went well for long. */
const [MARGIN, BACK] = [0.9, 0.85]
/** Requests per second: fewer are not of use, more are no limit, and so many are likely if too few were sent to tell. */
const [LEAST, MOST, LIKELY] = [0.1, 500, 4]
/** Accepted requests, or milliseconds, after which somewhat more are tried: by a twentieth first, then by more each time. */
const [STEP_REQUESTS, STEP_TIME, FIRST_STEP] = [60, 20_000, 0.05]
/** The same for a first guess, which nothing has refused yet: it may be far too low. */
const [GUESS_REQUESTS, GUESS_STEP] = [5, 0.3]
/** Near a rate that was refused, each step takes as many times as long, and twice as many after each refusal there, up to a bound. */
const [NEAR, MOST_PATIENCE] = [0.95, 4]
/** Accepted requests since the last refusal with which a rate has gone well, and with which nothing can be measured. */
const [PROVEN, FEW] = [20, 3]

/** The pauses of a busy endpoint. */
interface Pauses {
  until: number
  /** How often there was a pause, and how often in a row. */
  round: number
  inARow: number
  /** When requests were last refused, and how many at once. */
  lastAt: number
  atOnce: number
}

/** @returns the milliseconds for which to wait, which may be longer than the pause */
function beginPause(
  pauses: Pauses,
  ofRound: number,
  at: number,
  asked: number | undefined,
  random: () => number,
): number {
  // Requests that were under way together are refused together.
  const isNew = ofRound === pauses.round
  if (isNew) Object.assign(pauses, { round: ofRound + 1, inARow: pauses.inARow + 1, lastAt: at, atOnce: 0 })
  pauses.atOnce++
  // If it refuses after as long as it asked to wait, that was not enough.
  const isOwn = isNew && (asked === undefined || pauses.inARow > 1)
  const own = isOwn ? Math.min(FIRST_PAUSE * 2 ** (pauses.inARow - 1), LONGEST_OWN_PAUSE) * (1 + random()) : 0
  pauses.until = Math.max(pauses.until, at + Math.min(Math.max(own, asked ?? 0), LONGEST_PAUSE))
  return Math.max(asked ?? 0, pauses.until - at)
}

/** How a rate that goes well grows. */
function createSteps() {
  let [since, step, steppedAt, isGuess] = [0, FIRST_STEP, 0, false]
  /** The rate that was refused last, until a higher one goes well; and how many times as long a step takes near it. */
  let [refused, patience] = [Number.POSITIVE_INFINITY, 1]
  return {
    refuse(perSecond: number): void {
      ;[refused, patience] = [perSecond, Math.min(2 * patience, MOST_PATIENCE)]
    },
    /** @param isFirst whether the rate is a guess that nothing has refused yet */
    begin(isFirst: boolean, at: number): void {
      ;[since, step, steppedAt, isGuess] = [0, isFirst ? GUESS_STEP : FIRST_STEP, at, isFirst]
    },
    /** A request was accepted while others wait. @returns the rate from now on */
    accept(perSecond: number, at: number): number {
      const isNear = perSecond >= NEAR * refused && perSecond <= refused
      const times = isNear ? patience : 1
      const isStep = ++since >= times * (isGuess ? Math.max(GUESS_REQUESTS, perSecond) : STEP_REQUESTS)
      if (!isStep && at - steppedAt < times * STEP_TIME) return perSecond
      if (perSecond > refused) [refused, patience] = [Number.POSITIVE_INFINITY, 1]
      const next = isNear ? refused * (1 + FIRST_STEP / 2) : Math.min(perSecond * (1 + step), NEAR * refused)
      ;[since, steppedAt] = [0, at]
      if (!isGuess && !isNear) step = Math.min(2 * step, 1)
      return next
    },
  }
}

/**
 * What an endpoint allows, learnt from what it refuses: at first everything. After a refusal nothing is sent for as long as it asks
 * for, or for a while. Then requests go at the rate at which it accepted them before, which grows slowly until the next refusal.
 */
export function createRate({ now, random }: Pick<Clock, 'now' | 'random'>) {
  const pauses: Pauses = { until: 0, round: 0, inARow: 0, lastAt: 0, atOnce: 0 }
  const steps = createSteps()
  let perSecond: number | undefined
  let [nextAt, learntAt, accepted, hasToLearn] = [0, 0, 0, false]
  /** When requests were accepted lately. */
  let recent: number[] = []

  function learn(): void {
    hasToLearn = false
    // If nothing was accepted, the pause was too short.
    if (accepted === 0) return
    const since = Math.max(learntAt, pauses.lastAt - WINDOW)
    const count = recent.filter(at => at >= since).length
    const span = perSecond === undefined ? WINDOW : Math.max(pauses.lastAt - since, WINDOW / 3)
    const measured = (MARGIN * count * 1000) / span
    const isFirst = perSecond === undefined
    if (perSecond !== undefined) steps.refuse(perSecond)
    if (perSecond === undefined) perSecond = pauses.atOnce < FEW ? Math.max(measured, LIKELY) : measured
    else if (accepted >= PROVEN || count < FEW) perSecond *= BACK
    else perSecond = Math.min(perSecond * BACK, Math.max(measured, perSecond / 4))
    perSecond = Math.max(perSecond, LEAST)
    ;[accepted, learntAt] = [0, now()]
    steps.begin(isFirst, learntAt)
  }

  return {
    get perSecond() {
      return perSecond
    },
    /** Milliseconds of the pause that are left. */
    get pause() {
      return Math.max(pauses.until - now(), 0)
    },
    /** Whether one request alone finds out if the endpoint is still busy. */
    get isProbing() {
      return pauses.inARow > 0
    },
    /** Milliseconds until the next request may be sent. */
    delay(): number {
      const at = now()
      if (hasToLearn && at >= pauses.until) learn()
      return Math.max(pauses.until, perSecond === undefined ? 0 : nextAt) - at
    },
    /** A request is sent. @returns the round in which, for what becomes of it */
    begin(): number {
      const { round } = pauses
      if (perSecond === undefined) return round
      const interval = 1000 / perSecond
      // A timer that fired late does not slow everything down.
      nextAt = Math.max(nextAt, now() - interval / 10) + interval
      return round
    },
    /** @param isShort whether others wait */
    accept(round: number, isShort: boolean): void {
      const at = now()
      if (recent.push(at) > 4 * MOST) recent = recent.slice(-MOST)
      accepted++
      if (round === pauses.round) pauses.inARow = 0
      if (perSecond === undefined || !isShort || hasToLearn) return
      const next = steps.accept(perSecond, at)
      perSecond = next > MOST ? undefined : next
    },
    /** @param isRate whether it says that requests are too many, rather than that it cannot serve any @returns milliseconds to wait */
    refuse(round: number, asked: number | undefined, isRate: boolean): number {
      hasToLearn ||= isRate && round === pauses.round
      return beginPause(pauses, round, now(), asked, random)
    },
  }
}
