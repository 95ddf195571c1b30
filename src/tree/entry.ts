import { bigintToBytes, bytesToBigint, concatBytes, isZero } from '../bytes.ts'
import { type ErrorCode, ProofError } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { verifyCanonical } from './leaf.ts'

/** Section 3: how a tree spells, hashes and checks its keys and values. */
export interface EntryKind {
  readonly keyLength: number
  readonly valueLength: number
  /** The code raised when a proof does not lead to the root it must lead to. */
  readonly rootMismatch: ErrorCode
  hashKey(scheme: Scheme, key: Uint8Array): Uint8Array
  hashValue(scheme: Scheme, value: Uint8Array): Uint8Array
  /** @throws ProofError `NON_CANONICAL` when a field element inside the value is not reduced */
  verifyCanonical(scheme: Scheme, value: Uint8Array): void
  /** @throws ProofError when no leaf may hold the value: `VALUE_OUT_OF_RANGE` (accounts), `ZERO_VALUE` (slots) */
  verifyStorable(value: Uint8Array): void
}

/** The tree of accounts: the world state. Keys are 20 bytes, values six words of 32 bytes. */
export const accountEntry: EntryKind = {
  keyLength: 20,
  valueLength: 192,
  rootMismatch: 'STATE_ROOT_MISMATCH',
  hashKey: (scheme, address) => scheme.hasher.hash(scheme.address(address)),
  hashValue: (scheme, value) => scheme.hasher.hash(accountPreimage(scheme, value)),
  verifyCanonical: (scheme, value) => verifyCanonical(scheme, accountPreimage(scheme, value)),
  verifyStorable: value => {
    decodeAccountValue(value)
  },
}

/** The tree of one account's storage slots. Keys and values are 32 bytes and may hold anything. */
export const storageEntry: EntryKind = {
  keyLength: 32,
  valueLength: 32,
  rootMismatch: 'STORAGE_ROOT_MISMATCH',
  hashKey: (scheme, key) => scheme.hasher.hash(scheme.full(key)),
  hashValue: (scheme, value) => scheme.hasher.hash(scheme.full(value)),
  verifyCanonical: () => {},
  verifyStorable: value => {
    if (isZero(value)) throw new ProofError('ZERO_VALUE')
  },
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

/** The message whose hash is the account's value hash. */
function accountPreimage(scheme: Scheme, value: Uint8Array): Uint8Array {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = accountWords(value)
  return concatBytes(
    ...[scheme.word(nonce), scheme.word(balance), storageRoot, snarkCodeHash],
    ...[scheme.full(keccakCodeHash), scheme.word(codeSize)],
  )
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

/**
 * @param value 192 bytes
 * @throws ProofError `VALUE_OUT_OF_RANGE` when nonce or code size exceed 64 bits
 */
export function decodeAccountValue(value: Uint8Array): AccountValue {
  const words = accountWords(value)
  return {
    ...words,
    nonce: decodeUint64(words.nonce, 'nonce'),
    balance: bytesToBigint(words.balance),
    codeSize: decodeUint64(words.codeSize, 'code size'),
  }
}

/** Takes {@link decodeAccountValue} back: 192 bytes. The caller sees to it that the numbers fit their words. */
export function encodeAccountValue(account: AccountValue): Uint8Array {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
  const word = (x: bigint) => bigintToBytes(x, 32)
  return concatBytes(word(nonce), word(balance), storageRoot, snarkCodeHash, keccakCodeHash, word(codeSize))
}

function decodeUint64(word: Uint8Array, name: string): bigint {
  if (!isZero(word.subarray(0, 24))) {
    throw new ProofError('VALUE_OUT_OF_RANGE', { expected: `a ${name} below 2^64`, found: `${bytesToBigint(word)}` })
  }
  return bytesToBigint(word)
}
