import type { Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath, ProofError, refusal } from '../../base/errors.ts'
import { atMost, hexOf, unread } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import type { Rollup } from '../anchor/rollup.ts'
import type { BlockLog } from '../blocks/block.ts'
import { type DecodedFilter, decodeFilter, inOrder, type LogFilter } from '../blocks/filter.ts'
import type { BlockClaim } from '../blocks/header.ts'
import { firstInWindow, historyContract, historySlot, readBlockHash } from '../blocks/history.ts'
import { MAX_HEADERS, MAX_TOPICS } from '../blocks/limits.ts'
import { searchBlocks } from '../blocks/logs.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { StateScheme } from '../state/types.ts'
import { decodeStateClaim, unlessFromBundle } from './claim.ts'
import { quantityOf, VERSIONS, verifyVersion } from './decode.ts'
import { MAX_CHOICES } from './limits.ts'
import type { EvidenceBundle, Trusted, VerifiedEvidence } from './types.ts'
import { verifyDecoded, verifyL2Block } from './verify.ts'

/** What a document of this kind says that it proves. */
const LOGS_KIND = 'logs'

/**
 * Logs as evidence: one JSON document with every proof from an L1 block hash to all logs that a filter selects in a range of L2
 * blocks. Its JSON Schema is `docs/logs-evidence.schema.json`.
 */
export interface LogsBundle<Kind extends StateScheme = StateScheme>
  extends Pick<EvidenceBundle<Kind>, 'version' | 'scheme' | 'rollup' | 'consensus' | 'l1' | 'l2Header'> {
  /** Distinguishes it from evidence of accounts and slots. */
  kind: 'logs'
  /** The block of the proven state, after the range: a quantity. In version 2, the range may end with it. */
  l2BlockNumber: Hex
  /**
   * What `rollup_getProof` answered for `historyContract` and one slot: that of the first of the blocks below. In version 2,
   * `eth_getProof`; or left out, and the first of the blocks is the one whose hash L1 holds.
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
export interface LogsClaim<Trust extends Trusted = Trusted, Kind extends StateScheme = Scheme> {
  /** The kind of the rollup's state at the L2 block. */
  scheme: Kind
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The one value that everything is proven from. */
  trusted: Trust
  /** The block of the proven state; or `'fromBundle'`: any finalized block, unless you trust an L2 state root. */
  l2BlockNumber: bigint | 'fromBundle'
  /** First block of the range; or `'fromBundle'`. */
  fromBlock: bigint | 'fromBundle'
  /** Last block of the range; or `'fromBundle'`. */
  toBlock: bigint | 'fromBundle'
  /** Which logs; or `'fromBundle'`. A bundle for more, or for less, is refused. */
  filter: LogFilter | 'fromBundle'
}

/** What is proven about the state that holds the block hash, whichever input you trust. */
type LogsAnchor<Trust extends Trusted, Kind extends StateScheme> =
  VerifiedEvidence<Trust, bigint, readonly Hex[], Kind> extends infer One
    ? One extends object
      ? Omit<One, 'account' | 'storage' | 'address'>
      : never
    : never

/** All logs that a filter selects in a range of blocks, and what that rests on. */
export type VerifiedLogs<Trust extends Trusted = Trusted, Kind extends StateScheme = Scheme> = LogsAnchor<
  Trust,
  Kind
> & {
  /** First block of the range. */
  fromBlock: bigint
  /** Last block of the range. */
  toBlock: bigint
  /** Which logs, in lower case. An empty list: any. */
  filter: {
    /** The contracts. */
    address: Hex[]
    /** By place. */
    topics: Hex[][]
  }
  /** All of them, oldest first. */
  logs: BlockLog[]
  /** How many blocks the range has. */
  blockCount: number
  /** How many of them the bloom filter in their headers rules out. */
  ruledOutCount: number
  /** How many receipts the others have, each of which was verified. */
  receiptCount: number
}

const CLAIM_FIELDS = ['scheme', 'rollup', 'trusted', 'l2BlockNumber', 'fromBlock', 'toBlock', 'filter']

/**
 * Verifies logs as evidence, against what you know and the one thing that you trust. The result is complete: no log of the range
 * that the filter selects is missing. The hash of the newest block comes from the state (EIP-2935), or from L1 if that holds hashes
 * of blocks. The other blocks follow by their parent hashes, and of each block that the bloom filter in its header does not rule
 * out, all receipts are verified.
 *
 * @param bundle an untrusted {@link LogsBundle}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `LOGS_*`, `EVIDENCE_*`, `HISTORY_*`; what `verifyEvidence` throws for the way from what you trust to the
 * state, and `verifyBlock` for the blocks; ArgumentError for the claim
 *
 * @example
 * ```ts
 * import { encodeHeader, historyContract, historySlot, verifyLogs } from 'rollup-state-proof/blocks'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, createWorld } from 'rollup-state-proof-devnet'
 *
 * // A block without logs, and a state that holds its hash.
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const world = createWorld(poseidon2)
 * const block = Object(createService({ genesis: world, rollup }).chain.l1.getBlock(0n))
 * world.setAccount(historyContract, { nonce: 1n })
 * world.setStorage(historyContract, { key: historySlot(0n), value: block.hash })
 * const answer = world.getProof(historyContract, [historySlot(0n)])
 *
 * const bundle = {
 *   ...{ version: 1, kind: 'logs', scheme: 'poseidon2', rollup, l2BlockNumber: '0x1', answer },
 *   ...{ fromBlock: '0x0', toBlock: '0x0', filter: { address: [], topics: [] } },
 *   blocks: [{ header: encodeHeader(block) }],
 * }
 * const known = { scheme: poseidon2, rollup, trusted: { l2StateRoot: world.stateRoot() }, l2BlockNumber: 1n }
 * const { logs, blockCount } = verifyLogs(bundle, { ...known, fromBlock: 0n, toBlock: 0n, filter: {} })
 * console.log(logs.length, blockCount) // 0 1
 * ```
 */
export function verifyLogs<Trust extends Trusted, Kind extends StateScheme = Scheme>(
  bundle: unknown,
  claim: LogsClaim<Trust, Kind>,
): VerifiedLogs<Trust, Kind> {
  const wanted = decodeLogsClaim(claim)
  const decoded = decodeBundle(bundle)
  verifyExpected(decoded, wanted)
  const { fromBlock, toBlock, filter, blocks } = decoded
  const { anchor, ...newest } = verifyNewest(decoded, wanted)
  const count = newest.number - fromBlock + 1n
  const search = searchBlocks(filter, toBlock)
  let next = newest
  const searched = atPath('blocks', () =>
    reader.items(blocks, verifyCount(count), parts => {
      const block = search.verify(parts, next)
      next = { hash: block.header.parentHash, number: next.number - 1n }
      return block
    }),
  )
  const inRange = searched.filter(({ header }) => header.number <= toBlock).reverse()
  const counts = inRange.flatMap(({ receiptCount }) => (receiptCount === null ? [] : [receiptCount]))
  const verified = {
    ...anchor,
    ...{ fromBlock, toBlock, filter: { address: [...filter.address], topics: filter.topics.map(list => [...list]) } },
    logs: inRange.flatMap(({ logs }) => logs),
    blockCount: inRange.length,
    ruledOutCount: inRange.length - counts.length,
    receiptCount: counts.reduce((sum, count) => sum + count, 0),
  }
  // The claim decides which case it is.
  return verified as unknown as VerifiedLogs<Trust, Kind>
}

type Wanted = ReturnType<typeof decodeLogsClaim>
type Decoded = ReturnType<typeof decodeBundle>

/** Validates the whole claim, so that a wrong one never looks like a fault of the bundle. @throws ArgumentError */
function decodeLogsClaim(claim: LogsClaim<Trusted, StateScheme>) {
  const { fromBlock, toBlock, filter, ...about } = readOptions('', claim, CLAIM_FIELDS)
  const evidence = decodeStateClaim({ ...about, address: 'fromBundle', storageKeys: 'fromBundle' })
  if (evidence.trusted.kind === 'l2StateRoot' && evidence.l2BlockNumber === undefined) {
    throw new ArgumentError({ path: 'l2BlockNumber', expected: 'the number of the block of this state root' })
  }
  const numberOf = (path: string) => (number: bigint) => verifyUint(path, number, 64)
  return {
    evidence,
    fromBlock: unlessFromBundle('fromBlock', fromBlock, numberOf('fromBlock')),
    toBlock: unlessFromBundle('toBlock', toBlock, numberOf('toBlock')),
    filter: unlessFromBundle('filter', filter, stated => atPath('filter', () => decodeFilter(stated))),
  }
}

const reader = /* @__PURE__ */ readerOf('EVIDENCE_MALFORMED')
const OWN_FIELDS = ['version', 'kind', 'l2BlockNumber', 'fromBlock', 'toBlock', 'filter', 'blocks'] as const
const FIELDS = [...OWN_FIELDS, 'scheme', 'rollup', 'consensus', 'l1', 'l2Header', 'answer'] as const

/** The bundle's own fields. The blocks in it are not read yet. */
function decodeBundle(bundle: unknown) {
  const fields = reader.fields(bundle, FIELDS)
  const field = reader.fieldsOf(fields, OWN_FIELDS)
  field('version', version => verifyVersion(version, VERSIONS))
  field('kind', kind => {
    if (kind !== LOGS_KIND) throw refusal('EVIDENCE_MALFORMED', `the kind ${LOGS_KIND}`, 'another')
  })
  return {
    l2BlockNumber: field('l2BlockNumber', quantityOf(64)),
    fromBlock: field('fromBlock', quantityOf(64)),
    toBlock: field('toBlock', quantityOf(64)),
    filter: field('filter', decodeStatedFilter),
    blocks: field('blocks', unread),
    /** With a request, an `EvidenceBundle`. `verifyDecoded` decodes the rest. */
    fields,
  }
}

function decodeStatedFilter(filter: unknown): DecodedFilter {
  const field = reader.fieldsOf(filter, ['address', 'topics'])
  const choiceOf = (length: number) => (list: unknown) =>
    inOrder(reader.items(list, atMost('EVIDENCE_MALFORMED', MAX_CHOICES), hexOf(reader, length)))
  const places = (list: unknown) => reader.items(list, atMost('EVIDENCE_MALFORMED', MAX_TOPICS), choiceOf(32))
  return { address: field('address', choiceOf(20)), topics: field('topics', places) }
}

const isSameFilter = (one: DecodedFilter, other: DecodedFilter): boolean =>
  isSameList([one.address, ...one.topics], [other.address, ...other.topics], isSameChoice)
const isSameChoice = (one: readonly Hex[], other: readonly Hex[]): boolean =>
  isSameList(one, other, (hex, own) => hex === own)

/** Item by item: text that JSON makes of the lists is whatever a `toJSON` says. */
const isSameList = <T>(one: readonly T[], other: readonly T[], isSame: (item: T, own: T) => boolean): boolean =>
  one.length === other.length && one.every((item, index) => isSame(item, other[index] as T))

/** Refuses a bundle for another range or filter than the caller states. `verifyDecoded` compares the rest. */
function verifyExpected(decoded: Decoded, wanted: Wanted): void {
  for (const name of ['fromBlock', 'toBlock'] as const) {
    const [expected, found] = [wanted[name], decoded[name]]
    if (expected === undefined || expected === found) continue
    throw new ProofError('LOGS_MISMATCH', { path: name, expected: `block ${expected}`, found: `block ${found}` })
  }
  if (wanted.filter === undefined || isSameFilter(wanted.filter, decoded.filter)) return
  throw new ProofError('LOGS_MISMATCH', { path: 'filter', expected: 'the one that you state', found: 'another' })
}

/** The number and hash of the first of the blocks, and what proves them. */
function verifyNewest({ fields, l2BlockNumber: stateBlock, fromBlock, toBlock }: Decoded, { evidence }: Wanted) {
  if (fromBlock > toBlock) {
    throw new ProofError('LOGS_RANGE', { path: 'fromBlock', expected: `at most ${toBlock}`, found: `${fromBlock}` })
  }
  const bundle = { ...fields, kind: 'state' }
  if (fields.answer === undefined && evidence.kind.held === 'blockHash' && evidence.trusted.kind !== 'l2StateRoot') {
    const request = { address: historyContract, storageKeys: [] }
    const anchor = verifyL2Block({ ...bundle, request }, evidence)
    return { ...anchoredFor(anchor.l2Block, toBlock), anchor }
  }
  const number = newestFor(stateBlock, toBlock)
  const request = { address: historyContract, storageKeys: [historySlot(number)] }
  const { account, storage, address: _, ...anchor } = verifyDecoded({ ...bundle, request }, evidence)
  const hash = atPath('answer', () => readBlockHash({ account, storage }, { number, stateBlock }))
  return { number, hash, anchor }
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
  if (count !== Number(expected)) throw refusal('LOGS_RANGE', `${expected} blocks`, count)
}
