import { invalid } from './arguments.ts'

/** Checks of options that `verifyProof` does not have. */

/** @throws ArgumentError unless it is a bigint of at most `bits` bits */
export function verifyUint(path: string, value: unknown, bits: number): bigint {
  if (typeof value === 'bigint' && value >= 0n && value < 1n << BigInt(bits)) return value
  throw invalid(path, `a bigint from 0 to 2^${bits} - 1`, value)
}

/** @throws ArgumentError unless it is a whole number from `min` to `max` */
export function verifyWhole(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw invalid(what, `a whole number ${range}`, value)
}

export function verifyFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalid(what, 'a function', value)
}
