import { hexLength } from '../bytes.ts'
import { type ErrorCode, ProofError } from '../errors.ts'

/**
 * How a stranger's JSON values are read: by hand, one own property at a time, and never with anything but a ProofError. What
 * does not have its shape is refused with `code`: that of an answer, unless another document is read.
 */
const ANSWER: ErrorCode = 'MALFORMED_RESPONSE'

/** The values of the named own properties of an object, in the order of `names`, each read once. */
export function readFields(source: unknown, names: readonly string[], code = ANSWER): unknown[] {
  if (typeof source !== 'object' || source === null || isArray(source, code)) throw malformed('an object', source, code)
  return names.map(name => readOwn(source, name, code))
}

/** What is inherited counts as missing. A getter or a proxy can throw anything. */
export function readOwn(source: object, name: PropertyKey, code = ANSWER): unknown {
  try {
    // What any object has under a name is unknown: that is all the cast says.
    return Object.hasOwn(source, name) ? (source as Record<PropertyKey, unknown>)[name] : undefined
  } catch {
    throw unreadable(code)
  }
}

const unreadable = (code: ErrorCode) => new ProofError(code, { found: 'an object that cannot be read' })

/** Some serializers write null for a field that is not there. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Even this can throw: on a revoked proxy. */
export function isArray(value: unknown, code = ANSWER): value is readonly unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    throw unreadable(code)
  }
}

export function asArray(value: unknown, code = ANSWER): readonly unknown[] {
  if (!isArray(value, code)) throw malformed('an array', value, code)
  return value
}

/** A proxy around an array can say that its length is anything. */
export function lengthOf(items: readonly unknown[], code = ANSWER): number {
  const length = readOwn(items, 'length', code)
  if (typeof length !== 'number') throw malformed('an array', length, code)
  return length
}

export function asString(value: unknown, code = ANSWER): string {
  if (typeof value !== 'string') throw malformed('a string', value, code)
  return value
}

export function malformed(expected: string, value: unknown, code = ANSWER): ProofError {
  const found = isArray(value, code)
    ? 'an array'
    : value === undefined || value === null
      ? 'nothing'
      : `a ${typeof value}`
  return new ProofError(code, { expected, found })
}

/** The length in bytes of `hex`, when it is one of `lengths`. */
export function knownLength(hex: string, lengths: readonly number[]): number {
  const length = hexLength(hex)
  if (!lengths.includes(length)) {
    throw new ProofError('WRONG_LENGTH', { expected: `${lengths.join(' or ')} bytes`, found: `${length} bytes` })
  }
  return length
}
