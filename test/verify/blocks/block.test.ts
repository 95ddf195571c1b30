import { RLP } from '@ethereumjs/rlp'
import fc from 'fast-check'
import type { TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, it } from 'vitest'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import {
  historyContract,
  historySlot,
  readBlockHash,
  verifyBlock,
  verifyBlockHeader,
  verifyReceipts,
  verifyTransactions,
} from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { deriveBody, openBlockTransactions } from '../../../src/verify/blocks/block.ts'
import {
  bloomOf,
  CHAIN_ID,
  type Content,
  encodeReceipt,
  encodeTransaction,
  keccakOf,
  kinds,
  makeBlock,
  makeTruth,
  rootOf,
  type Sent,
  type SentBlock,
  seal,
} from '../../../vectors/blocks/truth.ts'
import { named } from '../../../vectors/evidence/l1.ts'
import { refusal } from '../../refusal.ts'
import { sized } from '../../size.ts'
import { changesOf, refusalOf, spell } from './helpers.ts'

let truth: SentBlock
beforeAll(async () => {
  truth = await makeTruth()
})

const partsOf = ({ block, transactions, receipts }: SentBlock) => ({
  ...{ header: encodeHeader(block), transactions, receipts },
})
const claimOf = ({ block }: SentBlock) => ({ hash: block.hash, number: BigInt(block.number) })

it('refuses every change of a field of a whole block', async () => {
  const counts: Record<string, number> = {}
  // Blocks of one transaction, because each check takes the whole block.
  for (const content of await kinds()) {
    const block = await makeBlock([content])
    const [parts, claim] = [partsOf(block), claimOf(block)]
    expect(verifyBlock(parts, claim).receipts.length).toBe(1)
    for (const { path, changed } of changesOf(parts, '.')) {
      expect(
        refusalOf(() => verifyBlock(changed, claim)),
        path,
      ).not.toBe('accepted')
      const part = path.split(/\W/)[1] ?? ''
      counts[part] = (counts[part] ?? 0) + 1
    }
  }
  expect(counts).toEqual({ header: 7, transactions: 160, receipts: 186 })
})

it('derives every field that was left out', () => {
  const [parts, claim] = [partsOf(truth), claimOf(truth)]
  const proven = spell(verifyBlock(parts, claim))
  const hashed = {
    transactions: ['type', 'nonce', 'gasPrice', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input'],
    receipts: ['type', 'status', 'cumulativeGasUsed', 'logsBloom'],
  }
  const only = (sent: Sent, names: readonly string[]) => Object.fromEntries(names.map(name => [name, sent[name]]))
  const lists = ['accessList', 'maxFeePerBlobGas', 'blobVersionedHashes', 'authorizationList', 'v', 'r', 's', 'chainId']
  const sparse = {
    header: parts.header,
    transactions: parts.transactions.map(sent => only(sent, [...hashed.transactions, ...lists])),
    receipts: parts.receipts.map(sent => ({
      ...only(sent, hashed.receipts),
      logs: (sent.logs as Sent[]).map(log => only(log, ['address', 'topics', 'data'])),
    })),
  }
  expect(spell(verifyBlock(sparse, claim))).toEqual(proven)
})

it('passes on nothing that it does not know', () => {
  const proven = spell(verifyBlock(partsOf(truth), claimOf(truth)))
  const add = (sent: Sent) => ({ ...sent, revertReason: '0x01', blobGasPrice: '0x1', l1Fee: '0x2' })
  const parts = { ...partsOf(truth), transactions: truth.transactions.map(add), receipts: truth.receipts.map(add) }
  expect(spell(verifyBlock(parts, claimOf(truth)))).toEqual(proven)
  expect(JSON.stringify(proven)).not.toMatch(/revertReason|blobGasPrice|l1Fee/)
})

it('knows no base fee before London, and no price but the one stated', async () => {
  const [legacy] = await kinds()
  const { block, transactions, receipts } = await makeBlock(legacy ? [legacy] : [])
  const { baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash, ...old } =
    block
  expect([baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, requestsHash].length).toBe(5)
  const unplaced = ({ blockHash: _, ...sent }: Sent) => sent
  const sent = {
    ...{ block: await seal(old, transactions, receipts), transactions: transactions.map(unplaced) },
    receipts: receipts.map(unplaced),
  }
  const verified = verifyBlock(partsOf(sent), claimOf(sent))
  expect([verified.transactions[0]?.gasPrice, verified.receipts[0]?.effectiveGasPrice]).toEqual([10n, 10n])
  expect(Object.keys(verified.header).sort()).toEqual(Object.keys(sent.block).sort())
  expect(parentBeaconBlockRoot).toBe(named('no beacon'))
})

it('derives the size of a block, its uncles and its withdrawals, if there are none of the two', async () => {
  const { block, transactions } = await makeBlock((await kinds()).slice(0, 4))
  const bodyOf = (change: object) => {
    const header = encodeHeader({ ...block, ...change })
    const opened = verifyBlockHeader(header, { hash: keccakOf(header), number: BigInt(block.number) })
    const openedTransactions = openBlockTransactions(transactions, opened)
    return deriveBody(opened, header, openedTransactions)
  }
  const encoded = transactions.map(sent =>
    sent.type === '0x0' ? RLP.decode(encodeTransaction(sent)) : encodeTransaction(sent),
  )
  const sizeOf = (change: object, ...lists: readonly never[][]) =>
    RLP.encode([RLP.decode(encodeHeader({ ...block, ...change })), encoded, [], ...lists] as never).length
  const [london, other] = [{}, named('a list')]
  for (const name of ['withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash']) {
    Object.assign(london, { [name]: null })
  }
  expect(bodyOf({})).toEqual({ uncles: [], withdrawals: [], size: sizeOf({}, []) })
  const empty = (await makeBlock([])).block
  const header = encodeHeader(empty)
  const bare = verifyBlockHeader(header, { hash: empty.hash, number: BigInt(empty.number) })
  const size = RLP.encode([RLP.decode(header), [], [], []] as never).length
  expect(deriveBody(bare, header, [])).toEqual({ uncles: [], withdrawals: [], size })
  expect(bodyOf(london)).toEqual({ uncles: [], withdrawals: undefined, size: sizeOf(london) })
  expect(bodyOf({ withdrawalsRoot: other })).toEqual({ uncles: [] })
  expect(bodyOf({ sha3Uncles: other })).toEqual({ withdrawals: [] })
})

it('counts a list as a part of a block, and a string with its prefix', async () => {
  const all = await kinds()
  for (const contents of [all.slice(0, 2), all.slice(2, 5)]) {
    const { block, transactions } = await makeBlock(contents)
    const header = encodeHeader(block)
    const opened = verifyBlockHeader(header, { hash: block.hash, number: BigInt(block.number) })
    const body = transactions.map(sent => {
      const encoded = encodeTransaction(sent)
      return sent.type === '0x0' ? RLP.decode(encoded) : encoded
    })
    const { size } = deriveBody(opened, header, openBlockTransactions(transactions, opened))
    expect(size).toBe(RLP.encode([RLP.decode(header), body, [], []] as never).length)
  }
})

it('counts a transaction of any length, and a list of them', async () => {
  const [old, , , dynamic] = (await makeBlock((await kinds()).slice(0, 4))).transactions as [Sent, Sent, Sent, Sent]
  const { block } = await makeBlock([])
  const lengths = new Set<number>()
  for (const sent of [old, dynamic]) {
    // Nobody signs so short a transaction, but its sender is not asked for.
    for (let length = 0; length < 60; length++) {
      const short: Sent = { ...sent, to: null, r: '0x1', s: '0x1', input: `0x${'07'.repeat(length)}` }
      const encoded = encodeTransaction(short)
      const header = encodeHeader({ ...block, transactionsRoot: await rootOf([encoded]) })
      const opened = verifyBlockHeader(header, { hash: keccakOf(header), number: BigInt(block.number) })
      const { size } = deriveBody(opened, header, openBlockTransactions([short], opened))
      const item = sent.type === '0x0' ? RLP.decode(encoded) : encoded
      expect(size).toBe(RLP.encode([RLP.decode(header), [item], [], []] as never).length)
      lengths.add(encoded.length)
    }
  }
  for (const length of [54, 55, 56, 57]) expect(lengths).toContain(length)
})

it('reads the chain of a legacy transaction down to chain 1', async () => {
  const [account] = senders as [(typeof senders)[0]]
  const parities = new Set<unknown>()
  for (let nonce = 0; nonce < 8; nonce++) {
    const { block, transactions } = await makeBlock([
      {
        request: { type: 'legacy', chainId: 1, nonce, gas: 21_000n, gasPrice: 9n, to: named('to', 20) },
        ...{ sender: account, gasUsed: 21_000n, logs: [] },
      },
    ])
    const [opened] = verifyTransactions(transactions, { transactionsRoot: block.transactionsRoot as Hex })
    expect(opened).toMatchObject({ chainId: 1n, from: account.address.toLowerCase() })
    parities.add(transactions[0]?.v)
  }
  expect([...parities].sort()).toEqual(['0x25', '0x26'])
})

it('takes the highest s, and none above', async () => {
  const half = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
  const [sent] = (await makeBlock((await kinds()).slice(0, 1))).transactions as [Sent]
  const outcomeOf = async (s: bigint) => {
    const { type, nonce, gasPrice, gas, to, value, input } = sent
    // Of the generator, which is a point of the curve.
    const r = '0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
    const changed = { type, nonce, gasPrice, gas, to, value, input, r, v: '0x1b', s: `0x${s.toString(16)}` }
    const transactionsRoot = await rootOf([encodeTransaction(changed)])
    return refusalOf(() => verifyTransactions([changed], { transactionsRoot }))
  }
  expect([await outcomeOf(half), await outcomeOf(half + 1n)]).toEqual(['accepted', 'TRANSACTION_SIGNATURE [0]'])
})

it('wants the version of each hash of a blob', async () => {
  const [sent] = (await makeBlock((await kinds()).slice(4, 5))).transactions as [Sent]
  const [first, second] = sent.blobVersionedHashes as Hex[]
  const changed: Sent = { ...sent, hash: null, from: null, blobVersionedHashes: [first, `0x02${second?.slice(4)}`] }
  const transactionsRoot = await rootOf([encodeTransaction(changed)])
  expect(refusalOf(() => verifyTransactions([changed], { transactionsRoot }))).toBe('TRANSACTION_BLOBS [0]')
})

it('takes the parity of a legacy transaction from its v, whatever else is stated', async () => {
  const { block, transactions } = await makeBlock((await kinds()).slice(0, 2))
  const { transactionsRoot } = block
  const stating = (flip: number) =>
    transactions.map(sent => ({ ...sent, yParity: `0x${(Number(BigInt(String(sent.v)) + 1n) + flip) % 2}` }))
  expect(refusalOf(() => verifyTransactions(stating(0), { transactionsRoot }))).toBe('accepted')
  expect(refusalOf(() => verifyTransactions(stating(1), { transactionsRoot }))).toBe('BLOCK_FIELD_MISMATCH [0].yParity')
})

/** What a refusal says: code and path, what was expected, what was found. */
function saidBy(work: () => unknown) {
  const { code, path, expected, found } = refusal(work)
  return [`${code} ${path}`, expected, found]
}

it('says what it expected and found in a receipt, a transaction or the state', async () => {
  const [sent, , , , last] = truth.receipts as [Sent, Sent, Sent, Sent, Sent]
  const said = (change: object) => {
    const receipts = truth.receipts.with(0, { ...sent, ...change })
    return saidBy(() => verifyBlock({ ...partsOf(truth), receipts }, claimOf(truth)))
  }
  const mismatch = (name: string) => `BLOCK_FIELD_MISMATCH receipts[0].${name}`
  const long = `0x${'1'.repeat(17)}`
  expect(said({ status: long })).toEqual([
    'BLOCK_QUANTITY receipts[0].status',
    'a quantity of at most 8 bytes',
    `"${long}"`,
  ])
  expect(said({ contractAddress: '0x1234' })).toEqual([mismatch('contractAddress'), 'nothing', '"0x1234"'])
  expect(said({ gasUsed: '0x1' })).toEqual([mismatch('gasUsed'), '0x5208', '"0x1"'])
  expect(said({ gasUsed: 1 })).toEqual([mismatch('gasUsed'), '0x5208', 'a number'])

  const rooted = async (...receipts: Sent[]) => {
    const receiptsRoot = await rootOf(receipts.map(encodeReceipt))
    return saidBy(() => verifyReceipts(receipts, { receiptsRoot }))
  }
  const bloomed = await rooted({ ...sent, logsBloom: bloomOf([]).replace('0x0', '0x1') })
  expect(bloomed.slice(0, 2)).toEqual(['RECEIPT_BLOOM [0].logsBloom', 'that of its logs'])
  const before = { ...last, transactionIndex: null, gasUsed: null }
  const after = { ...sent, transactionIndex: null }
  expect(await rooted(before, after)).toEqual(['RECEIPT_GAS [1]', 'at least 182000', '21000'])

  // Of no point of the curve.
  const unsigned = { ...truth.transactions[0], hash: null, from: null, r: '0x5' }
  const transactionsRoot = await rootOf([encodeTransaction(unsigned)])
  const senderless = saidBy(() => verifyTransactions([unsigned], { transactionsRoot }))
  expect(senderless.slice(0, 2)).toEqual(['TRANSACTION_SENDER [0]', 'the signature of a public key'])
  const storage = [{ key: historySlot(1n), value: named('hash') }]
  const absent = saidBy(() => readBlockHash({ account: null, storage }, { number: 1n, stateBlock: 2n }))
  expect(absent.slice(0, 2)).toEqual(['HISTORY_NO_CONTRACT ', `an account ${historyContract}`])
})

it('says what it expected and found in a block', async () => {
  // Without the hash of the block, which changes with its header.
  const unplaced = ({ blockHash: _, logs, ...own }: Sent): Sent => ({
    ...own,
    ...(Array.isArray(logs) && { logs: logs.map(unplaced) }),
  })
  const [transactions, receipts] = [truth.transactions.map(unplaced), truth.receipts.map(unplaced)]
  const said = async (change: Partial<SentBlock>) => {
    const { block, ...parts } = { ...truth, transactions, receipts, ...change }
    const sealed = await seal(block, parts.transactions, parts.receipts)
    const claim = { hash: sealed.hash, number: BigInt(sealed.number) }
    return saidBy(() => verifyBlock({ header: encodeHeader(sealed), ...parts }, claim))
  }
  const bloomed = await said({ block: { ...truth.block, logsBloom: bloomOf([]) } })
  expect(bloomed.slice(0, 2)).toEqual(['BLOCK_BLOOM header.logsBloom', 'that of all logs'])
  const tooMany = await said({ transactions: transactions.slice(0, 6) })
  expect(tooMany).toEqual(['BLOCK_COUNT_MISMATCH receipts[6]', '6 receipts', '7'])
  const tooFew = await said({ receipts: receipts.slice(0, 6) })
  expect(tooFew).toEqual(['BLOCK_COUNT_MISMATCH receipts', '7 receipts', '6'])
})

it('takes a transaction that used no gas', async () => {
  const { receipts } = await makeBlock((await kinds()).slice(0, 2).map(one => ({ ...one, gasUsed: 0n })))
  const receiptsRoot = await rootOf(receipts.map(encodeReceipt))
  expect(verifyReceipts(receipts, { receiptsRoot }).map(({ gasUsed }) => gasUsed)).toEqual([0n, 0n])
})

const senders = ['one', 'two', 'three'].map(name => privateKeyToAccount(named(name)))
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((all): Hex => `0x${Buffer.from(all).toString('hex')}`)
const data = fc.uint8Array({ maxLength: 80 }).map((all): Hex => `0x${Buffer.from(all).toString('hex')}`)
const small = fc.bigInt({ min: 0n, max: 2n ** 70n })
const log = fc.record({ address: bytes(20), topics: fc.array(bytes(32), { maxLength: 4 }), data })
const accessList = fc.array(fc.record({ address: bytes(20), storageKeys: fc.array(bytes(32), { maxLength: 2 }) }), {
  maxLength: 2,
})
const request = fc
  .record({
    ...{ kind: fc.integer({ min: 0, max: 4 }), nonce: fc.nat(), gas: fc.bigInt({ min: 0n, max: 2n ** 63n }) },
    ...{ value: small, data, to: fc.option(bytes(20)), price: small, tip: small, accessList, isOld: fc.boolean() },
    blob: bytes(31),
  })
  .map(({ kind, price, tip, to, blob, isOld, accessList, ...common }): TransactionSerializable => {
    const recipient = to ?? (kind > 2 ? named('recipient', 20) : undefined)
    const base = { ...common, ...(recipient && { to: recipient }) }
    const fees = { maxFeePerGas: price + tip, maxPriorityFeePerGas: tip, chainId: CHAIN_ID, accessList }
    if (kind === 0) return { type: 'legacy', ...base, gasPrice: price, ...(!isOld && { chainId: CHAIN_ID }) }
    if (kind === 1) return { type: 'eip2930', ...base, gasPrice: price, chainId: CHAIN_ID, accessList }
    if (kind === 2) return { type: 'eip1559', ...base, ...fees }
    if (kind === 3) {
      const blobVersionedHashes: Hex[] = [`0x01${blob.slice(2)}`]
      return {
        type: 'eip4844',
        ...base,
        ...fees,
        maxFeePerBlobGas: price,
        blobVersionedHashes,
      } as TransactionSerializable
    }
    const authorization = { address: named('code', 20), chainId: 0, nonce: 1, r: named('r'), s: named('s'), yParity: 1 }
    return { type: 'eip7702', ...base, ...fees, authorizationList: [authorization] }
  })
const content = fc.record({
  ...{ request, sender: fc.constantFrom(...senders), status: fc.constantFrom(0 as const, 1 as const) },
  ...{ gasUsed: fc.bigInt({ min: 0n, max: 2n ** 50n }), logs: fc.array(log, { maxLength: 3 }) },
})

it('verifies random blocks as viem signs them and @ethereumjs/mpt hashes them', async () => {
  let transactionCount = 0
  await fc.assert(
    fc.asyncProperty(fc.array(content, { maxLength: 4 }), async contents => {
      const sent = await makeBlock(contents as Content[], 77n)
      const { header, transactions, receipts } = verifyBlock(partsOf(sent), claimOf(sent))
      expect(header.number).toBe(77n)
      expect(transactions.map(({ hash, from }) => [hash, from])).toEqual(
        sent.transactions.map(({ hash, from }) => [hash, from]),
      )
      const { transactionsRoot, receiptsRoot } = header
      expect(verifyTransactions(sent.transactions, { transactionsRoot }).length).toBe(contents.length)
      expect(verifyReceipts(sent.receipts, { receiptsRoot }).length).toBe(receipts.length)
      expect(receipts.flatMap(({ logs }) => logs.map(({ data }) => data))).toEqual(
        contents.flatMap(({ logs }) => logs.map(({ data }) => data)),
      )
      transactionCount += transactions.length
    }),
    { seed: 33, numRuns: sized(25) },
  )
  expect(transactionCount).toBeGreaterThan(20)
})
