import { invalid } from '../arguments.ts'
import { verifyWhole } from '../options.ts'
import { MAX_TIMEOUT } from './limits.ts'

export const verifyTimeout = (timeoutMs: number, name = 'timeoutMs'): number =>
  verifyWhole(name, timeoutMs, 1, MAX_TIMEOUT)

export function verifySignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid('signal', 'an AbortSignal', signal)
}
