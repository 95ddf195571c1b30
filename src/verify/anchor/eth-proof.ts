import { decodeArgument, readKeys, type StorageKey } from '../../base/arguments.ts'
import { bigintToBytes, bytesToHex, equalBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { atPath, excerpt, own, ProofError, refusal } from '../../base/errors.ts'
import { bytesUpTo, hexOf, optional } from '../../base/json/decoders.ts'
import type { Shape } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { EMPTY_CODE_HASH } from './contract.ts'
import { MAX_NODE_COUNT, MAX_NODE_LENGTH } from './limits.ts'
import {
  decodeInteger,
  decodeRlp,
  EMPTY_TRIE_ROOT,
  openNode,
  type RlpItem,
  unusedNodes,
  verifyTrieProof,
} from './trie.ts'

/** What you asked `eth_getProof` for, and the L1 state root that you trust. */
export interface EthProofClaim<Keys extends readonly Hex[] = readonly Hex[]> {
  /** 32 bytes. */
  l1StateRoot: Hex
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each, in the order of the request. Default: none. */
  storageKeys?: Keys | undefined
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

/** An L1 storage slot whose existence or non-existence is proven. */
export interface L1Slot {
  /** 32 bytes, as the caller wrote it. */
  key: Hex
  /** Whether its existence is proven, or its non-existence. */
  exists: boolean
  /** 32 bytes, lower case: zero if it does not exist, and only then. */
  value: Hex
}

/** What an `eth_getProof` answer proves. */
export interface VerifiedEthProof<Keys extends readonly Hex[] = readonly Hex[]> {
  /** null if non-existence is proven. */
  account: L1Account | null
  /** One per requested key, in the order of the request. */
  storage: { -readonly [Index in keyof Keys]: L1Slot }
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

/**
 * Verifies an `eth_getProof` result (EIP-1186) against an L1 state root: the account in the state trie, then each slot in
 * the storage trie of the proven account. The redundant fields (`balance`, `storageHash`, ...) may be missing. They are never
 * trusted, and refused if they contradict the proof.
 *
 * @param proof what the endpoint sent as the result, parsed from JSON
 * @param claim what you asked for, and the L1 state root that you trust
 * @throws ProofError `L1_*`, `MPT_*`, `RLP_NON_CANONICAL`, `BAD_HEX`, `WRONG_LENGTH`; ArgumentError
 *
 * @example
 * ```ts
 * import { verifyEthProof } from 'rollup-state-proof/anchor'
 *
 * // In an empty state, nothing exists.
 * const l1StateRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
 * const address = '0x00000000000000000000000000000000000000aa'
 * const { account } = verifyEthProof({ accountProof: [], storageProof: [] }, { l1StateRoot, address })
 * console.log(account) // null
 * ```
 */
export function verifyEthProof<const Keys extends readonly Hex[] = []>(
  proof: unknown,
  claim: EthProofClaim<Keys>,
): VerifiedEthProof<Keys> {
  const decoded = decodeEthClaim(readOptions('', claim, ['l1StateRoot', 'address', 'storageKeys']))
  // There is one slot per key.
  return verifyFirstSlots(proof, decoded, decoded.keys.length) as VerifiedEthProof<Keys>
}

export function decodeEthClaim(claim: EthProofClaim) {
  const { l1StateRoot, address, storageKeys = [] } = own(claim)
  return {
    stateRoot: decodeArgument('l1StateRoot', l1StateRoot, 32),
    address: decodeArgument('address', address, 20),
    keys: readKeys(storageKeys),
  }
}

/** {@link verifyEthProof} for an answer that may end after the first `minSlots` storage keys. */
export function verifyFirstSlots(proof: unknown, claim: ReturnType<typeof decodeEthClaim>, minSlots: number) {
  const { stateRoot, address, keys } = claim
  const { accountNodes, storageProofs, redundant } = decodeEthProof(proof, minSlots, keys.length)
  const account = atPath('accountProof', () => {
    const value = verifyTrieProof(stateRoot, keccak256(address), accountNodes)
    return value && decodeAccount(value)
  })
  const open = openOnce()
  verifyRedundantFields(redundant, bytesToHex(address), account)
  const storageRoot = hexToBytes(account?.storageRoot ?? EMPTY_TRIE_ROOT, 32)
  const storage = keys.flatMap((key, index) => {
    const slot = storageProofs[index]
    return slot ? [atPath(`storageProof[${index}]`, () => verifySlot(storageRoot, key, slot, open))] : []
  })
  return { account, storage }
}

/** {@link openNode} with a memory of what the slots before have opened: the upper nodes of a trie stand in the proof of each. */
function openOnce(): typeof openNode {
  const opened = new Map<Uint8Array, { digest: Uint8Array; item: RlpItem }>()
  return (bytes, digest) => {
    const known = opened.get(bytes)
    if (known && equalBytes(known.digest, digest)) return known.item
    const item = openNode(bytes, digest)
    opened.set(bytes, { digest, item })
    return item
  }
}

function decodeEthProof(proof: unknown, minSlots: number, maxSlots: number) {
  const names = ['accountProof', 'storageProof', 'address', 'nonce', 'balance', 'storageHash', 'codeHash'] as const
  const field = reader.fieldsOf(proof, names)
  return {
    accountNodes: field('accountProof', value => decodeNodes(value, decodeOneNode)),
    storageProofs: field('storageProof', value => decodeStorageProofs(value, minSlots, maxSlots)),
    /** What the nodes prove anyway; undefined if the endpoint left it out. */
    redundant: {
      address: field('address', optional(hexOf(reader, 20))),
      nonce: field('nonce', optional(decodeNumber)),
      balance: field('balance', optional(decodeNumber)),
      storageHash: field('storageHash', optional(hexOf(reader, 32))),
      codeHash: field('codeHash', optional(hexOf(reader, 32))),
    },
  }
}

type DecodedSlot = ReturnType<typeof decodeStorageProofs>[number]

function decodeStorageProofs(value: unknown, minSlots: number, maxSlots: number) {
  const expected = minSlots === maxSlots ? `${maxSlots}` : `${minSlots} to ${maxSlots}`
  const decodeNode = decodeOnce()
  const verifyCount = (count: number) => {
    if (count < minSlots || count > maxSlots) throw refusal('L1_STORAGE_PROOF_COUNT', expected, count)
  }
  return reader.items(value, verifyCount, item => {
    const field = reader.fieldsOf(item, ['key', 'value', 'proof'])
    return {
      key: field('key', decodeNumber),
      value: field('value', optional(decodeNumber)),
      nodes: field('proof', nodes => decodeNodes(nodes, decodeNode)),
    }
  })
}

const decodeOneNode = bytesUpTo(reader, MAX_NODE_LENGTH)

/** {@link decodeOneNode}, which returns the same array for the same text. */
function decodeOnce(): typeof decodeOneNode {
  const decoded = new Map<unknown, Uint8Array>()
  return value => {
    const bytes = decoded.get(value) ?? decodeOneNode(value)
    decoded.set(value, bytes)
    return bytes
  }
}

function decodeNodes(value: unknown, decodeNode: typeof decodeOneNode): Uint8Array[] {
  const verifyCount = (count: number) => {
    if (count > MAX_NODE_COUNT) throw unusedNodes(MAX_NODE_COUNT, count)
  }
  return reader.items(value, verifyCount, decodeNode)
}

/** Endpoints send these as a quantity or as 32 bytes. Either way they are only compared with what is proven. */
function decodeNumber(value: unknown): bigint {
  const hex = reader.string(value)
  if (hex.length > 2 + 64 || !/^0x[0-9a-fA-F]+$/.test(hex)) {
    throw refusal('BAD_HEX', '0x and 1 to 64 hexadecimal digits', excerpt(hex))
  }
  return BigInt(hex)
}

/** The yellow paper's account: nonce, balance, storage root, code hash. */
function decodeAccount(value: Uint8Array): L1Account {
  const item = decodeRlp(value)
  const fields = item instanceof Uint8Array || item.length !== 4 ? [] : item
  const nonce = decodeInteger(fields[0], 8)
  const balance = decodeInteger(fields[1], 32)
  const [, , storageRoot, codeHash] = fields
  const isDigest = (field: typeof codeHash): field is Uint8Array => field instanceof Uint8Array && field.length === 32
  if (nonce === null || balance === null || !isDigest(storageRoot) || !isDigest(codeHash)) {
    throw new ProofError('L1_ACCOUNT_MALFORMED', { expected: 'nonce, balance, storage root and code hash' })
  }
  return { nonce, balance, storageRoot: bytesToHex(storageRoot), codeHash: bytesToHex(codeHash) }
}

type Redundant = ReturnType<typeof decodeEthProof>['redundant']

function verifyRedundantFields(stated: Redundant, address: Hex, account: L1Account | null): void {
  if (stated.address !== undefined && stated.address !== address) {
    throw new ProofError('L1_KEY_MISMATCH', { path: 'address', expected: address, found: stated.address })
  }
  verifyRedundant('nonce', stated.nonce, account?.nonce ?? 0n)
  verifyRedundant('balance', stated.balance, account?.balance ?? 0n)
  // For an account that does not exist, some clients write zeros and some the digest of nothing.
  const ofNothing = (digest: Hex) => [digest, toWord(0n)]
  verifyRedundant('storageHash', stated.storageHash, ...(account ? [account.storageRoot] : ofNothing(EMPTY_TRIE_ROOT)))
  verifyRedundant('codeHash', stated.codeHash, ...(account ? [account.codeHash] : ofNothing(EMPTY_CODE_HASH)))
}

/** @param proven the value, or its possible spellings */
function verifyRedundant<T extends bigint | Hex>(path: string, stated: T | undefined, ...proven: readonly T[]): void {
  if (stated === undefined || proven.includes(stated)) return
  throw new ProofError('L1_PROOF_DISAGREES', { path, expected: `${proven[0]}`, found: `${stated}` })
}

function verifySlot(root: Uint8Array, key: StorageKey, slot: DecodedSlot, open: typeof openNode): L1Slot {
  const [expected, found] = [bytesToHex(key.bytes), toWord(slot.key)]
  if (found !== expected) throw new ProofError('L1_KEY_MISMATCH', { path: 'key', expected, found })
  const value = atPath('proof', () => decodeSlotValue(verifyTrieProof(root, keccak256(key.bytes), slot.nodes, open)))
  verifyRedundant('value', slot.value, value)
  return { key: key.text, exists: value !== 0n, value: toWord(value) }
}

const toWord = (value: bigint): Hex => bytesToHex(bigintToBytes(value, 32))

/** A slot that is not in the trie is zero, and a zero is never in the trie. */
function decodeSlotValue(encoded: Uint8Array | null): bigint {
  if (encoded === null) return 0n
  const value = decodeInteger(decodeRlp(encoded), 32)
  if (value === null || value === 0n)
    throw new ProofError('L1_VALUE_MALFORMED', { expected: 'an integer from 1 to 2^256 - 1' })
  return value
}
