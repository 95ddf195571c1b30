import { expect, it } from 'vitest'
import { MAX_ANSWER_LENGTH } from '../../../src/cli/audit/limits.ts'
import { verifyChain } from '../../../src/cli/commands/diff.ts'
import { mimc } from '../../../src/entry/mimc.ts'

const parentStateRoot = `0x${'11'.repeat(31)}00` as const

async function countBlocks(open: () => AsyncIterable<Uint8Array>) {
  const place = { input: '', answer: 0, block: 0 }
  let blocks = 0
  for await (const diff of verifyChain([{ name: 'a', open }], { scheme: mimc, parentStateRoot }, place)) {
    if (diff.stateRoot === parentStateRoot && diff.accounts.length === 0) blocks++
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
  await expect(countBlocks(endless)).rejects.toThrow(`line 1 is longer than ${MAX_ANSWER_LENGTH} bytes`)
  // It is not read to its end.
  expect(sent).toBeLessThan(MAX_ANSWER_LENGTH + 2 ** 21)
})
