import type { Hex } from '../../../base/bytes.ts'
import { atPath, ProofError, plural, refusal } from '../../../base/errors.ts'
import { atMost, hexOf, unread } from '../../../base/json/decoders.ts'
import { verifyUint } from '../../../base/options.ts'
import { type BlockLog, searchBlocks } from '../../blocks/block.ts'
import { type DecodedFilter, decodeFilter, inOrder, type LogFilter } from '../../blocks/filter.ts'
import { type BlockClaim, firstInWindow, historyContract, historySlot, readBlockHash } from '../../blocks/header.ts'
import { MAX_HEADERS, MAX_TOPICS } from '../../blocks/limits.ts'
import type { Scheme } from '../../scheme/scheme.ts'
import type { StateKind, StateScheme } from '../../state/kind.ts'
import { quantityOf, reader, unlessFromBundle } from '../fields.ts'
import { type BundleHead, type HeadClaim, verifyNumberKnown } from '../head.ts'
import { createKind, headerOf, type NamedEvidence, type ProvenBlock } from '../kind.ts'
import { MAX_CHOICES } from '../limits.ts'
import type { Trusted } from '../trusted.ts'
import type { ProvenState } from './state.ts'

/**
 * Logs as evidence: one JSON document with every proof from an L1 block hash to all logs that a filter selects in a range of L2
 * blocks.
 */
export interface LogsBundle<Kind extends StateScheme = StateScheme> extends BundleHead<Kind> {
  /** What it proves. */
  kind: 'logs'
  /** The block of the proven state, after the range: a quantity. If L1 holds its hash, the range may end with it. */
  l2BlockNumber: Hex
  /**
   * What `rollup_getProof` answered for `historyContract` and one slot: that of the first of the blocks below. For an
   * Ethereum state, `eth_getProof`; or left out, and the first of the blocks is the one whose hash L1 holds.
   */
  answer?: unknown
  /** First block of the range, a quantity. */
  fromBlock: Hex
  /** Last block of the range, a quantity. */
  toBlock: Hex
  /** Which logs it proves. An empty list: any. */
  filter: {
    /** The contracts, 20 bytes each. */
    address: Hex[]
    /** By place: 32 bytes each. */
    topics: Hex[][]
  }
  /**
   * The blocks, newest first, down to `fromBlock`. The first is `toBlock`, or the oldest block of which the state holds the hash
   * if that is newer; without `answer`, the block `l2BlockNumber`. Each is the parent of the one before.
   */
  blocks: {
    /** RLP of the header. */
    header: Hex
    /** All receipts, unless the bloom filter in the header rules out such logs, or the block is after the range. */
    receipts?: unknown[]
    /** All transactions, if the receipts have such a log: only they prove its transaction's hash. */
    transactions?: unknown[]
  }[]
}

/**
 * What you know yourself. A bundle for anything else is refused. Where you write `'fromBundle'`, whoever made the bundle
 * chooses: check the value that is returned.
 */
export interface LogsClaim<Trust extends Trusted = Trusted, Kind extends StateScheme = Scheme>
  extends HeadClaim<Trust, bigint | 'fromBundle', Kind> {
  /** The evidence that you expect: `logsEvidence`. */
  kind: NamedEvidence<'logs'>
  /** First block of the range; or `'fromBundle'`. */
  fromBlock: bigint | 'fromBundle'
  /** Last block of the range; or `'fromBundle'`. */
  toBlock: bigint | 'fromBundle'
  /** Which logs; or `'fromBundle'`. A bundle for more, or for less, is refused. */
  filter: LogFilter | 'fromBundle'
}

/** All logs that a filter selects in a range of blocks, and what that rests on. */
export type VerifiedLogs<Trust extends Trusted = Trusted, Kind extends StateScheme = Scheme> = ProvenState<
  Trust,
  Kind
> & {
  /** First block of the range. */
  fromBlock: bigint
  /** Last block of the range. */
  toBlock: bigint
  /** Which logs, in lower case. An empty list: any. */
  filter: LogsBundle['filter']
  /** All of them, oldest first. */
  logs: BlockLog[]
  /** How many blocks the range has. */
  blockCount: number
  /** How many of them the bloom filter in their headers rules out. */
  ruledOutCount: number
  /** How many receipts the others have, each of which was verified. */
  receiptCount: number
}

const RANGE_FIELDS = ['fromBlock', 'toBlock', 'filter']

export const logsEvidence = /* @__PURE__ */ createKind({
  name: 'logs',
  layer: 'L2',
  fields: [...RANGE_FIELDS, 'blocks', 'answer'],
  stated: ['kind', ...RANGE_FIELDS],
  decodeClaim(stated, head) {
    verifyNumberKnown(head)
    const { fromBlock, toBlock, filter } = stated as LogsClaim<Trusted, StateScheme>
    const numberOf = (path: string) => (number: bigint) => verifyUint(path, number, 64)
    return {
      head,
      fromBlock: unlessFromBundle('fromBlock', fromBlock, numberOf('fromBlock')),
      toBlock: unlessFromBundle('toBlock', toBlock, numberOf('toBlock')),
      filter: unlessFromBundle('filter', filter, expected => atPath('filter', () => decodeFilter(expected))),
    }
  },
  decodeBody: field => ({
    fromBlock: field('fromBlock', quantityOf(64)),
    toBlock: field('toBlock', quantityOf(64)),
    filter: field('filter', decodeStatedFilter),
    blocks: field('blocks', unread),
    answer: field('answer', unread),
  }),
  compare(body, claim) {
    for (const name of ['fromBlock', 'toBlock'] as const) {
      const [expected, found] = [claim[name], body[name]]
      if (expected === undefined || expected === found) continue
      throw new ProofError('LOGS_MISMATCH', { path: name, expected: `block ${expected}`, found: `block ${found}` })
    }
    if (claim.filter !== undefined && spell(claim.filter) !== spell(body.filter)) {
      throw new ProofError('LOGS_MISMATCH', { path: 'filter', expected: 'the one that you state', found: 'another' })
    }
    const { fromBlock, toBlock } = body
    if (fromBlock <= toBlock) return
    throw new ProofError('LOGS_RANGE', { path: 'fromBlock', expected: `at most ${toBlock}`, found: `${fromBlock}` })
  },
  verify({ fromBlock, toBlock, filter, blocks, answer }, block, { head }) {
    const newest = verifyNewest(toBlock, answer, block, head.l2.scheme)
    const count = newest.number - fromBlock + 1n
    const search = searchBlocks(filter, toBlock)
    let next = newest
    const searched = atPath('blocks', () =>
      reader.items(blocks, verifyCount(count), parts => {
        const found = search.verify(parts, next)
        next = { hash: found.header.parentHash, number: next.number - 1n }
        return found
      }),
    )
    const inRange = searched.filter(({ header }) => header.number <= toBlock).reverse()
    const counts = inRange.flatMap(({ receiptCount }) => (receiptCount === null ? [] : [receiptCount]))
    return {
      ...block,
      fromBlock,
      toBlock,
      filter: { address: [...filter.address], topics: filter.topics.map(list => [...list]) },
      logs: inRange.flatMap(({ logs }) => logs),
      blockCount: inRange.length,
      ruledOutCount: inRange.length - counts.length,
      receiptCount: counts.reduce((sum, count) => sum + count, 0),
    }
  },
})

function decodeStatedFilter(filter: unknown): DecodedFilter {
  const field = reader.fieldsOf(filter, ['address', 'topics'])
  const choiceOf = (length: number) => (list: unknown) =>
    inOrder(reader.items(list, atMost('EVIDENCE_MALFORMED', MAX_CHOICES), hexOf(reader, length)))
  const places = (list: unknown) => reader.items(list, atMost('EVIDENCE_MALFORMED', MAX_TOPICS), choiceOf(32))
  return { address: field('address', choiceOf(20)), topics: field('topics', places) }
}

/** Hexadecimal has neither of the separators. */
const spell = ({ address, topics }: DecodedFilter): string => [address, ...topics].map(list => list.join()).join(';')

function verifyNewest(toBlock: bigint, answer: unknown, block: ProvenBlock, state: StateKind) {
  const { stateRoot, l2BlockNumber } = block
  const l2Block = headerOf(block)
  if (answer === undefined && l2Block !== undefined) return anchoredFor(l2Block, toBlock)
  // Proven, or stated: the claim says it if nothing proves it.
  const stateBlock = l2BlockNumber as bigint
  const number = newestFor(stateBlock, toBlock)
  const asked = { stateRoot, address: historyContract, storageKeys: [historySlot(number)] }
  const hash = atPath('answer', () => readBlockHash(state.verify(answer, asked), { number, stateBlock }))
  return { number, hash }
}

/** The block whose hash L1 holds, from which the parent hashes lead to a range. */
export function anchoredFor({ number, hash }: BlockClaim, toBlock: bigint): BlockClaim {
  if (toBlock <= number) return { number, hash }
  throw new ProofError('LOGS_RANGE', { path: 'toBlock', expected: `at most ${number}`, found: `${toBlock}` })
}

/** The block from which the parent hashes lead to a range: its last, unless the state no longer holds that one's hash. */
export function newestFor(stateBlock: bigint, toBlock: bigint): bigint {
  const first = firstInWindow(stateBlock)
  return toBlock > first ? toBlock : first
}

const verifyCount = (expected: bigint) => (count: number) => {
  if (expected > MAX_HEADERS) throw refusal('BLOCK_TOO_LARGE', `a range of at most ${MAX_HEADERS} blocks`, expected)
  if (count !== Number(expected)) throw refusal('LOGS_RANGE', plural(expected, 'block'), count)
}
