import { describe, expect, it } from 'vitest'
import { bigintToBytes, bytesToHex, concatBytes } from '../../src/bytes.ts'
import { mimc } from '../../src/scheme/mimc.ts'
import { poseidon2 } from '../../src/scheme/poseidon2.ts'
import {
  accountEntry,
  accountFieldsOf,
  decodeValue,
  encodeAccountValue,
  storageEntry,
  storageRootOf,
} from '../../src/tree/entry.ts'
import { refusal, verdict } from '../refusal.ts'

const word = (x: bigint) => bigintToBytes(x, 32)
/** 32 bytes that are canonical digests in both schemes, different for each `first`. */
const digest = (first: number) => Uint8Array.from({ length: 32 }, (_, index) => first + index)

const account = {
  nonce: 2n ** 64n - 1n,
  balance: 2n ** 200n + 2n,
  storageRoot: digest(3),
  snarkCodeHash: digest(4),
  keccakCodeHash: new Uint8Array(32).fill(0xff),
  codeSize: 2n ** 64n - 6n,
}

it('lays an account value out as six words, and takes it apart', () => {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
  const value = encodeAccountValue(account)
  expect(value).toEqual(
    concatBytes(word(nonce), word(balance), storageRoot, snarkCodeHash, keccakCodeHash, word(codeSize)),
  )
  expect(value.length).toBe(accountEntry.valueLength)
  const node = decodeValue(accountEntry, poseidon2, value)
  expect(storageRootOf(node)).toEqual(storageRoot)
  const fields = accountFieldsOf(node)
  expect(fields).toEqual({
    nonce,
    balance,
    codeSize: account.codeSize,
    storageRoot: bytesToHex(storageRoot),
    codeHash: bytesToHex(keccakCodeHash),
    snarkCodeHash: bytesToHex(snarkCodeHash),
  })
  expect(accountFieldsOf(node)).toBe(fields)
})

it('stores no account whose nonce or code size passes 64 bits', () => {
  const value = encodeAccountValue(account)
  expect(verdict(() => accountEntry.verifyStorable(value))).toBe('accepted')
  for (const [offset, name] of [
    [0, 'nonce'],
    [160, 'code size'],
  ] as const) {
    for (let byte = 0; byte < 24; byte++) {
      const large = value.slice()
      large.fill(0, offset, offset + 32)
      large[offset + byte] = 1
      expect(refusal(() => accountEntry.verifyStorable(large))).toMatchObject({
        code: 'VALUE_OUT_OF_RANGE',
        expected: `a ${name} below 2^64`,
        found: `${2n ** BigInt(8 * (31 - byte))}`,
      })
    }
  }
})

it('stores every slot value but zero', () => {
  expect(verdict(() => storageEntry.verifyStorable(word(0n)))).toBe('ZERO_VALUE')
  for (let byte = 0; byte < 32; byte++) {
    expect(verdict(() => storageEntry.verifyStorable(word(1n << BigInt(8 * byte))))).toBe('accepted')
  }
})

describe.each([mimc, poseidon2])('$name', scheme => {
  const { hash } = scheme.hasher

  it('hashes addresses, slots and accounts as section 3 spells them', () => {
    const address = digest(1).subarray(0, 20)
    expect(accountEntry.hashKey(scheme, address)).toEqual(hash(scheme.address(address)))
    expect(storageEntry.hashKey(scheme, digest(1))).toEqual(hash(scheme.full(digest(1))))
    expect(storageEntry.valuePreimage(scheme, digest(2))).toEqual(scheme.full(digest(2)))
    const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
    const small = (x: bigint) => scheme.word(word(x))
    const preimage = concatBytes(
      ...[small(nonce), small(balance), storageRoot, snarkCodeHash],
      ...[scheme.full(keccakCodeHash), small(codeSize)],
    )
    expect(accountEntry.valuePreimage(scheme, encodeAccountValue(account))).toEqual(preimage)
  })

  it('refuses a digest in an account that is not reduced, and takes any code hash and slot', () => {
    const value = encodeAccountValue(account)
    const full = (offset: number) => {
      const changed = value.slice()
      changed.fill(0xff, offset, offset + 32)
      return verdict(() => decodeValue(accountEntry, scheme, changed))
    }
    expect(verdict(() => decodeValue(accountEntry, scheme, value))).toBe('accepted')
    expect([full(64), full(96), full(128)]).toEqual(['NON_CANONICAL', 'NON_CANONICAL', 'accepted'])
    // A mimc word is one element; of a poseidon2 word every piece fits.
    expect([full(0), full(32), full(160)]).toEqual(new Array(3).fill(scheme === mimc ? 'NON_CANONICAL' : 'accepted'))
    expect(verdict(() => decodeValue(storageEntry, scheme, new Uint8Array(32).fill(0xff)))).toBe('accepted')
  })
})
