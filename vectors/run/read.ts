import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Fields, fieldsOf } from '../../src/cli/words/value.ts'
import { applyPatches } from '../../src/site/patches.ts'

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** The vector in a file. One that is a list of changes gets the input of its base, with the changes. */
export function readVector(path: string): Fields {
  const vector = fieldsOf(read(path))
  const { base, patches } = vector
  return patches === undefined
    ? vector
    : applyPatches(vector, read(join(dirname(path), '..', 'valid', `${String(base)}.json`)))
}
