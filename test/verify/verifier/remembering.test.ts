import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { type Hasher, hasherOf } from '../../../src/verify/hash/hasher.ts'
import { poseidon2Kernel } from '../../../src/verify/hash/poseidon2/kernel.ts'
import { plainTrees } from '../../../src/verify/proof/tree.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { createScheme } from '../../../src/verify/scheme/scheme.ts'
import { rememberingHasher, shareNodes } from '../../../src/verify/verifier/shared-nodes.ts'
import { sized } from '../../size.ts'
import { randomStream } from '../hash/messages.ts'

const fresh = poseidon2Kernel()

/** Messages of few different bytes, so that many are nearly equal. */
const message = (length: number) =>
  fc.tuple(fc.constantFrom(0, 1), fc.nat(3), fc.nat(20), fc.nat(3)).map(([fill, offset, place, byte]) => {
    const bytes = new Uint8Array(offset + length).fill(fill).subarray(offset)
    if (length > 0) bytes[(place * 17) % length] = byte
    return bytes
  })
/** Reused arrays, as in a verifier: a fold recognizes siblings by identity. */
const siblings = Array.from({ length: 6 }, (_, index) => new Uint8Array(32).fill(index % 4))
const call = fc.oneof(
  fc.record({
    kind: fc.constant('hash' as const),
    bytes: fc.constantFrom(0, 4, 32, 40, 64, 128, 188, 192, 196, 320).chain(message),
  }),
  fc.record({
    kind: fc.constant('hashBatch' as const),
    messages: fc.constantFrom(32, 64, 192, 196, 320).chain(length => fc.array(message(length), { maxLength: 5 })),
  }),
  fc.record({
    kind: fc.constant('foldPath' as const),
    digest: fc.oneof(fc.constantFrom(...siblings), message(32)),
    // Mostly of one length, and equal near the top.
    siblings: fc
      .tuple(fc.array(fc.constantFrom(...siblings), { maxLength: 3 }), fc.constantFrom(0, 4, 5))
      .map(([low, high]) => [...low, ...siblings.slice(0, high), ...siblings].slice(0, low.length === 3 ? 7 : 6)),
    leafIndex: fc.oneof(fc.nat(7), fc.nat(127), fc.constantFrom(2 ** 40 - 1, 2 ** 40)),
  }),
)

/** The hasher of an answer with more than one path. */
function sharingHasher(): Hasher {
  const { storage } = shareNodes(plainTrees(createScheme(Object.create(poseidon2, { hasher: { value: fresh } }))), 0)
  for (let path = 0; path < 2; path++) storage.decodeRootNode(`0x${'00'.repeat(96)}`, 0)
  return storage.scheme.hasher
}

const hashers = {
  '1 place': () => rememberingHasher(fresh, 1),
  '2 places': () => rememberingHasher(fresh, 2),
  '256 places': () => rememberingHasher(fresh, 256),
  'the memory of one answer': sharingHasher,
}

it.each(Object.keys(hashers) as (keyof typeof hashers)[])(
  'gives the same digests as the hasher below, with %s',
  name => {
    const counts = { hash: 0, hashBatch: 0, foldPath: 0 }
    const property = fc.property(fc.array(call, { minLength: 30, maxLength: 60, size: 'max' }), calls => {
      const remembering = hashers[name]()
      for (const one of calls) {
        counts[one.kind]++
        const [found, expected] = [remembering, fresh].map(hasher => {
          if (one.kind === 'hash') return bytesToHex(hasher.hash(one.bytes))
          if (one.kind === 'hashBatch') return hasher.hashBatch(one.messages).map(bytesToHex).join()
          return bytesToHex(hasher.foldPath(one.digest, one.siblings, one.leafIndex))
        })
        expect(found).toBe(expected)
      }
    })
    fc.assert(property, { seed: 5, numRuns: sized(15) })
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(50)
  },
)

it('hashes each remembered message once', () => {
  const hash = vi.fn(fresh.hash)
  const remembering = rememberingHasher(hasherOf(hash), 4096)
  for (const length of [64, 192, 320]) {
    const bytes = new Uint8Array(length).fill(length)
    hash.mockClear()
    expect(remembering.hash(bytes)).toEqual(remembering.hash(bytes.slice()))
    expect(remembering.hashBatch([bytes, bytes])).toEqual([fresh.hash(bytes), fresh.hash(bytes)])
    expect(hash).toHaveBeenCalledTimes(1)
  }
  hash.mockClear()
  const digest = new Uint8Array(32)
  const top = remembering.foldPath(digest, siblings, 5)
  expect(remembering.foldPath(digest, siblings, 5)).toEqual(top)
  expect(
    remembering.foldPath(
      digest.slice(),
      siblings.map(sibling => sibling.slice()),
      5,
    ),
  ).toEqual(top)
  expect(hash).toHaveBeenCalledTimes(6)
})

it('finds nothing in an empty memory', () => {
  // The table is filled with zeros at first, and so are these messages.
  for (const length of [0, 4, 32, 64, 192]) {
    const remembering = rememberingHasher(
      hasherOf(bytes => new Uint8Array(32).fill(1 + bytes.length / 4)),
      1,
    )
    const [digest] = remembering.hash(new Uint8Array(length))
    expect(digest).toBe(1 + length / 4)
  }
})

it('does not change a digest that it has given', () => {
  const remembering = rememberingHasher(fresh, 1)
  const ask = () => [
    remembering.hash(new Uint8Array(64)),
    ...remembering.hashBatch([new Uint8Array(64), new Uint8Array(64).fill(1)]),
    remembering.foldPath(new Uint8Array(32), siblings, 5),
  ]
  const [given, again] = [ask(), ask()]
  const before = [...given, ...again].map(bytesToHex)
  remembering.hash(new Uint8Array(64).fill(2))
  remembering.foldPath(new Uint8Array(32).fill(2), siblings, 9)
  expect([...given, ...again].map(bytesToHex)).toEqual(before)
})

it('folds a path that is longer than any in the format', () => {
  const remembering = rememberingHasher(fresh, 4)
  const long = Array.from({ length: 7 }, () => siblings).flat()
  for (const levels of [39, 40, 41, 42]) {
    for (const leafIndex of [0, 5, 2 ** 40 - 1]) {
      const path = [new Uint8Array(32), long.slice(0, levels), leafIndex] as const
      for (let turn = 0; turn < 2; turn++) {
        expect(bytesToHex(remembering.foldPath(...path))).toBe(bytesToHex(fresh.foldPath(...path)))
      }
    }
  }
})

it('folds no further than to where it meets the last fold', () => {
  const hash = vi.fn(fresh.hash)
  // With one place, everything that is not taken from the last fold is hashed again.
  const remembering = rememberingHasher(hasherOf(hash), 1)
  const [leaf, other] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(8)]
  const top = remembering.foldPath(leaf, siblings, 0)
  const countOf = (...path: Parameters<typeof remembering.foldPath>) => {
    hash.mockClear()
    const answer = bytesToHex(remembering.foldPath(...path))
    expect(answer).toBe(bytesToHex(fresh.foldPath(...path)))
    return hash.mock.calls.length
  }
  expect(bytesToHex(top)).toBe(bytesToHex(fresh.foldPath(leaf, siblings, 0)))
  expect(countOf(leaf, siblings, 0)).toBe(0)
  expect(countOf(leaf, siblings, 2 ** 5)).toBeGreaterThan(0)
  expect(countOf(leaf, siblings.slice(0, 5), 0)).toBeGreaterThan(0)
  expect(countOf(leaf, siblings, 0)).toBeGreaterThan(0)
  expect(countOf(leaf, siblings.with(0, other), 0)).toBe(6)
  expect(countOf(other, siblings.with(0, other), 0)).toBe(6)
  // Neighbouring leaves, each the sibling of the other, meet one level up.
  expect(countOf(leaf, siblings.with(0, other), 0)).toBe(6)
  expect(countOf(other, siblings.with(0, leaf), 1)).toBe(1)
})

it('takes no digest for a message that it has hashed, and gives the same array for the same message', () => {
  const remembering = rememberingHasher(fresh, 256)
  const messages = Array.from({ length: 8 }, (_, index) => new Uint8Array(64).fill(index))
  const digests = remembering.hashBatch(messages)
  // A fold recognizes siblings by this.
  for (const [index, digest] of remembering.hashBatch([...messages]).entries()) expect(digest).toBe(digests[index])
  for (const digest of digests) expect(bytesToHex(remembering.hash(digest))).toBe(bytesToHex(fresh.hash(digest)))
})

it('does not reuse a fold that threw', () => {
  let isBroken = false
  const hash = (bytes: Uint8Array) => {
    if (isBroken && bytes[32] === 3) throw new Error('broken')
    return fresh.hash(bytes)
  }
  const remembering = rememberingHasher(hasherOf(hash), 1)
  const [leaf, other] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(8)]
  remembering.foldPath(leaf, siblings, 0)
  isBroken = true
  expect(() => remembering.foldPath(other, siblings, 0)).toThrow('broken')
  isBroken = false
  for (const start of [leaf, other]) {
    expect(bytesToHex(remembering.foldPath(start, siblings, 0))).toBe(bytesToHex(fresh.foldPath(start, siblings, 0)))
  }
})

it('does not mix up adjacent messages in its memory', () => {
  // A leaf fills its place entirely. An inner node follows it. The test hashes a node that differs in the first word.
  const stream = randomStream(9n)
  const message = (length: number) => Uint8Array.from({ length }, () => Number(stream() % 127n))
  for (let round = 0; round < 64; round++) {
    const remembering = rememberingHasher(fresh, 2)
    const [leaf, node] = [message(192), message(64)]
    remembering.hash(node)
    remembering.hash(leaf)
    const other = node.slice().fill(0, 0, 4)
    expect(bytesToHex(remembering.hash(other))).toBe(bytesToHex(fresh.hash(other)))
  }
})
