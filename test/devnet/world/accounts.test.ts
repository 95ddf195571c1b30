import { describe, expect, it } from 'vitest'
import { bytesToHex, type Hex } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { refusal } from '../../refusal.ts'
import { ALICE, BOB, EMPTY_ROOT, leafIndexOf, proofsIn, schemes, word, worldWithAlice, ZERO } from './worlds.ts'

describe.each(schemes)('$name', scheme => {
  const emptyRoot = EMPTY_ROOT[scheme.name]

  it('starts with the published root of an empty tree', () => {
    expect(createWorld(scheme).stateRoot()).toBe(emptyRoot)
    expect(worldWithAlice(scheme).getAccount(ALICE)?.storageRoot).toBe(emptyRoot)
  })

  it('gives a new account the values of an account without code', () => {
    const snarkCodeHash = bytesToHex(scheme.hasher.hash(new Uint8Array(32)))
    if (scheme.name === 'mimc') {
      expect(snarkCodeHash).toBe('0x0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17')
    }
    const codeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
    const rest = { codeHash, snarkCodeHash, codeSize: 0n, storageRoot: emptyRoot }
    const world = worldWithAlice(scheme)
    expect(world.getAccount(ALICE)).toEqual({ nonce: 0n, balance: 7n, ...rest })
    world.setAccount(ALICE, { nonce: 1n })
    expect(world.getAccount(ALICE)).toEqual({ nonce: 1n, balance: 7n, ...rest })
    expect(world.getAccount(BOB)).toBeNull()
  })

  it('serves the six words of an account in their order', () => {
    const world = createWorld(scheme)
    const codeHash = word(2n ** 256n - 1n)
    world.setAccount(ALICE, { nonce: 1n, balance: 2n, codeHash, snarkCodeHash: word(4), codeSize: 6n })
    const { accountProof } = world.getProof(ALICE)
    const words = [word(1), word(2), emptyRoot, word(4), codeHash, word(6)]
    expect(proofsIn(accountProof)[0]?.proof.value).toBe(`0x${words.map(x => x.slice(2)).join('')}`)
  })

  it('forgets the storage of a deleted account', () => {
    const world = worldWithAlice(scheme)
    world.setAccount(BOB)
    world.setStorage(ALICE, { key: word(1), value: word(1) })
    expect(leafIndexOf(world.getProof(ALICE).accountProof)).toBe(2)
    world.deleteAccount(ALICE)
    expect(world.getAccount(ALICE)).toBeNull()
    expect(world.getStorage(ALICE, word(1))).toBe(ZERO)
    expect(world.getProof(ALICE, [word(1)])).toMatchObject({ accountProof: { key: ALICE }, storageProofs: [] })

    world.setAccount(ALICE)
    expect(leafIndexOf(world.getProof(ALICE).accountProof)).toBe(4)
    expect(world.getStorage(ALICE, word(1))).toBe(ZERO)
    expect(world.getAccount(ALICE)?.storageRoot).toBe(emptyRoot)
  })

  it('keeps the code of an account, and derives its hash and size', () => {
    const world = createWorld(scheme)
    expect(world.getCode(ALICE)).toBe('0x')
    world.setAccount(ALICE, { code: '0x6001' })
    expect(world.getCode(ALICE)).toBe('0x6001')
    // As viem and ethers hash it.
    const codeHash = '0x309c67890bde4c575dc23d2cc3b5c3a3d599e312e980e9b61b5bc8f3cd87c8bb'
    expect(world.getAccount(ALICE)).toMatchObject({ codeHash, codeSize: 2n })
    // Other changes leave the code alone.
    world.setAccount(ALICE, { nonce: 1n })
    expect(world.getCode(ALICE)).toBe('0x6001')
    world.setAccount(ALICE, { code: '0x' })
    expect(world.getCode(ALICE)).toBe('0x')
    // A hash without its code: the code is unknown.
    world.setAccount(ALICE, { codeHash: word(7) })
    expect(world.getCode(ALICE)).toBeNull()
    expect(world.getAccount(ALICE)?.codeHash).toBe(word(7))
    expect(refusal(() => world.setAccount(ALICE, { code: '6001' as Hex })).message).toBe(
      'ARGUMENT_INVALID at changes.code: expected 0x-prefixed hexadecimal, found a string of 4 characters',
    )
  })

  it('sets own fields only, despite a polluted Object.prototype', () => {
    const world = worldWithAlice(scheme)
    Object.defineProperty(Object.prototype, 'nonce', { value: 9n, configurable: true })
    try {
      world.setAccount(ALICE, { balance: 8n })
      world.setAccount(BOB)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'nonce')
    }
    expect([world.getAccount(ALICE)?.nonce, world.getAccount(ALICE)?.balance]).toEqual([0n, 8n])
    expect(world.getAccount(BOB)?.nonce).toBe(0n)
  })
})

it('refuses a balance above the mimc field, which poseidon2 accepts', () => {
  const order = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n
  expect(() => createWorld(mimc).setAccount(ALICE, { balance: order })).toThrow(
    'ARGUMENT_INVALID at changes.balance: expected a number below the order of the field',
  )
  createWorld(mimc).setAccount(ALICE, { balance: order - 1n })
  const world = createWorld(poseidon2)
  world.setAccount(ALICE, { balance: 2n ** 256n - 1n })
  expect(world.getAccount(ALICE)?.balance).toBe(2n ** 256n - 1n)
})
