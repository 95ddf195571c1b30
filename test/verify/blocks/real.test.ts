import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encodeHeader } from '../../../src/entry/anchor.ts'
import { verifyBlockHeader, verifyReceipts, verifyTransactions } from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { decodeFilter, selectedBy } from '../../../src/verify/blocks/filter.ts'
import type { Sent } from '../../../vectors/blocks/truth.ts'
import { named } from '../../../vectors/evidence/l1.ts'
import { changesOf, refusalOf, spell } from './helpers.ts'

const FOLDER = '../shared/vectors/blocks'
const isThere = existsSync(FOLDER)
if (!isThere)
  console.log(`skipped: 202 receipts of mainnet and 11 transactions of Sepolia, because there is no ${FOLDER}`)
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'))
interface Identified {
  hash: Hex
  number: string
}
const headerOf = (block: Identified) =>
  verifyBlockHeader(encodeHeader(block), { hash: block.hash, number: BigInt(block.number) })

/** What no receipt proves, and the result does not have. */
const LEFT_OUT = /\]\.(transactionHash|blockHash|blockNumber|from|to|contractAddress|effectiveGasPrice)$/

describe.skipIf(!isThere)('real blocks', () => {
  it('verifies 202 receipts of mainnet, with 463 logs', () => {
    const { block, receipts } = read('mainnet-21925176-receipts') as { block: Identified; receipts: Sent[] }
    const { receiptsRoot, gasUsed } = headerOf(block)
    const verified = verifyReceipts(receipts, { receiptsRoot })
    const logs = verified.flatMap(({ logs }) => logs)
    expect([verified.length, logs.length, logs.at(-1)?.logIndex]).toEqual([202, 463, 462])
    expect(verified.at(-1)?.cumulativeGasUsed).toBe(gasUsed)
    const transfers = { topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'] as const }
    expect(logs.filter(selectedBy(decodeFilter(transfers))).length).toBe(233)
    for (const [index, { logs, ...receipt }] of verified.entries()) {
      const sent = receipts[index] ?? {}
      const { type, transactionIndex, ...rest } = receipt
      expect(sent).toMatchObject(Object(spell(rest)))
      expect([Number(sent.type), Number(sent.transactionIndex)]).toEqual([type, transactionIndex])
      expect(sent.logs).toMatchObject(logs.map(({ address, topics, data }) => ({ address, topics, data })))
    }
  })

  it('refuses every change of a field of a receipt or log, or has not taken it over', () => {
    const { block, receipts } = read('mainnet-21925176-receipts') as { block: Identified; receipts: Sent[] }
    const { receiptsRoot } = headerOf(block)
    const truth = spell(verifyReceipts(receipts, { receiptsRoot }))
    const index = receipts.findIndex(({ logs }) => (logs as unknown[]).length === 1)
    let refused = 0
    // One receipt stands for all, for each takes the whole block.
    for (const { path, changed } of changesOf(receipts, `[${index}]`)) {
      if (LEFT_OUT.test(path)) continue
      expect(
        refusalOf(() => verifyReceipts(changed, { receiptsRoot })),
        path,
      ).not.toBe('accepted')
      refused++
    }
    expect(refused).toBe(16)
    const foreign = { transactionHash: named('a'), blockHash: named('b'), blockNumber: '0x1' }
    const account = named('c', 20)
    const lies = { ...foreign, from: account, to: account, contractAddress: account, effectiveGasPrice: '0x1' }
    const others = receipts.map(receipt => ({
      ...{ ...receipt, ...lies, logs: (receipt.logs as Sent[]).map(log => ({ ...log, ...foreign })) },
    }))
    expect(spell(verifyReceipts(others, { receiptsRoot }))).toEqual(truth)
  })

  it('verifies 11 transactions of Sepolia, and refuses every change of a field', () => {
    const { block } = read('sepolia-transactions')
    const { transactionsRoot, hash, number } = headerOf(block)
    const transactions: Sent[] = block.transactions
    const verified = verifyTransactions(transactions, { transactionsRoot })
    expect(verified.map(({ hash, from }) => [hash, from])).toEqual(transactions.map(({ hash, from }) => [hash, from]))
    expect(verified.length).toBe(11)
    const truth = spell(verified)
    const counts = { refused: 0, leftOut: 0 }
    for (const { path, changed } of changesOf(transactions, '')) {
      // What the block proves, and verifyBlock compares.
      if (/\.(blockHash|blockNumber|gasPrice)$/.test(path)) {
        counts.leftOut++
        if (counts.leftOut === 1) expect(spell(verifyTransactions(changed, { transactionsRoot }))).toEqual(truth)
      } else {
        expect(
          refusalOf(() => verifyTransactions(changed, { transactionsRoot })),
          path,
        ).not.toBe('accepted')
        counts.refused++
      }
    }
    expect(counts).toEqual({ refused: 176, leftOut: 33 })
    expect(verifyBlockHeader(encodeHeader(block), { hash, number }).transactionsRoot).toBe(transactionsRoot)
  })
})
