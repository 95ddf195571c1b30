import { describe, expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme } from '../../../src/verify/scheme/scheme.ts'
import { naiveRoot } from './naive.ts'
import {
  ALICE,
  address,
  BOB,
  EMPTY_ROOT,
  expectProves,
  fullHash,
  leafIndexOf,
  MAX_INDEX,
  schemes,
  slotIndex,
  word,
  worldWithAlice,
  ZERO,
} from './worlds.ts'

const FULL = ': expected a free leaf, found a tree whose 2^40 leaves are all used'

describe.each(schemes)('$name', scheme => {
  const emptyRoot = EMPTY_ROOT[scheme.name]

  it('never uses an index twice, and keeps it on update', () => {
    const world = worldWithAlice(scheme)
    const [a, b, c] = [word(10), word(11), word(12)]
    for (const key of [a, b, c]) world.setStorage(ALICE, { key, value: word(1) })
    expect([a, b, c].map(key => slotIndex(world, key))).toEqual([2, 3, 4])

    world.setStorage(ALICE, { key: b, value: word(2) })
    expect(slotIndex(world, b)).toBe(3)
    expect(world.getStorage(ALICE, b)).toBe(word(2))

    world.setStorage(ALICE, { key: b, value: ZERO })
    expect(world.getStorage(ALICE, b)).toBe(ZERO)
    expect(() => slotIndex(world, b)).toThrow('it does not exist')

    world.setStorage(ALICE, { key: b, value: word(3) })
    expect(slotIndex(world, b)).toBe(5)
  })

  it('links the neighbours of a deleted leaf to each other', () => {
    const world = worldWithAlice(scheme)
    const keys = [word(20), word(21), word(22)]
    for (const key of keys) world.setStorage(ALICE, { key, value: word(1) })
    const inOrder = keys
      .map((key, place) => ({ key, index: place + 2, hKey: bytesToHex(fullHash(scheme, key)) }))
      .sort((x, y) => (x.hKey < y.hKey ? -1 : 1))
    const [first, middle, last] = inOrder
    if (!first || !middle || !last) throw new Error('three keys')

    world.setStorage(ALICE, { key: middle.key, value: ZERO })
    const [gap] = world.getProof(ALICE, [middle.key]).storageProofs
    expect(gap).toMatchObject({ key: middle.key, leftLeafIndex: first.index, rightLeafIndex: last.index })

    for (const { key } of [first, last]) world.setStorage(ALICE, { key, value: ZERO })
    const [empty] = world.getProof(ALICE, [middle.key]).storageProofs
    expect(empty).toMatchObject({ leftLeafIndex: 0, leftProof: { value: ZERO } })
    expect(empty).toMatchObject({ rightLeafIndex: 1, rightProof: { value: ZERO } })
    // nextFreeNode has grown, so the root differs from the empty storage root, though no slot is left.
    expect(world.getAccount(ALICE)?.storageRoot).not.toBe(emptyRoot)
  })

  it('does not change the tree when an absent slot is set to zero', () => {
    const world = worldWithAlice(scheme)
    const before = world.stateRoot()
    world.setStorage(ALICE, { key: word(1), value: ZERO })
    expect(world.stateRoot()).toBe(before)
  })

  it('places leaves up to index 2^40 - 1, and is full after that', () => {
    const world = worldWithAlice(scheme)
    const indices = [2, 2 ** 31, 2 ** 32 + 5, MAX_INDEX]
    const slots = indices.map((index, place) => ({ index, key: word(place) }))
    for (const { index, key } of slots) {
      world.skipLeaves(index, ALICE)
      world.setStorage(ALICE, { key, value: word(1) })
      expect(slotIndex(world, key)).toBe(index)
    }
    const before = world.stateRoot()
    expect(() => world.setStorage(ALICE, { key: word(99), value: word(1) })).toThrow(`slot.key${FULL}`)
    expect(() => world.skipLeaves(MAX_INDEX, ALICE)).toThrow(
      'at nextFreeNode: expected an integer from 1099511627776 to 2^40, found the number 1099511627775',
    )
    expect(world.stateRoot()).toBe(before)
    const entries = slots.map(({ index, key }) => ({
      index,
      hKey: fullHash(scheme, key),
      hVal: fullHash(scheme, word(1)),
    }))
    const storageRoot = bytesToHex(naiveRoot(scheme, entries, 2 ** 40))
    expect(world.getAccount(ALICE)?.storageRoot).toBe(storageRoot)
    for (const { key } of slots) {
      const [proof] = world.getProof(ALICE, [key]).storageProofs
      if (!proof) throw new Error('no proof')
      expectProves(scheme, storageRoot, fullHash(scheme, key), proof)
    }

    world.skipLeaves(MAX_INDEX)
    world.setAccount(BOB)
    expect(leafIndexOf(world.getProof(BOB).accountProof)).toBe(MAX_INDEX)
    expect(() => world.setAccount(address(1))).toThrow(`address${FULL}`)

    const skipped = createWorld(scheme)
    skipped.skipLeaves(2 ** 40)
    expect(() => skipped.setAccount(BOB)).toThrow(`address${FULL}`)
  })

  it('forks into independent worlds', () => {
    const world = worldWithAlice(scheme)
    world.setStorage(ALICE, { key: word(1), value: word(1) })
    const root = world.stateRoot()
    const fork = world.fork()
    fork.setStorage(ALICE, { key: word(1), value: word(2) })
    fork.setAccount(BOB)
    expect(world.stateRoot()).toBe(root)
    expect(world.getStorage(ALICE, word(1))).toBe(word(1))
    world.deleteAccount(ALICE)
    expect(fork.getStorage(ALICE, word(1))).toBe(word(2))

    const again = worldWithAlice(scheme)
    again.setStorage(ALICE, { key: word(1), value: word(2) })
    again.setAccount(BOB)
    expect(fork.stateRoot()).toBe(again.stateRoot())
  })
})

/** poseidon2 with a cheap hash that counts its calls. */
function countingScheme(): { scheme: HashScheme; calls: () => number } {
  let calls = 0
  const hash = (message: Uint8Array): Uint8Array => {
    calls++
    // FNV-1a over eight lanes: well distributed and canonical.
    const lanes = Uint32Array.from({ length: 8 }, (_, lane) => 0x811c9dc5 ^ lane)
    for (const byte of message)
      for (const [lane, h] of lanes.entries()) lanes[lane] = Math.imul(h ^ byte, 0x01000193 + 2 * lane)
    const digest = new Uint8Array(32)
    const view = new DataView(digest.buffer)
    for (const [lane, h] of lanes.entries()) view.setUint32(4 * lane, (h ^ (h >>> 15)) % 0x7f000001)
    return digest
  }
  return { scheme: createScheme({ ...poseidon2, hasher: { ...poseidon2.hasher, hash } }), calls: () => calls }
}

it('hashes only what changed: four hashes per slot in bulk, three paths for a new slot', () => {
  const { scheme, calls } = countingScheme()
  const world = worldWithAlice(scheme)
  world.getProof(ALICE)
  const hashesOf = (work: () => void) => {
    const before = calls()
    work()
    return calls() - before
  }

  const SLOTS = 4096
  const fill = hashesOf(() => {
    for (let key = 1; key <= SLOTS; key++) world.setStorage(ALICE, { key: word(key), value: word(key) })
    world.stateRoot()
  })
  // Key, value, leaf and about one inner node per slot, then the rest of the path and the account above it.
  expect(fill).toBeGreaterThan(3 * SLOTS)
  expect(fill).toBeLessThan(4 * SLOTS + 100)

  const insert = hashesOf(() => {
    world.setStorage(ALICE, { key: word(SLOTS + 1), value: word(1) })
    world.stateRoot()
  })
  expect(insert).toBeGreaterThan(0)
  expect(insert).toBeLessThanOrEqual(3 * 41 + 41 + 5)

  const update = hashesOf(() => {
    world.setStorage(ALICE, { key: word(1), value: word(2) })
    world.stateRoot()
  })
  expect(update).toBeLessThanOrEqual(2 * 41 + 5)
  // After no writes, only the address and the key are hashed.
  expect(hashesOf(() => world.stateRoot())).toBe(0)
  expect(hashesOf(() => world.getProof(ALICE, [word(1)]))).toBeLessThanOrEqual(3)
})
