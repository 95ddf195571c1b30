import { invalid } from '../arguments.ts'
import { MAX_TIMEOUT } from './limits.ts'

/** @throws ArgumentError unless it is a whole number from `min` to `max` */
export function verifyWhole(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw invalid(what, `a whole number ${range}`, value)
}

export const verifyTimeout = (timeoutMs: number): number => verifyWhole('timeoutMs', timeoutMs, 1, MAX_TIMEOUT)

export function verifyFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalid(what, 'a function', value)
}

export function verifySignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid('signal', 'an AbortSignal', signal)
}
