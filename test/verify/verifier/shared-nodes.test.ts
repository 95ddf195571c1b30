import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { bytesToHex, concatBytes, hexToBytes } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { type Hex, safely, verifyProof } from '../../../src/entry/index.ts'
import type { Hasher } from '../../../src/verify/hash/hasher.ts'
import { plainTrees } from '../../../src/verify/proof/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme } from '../../../src/verify/scheme/scheme.ts'
import { emptySubtreeDigests, quickTrees } from '../../../src/verify/verifier/empty-subtrees.ts'
import { hashStorageKey } from '../../../src/verify/verifier/leaf-api.ts'
import { shareNodes } from '../../../src/verify/verifier/shared-nodes.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'
import { findAbsent } from '../../../vectors/world.ts'
import { type Json, replaceAt } from '../../answers.ts'
import { verifyWith } from '../../bench/subjects.ts'

/** With HEAD and TAIL an odd number of leaves, so that one has no sibling. */
const SLOTS = 21

/** The same scheme with a hasher that reports what the kernel computes. */
function watched(scheme: HashScheme, see: (digest: Uint8Array) => void): HashScheme {
  const { hash, hashBatch, foldPath } = scheme.hasher
  const seen = (digest: Uint8Array) => {
    see(digest)
    return digest
  }
  const hasher: Hasher = {
    hash: message => seen(hash(message)),
    hashBatch: messages => hashBatch(messages).map(seen),
    foldPath: (...path) => seen(foldPath(...path)),
  }
  return createScheme({ ...scheme, hasher })
}

describe.each([mimc, poseidon2])('$name', scheme => {
  // mimc's hashes are slow.
  const STEP = scheme.name === 'mimc' ? 8 : 1
  const world = createWorld(scheme)
  const address = addressFor('contract')
  for (let index = 0; index < 5; index++) world.setAccount(addressFor(`account ${index}`), { balance: 3n })
  world.setAccount(address, { balance: 1n })
  for (let index = 0; index < SLOTS; index++)
    world.setStorage(address, { key: keyFor(index), value: wordFor(index + 1) })
  const stateRoot = world.stateRoot()
  const ask = (storageKeys: Hex[]) => ({
    answer: JSON.parse(JSON.stringify(world.getProof(address, storageKeys))) as Json,
    claim: { scheme, stateRoot, address, storageKeys },
  })
  /** The verdict or the whole message, which has the computed digests, of `verifyProof`; it must be that of the plain trees. */
  const verdictOf = ({ answer, claim }: ReturnType<typeof ask>) => {
    const [shared, plain] = [() => verifyProof(answer, claim), () => verifyWith(plainTrees, answer, claim)].map(
      verify => {
        const outcome = safely(verify)
        return outcome.ok ? outcome.value : outcome.error.message
      },
    )
    expect(shared).toEqual(plain)
    return shared
  }
  const changed = (
    { answer, claim }: ReturnType<typeof ask>,
    place: (string | number)[],
    change: (part: Json) => Json,
  ) => verdictOf({ answer: replaceAt(answer, place, change), claim })
  const nodesOf = (slot: number) => ['storageProofs', slot, 'proof', 'proofRelatedNodes']
  const three = ask([keyFor(4), keyFor(5), keyFor(13)])
  const nodes = (slot: number) =>
    nodesOf(slot).reduce<unknown>((part, name) => Object(part)[name], three.answer) as Hex[]

  it('verifies repeated slots, neighbours, and an absent slot between them', () => {
    const absent = findAbsent(
      key => hashStorageKey(scheme, key),
      keyFor,
      Array.from({ length: SLOTS }, (_, index) => keyFor(index)),
    )
    const { between, afterHead, beforeTail } = absent
    const keys = [keyFor(4), keyFor(4), between, keyFor(5), between, afterHead, beforeTail, keyFor(4)]
    expect(verdictOf(ask(keys))).toMatchObject({
      storage: keys.map(key => ({ key, value: world.getStorage(address, key) })),
    })
  })

  it('refuses a known node at another level, in every pair of levels', () => {
    const counts = { refused: 0, same: 0 }
    for (let from = 1; from < 40; from += STEP) {
      const to = 1 + ((from * 7) % 39)
      // The last paths have met all of these nodes before.
      for (const slot of [1, 2]) {
        const known = nodes(0)[from] ?? '0x'
        const verdict = changed(three, [...nodesOf(slot), to], () => known)
        counts[typeof verdict === 'string' ? 'refused' : 'same']++
        if (typeof verdict === 'string') expect(verdict).toContain('SUB_ROOT_MISMATCH')
        else expect(known).toBe(nodes(slot)[to])
      }
    }
    expect(counts.refused).toBeGreaterThan(70 / STEP)
  })

  it('refuses a known path with its leaf on another side or at another place', () => {
    const { leafIndex } = Object((three.answer as { storageProofs: unknown[] }).storageProofs[0])
    let refused = 0
    for (let level = 0; level < 6; level++) {
      // The true path of slot 0, claimed for the same key a second time, from the other side of one level.
      const twice = ask([keyFor(4), keyFor(4)])
      const other = (leafIndex ^ (1 << level)) as number
      const verdict = changed(twice, ['storageProofs', 1, 'leafIndex'], () => other)
      expect(verdict).toMatch(/SUB_ROOT_MISMATCH|INDEX_OUT_OF_RANGE|SENTINEL_MISPLACED/)
      refused++
    }
    expect(refused).toBe(6)
  })

  it('refuses siblings with swapped or doubled halves, and siblings of two levels exchanged', () => {
    const half = (hex: Json, index: number) => String(hex).slice(2 + 64 * index, 66 + 64 * index)
    for (const node of [36, 37, 38, 39]) {
      const place = [...nodesOf(2), node]
      expect(changed(three, place, hex => `0x${half(hex, 1)}${half(hex, 0)}`)).toContain('SUB_ROOT_MISMATCH')
      expect(changed(three, place, hex => `0x${half(hex, 0)}${half(hex, 0)}`)).toContain('SUB_ROOT_MISMATCH')
      const exchange = (list: Json) => {
        const texts = list as Json[]
        return texts.with(node, texts[node - 1] ?? '').with(node - 1, texts[node] ?? '')
      }
      expect(changed(three, nodesOf(2), exchange)).toContain('SUB_ROOT_MISMATCH')
    }
    // A leaf of the first path in the last, on either side.
    for (const [node, from] of [
      [41, 40],
      [40, 41],
    ] as const) {
      expect(typeof changed(three, [...nodesOf(2), node], () => nodes(0)[from] ?? '')).toBe('string')
    }
  })

  it('refuses an empty subtree in place of any sibling that is not empty, and of another height', () => {
    const preimages = emptySubtreeDigests(scheme.hasher).map(digest => bytesToHex(concatBytes(digest, digest)))
    for (let node = 39; node > 0; node -= STEP) {
      const right = preimages[39 - node] ?? '0x'
      const isEmpty = nodes(2)[node] === right
      const verdict = changed(three, [...nodesOf(2), node], () => right)
      expect(typeof verdict === 'string', `${node}`).toBe(!isEmpty)
      expect(changed(three, [...nodesOf(2), node], () => preimages[node % 39] ?? right)).toEqual(
        preimages[node % 39] === right ? verdict : expect.stringContaining('SUB_ROOT_MISMATCH'),
      )
    }
  })

  it('hashes what two paths share once, and the paths of single proofs as before', () => {
    const see = vi.fn()
    const counting = watched(scheme, see)
    const countOf = (storageKeys: Hex[]) => {
      const { answer, claim } = ask(storageKeys)
      see.mockClear()
      verifyProof(answer, { ...claim, scheme: counting })
      return see.mock.calls.length
    }
    countOf([])
    const [none, one, twice, all] = [0, 1, 2, SLOTS].map(count =>
      countOf(Array.from({ length: count }, (_, index) => keyFor(count === 2 ? 4 : index))),
    )
    const slot = (one ?? 0) - (none ?? 0)
    // A single path is folded by one call.
    const { answer, claim } = ask([keyFor(4)])
    see.mockClear()
    verifyWith(quickTrees, answer, { ...claim, scheme: counting })
    expect(see).toHaveBeenCalledTimes((none ?? 0) + slot)
    // Of the same path again, nothing is new but 40 levels by themselves instead of in one call, and two openings in a batch.
    expect(twice).toBeLessThanOrEqual((none ?? 0) + slot + 41)
    // A leaf each, the inner nodes of a tree of 22 leaves, and the way to the top.
    expect(all).toBeLessThan((none ?? 0) + 6 * SLOTS + 45)
  })

  it('hashes the openings of several leaves together, in whatever order they come', () => {
    const { storage } = shareNodes(quickTrees(scheme), 0)
    const rootNode = `0x${'00'.repeat(scheme.wordLength + 32)}`
    for (let path = 0; path < 2; path++) storage.decodeRootNode(rootNode, 0)
    const texts = [0, 1, 2].flatMap(slot => [nodes(slot)[40] ?? '', nodes(slot)[41] ?? ''])
    const openings = texts.map((text, index) =>
      index % 2 === 0 ? storage.decodeSiblingLeaf(text, 40) : storage.decodeLeafNode(text, 41),
    )
    const order = [5, 0, 3, 3, 4, 1, 2, 0, 5]
    for (const index of order) {
      const text = texts[index] ?? ''
      const message = openings[index]?.opening ?? new Uint8Array()
      const expected = scheme.hasher.hash(hexToBytes(text, text.length / 2 - 1))
      expect(bytesToHex(storage.scheme.hasher.hash(message)), `${index}`).toBe(bytesToHex(expected))
    }
  })

  it('keeps nothing when it returns', async () => {
    const digests: WeakRef<Uint8Array>[] = []
    const watching = watched(scheme, digest => digests.push(new WeakRef(digest)))
    const { answer, claim } = ask(Array.from({ length: SLOTS }, (_, index) => keyFor(index)))
    // The digests of the empty subtrees are those of the scheme, and stay.
    quickTrees(watching)
    digests.length = 0
    const state = verifyProof(answer, { ...claim, scheme: watching })
    expect(digests.length).toBeGreaterThan(2 * SLOTS)
    setFlagsFromString('--expose-gc')
    const kept = () => digests.filter(digest => digest.deref() !== undefined).length
    // A new weak reference holds until the end of the turn, and a compilation or a collection that has begun until it ends.
    for (let turn = 0; kept() > 0 && turn < 100; turn++) {
      await setTimeout(turn)
      runInNewContext('gc')()
    }
    expect(kept()).toBe(0)
    expect(state.storage.length).toBe(SLOTS)
  })
})
