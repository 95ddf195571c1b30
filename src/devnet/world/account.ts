import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bigintToBytes, concatBytes, type Hex } from '../../base/bytes.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import { rootOf, type Tree } from './tree.ts'

/** The fields that {@link World.setAccount} sets. Omitted fields do not change; a new account has zeros and no code. */
export interface AccountChanges {
  /** Below 2^64. */
  nonce?: bigint | undefined
  /** In wei. Below 2^256, and with `mimc` below the order of its field, which has 253 bits. */
  balance?: bigint | undefined
  /** The code itself, of any length. It determines `codeHash` and `codeSize`, and {@link World.getCode} returns it. */
  code?: Hex | undefined
  /** keccak256 of the code, 32 bytes. */
  codeHash?: Hex | undefined
  /**
   * The rollup's own hash of the code, 32 bytes. The tree format does not specify this hash for non-empty code, so this
   * library cannot compute it. Take it from the state manager, or use any canonical digest in a test.
   */
  snarkCodeHash?: Hex | undefined
  /** In bytes. Below 2^64. */
  codeSize?: bigint | undefined
}

/** The fields of an account value. Hashes are 32 bytes. */
export interface AccountValue {
  readonly nonce: bigint
  readonly balance: bigint
  readonly storageRoot: Uint8Array
  readonly snarkCodeHash: Uint8Array
  readonly keccakCodeHash: Uint8Array
  readonly codeSize: bigint
}

/** Encodes an account value, 192 bytes. The caller makes sure that the numbers fit their words. */
export function encodeAccountValue(account: AccountValue): Uint8Array {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
  const word = (x: bigint) => bigintToBytes(x, 32)
  return concatBytes(word(nonce), word(balance), storageRoot, snarkCodeHash, keccakCodeHash, word(codeSize))
}

/** An account value whose storage root is computed on demand. */
export interface Account extends Omit<AccountValue, 'storageRoot'> {
  readonly storage: Tree<Uint8Array>
  /** Not part of the tree. Null if only its hash is known. */
  readonly code: Uint8Array | null
}

export const encodeAccount = ({ storage, code: _, ...account }: Account): Uint8Array =>
  encodeAccountValue({ ...account, storageRoot: rootOf(storage) })

const ACCOUNT_FIELDS = ['nonce', 'balance', 'code', 'codeHash', 'snarkCodeHash', 'codeSize'] as const

export function decodeChanges(scheme: HashScheme, changes: AccountChanges): Partial<Account> {
  const { nonce, balance, codeHash, snarkCodeHash, codeSize, code } = readOptions('', changes, ACCOUNT_FIELDS)
  return {
    ...(nonce !== undefined && { nonce: verifyUint('nonce', nonce, 64) }),
    ...(balance !== undefined && { balance: requireCanonicalBalance(scheme, balance) }),
    ...(codeHash !== undefined && { keccakCodeHash: decodeArgument('codeHash', codeHash, 32), code: null }),
    ...(snarkCodeHash !== undefined && { snarkCodeHash: decodeDigest(scheme, snarkCodeHash) }),
    ...(codeSize !== undefined && { codeSize: verifyUint('codeSize', codeSize, 64) }),
    ...(code !== undefined && describeCode(decodeArgument('code', code))),
  }
}

const describeCode = (code: Uint8Array): Pick<Account, 'code' | 'keccakCodeHash' | 'codeSize'> => ({
  code,
  keccakCodeHash: keccak256(code),
  codeSize: BigInt(code.length),
})

function requireCanonicalBalance(scheme: HashScheme, balance: bigint): bigint {
  const word = scheme.encodeWord(bigintToBytes(verifyUint('balance', balance, 256), 32))
  if (!scheme.isCanonical(word)) throw invalid('balance', 'a number below the order of the field', balance)
  return balance
}

function decodeDigest(scheme: HashScheme, hex: Hex): Uint8Array {
  const digest = decodeArgument('snarkCodeHash', hex, 32)
  if (!scheme.isCanonical(digest)) throw invalid('snarkCodeHash', 'a digest: every field element reduced', hex)
  return digest
}
