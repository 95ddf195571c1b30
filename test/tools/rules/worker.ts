/** Runs vectors while one place of the verifier is switched off. {@link startWorkers} bundles and starts it. */
import { runVector } from '../../../vectors/run/run-vector.ts'

/** What `PRELUDE` defines. */
interface Marks {
  $off: number
  $hits: { id: number; open: number[] }[]
  $open: number[]
  $seen: Set<number>
}
// The prelude runs before all modules.
const marks = globalThis as unknown as Marks

/** Which place is off, -1 for none, and what to run. With `until`, up to the first vector with another outcome. */
export interface Job {
  readonly off: number
  readonly files: readonly string[]
  readonly until?: ReadonlyMap<string, string> | undefined
}
/** What came of one vector: `verified`, a code, or `stuck: …` for an error that is none of this package. */
export interface Run {
  readonly file: string
  readonly outcome: string
  /** The rules that refused something, in order, each with the calls that it was in. */
  readonly hits: readonly { id: number; open: readonly number[] }[]
  /** The operands that it came to, if nothing is off. */
  readonly seen: readonly number[]
}

async function run(file: string, off: number): Promise<Run> {
  Object.assign(marks, { $off: off, $hits: [], $open: [], $seen: new Set() })
  const outcome = await outcomeOf(file)
  return { file, outcome, hits: marks.$hits, seen: off === -1 ? [...marks.$seen] : [] }
}

async function outcomeOf(file: string): Promise<string> {
  try {
    const result = await runVector(file)
    if (!('group' in result)) return `stuck: ${JSON.stringify(result)}`
    // A true vector with another result is not as it was, either.
    return result.outcome === 'verified' && result.mismatches.length > 0 ? result.mismatches.join('; ') : result.outcome
  } catch (error) {
    return `stuck: ${String(error).slice(0, 100)}`
  }
}

process.on('message', async ({ off, files, until }: Job) => {
  const runs: Run[] = []
  for (const file of files) {
    const one = await run(file, off)
    runs.push(one)
    if (until !== undefined && until.get(file) !== one.outcome) break
  }
  process.send?.(runs)
})
