import { describe, expect, it } from 'vitest'
import { bigintToBytes, bytesToHex, concatBytes } from '../../../src/base/bytes.ts'
import { encodeAccountValue } from '../../../src/devnet/world/account.ts'
import { plainTree } from '../../../src/verify/proof/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import {
  accountFieldsOf,
  accountTree,
  storageRootOf,
  storageTree,
  type TreeKind,
} from '../../../src/verify/tree/kind.ts'
import { refusal, verdict } from '../../refusal.ts'

const word = (x: bigint) => bigintToBytes(x, 32)
/** A canonical digest in both schemes, different for each `first`. */
const digest = (first: number) => Uint8Array.from({ length: 32 }, (_, index) => first + index)

const account = {
  nonce: 2n ** 64n - 1n,
  balance: 2n ** 200n + 2n,
  storageRoot: digest(3),
  snarkCodeHash: digest(4),
  keccakCodeHash: new Uint8Array(32).fill(0xff),
  codeSize: 2n ** 64n - 6n,
}

it('encodes an account value as six words, and decodes it again', () => {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
  const value = encodeAccountValue(account)
  expect(value).toEqual(
    concatBytes(word(nonce), word(balance), storageRoot, snarkCodeHash, keccakCodeHash, word(codeSize)),
  )
  expect(value.length).toBe(accountTree.valueLength)
  expect(storageRootOf(value)).toEqual(storageRoot)
  expect(accountFieldsOf(value, {})).toEqual({
    nonce,
    balance,
    codeSize: account.codeSize,
    storageRoot: bytesToHex(storageRoot),
    codeHash: bytesToHex(keccakCodeHash),
    snarkCodeHash: bytesToHex(snarkCodeHash),
  })
})

it('refuses to store an account whose nonce or code size exceeds 64 bits', () => {
  const value = encodeAccountValue(account)
  expect(verdict(() => accountTree.verifyStorable(value))).toBe('accepted')
  for (const [offset, name] of [
    [0, 'nonce'],
    [160, 'code size'],
  ] as const) {
    for (let byte = 0; byte < 24; byte++) {
      const large = value.slice()
      large.fill(0, offset, offset + 32)
      large[offset + byte] = 1
      expect(refusal(() => accountTree.verifyStorable(large))).toMatchObject({
        code: 'VALUE_OUT_OF_RANGE',
        expected: `a ${name} below 2^64`,
        found: `${2n ** BigInt(8 * (31 - byte))}`,
      })
    }
  }
})

it('stores every slot value except zero', () => {
  expect(verdict(() => storageTree.verifyStorable(word(0n)))).toBe('ZERO_VALUE')
  expect(() => storageTree.verifyStorable(word(0n))).toThrow('ZERO_VALUE: found a slot with value zero')
  for (let byte = 0; byte < 32; byte++) {
    expect(verdict(() => storageTree.verifyStorable(word(1n << BigInt(8 * byte))))).toBe('accepted')
  }
})

describe.each([mimc, poseidon2])('$name', scheme => {
  const { hash } = scheme.hasher

  it('hashes addresses, slots and accounts as the tree format defines', () => {
    const address = digest(1).subarray(0, 20)
    expect(accountTree.hashKey(scheme, address)).toEqual(hash(scheme.encodeAddress(address)))
    expect(storageTree.hashKey(scheme, digest(1))).toEqual(hash(scheme.encodeBytes32(digest(1))))
    expect(storageTree.valuePreimage(scheme, digest(2))).toEqual(scheme.encodeBytes32(digest(2)))
    const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
    const small = (x: bigint) => scheme.encodeWord(word(x))
    const preimage = concatBytes(
      ...[small(nonce), small(balance), storageRoot, snarkCodeHash],
      ...[scheme.encodeBytes32(keccakCodeHash), small(codeSize)],
    )
    expect(accountTree.valuePreimage(scheme, encodeAccountValue(account))).toEqual(preimage)
  })

  const decodeValue = (kind: TreeKind, value: Uint8Array) => plainTree(scheme, kind).decodeValue(bytesToHex(value), 41)

  it('refuses an unreduced digest in an account, and accepts any code hash and slot value', () => {
    const value = encodeAccountValue(account)
    const full = (offset: number) => {
      const changed = value.slice()
      changed.fill(0xff, offset, offset + 32)
      return verdict(() => decodeValue(accountTree, changed))
    }
    expect(verdict(() => decodeValue(accountTree, value))).toBe('accepted')
    expect([full(64), full(96), full(128)]).toEqual(['NON_CANONICAL', 'NON_CANONICAL', 'accepted'])
    // A mimc word is one element. A poseidon2 word is split into pieces that are always reduced.
    expect([full(0), full(32), full(160)]).toEqual(new Array(3).fill(scheme === mimc ? 'NON_CANONICAL' : 'accepted'))
    expect(verdict(() => decodeValue(storageTree, new Uint8Array(32).fill(0xff)))).toBe('accepted')
  })
})
