import type { Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { type Endpoint, openEndpoints } from '../../client/sources/endpoints.ts'
import { fetchVerified } from '../../client/sources/fetch.ts'
import type { EndpointError } from '../../client/transport/error.ts'
import { createBudget } from '../../client/transport/waiting.ts'
import { mappingSlot } from '../../verify/anchor/slots.ts'
import { createStateVerifier, kindName, type StateVerifier } from '../../verify/state/kind.ts'
import type { AnyState, StateScheme } from '../../verify/state/types.ts'
import type { Lines } from '../audit/lines.ts'
import { type Row, type RowFormat, type RowStep, rowWriter } from '../audit/rows.ts'
import { DocumentError } from '../words/error.ts'
import { fieldIn, itemsOf, otherVersion, parseJson } from '../words/value.ts'
import { askInOrder } from './ask.ts'

export interface Target {
  /** The contract of a mapping; undefined for accounts. */
  readonly contract?: Hex
  /** Where the contract declares the mapping. */
  readonly slot?: bigint
  readonly storageKeys: readonly Hex[]
}

export interface SnapshotRequest {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
  /** The address itself or, for a mapping, the holder of each storage key. */
  readonly holders: readonly Hex[]
}

/** The request for the first of `holders` or, for a mapping, for all of them. */
function requestFor({ contract, slot, storageKeys }: Target, holders: readonly Hex[]): SnapshotRequest {
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

export type SnapshotPart =
  | { readonly request: SnapshotRequest; readonly answer: unknown; readonly state: AnyState }
  | { readonly request: SnapshotRequest; readonly code: string }

export interface SnapshotOptions {
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
    if (holders.length === 1) return [{ request, code: error.code }]
    const items = storageKeys.map((key, index) => {
      return { ...request, storageKeys: [key], holders: holders.slice(index, index + 1) }
    })
    const parts: SnapshotPart[] = []
    for await (const part of askInOrder({ items, ...within, ask, refuse, onRetry })) parts.push(...part)
    return parts
  }
  return askInOrder({ items: requests, ...within, ask, refuse, onRetry })
}

/** The columns of a snapshot, and the rows of proven values, one per holder. */
const tableOf = ({ contract, storageKeys }: Target) =>
  contract === undefined
    ? {
        columns: [
          'address',
          'verdict',
          'nonce',
          'balance',
          'storageRoot',
          'codeHash',
          'codeSize',
          ...storageKeys,
          'code',
        ],
        rowsOf: accountsOf,
      }
    : { columns: ['holder', 'verdict', 'key', 'value', 'number', 'code'], rowsOf: entriesOf }

interface SnapshotRow extends Row {
  readonly verdict: 'present' | 'absent' | 'refused'
}

function accountsOf(part: SnapshotPart): SnapshotRow[] {
  const { address } = part.request
  if ('code' in part) return [{ address, verdict: 'refused', code: part.code }]
  const { account, storage } = part.state
  const slots = Object.fromEntries(storage.map(({ key, value }) => [key, value]))
  return [{ address, verdict: account === null ? 'absent' : 'present', ...account, ...slots }]
}

function entriesOf({ request: { holders }, ...part }: SnapshotPart): SnapshotRow[] {
  if ('code' in part) return holders.map(holder => ({ holder, verdict: 'refused', code: part.code }))
  return part.state.storage.map(({ key, value, exists }, index) => {
    return { holder: holders[index], verdict: exists ? 'present' : 'absent', key, value, number: BigInt(value) }
  })
}

/** Whether a row says that no answer verified. */
export const isRefused = (row: string): boolean => /^(0x\w+,|\{"\w+":"0x\w+","verdict":")refused[,"]/.test(row)

export const NONE = { present: 0, absent: 0, refused: 0 }

export interface SnapshotProgress {
  readonly requests: number
  readonly counts: Readonly<Record<'present' | 'absent' | 'refused', number>>
}

export interface SnapshotPlan extends SnapshotOptions {
  readonly target: Target
  readonly holders: SnapshotRequest['holders']
  readonly format: RowFormat
  /** Called for every request, or part of one, of which no answer verifies. */
  readonly onRefused: (request: SnapshotRequest, code: string) => void
}

/**
 * Takes a snapshot, or the rest of one: the heading of the rows, and a step per request. The steps are the same however often the
 * run was interrupted. What they keep are the answers as recordings, for `audit`. They throw an EndpointError if the endpoint
 * fails for good or too often.
 */
export function snapshotSteps(
  l2: Endpoint | readonly Endpoint[],
  plan: SnapshotPlan,
  begun: SnapshotProgress = { requests: 0, counts: NONE },
): { readonly heading: string; readonly steps: AsyncGenerator<RowStep<SnapshotProgress>> } {
  const { target, holders, format, keysPerRequest, onRefused, scheme, stateRoot } = plan
  const { columns, rowsOf } = tableOf(target)
  const { heading, lineOf } = rowWriter(columns, format)
  const keep = ({ request: { address, storageKeys }, ...part }: SnapshotPart) => {
    if ('code' in part) return ''
    const about = { version: 1, scheme: kindName(scheme), stateRoot, address, storageKeys }
    return `${JSON.stringify({ ...about, result: part.answer })}\n`
  }
  async function* steps() {
    let { requests, counts } = begun
    for await (const parts of takeSnapshot(l2, requestsFor(target, holders, keysPerRequest).slice(requests), plan)) {
      const rows = parts.flatMap<SnapshotRow>(rowsOf)
      for (const { verdict } of rows) counts = { ...counts, [verdict]: counts[verdict] + 1 }
      for (const part of parts) if ('code' in part) onRefused(part.request, part.code)
      yield {
        rows: rows.map(lineOf).join(''),
        kept: parts.map(keep).join(''),
        progress: { requests: ++requests, counts },
      }
    }
  }
  return { heading, steps: steps() }
}

interface SnapshotContent {
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
