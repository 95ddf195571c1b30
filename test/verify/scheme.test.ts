import { describe, expect, it } from 'vitest'
import { bigintToBytes, bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme, hashSchemeOf, type Scheme } from '../../src/verify/scheme/scheme.ts'
import { refusal } from '../refusal.ts'

/** The bytes 01, 02, 03, ... */
const counted = (length: number) => Uint8Array.from({ length }, (_, index) => index + 1)

describe.each([mimc, poseidon2])('$name', scheme => {
  it('decodes every byte of an encoded word', () => {
    for (let place = 0; place < 32; place++) {
      const x = new Uint8Array(32)
      x[place] = 0xff
      expect(scheme.encodeWord(x).length).toBe(scheme.wordLength)
      expect(scheme.decodeWord(scheme.encodeWord(x))).toEqual(x)
    }
    expect(scheme.decodeWord(scheme.encodeWord(counted(32)))).toEqual(counted(32))
  })

  it('reads words and keys inside a larger buffer', () => {
    const inside = (bytes: Uint8Array) => {
      const buffer = new Uint8Array(bytes.length + 9).fill(0xee)
      buffer.set(bytes, 3)
      return buffer.subarray(3, 3 + bytes.length)
    }
    const x = counted(32)
    expect(scheme.decodeWord(inside(scheme.encodeWord(x)))).toEqual(x)
    for (const spell of [scheme.encodeWord, scheme.encodeBytes32]) expect(spell(inside(x))).toEqual(spell(x))
    expect(scheme.encodeAddress(inside(counted(20)))).toEqual(scheme.encodeAddress(counted(20)))
  })

  it('has the largest canonical digest as the TAIL key', () => {
    const key = scheme.tailKey()
    expect(key.length).toBe(32)
    expect(scheme.isCanonical(key)).toBe(true)
    expect(scheme.tailKey()).not.toBe(key)
    key[31] = (key[31] ?? 0) + 1
    expect(scheme.isCanonical(key)).toBe(false)
  })

  it('encodes any bytes32 and address as canonical elements', () => {
    expect(scheme.isCanonical(scheme.encodeBytes32(new Uint8Array(32).fill(0xff)))).toBe(true)
    expect(scheme.isCanonical(scheme.encodeAddress(new Uint8Array(20).fill(0xff)))).toBe(true)
  })
})

it('encodes bytes for mimc: words and addresses as they are, bytes32 in halves, the low one first', () => {
  expect(mimc.wordLength).toBe(32)
  expect(bytesToHex(mimc.encodeBytes32(counted(32)))).toBe(
    `0x${'00'.repeat(16)}1112131415161718191a1b1c1d1e1f20${'00'.repeat(16)}0102030405060708090a0b0c0d0e0f10`,
  )
  expect(bytesToHex(mimc.encodeAddress(counted(20)))).toBe(
    `0x${'00'.repeat(12)}0102030405060708090a0b0c0d0e0f1011121314`,
  )
  expect(mimc.tailKey()).toEqual(
    bigintToBytes(8444461749428370424248824938781546531375899335154063827935233455917409239040n, 32),
  )
})

it('encodes bytes for poseidon2: two bytes per element', () => {
  expect(poseidon2.wordLength).toBe(64)
  const pairs = (length: number) =>
    `0x${bytesToHex(counted(length))
      .slice(2)
      .replace(/..../g, pair => `0000${pair}`)}`
  expect(bytesToHex(poseidon2.encodeWord(counted(32)))).toBe(pairs(32))
  expect(bytesToHex(poseidon2.encodeBytes32(counted(32)))).toBe(pairs(32))
  expect(bytesToHex(poseidon2.encodeAddress(counted(20)))).toBe(pairs(20))
  expect(bytesToHex(poseidon2.tailKey())).toBe(`0x${'7f000000'.repeat(8)}`)
})

it('refuses a stray bit in the upper bytes of a poseidon2 word, but not in the lower ones', () => {
  const word = poseidon2.encodeWord(hexToBytes(`0x${'a5'.repeat(32)}`, 32))
  let strays = 0
  for (let bit = 0; bit < word.length * 8; bit++) {
    const place = Math.floor(bit / 8)
    const changed = word.slice()
    changed[place] = (changed[place] ?? 0) ^ (1 << (bit % 8))
    const isStray = place % 4 < 2
    expect(poseidon2.decodeWord(changed) === null, `bit ${bit}`).toBe(isStray)
    if (isStray) strays++
  }
  expect(strays).toBe(256)
  // Two strays must not cancel each other out.
  const both = word.slice()
  both.set([1], 0)
  both.set([1], 60)
  expect(poseidon2.decodeWord(both)).toBeNull()
})

it('creates its hasher once, on first use', () => {
  for (const scheme of [mimc, poseidon2]) {
    expect(scheme.hasher.hash(new Uint8Array(32)).length).toBe(32)
    expect(scheme.hasher).toBe(scheme.hasher)
  }
})

describe('hashSchemeOf', () => {
  it('accepts the two schemes, under their public type, too', async () => {
    const doors = await Promise.all([import('../../src/entry/mimc.ts'), import('../../src/entry/poseidon2.ts')])
    expect(doors.map(door => Object.keys(door))).toEqual([['mimc'], ['poseidon2']])
    const [{ mimc: first }, { poseidon2: second }] = doors
    expect(hashSchemeOf(first)).toBe(mimc)
    expect(hashSchemeOf(second)).toBe(poseidon2)
    // @ts-expect-error the members are not public
    expect(first.hasher).toBe(mimc.hasher)
  })

  it('refuses everything else: what is homemade, copied, or inherits from a scheme', () => {
    const descriptors = Object.getOwnPropertyDescriptors(poseidon2)
    const homemade = { ...poseidon2, hasher: { ...poseidon2.hasher, hash: (message: Uint8Array) => message } }
    const strangers: [value: unknown, found: string][] = [
      [undefined, 'nothing'],
      [null, 'nothing'],
      ['poseidon2', 'a string of 9 characters'],
      [true, 'a boolean'],
      [Symbol.for('rollup-state-proof/scheme/1'), 'a symbol'],
      // Other packages export a function of this name.
      [function poseidon2() {}, 'a function'],
      [[], 'an array'],
      [{}, 'an object'],
      [{ name: 'poseidon2' }, 'an object'],
      [homemade, 'an object'],
      [{ ...poseidon2 }, 'an object'],
      [structuredClone({ name: poseidon2.name }), 'an object'],
      [Object.assign({}, poseidon2), 'an object'],
      [Object.create(poseidon2), 'an object'],
      [Object.create(poseidon2, { isCanonical: { value: () => true } }), 'an object'],
      [Object.defineProperties({}, descriptors), 'an object'],
      [Object.defineProperties({}, { ...descriptors, isCanonical: { value: () => true } }), 'an object'],
      [Object.setPrototypeOf({ isCanonical: () => true }, poseidon2), 'an object'],
      [new Proxy(poseidon2, {}), 'an object'],
      [new Proxy({}, { get: () => expect.unreachable() }), 'an object'],
      [{ poseidon2 }, 'an object'],
    ]
    for (const [value, found] of strangers) {
      const expected = "the object poseidon2 of 'rollup-state-proof/poseidon2' or mimc of 'rollup-state-proof/mimc'"
      const said = { code: 'ARGUMENT_INVALID', path: 'scheme', expected, found }
      expect(refusal(() => hashSchemeOf(value as Scheme))).toMatchObject(said)
    }
    expect(strangers.length).toBe(21)
  })

  it('accepts the scheme of another copy of the package', async () => {
    const other = '../../src/verify/scheme/scheme.ts?copy'
    const copy: { createScheme: typeof createScheme; hashSchemeOf: typeof hashSchemeOf } = await import(other)
    expect(copy.createScheme).not.toBe(createScheme)
    const scheme = copy.createScheme(Object.create(poseidon2))
    expect(hashSchemeOf(scheme)).toBe(scheme)
    expect(copy.hashSchemeOf(poseidon2)).toBe(poseidon2)
    expect(() => copy.hashSchemeOf({ ...poseidon2 })).toThrow('ARGUMENT_INVALID at scheme')
  })

  it('finds the schemes frozen', () => {
    for (const scheme of [mimc, poseidon2] as HashScheme[]) {
      expect(Object.isFrozen(scheme)).toBe(true)
      expect(() => Object.assign(scheme, { isCanonical: () => true })).toThrow(TypeError)
      expect(() => Object.defineProperty(scheme, 'hasher', { value: null })).toThrow(TypeError)
      expect(Object.keys(scheme)).not.toContain('genuine')
      // Created on first use, once.
      expect(scheme.hasher).toBe(scheme.hasher)
    }
  })
})
