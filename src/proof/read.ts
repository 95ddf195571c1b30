import { hexLength } from '../bytes.ts'
import { ProofError } from '../errors.ts'

/** How a stranger's JSON values are read: by hand, one own property at a time, and never with anything but a ProofError. */

/** The values of the named own properties of an object, in the order of `names`, each read once. */
export function readFields(source: unknown, names: readonly string[]): unknown[] {
  if (typeof source !== 'object' || source === null || isArray(source)) throw malformed('an object', source)
  return names.map(name => readOwn(source, name))
}

/** What is inherited counts as missing. A getter or a proxy can throw anything. */
export function readOwn(source: object, name: PropertyKey): unknown {
  try {
    // What any object has under a name is unknown: that is all the cast says.
    return Object.hasOwn(source, name) ? (source as Record<PropertyKey, unknown>)[name] : undefined
  } catch {
    throw unreadable()
  }
}

const unreadable = () => new ProofError('MALFORMED_RESPONSE', { found: 'an object that cannot be read' })

/** Some serializers write null for a field that is not there. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Even this can throw: on a revoked proxy. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    throw unreadable()
  }
}

export function asArray(value: unknown): readonly unknown[] {
  if (!isArray(value)) throw malformed('an array', value)
  return value
}

/** A proxy around an array can say that its length is anything. */
export function lengthOf(items: readonly unknown[]): number {
  const length = readOwn(items, 'length')
  if (typeof length !== 'number') throw malformed('an array', length)
  return length
}

export function asString(value: unknown): string {
  if (typeof value !== 'string') throw malformed('a string', value)
  return value
}

export function malformed(expected: string, value: unknown): ProofError {
  const found = isArray(value) ? 'an array' : value === undefined || value === null ? 'nothing' : `a ${typeof value}`
  return new ProofError('MALFORMED_RESPONSE', { expected, found })
}

/** The length in bytes of `hex`, when it is one of `lengths`. */
export function knownLength(hex: string, lengths: readonly number[]): number {
  const length = hexLength(hex)
  if (!lengths.includes(length)) {
    throw new ProofError('WRONG_LENGTH', { expected: `${lengths.join(' or ')} bytes`, found: `${length} bytes` })
  }
  return length
}
