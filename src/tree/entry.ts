import { bigintToBytes, bytesToBigint, concatBytes, isZero } from '../bytes.ts'
import { type ErrorCode, ProofError } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { verifyCanonical } from './leaf.ts'
import { NOT_HASHED, type TreeNode } from './path.ts'

/** Section 3: how a tree spells, hashes and checks its keys and values. */
export interface EntryKind {
  readonly keyLength: number
  readonly valueLength: number
  /** The code raised when a proof does not lead to the root it must lead to. */
  readonly rootMismatch: ErrorCode
  hashKey(scheme: Scheme, key: Uint8Array): Uint8Array
  /** The message whose hash is the value's. Where the value holds field elements, they may not be canonical. */
  valuePreimage(scheme: Scheme, value: Uint8Array): Uint8Array
  /** @throws ProofError when no leaf may hold the value: `VALUE_OUT_OF_RANGE` (accounts), `ZERO_VALUE` (slots) */
  verifyStorable(value: Uint8Array): void
}

/** The tree of accounts: the world state. Keys are 20 bytes, values six words of 32 bytes. */
export const accountEntry: EntryKind = {
  keyLength: 20,
  valueLength: 192,
  rootMismatch: 'STATE_ROOT_MISMATCH',
  hashKey: (scheme, address) => scheme.hasher.hash(scheme.address(address)),
  valuePreimage: (scheme, value) => {
    const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = accountWords(value)
    return concatBytes(
      ...[scheme.word(nonce), scheme.word(balance), storageRoot, snarkCodeHash],
      ...[scheme.full(keccakCodeHash), scheme.word(codeSize)],
    )
  },
  verifyStorable: value => {
    const { nonce, codeSize } = accountWords(value)
    verifyUint64(nonce, 'nonce')
    verifyUint64(codeSize, 'code size')
  },
}

/** The tree of one account's storage slots. Keys and values are 32 bytes and may hold anything. */
export const storageEntry: EntryKind = {
  keyLength: 32,
  valueLength: 32,
  rootMismatch: 'STORAGE_ROOT_MISMATCH',
  hashKey: (scheme, key) => scheme.hasher.hash(scheme.full(key)),
  valuePreimage: (scheme, value) => scheme.full(value),
  verifyStorable: value => {
    if (isZero(value)) throw new ProofError('ZERO_VALUE')
  },
}

/** A value as served. The preimage is what the value hash is the hash of. */
export interface ValueNode extends TreeNode {
  readonly value: Uint8Array
}

/** @throws ProofError `NON_CANONICAL` when a field element inside the value is not reduced */
export function decodeValue(kind: EntryKind, scheme: Scheme, value: Uint8Array): ValueNode {
  const preimage = kind.valuePreimage(scheme, value)
  verifyCanonical(scheme, preimage)
  return { value, preimage, digest: NOT_HASHED }
}

/** The six words of an account value, in order; 32 bytes each. */
function accountWords(value: Uint8Array) {
  const word = (index: number) => value.subarray(32 * index, 32 * index + 32)
  return {
    nonce: word(0),
    balance: word(1),
    storageRoot: word(2),
    snarkCodeHash: word(3),
    keccakCodeHash: word(4),
    codeSize: word(5),
  }
}

/** An account value taken apart. Hashes are 32 bytes. */
export interface AccountValue {
  readonly nonce: bigint
  readonly balance: bigint
  readonly storageRoot: Uint8Array
  readonly snarkCodeHash: Uint8Array
  readonly keccakCodeHash: Uint8Array
  readonly codeSize: bigint
}

/** @param value 192 bytes */
export function decodeAccountValue(value: Uint8Array): AccountValue {
  const words = accountWords(value)
  return {
    ...words,
    nonce: bytesToBigint(words.nonce),
    balance: bytesToBigint(words.balance),
    codeSize: bytesToBigint(words.codeSize),
  }
}

/** Takes {@link decodeAccountValue} back: 192 bytes. The caller sees to it that the numbers fit their words. */
export function encodeAccountValue(account: AccountValue): Uint8Array {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
  const word = (x: bigint) => bigintToBytes(x, 32)
  return concatBytes(word(nonce), word(balance), storageRoot, snarkCodeHash, keccakCodeHash, word(codeSize))
}

function verifyUint64(word: Uint8Array, name: string): void {
  if (isZero(word.subarray(0, 24))) return
  throw new ProofError('VALUE_OUT_OF_RANGE', { expected: `a ${name} below 2^64`, found: `${bytesToBigint(word)}` })
}
