import { createMerkleProof, createMPT } from '@ethereumjs/mpt'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { proveEntry, putEntry, type Trie, trieRoot } from '../../src/rpc/service/trie.ts'

const entries = fc.array(
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 2 }), fc.uint8Array({ minLength: 1, maxLength: 40 })),
  {
    maxLength: 60,
    size: 'max',
  },
)

it('has the roots and proofs of @ethereumjs/mpt, and leaves older tries as they are', async () => {
  let proofs = 0
  await fc.assert(
    fc.asyncProperty(entries, async list => {
      const theirs = await createMPT({ useKeyHashing: true })
      const history: [Trie, Uint8Array][] = []
      let ours: Trie = null
      for (const [key, value] of list) {
        ours = putEntry(ours, key, value)
        await theirs.put(key, value)
        history.push([ours, theirs.root()])
      }
      for (const [trie, root] of history) expect(trieRoot(trie)).toEqual(root)
      for (const key of [...list.map(([key]) => key), Uint8Array.of(1, 2, 3)]) {
        const expected = list.length === 0 ? [] : await createMerkleProof(theirs, key)
        expect(proveEntry(ours, key)).toEqual(expected)
        proofs++
      }
    }),
    { numRuns: 15, seed: 1 },
  )
  expect(proofs).toBeGreaterThan(500)
})
