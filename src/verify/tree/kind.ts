import { bytesToBigint, bytesToHex, concatBytes, type Hex, isZero } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { ProofError, refusal } from '../../base/errors.ts'
import type { HashScheme } from '../scheme/scheme.ts'

// Each check of this file is a rule of test/soundness/Rules.v.

/** Tree format, "Two trees": how a tree encodes, hashes and checks its keys and values. */
export interface TreeKind {
  readonly keyLength: number
  readonly valueLength: number
  /** The error code for a proof that does not lead to the required root. */
  readonly rootMismatch: ProofErrorCode
  hashKey(scheme: HashScheme, key: Uint8Array): Uint8Array
  /** The message whose hash is the value hash. Its field elements need not be reduced: the caller checks. */
  valuePreimage(scheme: HashScheme, value: Uint8Array): Uint8Array
  /** @throws ProofError if no leaf may hold the value: `VALUE_OUT_OF_RANGE` (accounts), `ZERO_VALUE` (slots) */
  verifyStorable(value: Uint8Array): void
}

/** The tree of accounts: the world state. Keys are 20 bytes, values six words of 32 bytes. */
export const accountTree: TreeKind = {
  keyLength: 20,
  valueLength: 192,
  rootMismatch: 'STATE_ROOT_MISMATCH',
  hashKey: (scheme, address) => scheme.hasher.hash(scheme.encodeAddress(address)),
  valuePreimage: (scheme, value) => {
    const word = (index: number) => accountWord(value, index)
    const number = (index: number) => scheme.encodeWord(word(index))
    const first = [number(NONCE), number(BALANCE), word(STORAGE_ROOT), word(SNARK_CODE_HASH)]
    return concatBytes(...first, scheme.encodeBytes32(word(KECCAK_CODE_HASH)), number(CODE_SIZE))
  },
  verifyStorable: value => {
    verifyUint64(accountWord(value, NONCE), 'nonce')
    verifyUint64(accountWord(value, CODE_SIZE), 'code size')
  },
}

/** The tree of one account's storage slots. Keys are any 32 bytes, values any 32 bytes but zero. */
export const storageTree: TreeKind = {
  keyLength: 32,
  valueLength: 32,
  rootMismatch: 'STORAGE_ROOT_MISMATCH',
  hashKey: (scheme, key) => scheme.hasher.hash(scheme.encodeBytes32(key)),
  valuePreimage: (scheme, value) => scheme.encodeBytes32(value),
  verifyStorable: value => {
    if (isZero(value)) throw new ProofError('ZERO_VALUE', { found: 'a slot with value zero' })
  },
}

/** The fields of an account value. Hashes and roots are 32 bytes. */
export interface AccountFields {
  /** The number of transactions sent, or of contracts created. Below 2^64. */
  nonce: bigint
  /** In wei. */
  balance: bigint
  /** Root of the account's storage tree. */
  storageRoot: Hex
  /** keccak256 of the contract code; without code, of the empty string. */
  codeHash: Hex
  /** The rollup's own hash of the code. */
  snarkCodeHash: Hex
  /** Length of the contract code, in bytes. Below 2^64. */
  codeSize: bigint
}

/** The six words of an account value, in order. */
const [NONCE, BALANCE, STORAGE_ROOT, SNARK_CODE_HASH, KECCAK_CODE_HASH, CODE_SIZE] = [0, 1, 2, 3, 4, 5]

/** @param value 192 bytes @returns 32 bytes */
const accountWord = (value: Uint8Array, index: number): Uint8Array => value.subarray(32 * index, 32 * index + 32)

export const storageRootOf = (value: Uint8Array): Uint8Array => accountWord(value, STORAGE_ROOT)

/** The fields of an account's value, and `others` behind them. */
export const accountFieldsOf = <Others extends object>(value: Uint8Array, others: Others): AccountFields & Others => ({
  nonce: bytesToBigint(accountWord(value, NONCE)),
  balance: bytesToBigint(accountWord(value, BALANCE)),
  storageRoot: bytesToHex(accountWord(value, STORAGE_ROOT)),
  codeHash: bytesToHex(accountWord(value, KECCAK_CODE_HASH)),
  snarkCodeHash: bytesToHex(accountWord(value, SNARK_CODE_HASH)),
  codeSize: bytesToBigint(accountWord(value, CODE_SIZE)),
  ...others,
})

function verifyUint64(word: Uint8Array, name: string): void {
  if (isZero(word.subarray(0, 24))) return
  throw refusal('VALUE_OUT_OF_RANGE', `a ${name} below 2^64`, bytesToBigint(word))
}
