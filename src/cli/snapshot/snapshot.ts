import type { Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { type Endpoint, openEndpoints } from '../../client/sources/endpoints.ts'
import { fetchState } from '../../client/sources/fetch.ts'
import { type EndpointError, isEndpointError, isFailure, isPassing, isWrong } from '../../client/transport/error.ts'
import { type Budget, createBudget, sleep } from '../../client/transport/waiting.ts'
import { mappingSlot } from '../../verify/anchor/slots.ts'
import { createStateVerifier, kindName, type StateVerifier } from '../../verify/state/kind.ts'
import type { AnyState, StateScheme } from '../../verify/state/types.ts'
import { inOrder } from '../audit/in-order.ts'
import { LONGEST_PAUSE, LONGEST_RETRY_AFTER, MAX_FAILURES, MAX_WRONG } from '../audit/limits.ts'
import { type Row, type RowFormat, rowWriter } from '../audit/rows.ts'
import { DocumentError } from '../words/error.ts'
import { fieldIn, itemsOf, otherVersion } from '../words/value.ts'

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
function* requestsFor(target: Target, holders: readonly Hex[], most: number): Generator<SnapshotRequest> {
  for (let done = 0; done < holders.length; ) {
    const request = requestFor(target, holders.slice(done, done + most))
    yield request
    done += request.holders.length
  }
}

export type SnapshotPart =
  | { readonly request: SnapshotRequest; readonly answer: unknown }
  | { readonly request: SnapshotRequest; readonly code: string }

export interface SnapshotOptions {
  readonly scheme: StateScheme
  readonly stateRoot: Hex
  readonly block: bigint
  readonly method: string
  readonly keysPerRequest: number
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Default: one with a memory of its own. */
  readonly verify?: StateVerifier
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
  const { verify = createStateVerifier(scheme) } = options
  const endpoints = openEndpoints('l2', l2)
  const within = { slots: createBudget(concurrency), ahead: 4 * concurrency, signal }
  const how = { method, maxKeysPerRequest: keysPerRequest, verify, signal }
  const ask = async (request: SnapshotRequest): Promise<SnapshotPart[]> => {
    const { address, storageKeys } = request
    const wanted = { scheme, stateRoot, address, storageKeys, l2BlockNumber: block }
    const { answer } = await fetchState(endpoints, wanted, how)
    return [{ request, answer }]
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

/** Fetches the answers, as lines to keep: recordings, for `audit`. One without a result says that no answer verifies. */
export async function* fetchRecordings(
  l2: Endpoint | readonly Endpoint[],
  { target, holders, onRefused, ...options }: SnapshotPlan,
): AsyncGenerator<string> {
  const { scheme, stateRoot, keysPerRequest } = options
  const spell = ({ request: { address, storageKeys }, ...part }: SnapshotPart) => {
    const result = 'code' in part ? null : part.answer
    const recording = { version: 1, scheme: kindName(scheme), stateRoot, address, storageKeys, result }
    return `${JSON.stringify(recording)}\n`
  }
  for await (const parts of takeSnapshot(l2, requestsFor(target, holders, keysPerRequest), options)) {
    for (const part of parts) if ('code' in part) onRefused(part.request, part.code)
    yield parts.map(spell).join('')
  }
}

export interface SnapshotPlan extends SnapshotOptions {
  readonly target: Target
  readonly holders: readonly Hex[]
  /** Called for every request, or part of one, of which no answer verifies. */
  readonly onRefused: (request: SnapshotRequest, code: string) => void
}

interface SnapshotRow extends Row {
  readonly verdict: 'present' | 'absent' | 'refused'
}

/** The columns of a snapshot, and the rows of proven values, one per holder. */
const tableOf = ({ contract, storageKeys }: Target) =>
  contract === undefined
    ? {
        columns: ['address', 'verdict', ...ACCOUNT_COLUMNS, ...storageKeys],
        rowsOf: ({ holders: [address] }: SnapshotRequest, { account, storage }: AnyState): SnapshotRow[] => {
          const slots = Object.fromEntries(storage.map(({ key, value }) => [key, value]))
          return [{ address, verdict: account === null ? 'absent' : 'present', ...account, ...slots }]
        },
      }
    : {
        columns: ['holder', 'verdict', 'key', 'value', 'number'],
        rowsOf: ({ holders }: SnapshotRequest, { storage }: AnyState): SnapshotRow[] =>
          storage.map(({ key, value, exists }, index) => {
            return { holder: holders[index], verdict: exists ? 'present' : 'absent', key, value, number: BigInt(value) }
          }),
      }

const ACCOUNT_COLUMNS = ['nonce', 'balance', 'storageRoot', 'codeHash', 'codeSize']

/** Reads recordings, and spells the rows that they prove. Nothing that they say is believed: not even which holder they are for. */
export function snapshotReader(target: Target, holders: readonly Hex[], format: RowFormat, head: SnapshotHead) {
  const { columns, rowsOf } = tableOf(target)
  const { heading, lineOf } = rowWriter(columns, format)
  const [nameOf = ''] = columns
  const verify = createStateVerifier(head.scheme)
  const counts = { present: 0, absent: 0, refused: 0 }
  let done = 0
  return {
    heading,
    counts,
    /** Its memory makes it cheap to verify an answer again. */
    verify,
    left: () => holders.length - done,
    rowsOf(line: unknown): string {
      if (otherVersion(line) !== undefined) throw new DocumentError('a recording of another version')
      // How many holders an answer covers is the file's word. If it is wrong, the proofs do not fit the keys.
      const keyCount = itemsOf(fieldIn(line, 'storageKeys')).length
      const request = requestFor(target, holders.slice(done, done + Math.max(keyCount, 1)))
      const { address, storageKeys } = request
      const answer = fieldIn(line, 'result')
      const rows: readonly SnapshotRow[] =
        answer === null
          ? request.holders.map(holder => ({ [nameOf]: holder, verdict: 'refused' }))
          : rowsOf(request, verify(answer, { stateRoot: head.stateRoot, address, storageKeys }))
      for (const { verdict } of rows) counts[verdict]++
      done += request.holders.length
      return rows.map(lineOf).join('')
    },
  }
}

/** Of the state: its kind and root. */
export type SnapshotHead = Pick<SnapshotOptions, 'scheme' | 'stateRoot'>

/** Many requests to one endpoint, whose queue paces them. Their outcomes come in order. */
export interface Asking<Item, Outcome> {
  readonly items: Iterable<Item>
  readonly slots: Budget
  /** How many requests may be under way, or done before their turn. */
  readonly ahead: number
  readonly signal: AbortSignal
  ask(item: Item): Promise<Outcome>
  /** Returns the outcome of an item whose answers are all wrong. */
  refuse(item: Item, error: ProofError | EndpointError): Promise<Outcome>
  onRetry?: (item: Item, error: ProofError | EndpointError) => void
}

/** In milliseconds. Doubles with each further failure. */
const FIRST_PAUSE = 100

/** How long to wait after a failure: as long as the endpoint asks for. @param count of failures so far */
function pauseAfter(error: ProofError | EndpointError, count: number): number {
  const asked = (isEndpointError(error) ? error.retryAfterMs : undefined) ?? 0
  const backoff = Math.min(FIRST_PAUSE * 2 ** count, LONGEST_PAUSE) * Math.random()
  return Math.max(Math.min(asked, LONGEST_RETRY_AFTER), backoff)
}

/** @throws EndpointError if the endpoint fails for good or too often */
export const askInOrder = <Item, Outcome>(asking: Asking<Item, Outcome>): AsyncGenerator<Outcome> =>
  inOrder({ items: asking.items, ahead: asking.ahead, run: item => askUntilAnswered(item, asking) })

async function askUntilAnswered<Item, Outcome>(item: Item, asking: Asking<Item, Outcome>): Promise<Outcome> {
  const { slots, signal, ask, refuse, onRetry } = asking
  let [failures, wrong] = [0, 0]
  for (;;) {
    try {
      return await slots.run(() => ask(item))
    } catch (error) {
      if (!isFailure(error)) throw error
      const isFalse = isWrong(error)
      if (isFalse && ++wrong >= MAX_WRONG) return await refuse(item, error)
      if (!isFalse && (!isPassing(error) || ++failures >= MAX_FAILURES)) throw error
      onRetry?.(item, error)
      if (!isFalse) await sleep(pauseAfter(error, failures), signal)
    }
  }
}
