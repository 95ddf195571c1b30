import { invalid } from '../arguments.ts'
import { verifyWhole } from '../options.ts'
import { MAX_TIMEOUT } from './limits.ts'

export const verifyTimeout = (timeoutMs: number, name = 'timeoutMs'): number =>
  verifyWhole(name, timeoutMs, 1, MAX_TIMEOUT)

export function isSignal(value: unknown): value is AbortSignal {
  try {
    return value instanceof AbortSignal
  } catch {
    // A proxy can throw anything.
    return false
  }
}

export function verifySignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !isSignal(signal)) throw invalid('signal', 'an AbortSignal', signal)
}
