import type { Provider } from '../../rpc/provider.ts'
import { type RowFormat, rowWriter } from './rows.ts'
import {
  requestsFor,
  type SnapshotOptions,
  type SnapshotPart,
  type SnapshotRequest,
  type Target,
  takeSnapshot,
} from './snapshot.ts'

/** How far a snapshot is. */
export interface SnapshotProgress {
  /** How many requests are done. */
  readonly requests: number
  /** The number of rows per verdict. */
  readonly counts: Readonly<Record<'present' | 'absent' | 'refused', number>>
}

/** Where a snapshot goes. */
export interface SnapshotSink {
  /** The progress of an interrupted run; undefined if there is none. */
  readonly begun: SnapshotProgress | undefined
  readonly keepsAnswers: boolean
  /**
   * Adds whole lines, and then notes the progress. What was added after the last progress is dropped before the next run.
   *
   * @param rows with the heading, if it begins with one
   * @param kept the answers as recordings, for `audit`
   */
  save(rows: string, kept: string, progress: SnapshotProgress): Promise<void>
}

export interface SnapshotPlan extends SnapshotOptions {
  readonly target: Target
  readonly holders: SnapshotRequest['holders']
  readonly format: RowFormat
  /** Called for every request, or part of one, of which no answer verifies. */
  readonly onRefused: (request: SnapshotRequest, code: string) => void
}

/** Rows are saved when so many accounts are done; those of a mapping after each request. */
const ACCOUNTS_PER_SAVE = 64

/**
 * Takes a snapshot, or the rest of one, and passes it on piece by piece. The pieces are the same however often the run was
 * interrupted.
 *
 * @returns the counts of all rows
 * @throws RpcError if the endpoint fails for good or too often, and what `sink` throws
 */
export async function writeSnapshot(
  provider: Provider,
  plan: SnapshotPlan,
  sink: SnapshotSink,
): Promise<SnapshotProgress['counts']> {
  const { target, holders, format, keysPerRequest, onRefused } = plan
  const writer = rowWriter(target, format)
  const counts = { present: 0, absent: 0, refused: 0, ...sink.begun?.counts }
  let done = sink.begun?.requests ?? 0
  const requests = requestsFor(target, holders, keysPerRequest).slice(done)
  const requestsPerSave = target.contract === undefined ? ACCOUNTS_PER_SAVE : 1
  let [rows, kept] = [done === 0 && writer.heading !== undefined ? `${writer.heading}\n` : '', '']
  const save = async () => {
    await sink.save(rows, kept, { requests: done, counts })
    ;[rows, kept] = ['', '']
  }
  for await (const parts of takeSnapshot(provider, requests, plan)) {
    for (const part of parts) {
      for (const row of writer.rowsOf(part)) {
        counts[row.verdict]++
        rows += `${writer.textOf(row)}\n`
      }
      if ('refusal' in part) onRefused(part.request, part.refusal.code)
      else if (sink.keepsAnswers) kept += recordingOf(part, plan)
    }
    if (++done % requestsPerSave === 0) await save()
  }
  if (rows !== '') await save()
  return counts
}

function recordingOf(
  { request, answer }: Extract<SnapshotPart, { answer: unknown }>,
  { scheme, stateRoot }: SnapshotOptions,
): string {
  const { address, storageKeys } = request
  return `${JSON.stringify({ scheme: scheme.name, stateRoot, address, storageKeys, result: answer })}\n`
}
