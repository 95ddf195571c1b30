import { readdirSync, readFileSync } from 'node:fs'
import type { TrustedBlock } from '../../../src/entry/beacon.ts'
import { applyPatches } from '../../../src/site/patches.ts'
import type { Input, InvalidVector, ValidVector } from '../../../vectors/beacon/vector.ts'

const FOLDER = 'vectors/beacon'
const readJson = (path: string) => JSON.parse(readFileSync(`${FOLDER}/${path}`, 'utf8'))
export const namesIn = (kind: 'valid' | 'invalid'): string[] =>
  readdirSync(`${FOLDER}/${kind}`).map(file => file.replace('.json', ''))

/** What is trusted in a vector. */
export const trustedIn = ({ network, blockRoot }: Input): TrustedBlock => ({ network, blockRoot })

export const readValid = (name: string): ValidVector => readJson(`valid/${name}.json`)

export function readInvalid(name: string): InvalidVector & { input: Input } {
  const vector = readJson(`invalid/${name}.json`)
  // The generator writes valid inputs.
  return applyPatches(vector, readValid(vector.base)) as unknown as InvalidVector & { input: Input }
}
