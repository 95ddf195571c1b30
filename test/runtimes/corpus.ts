import type { EvidenceVector } from '../../vectors/evidence/vector.ts'
import type { Vector } from '../../vectors/vector.ts'
import { outcomeOf } from '../outcome.ts'

/** One file in vectors/. */
export interface Case {
  readonly path: string
  readonly vector: Vector | EvidenceVector
}

export interface Tally {
  readonly cases: number
  readonly asExpected: number
  /** One line per case with another outcome. */
  readonly mismatches: readonly string[]
}

/** The minimum number of cases per folder, so that a missing corpus does not pass. */
const ENOUGH = {
  'mimc/valid': 40,
  'mimc/invalid': 180,
  'poseidon2/valid': 40,
  'poseidon2/invalid': 190,
  'evidence/valid': 18,
  'evidence/invalid': 80,
}

/** Runs the corpus. This code and what it imports use no platform API. */
export function runCorpus(cases: readonly Case[]): Tally {
  for (const [folder, enough] of Object.entries(ENOUGH)) {
    const found = cases.filter(({ path }) => path.startsWith(`${folder}/`)).length
    if (found < enough) throw new Error(`${found} cases in vectors/${folder}, at least ${enough} are needed`)
  }
  const mismatches = cases.flatMap(({ path, vector }) => {
    const [expected, found] = [spell(vector.expected), spellOutcomeOf(vector)]
    return found === expected ? [] : [`${path}: expected ${expected}, found ${found}`]
  })
  return { cases: cases.length, asExpected: cases.length - mismatches.length, mismatches }
}

function spellOutcomeOf(vector: Case['vector']): string {
  try {
    return spell(outcomeOf(vector))
  } catch (error) {
    return String(error)
  }
}

/** JSON with object fields sorted by name. */
function spell(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
