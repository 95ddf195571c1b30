import { ArgumentError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import { historyContract, historySlot, readBlockHash, WINDOW } from '../../verify/blocks/header.ts'
import { MAX_HEADERS } from '../../verify/blocks/limits.ts'
import { headerOf } from '../../verify/evidence/kind.ts'
import { anchoredFor, type LogsBundle, logsEvidence, newestFor } from '../../verify/evidence/kinds/logs.ts'
import type { AnyClaim } from '../../verify/evidence/kinds/state.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { stateKind } from '../../verify/state/kind.ts'
import { searchLogs } from '../sources/blocks.ts'
import { type RecordOptions, recordState } from './record.ts'

type NewestClaim = Pick<AnyClaim, 'scheme' | 'rollup' | 'trusted' | 'l2BlockNumber'>

/** Opens the bundle of {@link recordNewest}. The parent hashes of `newest` lead to the range. @throws ProofError */
export function openNewest(bundle: unknown, claim: NewestClaim, toBlock?: bigint) {
  const proven = verifyEvidence(bundle, { ...claim, address: historyContract, storageKeys: 'fromBundle' })
  const { l2BlockNumber, account, storage } = proven
  // Unless an L2 state root is trusted, it is proven.
  if (l2BlockNumber === undefined) throw refusal('EVIDENCE_BLOCK_MISMATCH', 'a block', 'none')
  const verified = { ...proven, l2BlockNumber }
  // There is one if L1 holds the hash of the block.
  const header = headerOf(proven)
  if (header !== undefined) {
    const last = toBlock ?? l2BlockNumber
    return { verified, newest: anchoredFor(header, last), toBlock: last }
  }
  const last = toBlock ?? l2BlockNumber - 1n
  const number = newestFor(l2BlockNumber, last)
  const slot = storage.find(({ key }) => key === historySlot(number))
  if (slot === undefined) {
    const held = storage.map(({ key }) => l2BlockNumber - 1n - ((WINDOW + l2BlockNumber - 1n - BigInt(key)) % WINDOW))
    const found = `that of block ${held.join(', ') || 'none'}`
    throw refusal('EVIDENCE_KEYS_MISMATCH', `the hash of block ${number}, for a range to block ${last}`, found)
  }
  const hash = readBlockHash({ account, storage: [slot] }, { number, stateBlock: l2BlockNumber })
  return { verified, newest: { number, hash }, toBlock: last }
}

export type LogsRecordOptions = Omit<RecordOptions, 'address' | 'storageKeys'>

/**
 * For the hash of a range's newest block, from the newest finalized block that can prove it; or for that block itself, if L1
 * holds its hash.
 *
 * @throws as `recordEvidence`; ArgumentError if the range ends after what is finalized
 */
export async function recordNewest(options: LogsRecordOptions, toBlock?: bigint) {
  const recorded = await recordState({ ...options, address: historyContract }, (l2BlockNumber, scheme) => {
    const isHashed = stateKind(scheme).held === 'blockHash'
    const last = isHashed ? l2BlockNumber : l2BlockNumber - 1n
    if (toBlock !== undefined && toBlock > last) throw afterNewest('toBlock', last)
    return isHashed ? [] : [historySlot(newestFor(l2BlockNumber, toBlock ?? last))]
  })
  const { scheme, rollup, trusted, bundle, verified } = recorded
  const claim = { scheme, rollup, trusted, l2BlockNumber: verified.l2BlockNumber }
  return { ...recorded, ...openNewest(bundle, claim, toBlock) }
}

const afterNewest = (path: string, newest: bigint) =>
  new ArgumentError({ path, found: `the newest block that can be proven is ${newest}` })

/** Records logs as evidence. @throws as {@link recordNewest}; ArgumentError if no bundle can hold the range */
export async function recordLogs(
  options: LogsRecordOptions,
  search: { readonly filter: DecodedFilter; readonly fromBlock: bigint; readonly toBlock?: bigint | undefined },
) {
  const { filter, fromBlock } = search
  const recorded = await recordNewest(options, search.toBlock)
  const { scheme, rollup, trusted, l2, verified, newest, toBlock } = recorded
  if (fromBlock > toBlock) throw afterNewest('fromBlock', toBlock)
  if (newest.number - fromBlock >= MAX_HEADERS) {
    const expected = `at most ${MAX_HEADERS} blocks in a bundle, so at least ${newest.number - BigInt(MAX_HEADERS) + 1n}`
    throw new ArgumentError({ path: 'fromBlock', expected, found: `${fromBlock}` })
  }
  const blocks: LogsBundle['blocks'] = []
  const source = { l2, signal: options.signal }
  for await (const { parts } of searchLogs(source, newest, { filter, fromBlock, toBlock })) blocks.push(parts)
  const { kind: _, request, answer, ...head } = recorded.bundle
  const bundle: LogsBundle = {
    ...head,
    ...(request.storageKeys.length > 0 && { answer }),
    kind: 'logs',
    fromBlock: encodeQuantity(fromBlock),
    toBlock: encodeQuantity(toBlock),
    filter: { address: [...filter.address], topics: filter.topics.map(list => [...list]) },
    blocks,
  }
  const range = { l2BlockNumber: verified.l2BlockNumber, fromBlock, toBlock, filter }
  // Each part was verified. This verifies the whole.
  const proven = verifyEvidence(bundle, { kind: logsEvidence, scheme, rollup, ...range, trusted })
  return { bundle, verified: proven }
}
