import type { Hex } from '../../base/bytes.ts'
import type { StateVerifier } from '../../verify/state/kind.ts'
import type { Lines } from '../audit/lines.ts'
import { type RowFormat, rowWriter } from '../audit/rows.ts'
import { DocumentError } from '../words/error.ts'
import { fieldIn, itemsOf, otherVersion, parseJson } from '../words/value.ts'
import { requestFor, type Target, tableOf } from './snapshot.ts'

export interface SnapshotContent {
  readonly target: Target
  readonly holders: readonly Hex[]
  readonly format: RowFormat
  /** The kept answers, as recordings. */
  readonly answers: Lines
}

/**
 * Verifies the kept answers of a snapshot again, and yields the rows that they prove. Nothing that the files say is believed: not
 * even which holder an answer is for.
 *
 * @param stateRoot the proven root
 * @throws ProofError; DocumentError if an answer is missing or unreadable
 */
export async function* provenSnapshot(
  { target, holders, format, answers }: SnapshotContent,
  verify: StateVerifier,
  stateRoot: Hex,
): AsyncGenerator<string, undefined, undefined> {
  const { columns, rowsOf } = tableOf(target)
  const { heading, lineOf } = rowWriter(columns, format)
  if (heading !== '') yield heading
  for (let done = 0; done < holders.length; ) {
    const recording = readKept((await answers.next()).value)
    if (otherVersion(recording) !== undefined) throw new DocumentError('an answer is of another version')
    const answer = fieldIn(recording, 'result')
    // How many holders an answer covers is the file's word. If it is wrong, the proofs do not fit the keys.
    const keyCount = itemsOf(fieldIn(recording, 'storageKeys')).length
    const request = requestFor(target, holders.slice(done, done + Math.max(keyCount, 1)))
    const { address, storageKeys } = request
    yield* rowsOf({ request, answer, state: verify(answer, { stateRoot, address, storageKeys }) }).map(lineOf)
    done += request.holders.length
  }
  return undefined
}

/** A line of what rows are proven from. @throws DocumentError */
export function readKept(line: string | undefined): unknown {
  if (line === undefined) throw new DocumentError('what proves it is not kept')
  return parseJson(Buffer.from(line))
}
