import { DocumentError, type Fields, fieldIn, fieldsOf, show } from '../../src/cli/words/value.ts'
import type { AnyState } from '../../src/verify/state/kind.ts'
import type { Outcome } from '../../src/verify/verifier/safe.ts'

/** The `expected` of a vector, unchecked except for `valid` and `code`. */
export type Expected = Fields & { readonly valid: boolean }

/** @throws DocumentError if it is not what a vector must state */
export function readExpected(expected: unknown): Expected {
  const fields = fieldsOf(expected)
  const { valid, code } = fields
  if (typeof valid !== 'boolean')
    throw new DocumentError('it is not a vector: expected.valid is neither true nor false')
  if (!valid && typeof code !== 'string') throw new DocumentError('it is not a vector: expected.code is missing')
  return { ...fields, valid }
}

/**
 * Compares an outcome with what a file expects: one sentence per mismatch, none if the outcome is as expected.
 *
 * @param spell what was proven, as the file writes it
 */
export function compare<T extends object>(
  { valid, code: wantedCode, path: wantedPath, ...wanted }: Expected,
  outcome: Outcome<T>,
  spell: (verified: T) => object,
): string[] {
  if (outcome.ok) {
    if (!valid) return [`expected ${show(wantedCode)}, but it verified`]
    return Object.entries(spell(outcome.value)).flatMap(([name, value]) =>
      differences(name, fieldIn(wanted, name), value),
    )
  }
  const { code, path } = outcome.error
  if (valid) return [`expected to verify, got ${placed(code, path)}`]
  const isAsExpected = code === wantedCode && (wantedPath === undefined || wantedPath === path)
  return isAsExpected ? [] : [`expected ${placed(wantedCode, wantedPath)}, got ${placed(code, path)}`]
}

export const spellState = ({ account, storage }: AnyState): object => ({ account, storage })

const placed = (code: unknown, path: unknown): string => (path ? `${show(code)} at ${show(path)}` : show(code))

/** Compares field by field, no deeper than `found`. */
function differences(path: string, expected: unknown, found: unknown): string[] {
  if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    const [wanted, got] = [Array.isArray(expected) ? { ...expected } : expected, { ...found }].map(fieldsOf)
    return Object.keys({ ...wanted, ...got }).flatMap(name =>
      differences(`${path}.${name}`, wanted?.[name], got?.[name]),
    )
  }
  // A JSON number cannot hold every bigint, so vectors use decimal strings.
  const plain = typeof found === 'bigint' ? found.toString() : found
  return plain === expected ? [] : [`${path}: expected ${show(expected)}, got ${show(plain)}`]
}
