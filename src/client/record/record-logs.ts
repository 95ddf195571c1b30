import type { Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { historyContract, historySlot, readBlockHash } from '../../verify/blocks/history.ts'
import { MAX_HEADERS } from '../../verify/blocks/limits.ts'
import { headerOf } from '../../verify/evidence/chain.ts'
import {
  anchoredFor,
  type LogsBundle,
  logsEvidence,
  newestFor,
  type VerifiedLogs,
} from '../../verify/evidence/kinds/logs.ts'
import { createBundle, type EvidenceBundle } from '../../verify/evidence/kinds/state.ts'
import type { AnyClaim, AnyEvidence } from '../../verify/evidence/types.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { decidedKind, stateKind } from '../../verify/state/kind.ts'
import type { StateScheme } from '../../verify/state/types.ts'
import { searchLogs } from '../l1/logs.ts'
import { readNetwork } from '../network/network.ts'
import { openEndpoints } from '../sources/endpoints.ts'
import { fetchState, verifyClientOptions } from '../sources/fetch.ts'
import { type Recorded, type RecordOptions, recordEvidence } from './record.ts'

/** What the bundle with the hash of a range's newest block, or of a later one, proves. */
export interface ProvenNewest {
  readonly verified: AnyEvidence & { readonly l2BlockNumber: bigint }
  /** Its parent hashes lead to the range. */
  readonly newest: BlockClaim
  readonly toBlock: bigint
}

type NewestClaim = Pick<AnyClaim, 'scheme' | 'rollup' | 'trusted' | 'l2BlockNumber'>

/** Opens the bundle of {@link recordNewest}: without a slot, it is for the block whose hash L1 holds. @throws ProofError */
export function openNewest(bundle: unknown, claim: NewestClaim, toBlock?: bigint): ProvenNewest {
  const proven = verifyEvidence(bundle, { ...claim, address: historyContract, storageKeys: 'fromBundle' })
  const { l2BlockNumber, account, storage } = proven
  // Unless an L2 state root is trusted, it is proven.
  if (l2BlockNumber === undefined) throw refusal('EVIDENCE_BLOCK_MISMATCH', 'a block', 'none')
  const verified = { ...proven, l2BlockNumber }
  const header = headerOf(proven)
  if (header !== undefined && storage.length === 0) {
    const last = toBlock ?? l2BlockNumber
    return { verified, newest: anchoredFor(header, last), toBlock: last }
  }
  const last = toBlock ?? l2BlockNumber - 1n
  const number = newestFor(l2BlockNumber, last)
  const slot = storage.find(({ key }) => key === historySlot(number))
  if (slot === undefined) throw refusal('EVIDENCE_KEYS_MISMATCH', historySlot(number), 'others')
  const hash = readBlockHash({ account, storage: [slot] }, { number, stateBlock: l2BlockNumber })
  return { verified, newest: { number, hash }, toBlock: last }
}

export interface RecordedNewest extends ProvenNewest, Pick<Recorded, 'l1BlockHashFrom'> {
  readonly bundle: EvidenceBundle<StateScheme>
  readonly scheme: StateScheme
}

export type LogsRecordOptions = Omit<RecordOptions, 'address' | 'storageKeys'>

/**
 * For the hash of a range's newest block, from the newest finalized block that can prove it; or for that block itself, if L1
 * holds its hash.
 *
 * @throws as `recordEvidence`; ArgumentError if the range ends after what is finalized
 */
export async function recordNewest(options: LogsRecordOptions, toBlock?: bigint): Promise<RecordedNewest> {
  const { beacon, signal } = options
  const { rollup, schemeAt } = readNetwork(options.network)
  const how = verifyClientOptions({ rollup, maxKeysPerRequest: options.maxKeysPerRequest })
  const first = await recordEvidence({ ...options, address: historyContract })
  const { l2BlockNumber, stateRoot, l1Block } = first.verified
  const scheme = decidedKind(first.scheme, schemeAt(l2BlockNumber))
  const isHashed = stateKind(scheme).held === 'blockHash'
  const last = isHashed ? l2BlockNumber : l2BlockNumber - 1n
  if (toBlock !== undefined && toBlock > last) throw afterNewest('toBlock', last)
  const withSlot = async () => {
    // Which slot it is depends on the block, which was not known before.
    const storageKeys: readonly Hex[] = [historySlot(newestFor(l2BlockNumber, toBlock ?? last))]
    const asked = { address: historyContract, storageKeys, l2BlockNumber }
    const l2 = openEndpoints('l2', options.l2, 'L2', { signal })
    const { answer } = await fetchState(l2, { ...asked, scheme, stateRoot }, { ...how, signal })
    const { request, answer: known } = createBundle({ scheme, rollup, ...asked, answer })
    return { ...first.bundle, request, answer: known }
  }
  const trusted = beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  const recorded = (bundle: EvidenceBundle<StateScheme>) => {
    const opened = openNewest(bundle, { scheme, rollup, trusted, l2BlockNumber }, toBlock)
    return { ...opened, bundle, scheme, l1BlockHashFrom: first.l1BlockHashFrom }
  }
  if (!isHashed) return recorded(await withSlot())
  if (toBlock === undefined || toBlock === last) return recorded(first.bundle)
  try {
    // A state that holds the hash of the range's end shortens the way.
    return recorded(await withSlot())
  } catch (error) {
    // There need not be such a contract, to whose address anyone can send wei, and a young one has few hashes.
    if (!(isProofError(error) && error.code.startsWith('HISTORY_NO_'))) throw error
    // From the hash that L1 holds, the parent hashes lead anywhere.
    return recorded(first.bundle)
  }
}

const afterNewest = (path: string, newest: bigint) =>
  new ArgumentError({ path, found: `the newest block that can be proven is ${newest}` })

export interface RecordedLogs extends Pick<Recorded, 'l1BlockHashFrom'> {
  /** The verified bundle, as JSON. */
  bundle: LogsBundle
  /** What the bundle proves to whoever trusts the hash of its L1 block, or the beacon block. */
  verified: VerifiedLogs<{ l1BlockHash: Hex } | NonNullable<RecordOptions['beacon']>['trusted'], StateScheme>
}

/** Records logs as evidence. @throws as {@link recordNewest}; ArgumentError if no bundle can hold the range */
export async function recordLogs(
  options: LogsRecordOptions,
  search: { readonly filter: DecodedFilter; readonly fromBlock: bigint; readonly toBlock?: bigint | undefined },
): Promise<RecordedLogs> {
  const { beacon, signal } = options
  const { rollup } = readNetwork(options.network)
  const { filter, fromBlock } = search
  const {
    bundle: state,
    scheme,
    verified,
    newest,
    toBlock,
    l1BlockHashFrom,
  } = await recordNewest(options, search.toBlock)
  if (fromBlock > newest.number) throw afterNewest('fromBlock', newest.number)
  if (newest.number - fromBlock >= MAX_HEADERS) {
    const expected = `at most ${MAX_HEADERS} blocks in a bundle, so at least ${newest.number - BigInt(MAX_HEADERS) + 1n}`
    throw new ArgumentError({ path: 'fromBlock', expected, found: `${fromBlock}` })
  }
  const l2 = openEndpoints('l2', options.l2, 'L2', { signal })
  const blocks: LogsBundle['blocks'] = []
  for await (const block of searchLogs({ l2, signal }, newest, { filter, fromBlock, toBlock })) {
    blocks.push(block.parts)
  }
  const { kind: _, request, answer, ...head } = state
  const bundle: LogsBundle = {
    ...{ ...head, ...(request.storageKeys.length > 0 && { answer }) },
    ...{ kind: 'logs', fromBlock: encodeQuantity(fromBlock), toBlock: encodeQuantity(toBlock) },
    filter: { address: [...filter.address], topics: filter.topics.map(list => [...list]) },
    blocks,
  }
  const range = { l2BlockNumber: verified.l2BlockNumber, fromBlock, toBlock, filter }
  const trusted = beacon?.trusted ?? { l1BlockHash: verified.l1Block?.hash ?? '0x' }
  // Each part was verified. This verifies the whole.
  return {
    bundle,
    verified: verifyEvidence(bundle, { kind: logsEvidence, scheme, rollup, ...range, trusted }),
    l1BlockHashFrom,
  }
}
