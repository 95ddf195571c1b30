import type { FailureCode } from '../../src/base/errors.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { makeBlock, quantity, type Sent, type SentBlock } from '../blocks/truth.ts'
import { named } from '../evidence/l1.ts'
import { rollup } from '../evidence/truth.ts'
import { difference, type Patch } from '../patch.ts'
import type { Flag } from '../vector.ts'
import { type Ethereum, makeEthereum } from './ethereum.ts'
import {
  contentsOf,
  FILTER,
  FIRST,
  LAST,
  LATER,
  makeTruth,
  partsOf,
  STATE,
  TOKEN,
  TRANSFER,
  type Truth,
} from './truth.ts'

export interface Claim {
  rollup: { address: Hex }
  trusted: { l1BlockHash: Hex } | { l2StateRoot: Hex }
  l2BlockNumber: Hex | 'fromBundle'
  fromBlock: Hex | 'fromBundle'
  toBlock: Hex | 'fromBundle'
  filter: { address?: Hex | Hex[]; topics?: (Hex | Hex[] | null)[] } | 'fromBundle'
}

/** A vector of logs as evidence. Numbers in the claim, and of what is expected, are quantities. */
export type LogsVector = {
  description: string
  operation: 'verifyEvidence'
  kind: 'logs'
  scheme: 'mimc' | 'poseidon2' | 'ethereum'
  claim: Claim
} & (
  | { /** The bundle. */ input: unknown; expected: { valid: true; verified: unknown } }
  | {
      flag: Flag
      /** The valid vector whose bundle is changed. */
      base: string
      patches: Patch[]
      expected: { valid: false; code: FailureCode }
    }
)

const IS = { operation: 'verifyEvidence', kind: 'logs' } as const

/** The vectors of logs: path below this folder -> content. */
export async function generateLogs(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const add = (path: string, vector: LogsVector) => {
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(`${path}.json`, `${JSON.stringify(vector, null, 1)}\n`)
  }
  const truth = await makeTruth(poseidon2)
  for (const { name, verified, ...vector } of [...(await validCases(truth)), wholeCase(await makeTruth(mimc))]) {
    add(`valid/${name}`, { ...IS, ...vector, expected: { valid: true, verified } })
  }
  for (const { name, code, claim, forged, ...about } of await forgeries(truth)) {
    add(`invalid/${name}`, {
      ...{ ...about, ...IS, scheme: 'poseidon2', claim: { ...claimOn(truth), ...claim } },
      ...{ base: 'transfers-poseidon2', patches: difference(truth.bundle, { ...truth.bundle, ...forged }) },
      expected: { valid: false, code },
    })
  }
  const ethereum = await makeEthereum()
  for (const { name, verified, ...vector } of ethereumCases(ethereum)) {
    add(`valid/${name}`, {
      ...IS,
      scheme: 'ethereum',
      ...vector,
      expected: { valid: true, verified },
    })
  }
  for (const { name, code, claim, from, forged, ...about } of await ethereumForgeries(ethereum)) {
    add(`invalid/${name}`, {
      ...{ ...about, ...IS, scheme: 'ethereum', claim: { ...claimOn(ethereum), ...claim } },
      ...{ base: `ethereum-${from}`, patches: difference(ethereum[from], { ...ethereum[from], ...forged }) },
      expected: { valid: false, code },
    })
  }
  return files
}

const claimOn = ({ blockHash }: { blockHash: Hex }): Claim => ({
  ...{ rollup: { address: rollup.address }, trusted: { l1BlockHash: blockHash } },
  ...{ l2BlockNumber: 'fromBundle', fromBlock: 'fromBundle', toBlock: 'fromBundle', filter: 'fromBundle' },
})

const blockAt = ({ chain }: Pick<Truth, 'chain'>, number: bigint) => chain[Number(number - FIRST)] as SentBlock

/** What is proven about the logs of a block at these places. */
function logsIn(truth: Pick<Truth, 'chain'>, number: bigint, ...places: number[]) {
  const logs = blockAt(truth, number).receipts.flatMap(({ logs }) => logs as Sent[])
  return places.map(place => {
    const log = logs[place] ?? {}
    return { ...log, logIndex: Number(log.logIndex), transactionIndex: Number(log.transactionIndex) }
  })
}

interface Valid {
  name: string
  description: string
  scheme: 'mimc' | 'poseidon2'
  claim: Claim
  input: unknown
  verified: unknown
}

function wholeCase(truth: Truth): Valid {
  const logs = [...logsIn(truth, 994n, 0), ...logsIn(truth, 998n, 0, 2), ...logsIn(truth, 999n, 1)]
  const { name } = truth.scheme
  return {
    ...{ name: `transfers-${name}`, scheme: name, input: truth.bundle },
    description: 'All transfers of a token in six blocks, two of which the headers rule out.',
    claim: {
      ...{ ...claimOn(truth), l2BlockNumber: quantity(STATE), fromBlock: quantity(FIRST), toBlock: quantity(LAST) },
      filter: { address: `0x${TOKEN.slice(2).toUpperCase()}`, topics: [TRANSFER] },
    },
    verified: { logs, blockCount: 6, ruledOutCount: 2, receiptCount: 7 },
  }
}

async function validCases(truth: Truth): Promise<Valid[]> {
  const { bundle, stateRoot, bundleFor } = truth
  const contentOf = (number: bigint) => bundle.blocks[Number(LAST - number)] ?? { header: '0x' }
  const headerOf = (number: bigint) => ({ header: contentOf(number).header })
  const whole = wholeCase(truth)
  const base = { scheme: 'poseidon2', claim: claimOn(truth) } as const
  const ranged = (from: bigint, to: bigint) => ({ ...bundle, fromBlock: quantity(from), toBlock: quantity(to) })
  return [
    whole,
    {
      ...{ name: 'from-state-root', description: 'From a trusted L2 state root, whose block is stated.', ...base },
      claim: { ...base.claim, trusted: { l2StateRoot: stateRoot }, l2BlockNumber: quantity(STATE) },
      ...{ input: bundle, verified: whole.verified },
    },
    {
      ...{ name: 'before-the-window', description: 'A range whose hashes the state no longer holds.', ...base },
      input: {
        ...{ ...ranged(994n, 995n), ...(await bundleFor(LATER, 996n)) },
        // The filter does not rule out 996, but it is after the range.
        blocks: [headerOf(996n), headerOf(995n), contentOf(994n)],
      },
      verified: { logs: logsIn(truth, 994n, 0), blockCount: 2, ruledOutCount: 1, receiptCount: 2 },
    },
    {
      ...{ name: 'everything', description: 'All logs. A block without logs needs no receipts.', ...base },
      input: {
        ...{ ...ranged(995n, 997n), ...(await bundleFor(STATE, 997n)), filter: { address: [], topics: [] } },
        blocks: [headerOf(997n), partsOf(blockAt(truth, 996n)), headerOf(995n)],
      },
      verified: { logs: logsIn(truth, 996n, 0, 1), blockCount: 3, ruledOutCount: 2, receiptCount: 2 },
    },
    {
      ...{ name: 'one-log', description: 'One log, by its second topic.', ...base },
      input: {
        ...{ ...ranged(998n, 998n), ...(await bundleFor(STATE, 998n)), blocks: [contentOf(998n)] },
        filter: { address: [], topics: [[], [named('from c')]] },
      },
      verified: { logs: logsIn(truth, 998n, 2), blockCount: 1, ruledOutCount: 0, receiptCount: 2 },
    },
  ]
}

/** Of an Ethereum state. Without an answer, the blocks begin with the one whose hash L1 holds. */
function ethereumCases(truth: Ethereum): Omit<Valid, 'scheme'>[] {
  const { chain, anchored, slotted } = truth
  const claim = claimOn(truth)
  const headersOnly = (block: { header: Hex }, index: number) => (index < 4 ? { header: block.header } : block)
  const transfers = [...logsIn(truth, 994n, 0), ...logsIn(truth, 998n, 0, 2)]
  return [
    {
      ...{ name: 'ethereum-anchored', description: 'Six blocks: L1 holds the hash of the last.', input: anchored },
      claim: {
        ...{ ...claim, l2BlockNumber: quantity(LAST), fromBlock: quantity(FIRST), toBlock: quantity(LAST) },
        filter: { address: TOKEN, topics: [TRANSFER] },
      },
      verified: { logs: [...transfers, ...logsIn(truth, 999n, 1)], blockCount: 6, ruledOutCount: 2, receiptCount: 7 },
    },
    {
      ...{ name: 'ethereum-before-the-anchored', description: 'Four blocks lead to a range of two.', claim },
      input: { ...anchored, toBlock: quantity(995n), blocks: contentsOf(chain).map(headersOnly) },
      verified: { logs: logsIn(truth, 994n, 0), blockCount: 2, ruledOutCount: 1, receiptCount: 2 },
    },
    {
      ...{ name: 'ethereum-slotted', description: 'The state holds the hash of the last of five blocks.', claim },
      ...{ input: slotted, verified: { logs: transfers, blockCount: 5, ruledOutCount: 2, receiptCount: 6 } },
    },
  ]
}

interface EthereumForgery extends Forgery {
  /** What is changed. */
  from: 'anchored' | 'slotted'
}

async function ethereumForgeries({ chain, anchored, slotted, stateRoot, answerFor }: Ethereum) {
  const { blocks } = anchored
  const [newest = { header: '0x' as const }, before] = blocks
  const rowsFrom =
    (from: EthereumForgery['from']) =>
    (of: Row, forged: object, claim: Partial<Claim> = {}): EthereumForgery => ({ ...row(of, forged, claim), from })
  const [on, onSlotted] = [rowsFrom('anchored'), rowsFrom('slotted')]
  const own = await makeBlock([], LAST, chain.at(-2)?.block.hash)
  const after = await makeBlock([], LAST + 1n, chain.at(-1)?.block.hash)
  const [ownHeader, afterHeader] = [own, after].map(({ block }) => encodeHeader(block))
  return [
    on(['anchored-block-missing', 'LOGS_RANGE', 'Binding', 'The blocks begin with the one before.'], {
      ...{ toBlock: quantity(LAST - 1n), blocks: blocks.slice(1) },
    }),
    on(['anchored-block-of-another-number', 'HEADER_HASH_MISMATCH', 'Binding', 'The block before is there twice.'], {
      blocks: [before, ...blocks.slice(1)],
    }),
    on(['anchored-block-invented', 'HEADER_HASH_MISMATCH', 'Binding', 'Another block with the same parent.'], {
      blocks: [{ header: ownHeader }, ...blocks.slice(1)],
    }),
    on(['anchored-block-and-header-invented', 'HEADER_HASH_MISMATCH', 'Binding', 'And with it, the L2 header.'], {
      ...{ l2Header: ownHeader, blocks: [{ header: ownHeader }, ...blocks.slice(1)] },
    }),
    on(['anchored-header-of-another', 'HEADER_HASH_MISMATCH', 'Binding', 'The L2 header of the block before.'], {
      l2Header: before?.header,
    }),
    on(['anchored-header-missing', 'EVIDENCE_L2_MISSING', 'Binding', 'The blocks alone.'], { l2Header: null }),
    on(['anchored-block-said-to-be-ruled-out', 'LOGS_CONTENT_MISSING', 'Value', 'It has such a log.'], {
      blocks: [{ header: newest.header }, ...blocks.slice(1)],
    }),
    on(['anchored-block-after-the-range', 'LOGS_CONTENT_UNUSED', 'Encoding', 'It only leads to the range.'], {
      toBlock: quantity(LAST - 1n),
    }),
    on(['range-ends-after-the-anchored', 'LOGS_RANGE', 'Binding', 'A child of that block, which L1 does not know.'], {
      ...{ toBlock: quantity(LAST + 1n), blocks: [{ header: afterHeader }, ...blocks] },
    }),
    on(['range-longer-than-the-blocks', 'LOGS_RANGE', 'Binding', 'A block more than there is.'], {
      toBlock: quantity(LAST + 1n),
    }),
    on(['answer-added', 'HISTORY_OUTSIDE_WINDOW', 'Binding', 'The state does not hold its own hash.'], {
      answer: await answerFor(LAST),
    }),
    on(
      ['anchored-from-a-state-root', 'L1_PROOF_MALFORMED', 'Binding', 'Nothing but L1 tells the hash of the block.'],
      {},
      { trusted: { l2StateRoot: stateRoot }, l2BlockNumber: quantity(LAST) },
    ),
    onSlotted(['slotted-answer-missing', 'LOGS_RANGE', 'Binding', 'Nothing tells the hash of the first block.'], {
      answer: null,
    }),
    onSlotted(['slotted-answer-of-another', 'L1_KEY_MISMATCH', 'Binding', 'The slot of the block before.'], {
      answer: await answerFor(LAST - 2n),
    }),
    onSlotted(['slotted-with-the-anchored', 'LOGS_RANGE', 'Binding', 'A block more, although it is proven.'], {
      blocks: [{ header: newest.header }, ...slotted.blocks],
    }),
  ]
}

interface Forgery {
  name: string
  code: FailureCode
  flag: Flag
  description: string
  claim?: Partial<Claim>
  /** Fields of the bundle. */
  forged?: object
}

type Row = readonly [name: string, code: FailureCode, flag: Flag, description: string]
const row = ([name, code, flag, description]: Row, forged: object, claim: Partial<Claim> = {}): Forgery => ({
  ...{ name, code, flag, description, claim, forged },
})

const forgeries = async (truth: Truth): Promise<Forgery[]> => [
  ...contentForgeries(truth),
  ...rangeForgeries(truth),
  ...claimForgeries(truth),
  ...(await stateForgeries(truth)),
]

/** Of the block 998, at place 1: two receipts, the second of which has two logs. */
function contentForgeries({ bundle: { blocks }, chain }: Truth): Forgery[] {
  const [newest, block] = blocks
  const { transactions = [], receipts = [] } = block ?? {}
  const withBlock = (at: number, change: object) => ({
    blocks: blocks.with(at, { ...blocks[at], header: blocks[at]?.header ?? '0x', ...change }),
  })
  const logs = Object(receipts[1]).logs as Sent[]
  const changed = (name: string, description: string, logs: unknown) =>
    row(
      [name, 'RECEIPTS_ROOT_MISMATCH', 'Value', description],
      withBlock(1, { receipts: receipts.with(1, { ...Object(receipts[1]), logs }) }),
    )
  const other = named('another')
  const lie = (name: string, description: string, change: object) =>
    row([name, 'BLOCK_FIELD_MISMATCH', 'Binding', description], withBlock(1, change))
  const ofReceipt = (change: object) => ({ receipts: receipts.with(1, { ...Object(receipts[1]), ...change }) })
  const ofTransaction = (change: object) => ({
    transactions: transactions.with(1, { ...Object(transactions[1]), ...change }),
  })
  const redundant = [
    lie(
      'log-of-another-transaction',
      'A log states another.',
      ofReceipt({ logs: logs.with(1, { ...logs[1], transactionHash: other }) }),
    ),
    lie('receipt-of-another-transaction', 'A receipt states another.', ofReceipt({ transactionHash: other })),
    lie('receipt-in-another-block', 'A receipt states another.', ofReceipt({ blockHash: other })),
    lie('receipt-at-another-price', 'A receipt states another.', ofReceipt({ effectiveGasPrice: '0x7' })),
    lie('transaction-hash-altered', 'A transaction states another.', ofTransaction({ hash: other })),
    lie('transaction-in-another-block', 'A transaction states another.', ofTransaction({ blockHash: other })),
  ]
  const receiptRow = (name: string, description: string, receipts: unknown) =>
    row([name, 'RECEIPTS_ROOT_MISMATCH', 'Value', description], withBlock(1, { receipts }))
  return [
    ...redundant,
    changed('log-left-out', 'A log is missing.', logs.slice(0, 1)),
    changed('log-added', 'A log is there twice.', [...logs, logs[1]]),
    changed('log-altered', 'Another amount.', [logs[0], { ...logs[1], data: named('more') }]),
    changed('logs-reordered', 'Two logs are swapped.', logs.toReversed()),
    receiptRow('receipt-left-out', 'A receipt is missing.', receipts.slice(0, 1)),
    receiptRow('receipts-of-another-block', 'The receipts of the block after.', newest?.receipts),
    row(
      [
        'transactions-of-another-block',
        'TRANSACTIONS_ROOT_MISMATCH',
        'Binding',
        'Logs get the hash of another transaction.',
      ],
      withBlock(1, { transactions: newest?.transactions }),
    ),
    row(
      ['transaction-left-out', 'TRANSACTIONS_ROOT_MISMATCH', 'Binding', 'A transaction is missing.'],
      withBlock(1, { transactions: transactions.slice(1) }),
    ),
    row(
      [
        'block-said-to-be-ruled-out',
        'LOGS_CONTENT_MISSING',
        'Value',
        'A block that has such logs is left at its header.',
      ],
      withBlock(1, { transactions: null, receipts: null }),
    ),
    row(
      ['receipts-left-out', 'LOGS_CONTENT_MISSING', 'Value', 'Transactions alone.'],
      withBlock(1, { receipts: null }),
    ),
    row(
      ['transactions-left-out', 'LOGS_CONTENT_MISSING', 'Value', 'Receipts alone.'],
      withBlock(1, { transactions: null }),
    ),
    row(
      ['possible-block-left-out', 'LOGS_CONTENT_MISSING', 'Value', 'No such log, but its header cannot tell.'],
      withBlock(3, { receipts: null }),
    ),
    row(
      ['receipts-of-a-block-ruled-out', 'LOGS_CONTENT_UNUSED', 'Encoding', 'One proof has several documents.'],
      withBlock(4, { receipts: [] }),
    ),
    row(
      ['transactions-of-a-block-without-such-logs', 'LOGS_CONTENT_UNUSED', 'Encoding', 'Nothing needs their hashes.'],
      withBlock(3, { transactions: partsOf(chain[2] as SentBlock).transactions }),
    ),
  ]
}

function rangeForgeries({ bundle }: Truth): Forgery[] {
  const { blocks } = bundle
  const header = (name: string, description: string, forged: unknown[]) =>
    row([name, 'HEADER_HASH_MISMATCH', 'Binding', description], { blocks: forged })
  const count = (name: string, description: string, forged: object) =>
    row([name, 'LOGS_RANGE', 'Binding', description], forged)
  const [newest, ...others] = blocks
  const before = { header: blocks.at(-1)?.header ?? '0x' }
  const gap = blocks.filter((_, index) => index !== 1)
  return [
    count('block-missing', 'A block in the middle is missing.', { blocks: gap }),
    header('block-missing-and-one-more', 'One in the middle is missing, and one more follows.', [...gap, before]),
    count('range-shorter', 'The first block of the range is missing.', { blocks: blocks.slice(0, -1) }),
    count('range-longer', 'There is a block before the range.', { blocks: [...blocks, before] }),
    count('range-empty', 'It begins after its end.', { fromBlock: quantity(LAST + 1n), blocks: [] }),
    count('blocks-none', 'No block at all.', { blocks: [] }),
    header('block-twice', 'The newest block is there twice.', [newest, newest, ...others.slice(0, -1)]),
    header('blocks-oldest-first', 'Oldest first.', blocks.toReversed()),
  ]
}

function claimForgeries(truth: Truth): Forgery[] {
  const mismatch = (name: string, description: string, claim: Partial<Claim>) =>
    row([name, 'LOGS_MISMATCH', 'Binding', description], {}, claim)
  const malformed = (name: string, description: string, forged: object) =>
    row([name, 'EVIDENCE_MALFORMED', 'Shape', description], forged)
  const topic = named('approval')
  return [
    mismatch('range-begins-later', 'The bundle leaves out the first block of the range.', {
      fromBlock: quantity(FIRST - 1n),
    }),
    mismatch('range-ends-earlier', 'The bundle leaves out the last block of the range.', {
      toBlock: quantity(LAST + 1n),
    }),
    mismatch('filter-of-another-contract', 'Another contract is asked for.', {
      filter: { address: named('x', 20), topics: [TRANSFER] },
    }),
    mismatch('filter-of-another-topic', 'Another event is asked for.', { filter: { address: TOKEN, topics: [topic] } }),
    mismatch('filter-narrower', 'More is asked for than the bundle proves.', { filter: { address: TOKEN } }),
    malformed('kind-state', 'Another kind of bundle.', { kind: 'state' }),
    malformed('filter-missing', 'Nothing says which logs it is for.', { filter: null }),
    malformed('filter-not-a-list', 'One address without a list.', { filter: { ...FILTER, address: TOKEN } }),
    malformed('filter-topics-5', 'Five topics.', { filter: { ...FILTER, topics: [[], [], [], [], []] } }),
    row(
      ['answer-missing', 'MALFORMED_RESPONSE', 'Shape', 'Of a sparse state, L1 does not hold the hash of the block.'],
      {
        answer: null,
      },
    ),
    malformed('range-padded', 'A number with a leading zero.', { fromBlock: '0x03e2' }),
    row(['version-3', 'EVIDENCE_VERSION', 'Shape', 'A later version.'], { version: 3 }),
    row(['scheme-of-another', 'EVIDENCE_SCHEME_MISMATCH', 'Binding', 'Another hash scheme.'], { scheme: 'mimc' }),
    row(
      ['state-of-another-block', 'EVIDENCE_BLOCK_MISMATCH', 'Binding', 'Another state.'],
      {},
      { l2BlockNumber: quantity(STATE + 1n) },
    ),
    row(
      ['l1-hash-of-another', 'HEADER_HASH_MISMATCH', 'Binding', 'Another L1 block.'],
      {},
      { trusted: { l1BlockHash: truth.stateRoot } },
    ),
  ]
}

/** States that no honest rollup has: the root is on L1, but what it holds about the newest block is not true. */
async function stateForgeries(truth: Truth): Promise<Forgery[]> {
  const { anchored, hashes, bundleFor, bundle } = truth
  const forged = async (of: Row, hashes: Parameters<typeof anchored>[0], change: object = {}) => {
    const { bundleFor, blockHash } = await anchored(hashes)
    return row(of, { ...(await bundleFor(STATE, LAST)), ...change }, { trusted: { l1BlockHash: blockHash } })
  }
  const [, hash = '0x'] = hashes.at(-1) ?? []
  const { answer } = await bundleFor(STATE, 998n)
  return [
    await forged(['history-absent', 'HISTORY_NO_CONTRACT', 'Binding', 'There is no such contract.'], []),
    await forged(['history-zero', 'HISTORY_NO_HASH', 'Binding', 'The slot was never written.'], hashes.slice(0, -1)),
    await forged(
      ['hash-of-another-number', 'BLOCK_NUMBER_MISMATCH', 'Binding', 'The slot holds the hash of the block before.'],
      [...hashes.slice(0, -1), [LAST, hashes.at(-2)?.[1] ?? hash]],
      { blocks: [...bundle.blocks.slice(1), bundle.blocks[5]] },
    ),
    row(['range-ends-with-the-state', 'HISTORY_OUTSIDE_WINDOW', 'Binding', 'The state does not hold its own hash.'], {
      ...{ ...(await bundleFor(STATE, STATE)), toBlock: quantity(STATE) },
    }),
    row(
      [
        'content-after-the-range',
        'LOGS_CONTENT_UNUSED',
        'Encoding',
        'A block that only leads to the range has content.',
      ],
      {
        ...{ ...(await bundleFor(LATER, 996n)), toBlock: quantity(995n) },
        blocks: [partsOf(blockAt(truth, 996n)), ...bundle.blocks.slice(4)],
      },
    ),
    row(['range-too-long', 'BLOCK_TOO_LARGE', 'Shape', 'A range of more than 8,192 blocks.'], {
      ...{ ...(await bundleFor(LATER, LATER - 1n)), fromBlock: '0x0', toBlock: quantity(LATER - 1n) },
    }),
    row(['slot-of-another-block', 'KEY_MISMATCH', 'Binding', 'The slot of the block before.'], { answer }),
  ]
}
