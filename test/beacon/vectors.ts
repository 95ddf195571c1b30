import { readdirSync, readFileSync } from 'node:fs'
import { verifyCheckpoint, verifyFinality } from '../../src/beacon.ts'
import { applyPatches, expand, type Input, type InvalidVector, type ValidVector } from '../../vectors/beacon/vector.ts'

const FOLDER = 'vectors/beacon'
const readJson = (path: string) => JSON.parse(readFileSync(`${FOLDER}/${path}`, 'utf8'))
export const namesIn = (kind: 'valid' | 'invalid'): string[] =>
  readdirSync(`${FOLDER}/${kind}`).map(file => file.replace('.json', ''))

const committees = readJson('committees.json')

export function readValid(name: string): { input: Input; expected: ValidVector['expected'] } {
  const { input, expected } = readJson(`valid/${name}.json`) as ValidVector
  // The generator writes inputs.
  return { input: expand(input, committees) as Input, expected }
}

export function readInvalid(name: string): InvalidVector & { input: Input } {
  const vector = readJson(`invalid/${name}.json`) as InvalidVector
  const { input } = readValid(vector.base)
  applyPatches(input, vector.patches)
  return { ...vector, input }
}

export const runVector = ({ operation, input }: Pick<InvalidVector, 'operation'> & { input: Input }) =>
  operation === 'verifyFinality'
    ? verifyFinality(input.answers.finality, input.committee)
    : verifyCheckpoint(input.answers, input)
