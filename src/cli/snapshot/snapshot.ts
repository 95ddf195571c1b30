import type { Hex } from '../../base/bytes.ts'
import { type Endpoint, openEndpoints } from '../../client/sources/endpoints.ts'
import { fetchState } from '../../client/sources/fetch.ts'
import { type Failure, isEndpointError, isFailure, isPassing, isWrong } from '../../client/transport/error.ts'
import { createBudget, sleep } from '../../client/transport/waiting.ts'
import { mappingSlot } from '../../verify/anchor/contract.ts'
import {
  type AnyState,
  createStateVerifier,
  kindName,
  type StateScheme,
  type StateVerifier,
} from '../../verify/state/kind.ts'
import { inOrder } from '../audit/in-order.ts'
import { LONGEST_PAUSE, LONGEST_RETRY_AFTER, MAX_FAILURES, MAX_WRONG } from '../audit/limits.ts'
import { type Row, type RowFormat, rowWriter } from '../audit/lines.ts'
import { DocumentError, fieldIn, itemsOf } from '../words/value.ts'

export interface Target {
  /** The contract of a mapping; undefined for accounts. */
  readonly contract?: Hex
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

interface SnapshotHead {
  readonly scheme: StateScheme
  readonly stateRoot: Hex
}

export interface SnapshotPlan extends SnapshotHead {
  readonly target: Target
  readonly holders: readonly Hex[]
  readonly block: bigint
  readonly method: string
  readonly keysPerRequest: number
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly verify: StateVerifier
  /** Told of every answer that does not verify, and whether it was the last one that is asked for. */
  readonly onWrong: (request: SnapshotRequest, code: string, isLast: boolean) => void
}

/**
 * Fetches and verifies many answers at one block, as lines to keep: recordings, for `audit`. One without a result says that no answer
 * verifies. If all answers to a request are wrong, it is split into one per holder, so that a lie affects only its own holder.
 */
export async function* fetchRecordings(
  l2: Endpoint | readonly Endpoint[],
  { target, holders, scheme, stateRoot, block, method, keysPerRequest, concurrency, onWrong, ...how }: SnapshotPlan,
): AsyncGenerator<string> {
  const endpoints = openEndpoints('l2', l2)
  const slots = createBudget(concurrency)
  const settings = { method, maxKeysPerRequest: keysPerRequest, ...how }
  const spell = ({ address, storageKeys }: SnapshotRequest, result: unknown) =>
    `${JSON.stringify({ version: 1, scheme: kindName(scheme), stateRoot, address, storageKeys, result })}\n`
  const linesOf = async (request: SnapshotRequest): Promise<string> => {
    const { address, storageKeys } = request
    const wanted = { scheme, stateRoot, address, storageKeys, l2BlockNumber: block }
    for (let [failures, wrong] = [0, 0]; ; ) {
      try {
        return spell(request, (await slots.run(() => fetchState(endpoints, wanted, settings))).answer)
      } catch (error) {
        if (!isFailure(error)) throw error
        if (isWrong(error)) {
          const isLast = ++wrong >= MAX_WRONG
          if (isLast && request.holders.length > 1)
            return (await Promise.all(eachHolderOf(request).map(linesOf))).join('')
          onWrong(request, error.code, isLast)
          if (isLast) return spell(request, null)
        } else {
          if (!isPassing(error) || ++failures >= MAX_FAILURES) throw error
          await sleep(pauseAfter(error, failures), how.signal)
        }
      }
    }
  }
  yield* inOrder({ items: requestsFor(target, holders, keysPerRequest), ahead: 4 * concurrency, run: linesOf })
}

const eachHolderOf = (request: SnapshotRequest): SnapshotRequest[] =>
  request.storageKeys.map((key, index) => {
    return { ...request, storageKeys: [key], holders: request.holders.slice(index, index + 1) }
  })

/** In milliseconds. Doubles with each further failure. */
const FIRST_PAUSE = 100

/** How long to wait after a failure: as long as the endpoint asks for. @param count of failures so far */
function pauseAfter(error: Failure, count: number): number {
  const asked = (isEndpointError(error) ? error.retryAfterMs : undefined) ?? 0
  const backoff = Math.min(FIRST_PAUSE * 2 ** count, LONGEST_PAUSE) * Math.random()
  return Math.max(Math.min(asked, LONGEST_RETRY_AFTER), backoff)
}

type SnapshotRow = Row & { readonly verdict: 'present' | 'absent' | 'refused' }

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
      if (fieldIn(line, 'version') !== 1) throw new DocumentError('a recording of another version')
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
