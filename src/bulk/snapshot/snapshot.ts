import { mappingSlot } from '../../anchor/slots.ts'
import type { Hex } from '../../bytes.ts'
import { ProofError } from '../../errors.ts'
import type { VerifiedState } from '../../proof/verify.ts'
import type { RpcError } from '../../rpc/error.ts'
import { fetchAnswer } from '../../rpc/fetch.ts'
import type { Provider } from '../../rpc/provider.ts'
import type { Scheme } from '../../scheme/scheme.ts'
import { createVerifier } from '../../verifier/verifier.ts'
import { askInOrder, createLimits } from './in-order.ts'

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
  return { address: contract, storageKeys: holders.map(holder => mappingSlot(slot, holder)), holders }
}

/** @param most how many holders of a mapping one request may name */
export function requestsFor(target: Target, holders: readonly Hex[], most: number): SnapshotRequest[] {
  const length = target.contract === undefined ? 1 : most
  const count = Math.ceil(holders.length / length)
  return Array.from({ length: count }, (_, index) =>
    requestFor(target, holders.slice(index * length, (index + 1) * length)),
  )
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
