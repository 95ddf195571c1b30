import { describe, expect, it } from 'vitest'
import { bigintToBytes, concatBytes } from '../../../src/base/bytes.ts'
import type { ProofErrorCode } from '../../../src/base/error-meanings.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { encodeOpening, indexWord } from '../../../src/verify/tree/encode.ts'
import { decodeIndexWord, decodeOpening, openingLength, verifyCanonical } from '../../../src/verify/tree/leaf.ts'

import { refusal } from '../../refusal.ts'

const INDICES = [0, 1, 2, 255, 256, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 39 + 3, 2 ** 40 - 1]

describe.each([mimc, poseidon2])('$name', scheme => {
  const word = (x: number | bigint) => scheme.encodeWord(bigintToBytes(BigInt(x), 32))
  const hKey = Uint8Array.from({ length: 32 }, (_, index) => index)
  const hVal = Uint8Array.from({ length: 32 }, (_, index) => 5 + index)

  it('encodes an index as the word of its integer, and decodes it again', () => {
    for (const index of INDICES) {
      expect(indexWord(scheme, index)).toEqual(word(index))
      expect(decodeIndexWord(scheme, indexWord(scheme, index), 2 ** 40)).toBe(index)
    }
    expect(indexWord(scheme, 2 ** 40)).toEqual(word(2 ** 40))
    expect(INDICES.length).toBe(10)
  })

  it('accepts only an index below the limit', () => {
    for (const limit of [1, 7, 2 ** 32, 2 ** 40, 2 ** 40 + 1]) {
      expect(decodeIndexWord(scheme, word(limit - 1), limit)).toBe(limit - 1)
      for (const above of [limit, limit + 1, 2 ** 53]) {
        expect(refusal(() => decodeIndexWord(scheme, word(above), limit))).toMatchObject({
          code: 'INDEX_OUT_OF_RANGE',
          expected: `below ${limit}`,
          found: `${above}`,
        })
      }
    }
  })

  it('refuses a set bit in each byte above the largest index', () => {
    for (let byte = 0; byte < 27; byte++) {
      for (const bit of [1n, 128n]) {
        const large = (bit << BigInt(8 * (31 - byte))) + 5n
        const { code, found } = refusal(() => decodeIndexWord(scheme, word(large), 2 ** 40))
        expect([code, found]).toEqual(['INDEX_OUT_OF_RANGE', `${large}`])
      }
    }
  })

  it('encodes an opening as prev, next, key hash, value hash', () => {
    const leaf = { prev: 2 ** 39 + 1, next: 4, hKey, hVal }
    const opening = encodeOpening(scheme, leaf)
    expect(opening).toEqual(concatBytes(word(leaf.prev), word(leaf.next), hKey, hVal))
    expect(opening.length).toBe(openingLength(scheme))
    expect(opening.length).toBe(scheme.name === 'mimc' ? 128 : 192)
    expect(decodeOpening(scheme, opening)).toEqual({ ...leaf, opening })
  })

  it('refuses an opening that points past the last possible leaf', () => {
    const far = word(2 ** 40)
    const codes = [concatBytes(far, word(1), hKey, hVal), concatBytes(word(1), far, hKey, hVal)].map(
      opening => refusal(() => decodeOpening(scheme, opening)).code,
    )
    expect(codes).toEqual(['INDEX_OUT_OF_RANGE', 'INDEX_OUT_OF_RANGE'] satisfies ProofErrorCode[])
  })

  it('refuses an opening with an unreduced element in any part', () => {
    const opening = encodeOpening(scheme, { prev: 1, next: 2, hKey, hVal })
    const elementLength = scheme.name === 'mimc' ? 32 : 4
    for (let offset = 0; offset < opening.length; offset += elementLength) {
      const changed = opening.slice()
      changed.fill(0xff, offset, offset + elementLength)
      const { code, found } = refusal(() => verifyCanonical(scheme, changed))
      expect([code, found]).toEqual(['NON_CANONICAL', 'a field element not reduced'])
    }
  })
})

it('refuses stray bytes in a poseidon2 index word, even in a reduced element', () => {
  for (let element = 0; element < 16; element++) {
    const stray = indexWord(poseidon2, 3)
    stray[4 * element + 1] = 1
    const { code, found } = refusal(() => decodeIndexWord(poseidon2, stray, 2 ** 40))
    expect([code, found]).toEqual(['NON_CANONICAL', 'stray bytes in an index word'])
  }
})
