import { describe, expect, it } from 'vitest'
import { bytesToHex, concatBytes } from '../../src/bytes.ts'
import { mimc } from '../../src/scheme/mimc.ts'
import { poseidon2 } from '../../src/scheme/poseidon2.ts'
import type { Scheme } from '../../src/scheme/scheme.ts'
import { emptyInnerNodes, emptySubtreeDigests, emptyTreeRoot, initialSentinels } from '../../src/tree/empty.ts'
import { encodeOpening, indexWord } from '../../src/tree/leaf.ts'

describe.each([mimc, poseidon2])('$name', scheme => {
  const { hash } = scheme.hasher
  const zero = new Uint8Array(32)

  it('doubles a missing leaf forty times', () => {
    const digests = emptySubtreeDigests(scheme)
    expect(digests.length).toBe(41)
    expect(digests[0]).toEqual(zero)
    for (const [below, digest] of digests.slice(0, 40).entries()) {
      expect(digests[below + 1]).toEqual(hash(concatBytes(digest, digest)))
    }
  })

  it('gives the 39 siblings without a leaf from the top down, each with its preimage', () => {
    const nodes = emptyInnerNodes(scheme)
    expect(nodes.length).toBe(39)
    expect(nodes.at(-1)?.preimage).toEqual(new Uint8Array(64))
    for (const [index, { preimage, digest }] of nodes.entries()) {
      expect(digest).toEqual(hash(preimage))
      const child = nodes[index + 1]?.digest ?? zero
      expect(preimage).toEqual(concatBytes(child, child))
    }
  })

  it('computes the root of HEAD and TAIL alone, by hashing level after level', () => {
    const [head, tail] = initialSentinels(scheme)
    expect(head).toEqual({ prev: 0, next: 1, hKey: zero, hVal: zero })
    expect(tail).toEqual({ prev: 0, next: 1, hKey: scheme.largestKey(), hVal: zero })
    let missing: Uint8Array = zero
    let subRoot = concatBytes(hash(encodeOpening(scheme, head)), hash(encodeOpening(scheme, tail)))
    for (let level = 1; level < 40; level++) {
      missing = hash(concatBytes(missing, missing))
      subRoot = concatBytes(hash(subRoot), missing)
    }
    const root = hash(concatBytes(indexWord(scheme, 2), hash(subRoot)))
    expect(bytesToHex(emptyTreeRoot(scheme))).toBe(bytesToHex(root))
  })
})

it('hashes an empty tree once for each scheme', () => {
  let climbs = 0
  const climb: Scheme['hasher']['climb'] = (...path) => {
    climbs++
    return mimc.hasher.climb(...path)
  }
  const counting: Scheme = { ...mimc, hasher: { ...mimc.hasher, climb } }
  expect(emptyTreeRoot(counting)).toEqual(emptyTreeRoot(mimc))
  expect(emptyTreeRoot(counting)).toEqual(emptyTreeRoot(mimc))
  expect(climbs).toBe(1)
  expect(emptyTreeRoot(poseidon2)).not.toEqual(emptyTreeRoot(mimc))
})
