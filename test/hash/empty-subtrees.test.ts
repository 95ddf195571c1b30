import { describe, expect, it, vi } from 'vitest'
import { bytesToHex, concatBytes } from '../../src/bytes.ts'
import { emptySubtreeDigests, knowEmptySubtrees } from '../../src/hash/empty-subtrees.ts'
import { mimcPlain } from '../../src/hash/mimc/plain.ts'
import { poseidon2Plain } from '../../src/hash/poseidon2/plain.ts'
import { mimc } from '../../src/scheme/mimc.ts'
import { poseidon2 } from '../../src/scheme/poseidon2.ts'
import { encodeOpening, indexWord, initialSentinels } from '../../src/world/encode.ts'

describe.each([
  { scheme: mimc, plain: mimcPlain() },
  { scheme: poseidon2, plain: poseidon2Plain() },
])('$scheme.name', ({ scheme, plain }) => {
  const { hash } = scheme.hasher
  const zero = new Uint8Array(32)

  it('hashes a missing leaf with itself forty times', () => {
    const digests = emptySubtreeDigests(scheme.hasher)
    expect(digests.length).toBe(41)
    expect(digests[0]).toEqual(zero)
    for (const [below, digest] of digests.slice(0, 40).entries()) {
      expect(digests[below + 1]).toEqual(hash(concatBytes(digest, digest)))
    }
  })

  it('states the root of a tree of HEAD and TAIL that hashing level by level computes', () => {
    const [head, tail] = initialSentinels(scheme)
    expect(head).toEqual({ prev: 0, next: 1, hKey: zero, hVal: zero })
    expect(tail).toEqual({ prev: 0, next: 1, hKey: scheme.tailKey(), hVal: zero })
    let missing: Uint8Array = zero
    let subRoot = concatBytes(hash(encodeOpening(scheme, head)), hash(encodeOpening(scheme, tail)))
    for (let level = 1; level < 40; level++) {
      missing = hash(concatBytes(missing, missing))
      subRoot = concatBytes(hash(subRoot), missing)
    }
    expect(scheme.emptyTreeRoot).toBe(bytesToHex(hash(concatBytes(indexWord(scheme, 2), hash(subRoot)))))
  })

  it('skips the hash of an empty subtree in its place and nothing else', () => {
    const hashBatch = vi.fn(plain.hashBatch)
    const hasher = knowEmptySubtrees({ ...plain, hashBatch })
    const digests = emptySubtreeDigests(plain)
    // From just below the sub-root down: nodes 1 to 39.
    const preimages = Array.from({ length: 39 }, (_, index) => {
      const child = digests[38 - index] ?? zero.slice(1)
      return concatBytes(child, child)
    })
    const known = preimages.map((preimage, index) => hasher.knownPreimage?.(index + 1, bytesToHex(preimage)) ?? zero)
    expect(known).toEqual(preimages)
    // A preimage is known by its text and place: not for another text, at another node, or beyond the inner nodes.
    for (const [index, preimage] of preimages.entries()) {
      expect(hasher.knownPreimage?.(index + 2, bytesToHex(preimage))).toBeUndefined()
      expect(hasher.knownPreimage?.(index + 1, `0x${'00'.repeat(63)}01`)).toBeUndefined()
    }
    for (const node of [-1, 0, 40, 41]) {
      expect(hasher.knownPreimage?.(node, bytesToHex(preimages[38] ?? zero))).toBeUndefined()
    }
    const countOf = (messages: Uint8Array[]) => {
      hashBatch.mockClear()
      expect(hasher.hashBatch(messages).map(bytesToHex)).toEqual(
        messages.map(message => bytesToHex(plain.hash(message))),
      )
      return hashBatch.mock.calls.map(([rest]) => rest.length)
    }
    expect(countOf(known)).toEqual([0])
    expect(countOf([])).toEqual([0])
    // Messages in another place, one replaced, copies, and messages after the last.
    expect(countOf(known.toReversed())).toEqual([38])
    expect(countOf(known.with(7, new Uint8Array(64).fill(1)))).toEqual([1])
    expect(countOf(preimages)).toEqual([39])
    expect(countOf([...known, zero, zero])).toEqual([2])
  })

  it('returns no digest that the hasher does not return', () => {
    const hasher = knowEmptySubtrees({ ...plain, hashBatch: () => [] })
    expect(hasher.hashBatch([new Uint8Array(64).fill(1), new Uint8Array(64)])).toEqual([])
  })
})
