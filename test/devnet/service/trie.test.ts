import { createMerkleProof, createMPT } from '@ethereumjs/mpt'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { lookUp, putEntry, removeEntry, type Trie, trieRoot } from '../../../src/devnet/service/trie.ts'
import { verifyTrieProof } from '../../../src/verify/anchor/trie.ts'
import { sized } from '../../size.ts'

const entries = fc.array(
  // Few keys, so that many of those that are removed are there.
  fc.tuple(
    fc.uint8Array({ minLength: 1, maxLength: 1, max: 80 }),
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.boolean(),
  ),
  { maxLength: 60, size: 'max' },
)

it('has the roots and proofs of @ethereumjs/mpt, and does not change older tries', async () => {
  let proofs = 0
  await fc.assert(
    fc.asyncProperty(entries, async list => {
      const theirs = await createMPT({ useKeyHashing: true })
      const history: [Trie, Uint8Array][] = []
      let ours: Trie = null
      for (const [key, value, isRemoved] of list) {
        ours = isRemoved ? removeEntry(ours, key) : putEntry(ours, key, value)
        await (isRemoved ? theirs.del(key) : theirs.put(key, value))
        history.push([ours, theirs.root()])
      }
      for (const [trie, root] of history) expect(trieRoot(trie)).toEqual(root)
      for (const key of [...list.map(([key]) => key), Uint8Array.of(1, 2, 3)]) {
        const expected = ours === null ? [] : await createMerkleProof(theirs, key)
        expect(lookUp(ours, key).proof).toEqual(expected)
        proofs++
      }
      expect(list.reduce((trie, [key]) => removeEntry(trie, key), ours)).toBe(null)
    }),
    { numRuns: sized(6), seed: 1 },
  )
  expect(proofs).toBeGreaterThan(100)
})

/** Pairs of keys whose hashes share the first 8 digits, so that the path of either leaf has only 55 digits. */
const PAIRS = [
  [9680, 57551],
  [27408, 191350],
  [125844, 237094],
  [632, 239907],
] as const
const keyOf = (number: number) => Uint8Array.of(number >> 24, number >> 16, number >> 8, number)

it('embeds a node of less than 32 bytes in its parent, as @ethereumjs/mpt does', async () => {
  // The leaf of a value below 0x80 has 31 bytes. Other leaves have 32 bytes and are referred to by hash.
  const lengths = new Set<number>()
  for (const value of [1, 0x7f, 0x80, 0xff].map(byte => Uint8Array.of(byte))) {
    const theirs = await createMPT({ useKeyHashing: true })
    let ours: Trie = null
    for (const number of PAIRS.flat()) {
      ours = putEntry(ours, keyOf(number), value)
      await theirs.put(keyOf(number), value)
      expect(trieRoot(ours)).toEqual(theirs.root())
    }
    for (const number of PAIRS.flat()) {
      const { proof } = lookUp(ours, keyOf(number))
      const all = await createMerkleProof(theirs, keyOf(number))
      // Their proof repeats embedded nodes. L1 nodes do not serve them.
      expect(proof).toEqual(all.filter(node => node.length >= 32))
      expect(verifyTrieProof(trieRoot(ours), keccak_256(keyOf(number)), proof)).toEqual(value)
      lengths.add(all.at(-1)?.length ?? 0)
    }
  }
  expect([...lengths].sort()).toEqual([31, 32])
})
