import { describe, expect, it } from 'vitest'
import { bytesToHex, concatBytes } from '../../../src/base/bytes.ts'
import { initialSentinels } from '../../../src/devnet/world/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { encodeOpening, indexWord } from '../../../src/verify/tree/encode.ts'
import { emptySubtreeDigests } from '../../../src/verify/verifier/empty-subtrees.ts'

describe.each([mimc, poseidon2])('$name', scheme => {
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
})
