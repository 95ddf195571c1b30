import type { Hex } from '../../base/bytes.ts'
import type { StateVerifier } from '../../verify/state/kind.ts'
import { safely } from '../../verify/verifier/safe.ts'
import { fieldIn, itemsOf, otherVersion } from '../words/value.ts'
import { type RowFormat, requestFor, rowWriter, type Target } from './snapshot.ts'

/** The files of a snapshot, as lines, and what they must hold. */
export interface SnapshotContent {
  readonly target: Target
  readonly holders: readonly Hex[]
  readonly format: RowFormat
  /** null for a line that is too long. */
  readonly rows: AsyncIterator<string | null>
  /** The kept answers, as recordings; null for a line that is too long. */
  readonly answers: AsyncIterator<string | null>
}

/** A row, and what is wrong with it. */
export interface CheckedRow {
  readonly holder: Hex
  /** Undefined if the row is what its answer proves. */
  readonly problem?: RowProblem
}

export type RowProblem =
  /** The row itself says that no answer verified. It proves nothing. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'row missing' }
  | { readonly kind: 'answer missing' }
  /** The kept answer is too long, not JSON, or of another version. */
  | { readonly kind: 'answer unreadable' }
  | { readonly kind: 'answer refused'; readonly code: string; readonly path: string }
  /** `proven` is the row that the answer proves. */
  | { readonly kind: 'different'; readonly proven: string }

/** What is wrong with a file as a whole. */
export interface FileProblems {
  readonly isHeadingWrong: boolean
  /** Whether something follows the last row. */
  readonly hasMoreRows: boolean
  readonly hasMoreAnswers: boolean
}

/**
 * Verifies the kept answers of a snapshot again, and compares its rows with what they prove. Nothing that the files say is
 * believed: not even which holder an answer is for.
 *
 * @param stateRoot the proven root
 * @returns one result per holder, in order, then what is wrong with the files
 */
export async function* checkSnapshot(
  { target, holders, format, rows, answers }: SnapshotContent,
  verify: StateVerifier,
  stateRoot: Hex,
): AsyncGenerator<CheckedRow, FileProblems, undefined> {
  const { heading, rowsOf, textOf, isRefused } = rowWriter(target, format)
  const isHeadingWrong = heading !== undefined && (await rows.next()).value !== heading
  for (let done = 0; done < holders.length; ) {
    const first = holders[done] ?? '0x'
    const row = (await rows.next()).value
    if (row === undefined || (row !== null && isRefused(row))) {
      yield { holder: first, problem: { kind: row === undefined ? 'row missing' : 'refused' } }
      done++
      continue
    }
    const recording = (await answers.next()).value
    const { isReadable, answer, keyCount } = readRecording(recording)
    // How many holders an answer covers is the file's word. If it is wrong, the proofs do not fit the keys.
    const request = requestFor(target, holders.slice(done, done + Math.max(keyCount, 1)))
    const { address, storageKeys } = request
    const outcome = safely(() => verify(answer, { stateRoot, address, storageKeys }))
    const proven = outcome.ok ? rowsOf({ request, answer, state: outcome.value }).map(textOf) : []
    for (const [index, holder] of request.holders.entries()) {
      const found = index === 0 ? row : (await rows.next()).value
      const problem = ((): RowProblem | undefined => {
        if (recording === undefined) return { kind: 'answer missing' }
        if (!isReadable) return { kind: 'answer unreadable' }
        if (!outcome.ok) return { kind: 'answer refused', code: outcome.error.code, path: outcome.error.path }
        if (found === undefined) return { kind: 'row missing' }
        return found === proven[index] ? undefined : { kind: 'different', proven: proven[index] ?? '' }
      })()
      yield { holder, ...(problem && { problem }) }
      done++
    }
  }
  return { isHeadingWrong, hasMoreRows: !(await rows.next()).done, hasMoreAnswers: !(await answers.next()).done }
}

function readRecording(text: string | null | undefined) {
  try {
    const recording: unknown = JSON.parse(text ?? '')
    const [answer, keys] = ['result', 'storageKeys'].map(name => fieldIn(recording, name))
    return { isReadable: otherVersion(recording) === undefined, answer, keyCount: itemsOf(keys).length }
  } catch {
    return { isReadable: false, answer: undefined, keyCount: 1 }
  }
}
