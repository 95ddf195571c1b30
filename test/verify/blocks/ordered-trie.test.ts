import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { orderedTrieRoot } from '../../../src/verify/blocks/ordered-trie.ts'
import { rootOf } from '../../../vectors/blocks/truth.ts'

it('has the root that @ethereumjs/mpt computes, for any number of values', async () => {
  let compared = 0
  // Around the indices whose RLP is longer. Some leaves are short enough to be embedded in their parents.
  for (const count of [0, 1, 2, 3, 16, 17, 127, 128, 129, 130, 144, 256, 257, 300]) {
    const values = Array.from({ length: count }, (_, index) => new Uint8Array(1 + (index % 40)).fill(1 + (index % 255)))
    expect(bytesToHex(orderedTrieRoot(values)), `${count}`).toBe(await rootOf(values))
    compared++
  }
  expect(compared).toBe(14)
})

it('embeds each node that is shorter than a hash, and no other', async () => {
  for (let length = 1; length < 36; length++) {
    const values = Array.from({ length: 17 }, (_, index) => new Uint8Array(length).fill(index))
    expect(bytesToHex(orderedTrieRoot(values)), `${length}`).toBe(await rootOf(values))
  }
})
