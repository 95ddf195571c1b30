import { invalid } from '../../base/arguments.ts'
import { verifyWhole } from '../../base/options.ts'
import { MAX_TIMEOUT } from './limits.ts'

export const verifyTimeout = (timeoutMs: number): number => verifyWhole('timeoutMs', timeoutMs, 1, MAX_TIMEOUT)

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

/** People pass the hash itself. @throws ArgumentError */
export function verifyHashSource(l1BlockHash: unknown): void {
  const expected = "a function: () => hash, or one of 'rollup-state-proof/rpc', such as beaconBlockHash"
  if (typeof l1BlockHash !== 'function') throw invalid('l1BlockHash', expected, l1BlockHash)
}
