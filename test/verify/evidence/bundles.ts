import { readdirSync, readFileSync } from 'node:fs'
import type { EvidenceBundle } from '../../../src/entry/anchor.ts'
import type { EvidenceVector } from '../../../vectors/evidence/vector.ts'
import { toClaim } from '../../outcome.ts'

const FOLDER = 'vectors/evidence'

/** All evidence vectors, with their paths in the folder. */
export const vectors = ['valid', 'invalid']
  .flatMap(kind => readdirSync(`${FOLDER}/${kind}`).map(file => `${kind}/${file}`))
  .map(path => ({ path, vector: JSON.parse(readFileSync(`${FOLDER}/${path}`, 'utf8')) as EvidenceVector }))

/** The bundle of the valid poseidon2 vector of this name, and its claim. */
export function find(name: string) {
  const found = vectors.find(({ path }) => path === `valid/poseidon2-${name}.json`)?.vector
  if (found?.operation !== 'verifyEvidence') throw new Error(`no vector ${name}`)
  return { bundle: found.bundle as EvidenceBundle, claim: toClaim('poseidon2', found.claim), raw: found.claim }
}
