import type { Hex } from '../../bytes.ts'
import { ProofError } from '../../errors.ts'
import type { StorageSlot, VerifiedState } from '../../proof/verify.ts'
import type { RpcError } from '../../rpc/error.ts'
import { fetchAnswer } from '../../rpc/fetch.ts'
import type { Provider } from '../../rpc/provider.ts'
import type { Scheme } from '../../scheme/scheme.ts'
import { createVerifier } from '../../verifier/verifier.ts'
import { askInOrder, createLimits } from './in-order.ts'

/** One request of a snapshot. */
export interface SnapshotRequest {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
  /** The address itself or, for a mapping, the holder of each storage key. */
  readonly holders: readonly Hex[]
}

/** The outcome of a request, or of a part of it. */
export type SnapshotPart =
  | { readonly request: SnapshotRequest; readonly answer: unknown; readonly state: VerifiedState }
  | { readonly request: SnapshotRequest; readonly refusal: { readonly code: string; readonly path: string } }

export interface SnapshotOptions {
  readonly scheme: Scheme
  readonly stateRoot: Hex
  readonly block: bigint
  readonly method: string
  readonly keysPerRequest: number
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly onRetry: (request: SnapshotRequest, error: ProofError | RpcError) => void
}

/**
 * Fetches and verifies many answers at one block. If all answers to a request are wrong, it is split into one request per
 * holder, so that a false value affects only its own holder.
 *
 * @returns the parts of each request, in the order of the requests
 * @throws RpcError if the endpoint fails for good or too often
 */
export function takeSnapshot(
  provider: Provider,
  requests: Iterable<SnapshotRequest>,
  options: SnapshotOptions,
): AsyncGenerator<SnapshotPart[]> {
  const { scheme, stateRoot, block, method, keysPerRequest, concurrency, signal, onRetry } = options
  const verifier = createVerifier(scheme)
  const limits = createLimits(concurrency, signal)
  const ask = async (request: SnapshotRequest): Promise<SnapshotPart[]> => {
    const { address, storageKeys } = request
    const how = { method, maxKeysPerRequest: keysPerRequest, signal }
    const answer = await fetchAnswer(provider, { address, storageKeys, block }, how)
    return [{ request, answer, state: verifier.verifyProof(answer, { stateRoot, address, storageKeys }) }]
  }
  const refuse = async (request: SnapshotRequest, error: ProofError | RpcError): Promise<SnapshotPart[]> => {
    const { holders, storageKeys } = request
    if (holders.length === 1) {
      const path = error instanceof ProofError ? error.path : ''
      return [{ request, refusal: { code: error.code, path } }]
    }
    const items = holders.map((holder, index) => ({
      ...request,
      holders: [holder],
      storageKeys: storageKeys.slice(index, index + 1),
    }))
    const parts: SnapshotPart[] = []
    for await (const part of askInOrder({ items, limits, ask, refuse, onRetry })) parts.push(...part)
    return parts
  }
  return askInOrder({ items: requests, limits, ask, refuse, onRetry })
}

/** A row of a snapshot. */
export interface SnapshotRow {
  readonly verdict: 'present' | 'absent' | 'refused'
  /** Why it was refused. */
  readonly code?: string
  readonly storage?: readonly StorageSlot[]
  readonly [column: string]: unknown
}

/** The columns of a CSV file, in order. */
export const columnsOf = (storageKeys: readonly Hex[], isMapping: boolean): string[] =>
  isMapping
    ? ['holder', 'verdict', 'key', 'value', 'number', 'code']
    : ['address', 'verdict', 'nonce', 'balance', 'storageRoot', 'codeHash', 'codeSize', ...storageKeys, 'code']

/** The proven values, one row per holder. */
export function rowsOf(part: SnapshotPart, isMapping: boolean): SnapshotRow[] {
  const { request } = part
  const name = isMapping ? 'holder' : 'address'
  if ('refusal' in part)
    return request.holders.map(holder => ({ [name]: holder, verdict: 'refused' as const, ...part.refusal }))
  const { account, storage } = part.state
  if (!isMapping) {
    const verdict = account === null ? 'absent' : 'present'
    return [{ address: request.address, verdict, ...account, storage }]
  }
  return storage.map(({ key, value, exists }, index) => ({
    holder: request.holders[index],
    verdict: exists ? 'present' : 'absent',
    ...{ key, value, number: BigInt(value) },
  }))
}

const toPlain = (_: string, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)

export const rowToJson = (row: SnapshotRow): string => `${JSON.stringify(row, toPlain)}\n`

/** Nothing in a row needs quotes: it holds only hexadecimal, numbers and fixed names. */
export function rowToCsv(row: SnapshotRow, columns: readonly string[]): string {
  const slots = new Map<string, unknown>((row.storage ?? []).map(({ key, value }) => [key, value]))
  const cells = columns.map(column => (Object.hasOwn(row, column) ? row[column] : slots.get(column)))
  return `${cells.map(cell => String(cell ?? '')).join(',')}\n`
}
