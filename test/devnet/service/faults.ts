import type { Fault, FaultFunction } from '../../../src/devnet/index.ts'

/** The probability of each fault. Their sum is at most 1. */
export interface FaultRates {
  readonly rateLimited?: number
  readonly unavailable?: number
  readonly reset?: number
  readonly cut?: number
  readonly slow?: number
  readonly lie?: number
}

/**
 * Faults that depend only on the seed and the order of requests.
 *
 * @param lie changes the result of a request that is chosen for a lie
 */
export function seededFaults(
  seed: number,
  rates: FaultRates,
  lie: (result: unknown) => unknown = corrupt,
): FaultFunction {
  const { rateLimited = 0, unavailable = 0, reset = 0, cut = 0, slow = 0, lie: lies = 0 } = rates
  const faults: readonly (readonly [number, Fault])[] = [
    [rateLimited, { kind: 'status', status: 429, retryAfterSeconds: 0 }],
    [unavailable, { kind: 'status', status: 503 }],
    [reset, { kind: 'reset' }],
    [cut, { kind: 'cut' }],
    [slow, { kind: 'delay', milliseconds: 20 }],
    [lies, { kind: 'lie', change: lie }],
  ]
  return ({ turn }) => {
    let draw = random(seed, turn)
    for (const [rate, fault] of faults) {
      if (draw < rate) return fault
      draw -= rate
    }
    return undefined
  }
}

/** A number from 0 to below 1 that depends on both arguments. */
function random(seed: number, turn: number): number {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(turn + 1, 0x85ebca6b)) >>> 0
  for (let round = 0; round < 3; round++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0
    state = (state ^ (state >>> 12)) >>> 0
  }
  return state / 2 ** 32
}

/** Changes the last digit of the first hexadecimal string with at least two digits, wherever it is. */
export function corrupt(result: unknown): unknown {
  if (typeof result === 'string' && /^0x[0-9a-f]{2,}$/i.test(result)) {
    return `${result.slice(0, -1)}${result.endsWith('0') ? '1' : '0'}`
  }
  if (typeof result !== 'object' || result === null) return result
  for (const [name, value] of Object.entries(result)) {
    const changed = corrupt(value)
    if (changed === value && typeof value !== 'object') continue
    Reflect.set(result, name, changed)
    return result
  }
  return result
}
