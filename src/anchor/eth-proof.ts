import { keccak_256 } from '@noble/hashes/sha3.js'
import { bigintToBytes, bytesToBigint, bytesToHex, equalBytes, type Hex, isZero } from '../bytes.ts'
import { atPath, excerpt, ProofError } from '../errors.ts'
import type { Shape } from '../json/known-fields.ts'
import { optional, readerOf } from '../json/reader.ts'
import { decodeArgument, decodeKeys } from '../proof/claim.ts'
import { mismatch } from '../tree/path.ts'
import { bytesUpTo } from './bytes-up-to.ts'
import { decodeInteger, decodeRlp } from './rlp.ts'
import { emptyTrieRoot, MAX_NODE_COUNT, MAX_NODE_LENGTH, unusedNodes, verifyTrieProof } from './trie.ts'

/** What you asked `eth_getProof` for, and the L1 state root that you trust. */
export interface EthProofClaim {
  /** 32 bytes. */
  stateRoot: Hex
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each, in the order of the request. Default: none. */
  storageKeys?: readonly Hex[]
}

/** An L1 account whose existence is proven. */
export interface L1Account {
  /** Below 2^64. */
  nonce: bigint
  /** In wei. */
  balance: bigint
  /** Root of the account's storage trie, 32 bytes. */
  storageRoot: Hex
  /** keccak256 of the contract code, 32 bytes. */
  codeHash: Hex
}

/** An L1 storage slot whose existence or non-existence is proven. If it does not exist, its value is zero. */
export interface L1Slot {
  /** 32 bytes, lower case. */
  key: Hex
  /** 32 bytes, lower case. */
  value: Hex
  /** false if non-existence is proven. */
  exists: boolean
}

/** What an `eth_getProof` answer proves. */
export interface VerifiedEthProof {
  /** null if non-existence is proven. */
  account: L1Account | null
  /** One per requested key, in the order of the request. */
  storage: L1Slot[]
}

interface DecodedStorageProof {
  readonly key: bigint
  readonly value: bigint | undefined
  readonly nodes: readonly Uint8Array[]
}

interface DecodedEthProof {
  readonly accountNodes: readonly Uint8Array[]
  readonly storage: readonly DecodedStorageProof[]
  /** Redundant fields served with the proof; undefined if absent. */
  readonly beside: {
    readonly address: Uint8Array | undefined
    readonly nonce: bigint | undefined
    readonly balance: bigint | undefined
    readonly storageHash: Uint8Array | undefined
    readonly codeHash: Uint8Array | undefined
  }
}

interface AccountBytes {
  readonly nonce: bigint
  readonly balance: bigint
  readonly storageRoot: Uint8Array
  readonly codeHash: Uint8Array
}

/** EIP-1186. */
export const ETH_PROOF_SHAPE: Shape = {
  fields: {
    address: 'scalar',
    accountProof: { items: 'scalar' },
    balance: 'scalar',
    nonce: 'scalar',
    storageHash: 'scalar',
    codeHash: 'scalar',
    storageProof: { items: { fields: { key: 'scalar', value: 'scalar', proof: { items: 'scalar' } } } },
  },
}

const reader = readerOf('L1_PROOF_MALFORMED')

const ETH_PROOF_FIELDS = [
  ...(['accountProof', 'storageProof', 'address', 'nonce', 'balance', 'storageHash', 'codeHash'] as const),
]

/**
 * Verifies an `eth_getProof` result (EIP-1186) against an L1 state root: the account in the state trie, then each slot in
 * the storage trie of the proven account. The redundant fields (`balance`, `storageHash`, ...) may be missing. They are never
 * trusted, and refused if they contradict the proof.
 *
 * @param proof what the endpoint sent as the result, parsed from JSON
 * @param claim what you asked for, and the L1 state root that you trust
 * @throws ProofError `L1_*`, `MPT_*`, `RLP_NON_CANONICAL`, `BAD_HEX`, `WRONG_LENGTH`; `CLAIM_INVALID`
 *
 * @example
 * ```ts
 * import { verifyEthProof } from 'rollup-state-proof/anchor'
 *
 * // In an empty state, nothing exists.
 * const stateRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
 * const address = '0x00000000000000000000000000000000000000aa'
 * const { account } = verifyEthProof({ accountProof: [], storageProof: [] }, { stateRoot, address })
 * console.log(account) // null
 * ```
 */
export function verifyEthProof(proof: unknown, claim: EthProofClaim): VerifiedEthProof {
  return verifyFirstSlots(proof, claim, claim?.storageKeys?.length ?? 0)
}

/** {@link verifyEthProof} for an answer that may end after the first `minSlots` storage keys. */
export function verifyFirstSlots(proof: unknown, claim: EthProofClaim, minSlots: number): VerifiedEthProof {
  const { storageKeys = [] } = claim ?? {}
  const stateRoot = decodeArgument('stateRoot', claim?.stateRoot, 32)
  const address = decodeArgument('address', claim?.address, 20)
  const keys = decodeKeys(storageKeys)

  const decoded = decodeEthProof(proof, minSlots, keys.length)
  const account = atPath('accountProof', () => verifyAccount(stateRoot, address, decoded.accountNodes))
  verifyBeside(decoded.beside, address, account)
  const storageRoot = account?.storageRoot ?? emptyTrieRoot()
  const storage = decoded.storage.map((storageProof, index) =>
    atPath(`storageProof[${index}]`, () => verifySlot(storageRoot, keys[index] ?? new Uint8Array(32), storageProof)),
  )
  return { account: account && toL1Account(account), storage }
}

function decodeEthProof(proof: unknown, minSlots: number, maxSlots: number): DecodedEthProof {
  const field = reader.fieldsOf(proof, ETH_PROOF_FIELDS)
  return {
    accountNodes: field('accountProof', decodeNodes),
    storage: field('storageProof', value => decodeStorageProofs(value, minSlots, maxSlots)),
    beside: {
      address: field('address', optional(reader.bytesOf(20))),
      nonce: field('nonce', optional(decodeNumber)),
      balance: field('balance', optional(decodeNumber)),
      storageHash: field('storageHash', optional(reader.bytesOf(32))),
      codeHash: field('codeHash', optional(reader.bytesOf(32))),
    },
  }
}

function decodeStorageProofs(value: unknown, minSlots: number, maxSlots: number): DecodedStorageProof[] {
  const expected = minSlots === maxSlots ? `${maxSlots}` : `${minSlots} to ${maxSlots}`
  const verifyCount = (count: number) => {
    if (count < minSlots || count > maxSlots) {
      throw new ProofError('L1_STORAGE_PROOF_COUNT', { expected, found: `${count}` })
    }
  }
  return reader.items(value, verifyCount, item => {
    const field = reader.fieldsOf(item, ['key', 'value', 'proof'])
    return {
      key: field('key', decodeNumber),
      value: field('value', optional(decodeNumber)),
      nodes: field('proof', decodeNodes),
    }
  })
}

function decodeNodes(value: unknown): Uint8Array[] {
  const verifyCount = (count: number) => {
    if (count > MAX_NODE_COUNT) throw unusedNodes(MAX_NODE_COUNT, count)
  }
  return reader.items(value, verifyCount, node => bytesUpTo(reader, node, MAX_NODE_LENGTH))
}

/** Endpoints send these as a quantity or as 32 bytes. Either way they are only compared with what is proven. */
function decodeNumber(value: unknown): bigint {
  const hex = reader.string(value)
  if (hex.length > 2 + 64 || !/^0x[0-9a-fA-F]+$/.test(hex)) {
    throw new ProofError('BAD_HEX', { expected: '0x and 1 to 64 hexadecimal digits', found: excerpt(hex) })
  }
  return BigInt(hex)
}

function verifyAccount(stateRoot: Uint8Array, address: Uint8Array, nodes: readonly Uint8Array[]): AccountBytes | null {
  const value = verifyTrieProof(stateRoot, keccak_256(address), nodes)
  return value && decodeAccount(value)
}

/** The yellow paper's account: nonce, balance, storage root, code hash. */
function decodeAccount(value: Uint8Array): AccountBytes {
  const item = decodeRlp(value)
  const fields = item instanceof Uint8Array || item.length !== 4 ? [] : item
  const nonce = decodeInteger(fields[0], 8)
  const balance = decodeInteger(fields[1], 32)
  const [, , storageRoot, codeHash] = fields
  const isDigest = (field: typeof codeHash): field is Uint8Array => field instanceof Uint8Array && field.length === 32
  if (nonce === null || balance === null || !isDigest(storageRoot) || !isDigest(codeHash)) {
    throw new ProofError('L1_ACCOUNT_MALFORMED', { expected: 'nonce, balance, storage root and code hash' })
  }
  return { nonce, balance, storageRoot, codeHash }
}

function verifyBeside(beside: DecodedEthProof['beside'], address: Uint8Array, account: AccountBytes | null): void {
  if (beside.address && !equalBytes(beside.address, address)) {
    throw new ProofError('L1_KEY_MISMATCH', {
      path: 'address',
      expected: bytesToHex(address),
      found: bytesToHex(beside.address),
    })
  }
  verifyNumberBeside('nonce', account?.nonce ?? 0n, beside.nonce)
  verifyNumberBeside('balance', account?.balance ?? 0n, beside.balance)
  verifyDigestBeside('storageHash', account?.storageRoot ?? null, emptyTrieRoot(), beside.storageHash)
  verifyDigestBeside('codeHash', account?.codeHash ?? null, keccak_256(new Uint8Array(0)), beside.codeHash)
}

function verifyNumberBeside(path: string, proven: bigint, beside: bigint | undefined): void {
  if (beside !== undefined && beside !== proven) {
    throw new ProofError('L1_PROOF_DISAGREES', { path, expected: `${proven}`, found: `${beside}` })
  }
}

/** For an account that does not exist, some clients write zeros and some the digest of nothing. */
function verifyDigestBeside(
  path: string,
  proven: Uint8Array | null,
  ofNothing: Uint8Array,
  beside: Uint8Array | undefined,
): void {
  if (beside === undefined || equalBytes(beside, proven ?? ofNothing) || (proven === null && isZero(beside))) return
  atPath(path, () => {
    throw mismatch('L1_PROOF_DISAGREES', proven ?? ofNothing, beside)
  })
}

function verifySlot(storageRoot: Uint8Array, key: Uint8Array, storageProof: DecodedStorageProof): L1Slot {
  if (storageProof.key !== bytesToBigint(key)) {
    const found = bytesToHex(bigintToBytes(storageProof.key, 32))
    throw new ProofError('L1_KEY_MISMATCH', { path: 'key', expected: bytesToHex(key), found })
  }
  const value = atPath('proof', () =>
    decodeSlotValue(verifyTrieProof(storageRoot, keccak_256(key), storageProof.nodes)),
  )
  verifyNumberBeside('value', value, storageProof.value)
  return { key: bytesToHex(key), value: bytesToHex(bigintToBytes(value, 32)), exists: value !== 0n }
}

/** A slot that is not in the trie is zero, and a zero is never in the trie. */
function decodeSlotValue(encoded: Uint8Array | null): bigint {
  if (encoded === null) return 0n
  const value = decodeInteger(decodeRlp(encoded), 32)
  if (value === null || value === 0n)
    throw new ProofError('L1_VALUE_MALFORMED', { expected: 'an integer from 1 to 2^256 - 1' })
  return value
}

const toL1Account = ({ nonce, balance, storageRoot, codeHash }: AccountBytes): L1Account => ({
  nonce,
  balance,
  storageRoot: bytesToHex(storageRoot),
  codeHash: bytesToHex(codeHash),
})
