import type { FailureCode } from '../src/base/errors.ts'
import type { Hex, Scheme } from '../src/entry/index.ts'
import { adjacency } from './invalid/adjacency.ts'
import { binding } from './invalid/binding.ts'
import { canonicity } from './invalid/canonicity.ts'
import { encoding } from './invalid/encoding.ts'
import { type ForgeryClass, makeTruth } from './invalid/forgery.ts'
import { leafIndex } from './invalid/leaf-index.ts'
import { ordering } from './invalid/ordering.ts'
import { path } from './invalid/path.ts'
import { root } from './invalid/root.ts'
import { sentinel } from './invalid/sentinel.ts'
import { shapes } from './invalid/shape.ts'
import { value } from './invalid/value.ts'
import type { Flag } from './vector.ts'

/** One file of forgeries per class of bug. */
const CLASSES: readonly (readonly [Flag, ForgeryClass])[] = [
  ['Canonicity', canonicity],
  ['Adjacency', adjacency],
  ['Ordering', ordering],
  ['Sentinel', sentinel],
  ['Path', path],
  ['Index', leafIndex],
  ['Root', root],
  ['Binding', binding],
  ['Value', value],
  ['Encoding', encoding],
  ['Shape', shapes],
]

/** An invalid case, before it becomes a file. */
export interface InvalidCase {
  name: string
  description: string
  flag: Flag
  code: FailureCode
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: unknown
}

export function invalidCases(scheme: Scheme): InvalidCase[] {
  const truth = makeTruth(scheme)
  return CLASSES.flatMap(([flag, forgeriesOf]) =>
    forgeriesOf(truth).map(({ name, description, code, from = truth.plain, forge, claim }) => {
      const { stateRoot, address, storageKeys } = { ...from, ...claim }
      const copy = structuredClone(from.answer)
      const answer = forge?.(copy) ?? copy
      return { name, description, flag, code, stateRoot, address, storageKeys, answer }
    }),
  )
}
