import { invalid } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { genuine, type HashScheme, type Scheme } from './scheme.ts'

/** Makes a scheme that {@link hashSchemeOf} accepts, and that nobody can change. */
export const createScheme = (parts: Omit<HashScheme, typeof genuine>): HashScheme =>
  // It names itself, so that neither a copy of it nor an object that inherits from it is genuine.
  Object.freeze(Object.defineProperty(parts, genuine, { value: parts }) as HashScheme)

const importOf = (name: Scheme['name']) => `${name} of 'rollup-state-proof/${name}'`

/** What a scheme consists of. @throws ArgumentError unless it is `mimc` or `poseidon2` of any copy of this package */
export function hashSchemeOf(scheme: Scheme): HashScheme {
  try {
    if (scheme && scheme[genuine] === scheme) return scheme as HashScheme
  } catch {
    // A proxy can throw anything.
  }
  return atPath('scheme', () => {
    throw invalid('', `the object ${importOf('poseidon2')} or ${importOf('mimc')}`, scheme)
  })
}
