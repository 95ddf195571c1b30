import { bytesToHex } from '../../src/base/bytes.ts'
import type { FailureCode } from '../../src/base/errors.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import { type Hex, slotKey } from '../../src/entry/index.ts'
import { named } from '../evidence/l1.ts'
import type { Flag } from '../vector.ts'
import {
  bloomOf,
  encodeReceipt,
  encodeTransaction,
  keccakOf,
  makeTruth,
  quantity,
  rootOf,
  type Sent,
  type SentBlock,
  seal,
  toBytes,
} from './truth.ts'

type Operation = 'readBlockHash' | 'verifyBlockHeader' | 'verifyTransactions' | 'verifyReceipts' | 'verifyBlock'

/** A vector of a function of `rollup-state-proof/blocks`. Numbers of the claim, and of what is expected, are quantities. */
export interface BlocksVector {
  description: string
  /** The class of mistakes that an invalid vector detects. */
  flag?: Flag
  operation: Operation
  /** The first argument. */
  input: unknown
  /** The second argument. */
  claim: Readonly<Record<string, Hex>>
  expected: { valid: true; verified: unknown } | { valid: false; code: FailureCode }
}

type Input = Pick<BlocksVector, 'operation' | 'input' | 'claim'>
interface Forgery extends Input {
  name: string
  code: FailureCode
  flag: Flag
  description: string
}

/** What most rows of a table state, in this order. */
type Row = readonly [name: string, code: FailureCode, flag: Flag, description: string]
const row = ([name, code, flag, description]: Row, input: Input): Forgery => ({
  ...{ name, code, flag, description, ...input },
})

const flip = (hex: unknown): string => `${String(hex).slice(0, -1)}${String(hex).endsWith('0') ? '1' : '0'}`
const HIGHEST = 2n ** 256n
/** The modulus of the field of secp256k1. */
const PRIME = 2n ** 256n - 2n ** 32n - 977n
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The vectors of blocks: path below this folder -> content. */
export async function generateBlocks(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const add = (kind: 'valid' | 'invalid', name: string, vector: BlocksVector) => {
    const path = `${kind}/${name}.json`
    if (files.has(path)) throw new Error(`two vectors are named ${path}`)
    files.set(path, `${JSON.stringify(vector, null, 1)}\n`)
  }
  const truth = await makeTruth()
  for (const { name, description, verified, ...input } of await validCases(truth)) {
    add('valid', name, { description, ...input, expected: { valid: true, verified } })
  }
  const tables = [
    ...[historyForgeries(), headerForgeries(truth), await transactionForgeries(truth)],
    ...[await signatureForgeries(truth), await receiptForgeries(truth), await blockForgeries(truth)],
  ]
  for (const { name, code, flag, ...forged } of tables.flat()) {
    const { description, ...input } = forged
    add('invalid', name, { description, flag, ...input, expected: { valid: false, code } })
  }
  return files
}

/** Without what only the header, or the transaction of a receipt, can prove. */
const bare = ({ blockHash: _, blockNumber, blockTimestamp, ...sent }: Sent): Sent => sent

/** What is proven about a transaction in a block. */
const expectedTransaction = (sent: Sent) => ({
  ...{
    ...sent,
    type: Number(sent.type),
    transactionIndex: Number(sent.transactionIndex),
    chainId: sent.chainId ?? null,
  },
  yParity: sent.type === '0x0' ? (Number(sent.v) + 1) % 2 : Number(sent.yParity),
})

/** The same without the block, whose base fee the price depends on. */
function expectedAlone(sent: Sent) {
  const { gasPrice, ...rest } = bare(sent)
  return expectedTransaction({ ...rest, ...(Number(sent.type) < 2 && { gasPrice }) })
}

/** What is proven about a receipt in a block. */
const expectedReceipt = (sent: Sent) => ({
  ...{ blobGasUsed: '0x0', ...sent, type: Number(sent.type), transactionIndex: Number(sent.transactionIndex) },
  logs: (sent.logs as Sent[]).map(log => ({
    ...{ ...log, logIndex: Number(log.logIndex), transactionIndex: Number(log.transactionIndex) },
  })),
})

/** The same without the block and the transaction. */
function receiptAlone(sent: Sent) {
  const {
    blobGasUsed: _,
    transactionHash,
    from,
    to,
    contractAddress,
    effectiveGasPrice,
    ...rest
  } = expectedReceipt(sent)
  const logs = rest.logs.map(({ transactionHash, ...log }) => bare(log))
  return { ...bare(rest), logs }
}

const inBlock = ({ block, transactions, receipts }: SentBlock): Input => ({
  operation: 'verifyBlock',
  input: { header: encodeHeader(block), transactions, receipts },
  claim: { hash: block.hash, number: block.number as Hex },
})

function makeHeader({ block }: SentBlock) {
  const header = encodeHeader(block)
  return { header, claim: { hash: keccakOf(header), number: quantity(1000) } }
}

type Valid = Input & { name: string; description: string; verified: unknown }

async function validCases(truth: SentBlock): Promise<Valid[]> {
  const { block, transactions, receipts } = truth
  const { transactionsRoot, receiptsRoot } = block
  const { header, claim } = makeHeader(truth)
  const history = (name: string, description: string, number: bigint, stateBlock: bigint): Valid => ({
    ...{ name, description, operation: 'readBlockHash', verified: named('a hash') },
    ...{ input: provenHistory(number), claim: { number: quantity(number), stateBlock: quantity(stateBlock) } },
  })
  const root = { operation: 'verifyTransactions', claim: { transactionsRoot } } as const
  // As endpoints leave fields out, or write them in another case.
  const sparse = transactions.map(({ hash, from, transactionIndex, yParity, blockHash, ...rest }) => ({
    ...{ ...rest, to: typeof rest.to === 'string' ? `0x${rest.to.slice(2).toUpperCase()}` : rest.to },
  }))
  return [
    history('newest-hash', 'The hash of the block before that of the state.', 999n, 1000n),
    history('oldest-hash', 'The hash of the block 8,191 before that of the state.', 1809n, 10_000n),
    history('genesis-hash', 'The hash of the first block.', 0n, 8191n),
    {
      ...{ name: 'header', description: 'A header.', operation: 'verifyBlockHeader', input: header, claim },
      verified: { ...block, hash: keccakOf(header) },
    },
    {
      ...{ name: 'transactions', description: 'One transaction of each kind.', ...root, input: transactions },
      verified: transactions.map(expectedAlone),
    },
    {
      ...{ name: 'transactions-sparse', description: 'Without what can be derived, and with addresses in upper case.' },
      ...{ ...root, input: sparse, verified: transactions.map(expectedAlone) },
    },
    {
      ...{ name: 'no-transactions', description: 'A block without transactions.', operation: 'verifyTransactions' },
      ...{ input: [], claim: { transactionsRoot: await rootOf([]) }, verified: [] },
    },
    {
      ...{ name: 'receipts', description: 'One receipt for each kind of transaction, with logs of 0 to 4 topics.' },
      ...{ operation: 'verifyReceipts', input: receipts, claim: { receiptsRoot } },
      verified: receipts.map(receiptAlone),
    },
    {
      ...{ name: 'many-receipts', description: 'More than 128, whose keys in the trie have more than one byte.' },
      ...(await manyReceipts()),
    },
    {
      ...{ name: 'block', description: 'A whole block, with one transaction of each kind.', ...inBlock(truth) },
      verified: {
        ...{ header: block, transactions: transactions.map(expectedTransaction) },
        receipts: receipts.map(expectedReceipt),
      },
    },
  ]
}

async function manyReceipts() {
  const logsBloom = bloomOf([])
  const input = Array.from({ length: 130 }, (_, index) => ({
    ...{ type: '0x2', status: '0x1', cumulativeGasUsed: quantity(21_000 * (index + 1)), logsBloom, logs: [] },
  }))
  const verified = input.map((receipt, transactionIndex) => ({
    ...receipt,
    type: 2,
    transactionIndex,
    gasUsed: '0x5208',
  }))
  const claim = { receiptsRoot: await rootOf(input.map(encodeReceipt)) }
  return { operation: 'verifyReceipts', input, claim, verified } as const
}

const provenHistory = (number: bigint, value = named('a hash')) => ({
  ...{ account: { nonce: '0x1' }, storage: [{ key: slotKey(number % 8191n), value }] },
})

function historyForgeries(): Forgery[] {
  const table = (
    [name, code, description]: [string, FailureCode, string],
    [number, stateBlock]: [bigint, bigint],
    change: object = {},
  ) =>
    row([name, code, 'Binding', description], {
      ...{ operation: 'readBlockHash', input: { ...provenHistory(number), ...change } },
      claim: { number: quantity(number), stateBlock: quantity(stateBlock) },
    })
  const outside = 'HISTORY_OUTSIDE_WINDOW'
  const { storage } = provenHistory(999n, `0x${'00'.repeat(32)}`)
  return [
    table(['hash-of-the-state', outside, 'The state of a block does not hold its own hash.'], [1000n, 1000n]),
    table(['hash-of-a-later-block', outside, 'The hash of a later block.'], [1001n, 1000n]),
    table(['hash-8192-blocks-before', outside, 'The slot is that of the block itself by now.'], [1808n, 10_000n]),
    table(['history-absent', 'HISTORY_NO_CONTRACT', 'There is no such contract.'], [999n, 1000n], { account: null }),
    table(['history-zero', 'HISTORY_NO_HASH', 'The slot has never been written.'], [999n, 1000n], { storage }),
  ]
}

function headerForgeries(truth: SentBlock): Forgery[] {
  const { header, claim } = makeHeader(truth)
  const forged = (name: string, code: FailureCode, description: string, change: object, input: unknown = header) =>
    row([name, code, 'Binding', description], {
      ...{ operation: 'verifyBlockHeader', input, claim: { ...claim, ...change } },
    })
  const later = { number: quantity(1000 + 8191) }
  const parent = encodeHeader({ ...truth.block, number: quantity(999) })
  return [
    forged('header-8191-blocks-before', 'BLOCK_NUMBER_MISMATCH', 'Of a block that shares the slot.', later),
    forged('header-of-another', 'HEADER_HASH_MISMATCH', 'That of another block.', {}, parent),
  ]
}

/** Rows about lists of transactions. `vouched` has the root of what is sent, `sent` that of the truth. */
function tableOf(truth: SentBlock) {
  const { transactions, block } = truth
  const operation = 'verifyTransactions'
  return {
    at: (index: number): Sent => transactions[index] ?? {},
    sent: (of: Row, input: unknown) =>
      row(of, { operation, input, claim: { transactionsRoot: block.transactionsRoot } }),
    changed: (of: Row, index: number, change: Sent) =>
      row(of, {
        ...{ operation, input: transactions.with(index, { ...transactions[index], ...change }) },
        claim: { transactionsRoot: block.transactionsRoot },
      }),
    vouched: async (of: Row, index: number, change: Sent) => {
      // Without what can be derived, which would contradict the forgery: the rule alone stands between it and a verdict.
      const { hash, from, gasPrice, chainId, yParity, ...signed } = { ...transactions[index] }
      const isLegacy = signed.type === '0x0'
      const own = isLegacy ? { gasPrice } : { chainId, yParity, ...(signed.type === '0x1' && { gasPrice }) }
      const forged = { ...signed, ...own, transactionIndex: '0x0', ...change }
      return row(of, {
        operation,
        input: [forged],
        claim: { transactionsRoot: await rootOf([encodeTransaction(forged)]) },
      })
    },
  }
}

async function transactionForgeries(truth: SentBlock): Promise<Forgery[]> {
  const { transactions } = truth
  const { at, sent, changed, vouched } = tableOf(truth)
  const root = (name: string, description: string, index: number, change: Sent) =>
    changed([`transaction-${name}`, 'TRANSACTIONS_ROOT_MISMATCH', 'Value', description], index, change)
  const list = (name: string, description: string, input: unknown) =>
    sent([`transactions-${name}`, 'TRANSACTIONS_ROOT_MISMATCH', 'Root', description], input)
  const other = (name: string, description: string, index: number, change: Sent) =>
    changed([`transaction-${name}`, 'BLOCK_FIELD_MISMATCH', 'Binding', description], index, change)
  const shape = (name: string, code: FailureCode, description: string, change: Sent, index = 3) =>
    changed([`transaction-${name}`, code, 'Encoding', description], index, change)
  const authorization = Object((at(5).authorizationList as Sent[])[0])
  return [
    list('one-left-out', 'The last one is missing.', transactions.slice(0, -1)),
    list('one-twice', 'The last one is there twice.', [...transactions, at(6)]),
    list('swapped', 'Two are swapped.', [at(1), at(0), ...transactions.slice(2)]),
    root('value-altered', 'Another value.', 3, { value: flip(at(3).value) }),
    root('recipient-altered', 'Another recipient.', 3, { to: flip(at(3).to) }),
    root('recipient-left-out', 'A call that is said to create a contract.', 3, { to: null }),
    root('input-altered', 'Another input.', 3, { input: '0x01' }),
    root('type-altered', 'Another type.', 0, { ...at(1), type: '0x0', v: '0x1b' }),
    root('access-list-altered', 'Another slot is announced.', 2, { accessList: [] }),
    root('blobs-altered', 'Another blob.', 4, { blobVersionedHashes: [named('blob')] }),
    root('authorization-altered', 'Another permission.', 5, {
      authorizationList: [{ ...authorization, address: named('code', 20) }],
    }),
    other('hash-altered', 'Another hash.', 3, { hash: flip(at(3).hash) }),
    other('sender-altered', 'Another sender.', 3, { from: flip(at(3).from) }),
    other('index-altered', 'Another place.', 3, { transactionIndex: '0x4' }),
    other('chain-added', 'A chain for one that holds on every chain.', 0, { chainId: '0x1' }),
    other('parity-contradicted', 'A v that is not the parity.', 3, { v: '0x1c' }),
    shape('nonce-padded', 'BLOCK_QUANTITY', 'A number with a leading zero.', { nonce: '0x00' }),
    shape('nonce-wide', 'BLOCK_QUANTITY', 'A nonce of 9 bytes.', { nonce: `0x1${'00'.repeat(8)}` }),
    shape('value-decimal', 'BLOCK_QUANTITY', 'A number without 0x.', { value: '1' }),
    shape('value-wide', 'BLOCK_QUANTITY', 'A value of 33 bytes.', { value: quantity(HIGHEST) }),
    shape('nonce-number', 'BLOCK_MALFORMED', 'A JSON number.', { nonce: 0 }),
    shape('no-signature', 'BLOCK_MALFORMED', 'Without r.', { r: null }),
    shape('access-list-object', 'BLOCK_MALFORMED', 'An object in place of a list.', { accessList: {} }, 2),
    shape('type-5', 'BLOCK_TYPE_UNKNOWN', 'A type of a later fork.', { type: '0x5' }),
    shape('type-deposit', 'BLOCK_TYPE_UNKNOWN', 'A type of another rollup.', { type: '0x7e' }),
    shape('recipient-short', 'WRONG_LENGTH', 'A recipient of 19 bytes.', { to: named('short', 19) }),
    shape('input-odd', 'BAD_HEX', 'Half a byte.', { input: '0x0' }),
    ...(await Promise.all([
      vouched(['blobs-create', 'TRANSACTION_CREATES', 'Value', 'A creation with blobs.'], 4, { to: null }),
      vouched(['authorizations-create', 'TRANSACTION_CREATES', 'Value', 'A creation of type 4.'], 5, { to: null }),
      vouched(['blobs-none', 'TRANSACTION_BLOBS', 'Value', 'Type 3 without a blob.'], 4, { blobVersionedHashes: [] }),
      vouched(['blobs-version-2', 'TRANSACTION_BLOBS', 'Value', 'A blob hash of another version.'], 4, {
        blobVersionedHashes: [`0x02${named('blob').slice(4)}`],
      }),
      vouched(['authorizations-none', 'TRANSACTION_AUTHORIZATIONS', 'Value', 'Type 4 without any.'], 5, {
        authorizationList: [],
      }),
    ])),
  ]
}

/** The smallest r for which the order of the curve plus r is the x-coordinate of a point. */
function smallestAboveOrder(): bigint {
  const isOnCurve = (x: bigint) => {
    const squared = (x ** 3n + 7n) % PRIME
    return powerOf(squared, (PRIME - 1n) / 2n) === 1n
  }
  let r = 1n
  while (!isOnCurve(ORDER + r)) r++
  return r
}

function powerOf(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n
  const half = powerOf((base * base) % PRIME, exponent / 2n)
  return exponent % 2n === 0n ? half : (half * base) % PRIME
}

/** Signatures that the root vouches for, and no honest block has. */
async function signatureForgeries(truth: SentBlock): Promise<Forgery[]> {
  const { at, vouched } = tableOf(truth)
  const parity = (name: string, description: string, index: number, v: Hex) =>
    vouched(
      [`parity-${name}`, 'TRANSACTION_PARITY', 'Canonicity', description],
      index,
      index === 0 ? { v } : { v, yParity: v },
    )
  const range = (name: string, description: string, change: Sent) =>
    vouched([`signature-${name}`, 'TRANSACTION_SIGNATURE', 'Canonicity', description], 3, change)
  const s = BigInt(String(at(3).s))
  const flipped = at(3).yParity === '0x0' ? '0x1' : '0x0'
  return Promise.all([
    parity('29', 'A legacy v of neither kind.', 0, '0x1d'),
    parity('0', 'A legacy v as typed transactions have it.', 0, '0x0'),
    parity('36', 'A legacy v for chain 0, which there is not.', 0, '0x24'),
    parity('2', 'A parity of a typed transaction above 1.', 3, '0x2'),
    // With it, curve libraries recover another key: that of the point whose x-coordinate is r plus the order.
    vouched(['parity-2-of-a-key', 'TRANSACTION_PARITY', 'Canonicity', 'The same, with a key that it leads to.'], 3, {
      ...{ v: '0x2', yParity: '0x2', r: quantity(smallestAboveOrder()) },
    }),
    range('r-zero', 'An r of zero.', { r: '0x0' }),
    range('r-order', 'An r that is the order of the curve.', { r: quantity(ORDER) }),
    range('s-zero', 'An s of zero.', { s: '0x0' }),
    // The same signer: without the rule, each transaction has two hashes.
    range('s-high', 'The other signature of the same signer.', {
      s: quantity(ORDER - s),
      v: flipped,
      yParity: flipped,
    }),
    // 5 is not the x-coordinate of a point.
    vouched(['signature-of-nobody', 'TRANSACTION_SENDER', 'Value', 'No key has this signature.'], 3, { r: '0x5' }),
  ])
}

async function receiptForgeries(truth: SentBlock): Promise<Forgery[]> {
  const { receipts, block } = truth
  const at = (index: number): Sent => receipts[index] ?? {}
  const logsOf = (index: number) => at(index).logs as Sent[]
  const sent = (of: Row, input: unknown) =>
    row(of, { operation: 'verifyReceipts', input, claim: { receiptsRoot: block.receiptsRoot } })
  const changed = (of: Row, index: number, change: Sent) => sent(of, receipts.with(index, { ...at(index), ...change }))
  const log = (of: Row, change: Sent, index = 3) =>
    changed(of, index, { logs: logsOf(index).map((log, place) => (place === 0 ? { ...log, ...change } : log)) })
  const root = (name: string, description: string, index: number, change: Sent) =>
    changed([name, 'RECEIPTS_ROOT_MISMATCH', 'Value', description], index, change)
  const vouched = async (of: Row, input: Sent[]) =>
    row(of, { operation: 'verifyReceipts', input, claim: { receiptsRoot: await rootOf(input.map(encodeReceipt)) } })
  const [first, second] = [logsOf(3)[0] ?? {}, logsOf(3)[1] ?? {}]
  const bloom = (name: string, description: string, logsBloom: string) =>
    vouched([name, 'RECEIPT_BLOOM', 'Value', description], [{ ...at(0), logsBloom }])
  const plain = { type: '0x2', status: '0x1', logsBloom: bloomOf([]), logs: [] }
  const tooMany = { topics: ['1', '2', '3', '4', '5'].map(name => named(name)) }
  return [
    sent(
      ['receipts-one-left-out', 'RECEIPTS_ROOT_MISMATCH', 'Root', 'The last one is missing.'],
      receipts.slice(0, -1),
    ),
    sent(
      ['receipts-swapped', 'RECEIPTS_ROOT_MISMATCH', 'Root', 'Two are swapped.'],
      [at(1), at(0), ...receipts.slice(2)],
    ),
    root('log-left-out', 'A log is missing.', 3, { logs: [first] }),
    root('log-added', 'A log is there twice.', 3, { logs: [first, second, second] }),
    root('logs-swapped', 'Two logs are swapped.', 3, { logs: [second, first] }),
    root('logs-of-another', 'The logs of another transaction.', 3, { logs: logsOf(2), logsBloom: at(2).logsBloom }),
    root('status-flipped', 'A reverted transaction that is said to have succeeded.', 6, { status: '0x1' }),
    root('gas-altered', 'Another cumulative gas.', 3, { cumulativeGasUsed: flip(at(3).cumulativeGasUsed) }),
    root('bloom-altered', 'Another bloom filter.', 3, { logsBloom: flip(at(3).logsBloom) }),
    log(['log-address-altered', 'RECEIPTS_ROOT_MISMATCH', 'Value', 'Of another contract.'], {
      address: named('a', 20),
    }),
    log(['log-topic-altered', 'RECEIPTS_ROOT_MISMATCH', 'Value', 'Another topic.'], { topics: [named('topic')] }),
    log(['log-data-altered', 'RECEIPTS_ROOT_MISMATCH', 'Value', 'Other data.'], { data: flip(first.data) }),
    log(['log-index-altered', 'BLOCK_FIELD_MISMATCH', 'Binding', 'Another place.'], { logIndex: '0x0' }),
    log(['log-removed', 'BLOCK_FIELD_MISMATCH', 'Binding', 'A log that is said to be removed.'], { removed: true }),
    log(['log-of-another-transaction', 'BLOCK_FIELD_MISMATCH', 'Binding', 'Of another transaction.'], {
      transactionIndex: '0x0',
    }),
    log(['log-topics-5', 'BLOCK_TOO_LARGE', 'Shape', 'More topics than there are instructions for.'], tooMany),
    log(['log-no-topics', 'BLOCK_MALFORMED', 'Shape', 'Without the list of topics.'], { topics: null }),
    changed(['receipt-no-logs', 'BLOCK_MALFORMED', 'Shape', 'Without the list of logs.'], 3, { logs: null }),
    changed(['receipt-state-root', 'BLOCK_MALFORMED', 'Shape', 'A state root in place of a status.'], 3, {
      ...{ status: null, root: named('state') },
    }),
    changed(['receipt-type-5', 'BLOCK_TYPE_UNKNOWN', 'Shape', 'A type of a later fork.'], 3, { type: '0x5' }),
    changed(['receipt-gas-altered', 'BLOCK_FIELD_MISMATCH', 'Binding', 'Gas that is not the difference.'], 3, {
      gasUsed: flip(at(3).gasUsed),
    }),
    changed(['receipt-index-altered', 'BLOCK_FIELD_MISMATCH', 'Binding', 'Another place.'], 3, {
      transactionIndex: '0x4',
    }),
    ...(await Promise.all([
      bloom('bloom-full', 'A filter that lets everything pass.', `0x${'ff'.repeat(256)}`),
      vouched(
        ['bloom-empty', 'RECEIPT_BLOOM', 'Value', 'A filter that hides a log.'],
        [{ ...plain, cumulativeGasUsed: '0x5208', logs: [{ address: first.address, topics: [], data: '0x' }] }],
      ),
      vouched(
        ['gas-decreasing', 'RECEIPT_GAS', 'Value', 'Less cumulative gas than before.'],
        [
          ...[
            { ...plain, cumulativeGasUsed: '0xa410' },
            { ...plain, cumulativeGasUsed: '0x5208' },
          ],
        ],
      ),
      vouched(
        ['status-2', 'RECEIPT_STATUS', 'Value', 'A status that is neither 0 nor 1.'],
        [{ ...plain, cumulativeGasUsed: '0x5208', status: '0x2' }],
      ),
    ])),
  ]
}

/** A whole block. */
async function blockForgeries(truth: SentBlock): Promise<Forgery[]> {
  const { block, transactions, receipts } = truth
  const field = (name: string, description: string, forged: Partial<SentBlock>) =>
    row([name, 'BLOCK_FIELD_MISMATCH', 'Binding', description], inBlock({ ...truth, ...forged }))
  const receipt = (name: string, description: string, change: Sent, index = 3) =>
    field(`block-receipt-${name}`, description, { receipts: receipts.with(index, { ...receipts[index], ...change }) })
  const logs = receipts.flatMap(({ logs }, index) => (index === 3 ? (logs as Sent[]) : []))
  const log = (name: string, description: string, change: Sent) =>
    receipt(`log-${name}`, description, { logs: logs.map(log => ({ ...log, ...change })) })
  const transaction = (name: string, description: string, change: Sent) =>
    field(`block-transaction-${name}`, description, {
      transactions: transactions.with(3, { ...transactions[3], ...change }),
    })
  const count = async (name: string, description: string, forged: Sent[]) =>
    row(
      [name, 'BLOCK_COUNT_MISMATCH', 'Shape', description],
      inBlock({
        block: await seal(block, transactions, forged),
        transactions: transactions.map(bare),
        receipts: forged,
      }),
    )
  // A block that is sealed again has another hash.
  const bareReceipts = receipts.map(({ logs, ...sent }) => ({ ...bare(sent), logs: (logs as Sent[]).map(bare) }))
  const ofOtherType = bareReceipts.with(3, { ...Object(bareReceipts[3]), type: '0x0' })
  const price = { effectiveGasPrice: flip(receipts[3]?.effectiveGasPrice) }
  const bloom = (name: string, description: string, logsBloom: Hex) => {
    const forged = { ...block, logsBloom }
    const sealed = { ...forged, hash: keccakOf(encodeHeader(forged)) as Hex }
    return row(
      [name, 'BLOCK_BLOOM', 'Value', description],
      inBlock({ block: sealed, transactions: transactions.map(bare), receipts: bareReceipts }),
    )
  }
  return [
    receipt('block-altered', 'Of another block.', { blockHash: flip(block.hash) }),
    receipt('number-altered', 'Of a block with another number.', { blockNumber: '0x1' }),
    receipt('transaction-altered', 'Of another transaction.', { transactionHash: transactions[2]?.hash }),
    receipt('sender-altered', 'Another sender.', { from: transactions[0]?.from }),
    receipt('recipient-altered', 'Another recipient.', { to: named('recipient', 20) }),
    receipt('price-altered', 'Another price.', price),
    receipt('creates', 'A contract where none was created.', { contractAddress: named('contract', 20) }),
    receipt('contract-altered', 'Another contract than the one created.', { contractAddress: named('c', 20) }, 1),
    receipt('blobs-altered', 'Other gas for blobs.', { blobGasUsed: '0x20000' }, 4),
    log('block-altered', 'A log of another block.', { blockHash: flip(block.hash) }),
    log('time-altered', 'A log of another time.', { blockTimestamp: '0x1' }),
    log('transaction-altered', 'A log of another transaction.', { transactionHash: transactions[2]?.hash }),
    transaction('block-altered', 'Of another block.', { blockHash: flip(block.hash) }),
    transaction('price-altered', 'Another price than was paid.', { gasPrice: '0x3e8' }),
    row(
      [
        'block-receipt-type-altered',
        'BLOCK_FIELD_MISMATCH',
        'Binding',
        'A receipt of another type than its transaction.',
      ],
      inBlock({
        ...{ block: await seal(block, transactions, ofOtherType), transactions: transactions.map(bare) },
        receipts: ofOtherType,
      }),
    ),
    await count('receipt-missing', 'One receipt less than transactions.', bareReceipts.slice(0, -1)),
    await count('receipt-unexpected', 'One receipt more than transactions.', [
      ...bareReceipts,
      // Of a legacy transaction, and without any field that says what it belongs to.
      { status: '0x1', cumulativeGasUsed: quantity(10n ** 6n), logsBloom: bareReceipts[6]?.logsBloom, logs: [] },
    ]),
    bloom('block-bloom-empty', 'A filter of the block that hides its logs.', bloomOf([])),
    bloom('block-bloom-full', 'A filter of the block that lets everything pass.', `0x${'ff'.repeat(256)}`),
    row(['block-header-of-another', 'HEADER_HASH_MISMATCH', 'Root', 'The header of another block.'], {
      ...inBlock(truth),
      claim: { hash: bytesToHex(toBytes(named('another block'))), number: quantity(1000) },
    }),
  ]
}
