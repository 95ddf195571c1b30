import { setMaxListeners } from 'node:events'
import type { Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { type Endpoint, openEndpoints } from '../../client/sources/endpoints.ts'
import { fetchVerified } from '../../client/sources/fetch.ts'
import type { EndpointError } from '../../client/transport/error.ts'
import { createBudget } from '../../client/transport/waiting.ts'
import { mappingSlot } from '../../verify/anchor/slots.ts'
import { createStateVerifier, kindName } from '../../verify/state/kind.ts'
import type { AnyState, StateScheme } from '../../verify/state/types.ts'
import { fieldIn } from '../words/value.ts'
import { askInOrder } from './in-order.ts'

/** What a snapshot is of, besides the addresses. */
export interface Target {
  /** The contract of a mapping; undefined for accounts. */
  readonly contract?: Hex
  /** Where the contract declares the mapping. */
  readonly slot?: bigint
  readonly storageKeys: readonly Hex[]
}

/** One request of a snapshot. */
export interface SnapshotRequest {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
  /** The address itself or, for a mapping, the holder of each storage key. */
  readonly holders: readonly Hex[]
}

/** The request for the first of `holders` or, for a mapping, for all of them. */
export function requestFor({ contract, slot, storageKeys }: Target, holders: readonly Hex[]): SnapshotRequest {
  if (contract === undefined || slot === undefined) {
    const some = holders.slice(0, 1)
    return { address: some[0] ?? '0x', storageKeys, holders: some }
  }
  return { address: contract, storageKeys: holders.map(holder => mappingSlot({ slot, keys: [holder] })), holders }
}

/** @param most how many holders of a mapping one request may name */
function requestsFor(target: Target, holders: readonly Hex[], most: number): SnapshotRequest[] {
  const requests: SnapshotRequest[] = []
  for (let done = 0; done < holders.length; done += requests.at(-1)?.holders.length ?? 1) {
    requests.push(requestFor(target, holders.slice(done, done + most)))
  }
  return requests
}

/** The outcome of a request, or of a part of it. */
export type SnapshotPart =
  | { readonly request: SnapshotRequest; readonly answer: unknown; readonly state: AnyState }
  | { readonly request: SnapshotRequest; readonly refusal: { readonly code: string; readonly path: string } }

export interface SnapshotOptions {
  /** The kind of the state at the block. */
  readonly scheme: StateScheme
  readonly stateRoot: Hex
  readonly block: bigint
  readonly method: string
  readonly keysPerRequest: number
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly onRetry: (request: SnapshotRequest, error: ProofError | EndpointError) => void
}

/**
 * Fetches and verifies many answers at one block. If all answers to a request are wrong, it is split into one request per
 * holder, so that a false value affects only its own holder.
 *
 * @returns the parts of each request, in the order of the requests
 * @throws EndpointError if the endpoint fails for good or too often
 */
export function takeSnapshot(
  l2: Endpoint | readonly Endpoint[],
  requests: Iterable<SnapshotRequest>,
  options: SnapshotOptions,
): AsyncGenerator<SnapshotPart[]> {
  const { scheme, stateRoot, block, method, keysPerRequest, concurrency, signal, onRetry } = options
  const endpoints = openEndpoints('l2', l2)
  const verifyAnswer = createStateVerifier(scheme)
  // Every request may listen to it. By default, Node warns about more than ten listeners.
  setMaxListeners(0, signal)
  const within = { slots: createBudget(concurrency), ahead: 4 * concurrency, signal }
  const how = { scheme, method, maxKeysPerRequest: keysPerRequest, signal }
  const ask = async (request: SnapshotRequest): Promise<SnapshotPart[]> => {
    const { address, storageKeys } = request
    const asked = { address, storageKeys, l2BlockNumber: block }
    const verify = (answer: unknown) => verifyAnswer(answer, { stateRoot, address, storageKeys })
    const { answer, verified } = await fetchVerified(endpoints, asked, how, verify)
    return [{ request, answer, state: verified }]
  }
  const refuse = async (request: SnapshotRequest, error: ProofError | EndpointError): Promise<SnapshotPart[]> => {
    const { holders, storageKeys } = request
    const { code } = error
    if (holders.length === 1) return [{ request, refusal: { code, path: 'path' in error ? error.path : '' } }]
    const items = storageKeys.map((key, index) => {
      return { ...request, storageKeys: [key], holders: holders.slice(index, index + 1) }
    })
    const parts: SnapshotPart[] = []
    for await (const part of askInOrder({ items, ...within, ask, refuse, onRetry })) parts.push(...part)
    return parts
  }
  return askInOrder({ items: requests, ...within, ask, refuse, onRetry })
}

export type RowFormat = 'ndjson' | 'csv'

/** A row of a snapshot. */
export interface SnapshotRow {
  readonly verdict: 'present' | 'absent' | 'refused'
  /** Why it was refused. */
  readonly code?: string
  readonly storage?: AnyState['storage']
  readonly [column: string]: unknown
}

/** How the rows of a snapshot are written, and read again. Rows and the heading are without a line feed. */
export function rowWriter({ contract, storageKeys }: Target, format: RowFormat) {
  const isMapping = contract !== undefined
  const columns = isMapping
    ? ['holder', 'verdict', 'key', 'value', 'number', 'code']
    : ['address', 'verdict', 'nonce', 'balance', 'storageRoot', 'codeHash', 'codeSize', ...storageKeys, 'code']
  const isCsv = format === 'csv'
  return {
    /** undefined if the format has none. */
    heading: isCsv ? columns.join(',') : undefined,
    /** The proven values, one row per holder. */
    rowsOf: (part: SnapshotPart) => (isMapping ? entriesOf(part) : accountsOf(part)),
    textOf: (row: SnapshotRow): string => (isCsv ? toCsv(row, columns) : JSON.stringify(row, toPlain)),
    /** Whether a row says that no answer verified. */
    isRefused: (row: string): boolean => (isCsv ? row.split(',', 2)[1] : verdictIn(row)) === 'refused',
  }
}

function accountsOf(part: SnapshotPart): SnapshotRow[] {
  const { address } = part.request
  if ('refusal' in part) return [{ address, verdict: 'refused', ...part.refusal }]
  const { account, storage } = part.state
  return [{ address, verdict: account === null ? 'absent' : 'present', ...account, storage }]
}

function entriesOf({ request: { holders }, ...part }: SnapshotPart): SnapshotRow[] {
  if ('refusal' in part) return holders.map(holder => ({ holder, verdict: 'refused', ...part.refusal }))
  return part.state.storage.map(({ key, value, exists }, index) => {
    return { holder: holders[index], verdict: exists ? 'present' : 'absent', key, value, number: BigInt(value) }
  })
}

const toPlain = (_: string, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)

/** Nothing in a row needs quotes: it holds only hexadecimal, numbers and fixed names. */
function toCsv(row: SnapshotRow, columns: readonly string[]): string {
  const slots = new Map<string, unknown>((row.storage ?? []).map(({ key, value }) => [key, value]))
  const cells = columns.map(column => (Object.hasOwn(row, column) ? row[column] : slots.get(column)))
  return cells.map(cell => String(cell ?? '')).join(',')
}

function verdictIn(row: string): unknown {
  try {
    return fieldIn(JSON.parse(row), 'verdict')
  } catch {
    return undefined
  }
}

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
 * @throws EndpointError if the endpoint fails for good or too often, and what `sink` throws
 */
export async function writeSnapshot(
  l2: Endpoint | readonly Endpoint[],
  plan: SnapshotPlan,
  sink: SnapshotSink,
): Promise<SnapshotProgress['counts']> {
  const { target, holders, format, keysPerRequest, onRefused, scheme, stateRoot } = plan
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
  for await (const parts of takeSnapshot(l2, requests, plan)) {
    for (const part of parts) {
      for (const row of writer.rowsOf(part)) {
        counts[row.verdict]++
        rows += `${writer.textOf(row)}\n`
      }
      if ('refusal' in part) onRefused(part.request, part.refusal.code)
      else if (sink.keepsAnswers) {
        const { address, storageKeys } = part.request
        const recording = { version: 1, scheme: kindName(scheme), stateRoot, address, storageKeys, result: part.answer }
        kept += `${JSON.stringify(recording)}\n`
      }
    }
    if (++done % requestsPerSave === 0) await save()
  }
  if (rows !== '') await save()
  return counts
}
