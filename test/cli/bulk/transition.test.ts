import { expect, it } from 'vitest'
import { MAX_ANSWER_LENGTH, MAX_TOTALS } from '../../../src/cli/audit/limits.ts'
import { verifyChain } from '../../../src/cli/transition/chain.ts'
import { createTotals } from '../../../src/cli/transition/rows.ts'
import { mimc } from '../../../src/entry/mimc.ts'

const parentStateRoot = `0x${'11'.repeat(31)}00` as const

async function countBlocks(open: () => AsyncIterable<Uint8Array>) {
  const place = { input: '', answer: 0, block: 0 }
  let blocks = 0
  for await (const { diff, traces } of verifyChain([{ name: 'a', open }], { scheme: mimc, parentStateRoot }, place)) {
    if (diff.stateRoot === parentStateRoot && diff.accounts.length === 0 && traces === 0) blocks++
  }
  return { blocks, place }
}

it('ends soon with blocks that are empty, of which a file of some bytes holds many', async () => {
  const line = Buffer.from(`{"zkStateMerkleProof":[${Array(100).fill('[]').join()}]}\n`)
  async function* lines() {
    for (let turn = 0; turn < 300; turn++) yield line
  }
  expect(await countBlocks(lines)).toEqual({ blocks: 30_000, place: { input: 'a', answer: 300, block: 30_000 } })
})

it('holds no answer that is too long', async () => {
  let sent = 0
  async function* endless() {
    yield Buffer.from('{"zkStateMerkleProof": [["')
    for (const piece = new Uint8Array(2 ** 20).fill(0x61); sent < 2 * MAX_ANSWER_LENGTH; sent += piece.length)
      yield piece
  }
  await expect(countBlocks(endless)).rejects.toThrow('an answer is too long')
})

it('adds up the changes of no more accounts than it says', () => {
  const totals = createTotals()
  const account = {
    nonce: 1n,
    balance: 1n,
    storageRoot: '0x',
    codeHash: '0x',
    snarkCodeHash: '0x',
    codeSize: 0n,
  } as const
  for (let index = 0; index < MAX_TOTALS + 3; index++) {
    const diff = {
      address: `0x${index.toString(16)}` as const,
      before: null,
      after: account,
      changed: true,
      storage: [],
    }
    totals.add({ stateRoot: '0x', accounts: [diff] }, 1)
  }
  expect([totals.list().length, totals.left(), totals.counts.accountChanges]).toEqual([MAX_TOTALS, 3, MAX_TOTALS + 3])
})
