import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { bytesToHex, concatBytes } from '../../src/bytes.ts'
import { hasherOf } from '../../src/hash/hasher.ts'
import { poseidon2Numbers } from '../../src/hash/poseidon2.numbers.ts'
import { rememberingHasher } from '../../src/hash/remember.ts'

const plain = poseidon2Numbers()

/** Few different bytes, so that many messages are alike in all but a few. */
const message = (lengths: number[]) =>
  fc
    .tuple(fc.constantFrom(...lengths), fc.constantFrom(0, 1), fc.nat(3), fc.nat(20), fc.nat(3))
    .map(([length, fill, offset, place, byte]) => {
      const bytes = new Uint8Array(offset + length).fill(fill).subarray(offset)
      if (length > 0) bytes[(place * 17) % length] = byte
      return bytes
    })
const call = fc.oneof(
  fc.record({ kind: fc.constant('hash' as const), bytes: message([0, 4, 32, 40, 64, 192, 316, 320, 324, 640]) }),
  fc.record({ kind: fc.constant('hashEach' as const), bytes: message([0, 64, 128, 192, 256]) }),
  fc.record({ kind: fc.constant('climb' as const), bytes: message([0, 32, 96, 320]), position: fc.nat(1023) }),
)

it.each([1, 2, 256])('answers as the hasher it stands on, with %i places', places => {
  const counts = { hash: 0, hashEach: 0, climb: 0 }
  const property = fc.property(fc.array(call, { minLength: 30, maxLength: 60, size: 'max' }), calls => {
    const remembering = rememberingHasher(plain, places, places)
    for (const one of calls) {
      counts[one.kind]++
      const [found, expected] = [remembering, plain].map(hasher => {
        if (one.kind === 'hash') return hasher.hash(one.bytes)
        if (one.kind === 'hashEach') return concatBytes(hasher.hashEach(one.bytes, 64), hasher.hashEach(one.bytes, 32))
        return hasher.climb(one.bytes.length > 0 ? one.bytes.slice(0, 32) : new Uint8Array(32), one.bytes, one.position)
      })
      expect(bytesToHex(found ?? new Uint8Array())).toBe(bytesToHex(expected ?? new Uint8Array(1)))
    }
  })
  fc.assert(property, { seed: 5, numRuns: 20 })
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(50)
})

it('hashes what it remembers once, and gives out digests that cannot spoil its memory', () => {
  const hash = vi.fn(plain.hash)
  const remembering = rememberingHasher(hasherOf(hash), 64, 64)
  for (const length of [32, 64, 192]) {
    const bytes = new Uint8Array(length).fill(length)
    hash.mockClear()
    const first = remembering.hash(bytes)
    const expected = bytesToHex(first)
    first.fill(0)
    expect(bytesToHex(remembering.hash(bytes))).toBe(expected)
    expect(hash).toHaveBeenCalledTimes(1)
  }
  hash.mockClear()
  const siblings = new Uint8Array(320).fill(3)
  const top = bytesToHex(remembering.climb(new Uint8Array(32), siblings, 5))
  expect(bytesToHex(remembering.climb(new Uint8Array(32), siblings, 5))).toBe(top)
  expect(hash).toHaveBeenCalledTimes(10)
})
