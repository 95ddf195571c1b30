import type { Hex } from '../../base/bytes.ts'
import type { StateVerifier } from '../../verify/state/kind.ts'
import { safely } from '../../verify/verifier/safe.ts'
import { type RowFormat, rowWriter } from '../audit/rows.ts'
import { fieldIn, itemsOf, otherVersion } from '../words/value.ts'
import type { RowProblem } from './problem.ts'
import { isRefused, requestFor, type Target, tableOf } from './snapshot.ts'

/** Lines of a file. */
export type Lines = AsyncGenerator<string, undefined, undefined>

/** The files of a snapshot, as lines, and what they must hold. */
export interface SnapshotContent {
  readonly target: Target
  readonly holders: readonly Hex[]
  readonly format: RowFormat
  readonly rows: Lines
  /** The kept answers, as recordings. */
  readonly answers: Lines
}

/**
 * Verifies the kept answers of a snapshot again, and compares its rows with what they prove. Nothing that the files say is
 * believed: not even which holder an answer is for.
 *
 * @param stateRoot the proven root
 * @returns null for each row that is proven, and what is wrong
 */
export async function* checkSnapshot(
  { target, holders, format, rows, answers }: SnapshotContent,
  verify: StateVerifier,
  stateRoot: Hex,
): AsyncGenerator<RowProblem | null, undefined, undefined> {
  const { columns, rowsOf } = tableOf(target)
  const { heading, lineOf } = rowWriter(columns, format)
  const placeOf = (index: number) => `line ${index + (heading === '' ? 1 : 2)}, ${holders[index]}`
  if (heading !== '' && `${(await rows.next()).value}\n` !== heading) yield { kind: 'heading', place: 'rows' }
  for (let done = 0; done < holders.length; ) {
    const row = (await rows.next()).value
    if (row === undefined || isRefused(row)) {
      yield { kind: row === undefined ? 'row missing' : 'refused', place: placeOf(done) }
      done++
      continue
    }
    const recording = (await answers.next()).value
    const { isReadable, answer, keyCount } = readRecording(recording)
    // How many holders an answer covers is the file's word. If it is wrong, the proofs do not fit the keys.
    const request = requestFor(target, holders.slice(done, done + Math.max(keyCount, 1)))
    const { address, storageKeys } = request
    const outcome = safely(() => verify(answer, { stateRoot, address, storageKeys }))
    const proven = outcome.ok ? rowsOf({ request, answer, state: outcome.value }).map(lineOf) : []
    for (const index of request.holders.keys()) {
      const found = index === 0 ? row : (await rows.next()).value
      const problem = ((): Omit<RowProblem, 'place'> | null => {
        if (recording === undefined) return { kind: 'missing' }
        if (!isReadable) return { kind: 'unreadable' }
        if (!outcome.ok) return { kind: 'unverified', code: outcome.error.code, path: outcome.error.path }
        if (found === undefined) return { kind: 'row missing' }
        return `${found}\n` === proven[index] ? null : { kind: 'different', proven: proven[index]?.trimEnd() ?? '' }
      })()
      yield problem && { place: placeOf(done), ...problem }
      done++
    }
  }
  if (!(await rows.next()).done) yield { kind: 'more rows', place: 'rows' }
  if (!(await answers.next()).done) yield { kind: 'more', place: 'answers' }
}

function readRecording(text: string | undefined) {
  try {
    const recording: unknown = JSON.parse(text ?? '')
    const [answer, keys] = ['result', 'storageKeys'].map(name => fieldIn(recording, name))
    return { isReadable: otherVersion(recording) === undefined, answer, keyCount: itemsOf(keys).length }
  } catch {
    return { isReadable: false, answer: undefined, keyCount: 1 }
  }
}
