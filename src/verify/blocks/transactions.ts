import { secp256k1 } from '@noble/curves/secp256k1.js'
import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { own, ProofError, refusal } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import { readOptions } from '../../base/options.ts'
import { encodeRlp } from '../anchor/trie.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { encodeTyped, listOf, mapAt, reader, scalar, type TransactionType, toRlp, verifyStated } from './fields.ts'
import { MAX_TRANSACTIONS } from './limits.ts'
import { verifyListRoot } from './ordered-trie.ts'

/** Who signed. @param digest of what was signed, 32 bytes @param yParity which of two points has r as its x-coordinate */
function recoverSender(digest: Uint8Array, { r, s, yParity }: Pick<Transaction, 'r' | 's' | 'yParity'>): Hex {
  const order = secp256k1.Point.Fn.ORDER
  if (r === 0n || r >= order) throw refusal('TRANSACTION_SIGNATURE', 'r from 1 to below the order of the curve', r)
  if (s === 0n || s > order / 2n) throw refusal('TRANSACTION_SIGNATURE', 's from 1 to half the order of the curve', s)
  try {
    // The two coordinates of the key.
    return addressOf(new secp256k1.Signature(r, s, yParity).recoverPublicKey(digest).toBytes(false).subarray(1))
  } catch {
    // No point of the curve has this r, or the key would be the point at infinity.
    throw new ProofError('TRANSACTION_SENDER', { expected: 'the signature of a public key' })
  }
}

/** The address of the contract that an account creates with the transaction of this nonce. */
export const contractAddressOf = (sender: Hex, nonce: bigint): Hex => addressOf(encodeRlp(toRlp([sender, nonce])))

const addressOf = (preimage: Uint8Array): Hex => bytesToHex(keccak256(preimage).subarray(12))

/** An address, and slots of it, that a transaction announces (EIP-2930). */
export interface AccessListEntry {
  /** 20 bytes. */
  address: Hex
  /** 32 bytes each. */
  storageKeys: Hex[]
}

/** An account's permission to run the code of an address (EIP-7702), as signed. Whether it took effect is not proven. */
export interface Authorization {
  /** The chain on which it holds; 0: every chain. */
  chainId: bigint
  /** The code's address, 20 bytes. */
  address: Hex
  /** The account's nonce. */
  nonce: bigint
  /** Below 256; a valid one has 0 or 1. */
  yParity: bigint
  /** Below 2^256. */
  r: bigint
  /** Below 2^256. */
  s: bigint
}

/** A transaction that is proven to be in a block. Numbers are in wei or gas. */
export interface Transaction {
  /** EIP-2718. */
  type: TransactionType
  /** keccak256 of its encoding, 32 bytes. */
  hash: Hex
  /** Its place in the block, from 0. */
  transactionIndex: number
  /** Who signed it, 20 bytes: recovered from the signature. */
  from: Hex
  /** null for a legacy transaction that holds on every chain (before EIP-155). */
  chainId: bigint | null
  /** Of the sender, before the transaction. */
  nonce: bigint
  /** Types 0 and 1. */
  gasPrice?: bigint
  /** From type 2. */
  maxPriorityFeePerGas?: bigint
  /** From type 2. */
  maxFeePerGas?: bigint
  /** The gas limit. */
  gas: bigint
  /** The recipient, 20 bytes; null if a contract is created. */
  to: Hex | null
  /** In wei. */
  value: bigint
  /** Any length. */
  input: Hex
  /** From type 1. */
  accessList?: AccessListEntry[]
  /** Type 3. */
  maxFeePerBlobGas?: bigint
  /** Type 3: 32 bytes each. */
  blobVersionedHashes?: Hex[]
  /** Type 4. */
  authorizationList?: Authorization[]
  /** As signed: for type 0, 27 or 28, or 35 and more (EIP-155); otherwise the same as `yParity`. */
  v: bigint
  /** Of the signature's point: 0 or 1. */
  yParity: number
  /** Not zero. */
  r: bigint
  /** Not zero, at most half the order of the curve (EIP-2). */
  s: bigint
}

const decodeEntry = (item: unknown): AccessListEntry => {
  const field = reader.fieldsOf(item, ['address', 'storageKeys'])
  return { address: field('address', scalar.address), storageKeys: field('storageKeys', listOf(scalar.hash)) }
}

const decodeAuthorization = (item: unknown): Authorization => {
  const field = reader.fieldsOf(item, ['chainId', 'address', 'nonce', 'yParity', 'r', 's'])
  const { uint, uint64, uint256 } = scalar
  const [chainId, address] = [field('chainId', uint256), field('address', scalar.address)]
  const [nonce, yParity] = [field('nonce', uint64), field('yParity', uint(8))]
  return { chainId, address, nonce, yParity, r: field('r', uint256), s: field('s', uint256) }
}

const DECODERS = {
  chainId: scalar.uint256,
  nonce: scalar.uint64,
  gasPrice: scalar.uint256,
  maxPriorityFeePerGas: scalar.uint256,
  maxFeePerGas: scalar.uint256,
  gas: scalar.uint64,
  to: (value: unknown) => optional(scalar.address)(value) ?? null,
  value: scalar.uint256,
  input: scalar.data,
  accessList: /* @__PURE__ */ listOf(decodeEntry),
  maxFeePerBlobGas: scalar.uint256,
  blobVersionedHashes: /* @__PURE__ */ listOf(scalar.hash),
  authorizationList: /* @__PURE__ */ listOf(decodeAuthorization),
}
type FieldName = keyof typeof DECODERS

const NAMES = [...Object.keys(DECODERS), 'type', 'yParity', 'v', 'r', 's']
const CALL = ['gas', 'to', 'value', 'input'] as const
const DYNAMIC = ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', ...CALL, 'accessList'] as const

/** What is signed, by type, in the protocol's order. */
export const LAYOUTS: Readonly<Record<TransactionType, readonly FieldName[]>> = [
  ['nonce', 'gasPrice', ...CALL],
  ['chainId', 'nonce', 'gasPrice', ...CALL, 'accessList'], // EIP-2930
  DYNAMIC, // EIP-1559
  [...DYNAMIC, 'maxFeePerBlobGas', 'blobVersionedHashes'], // EIP-4844
  [...DYNAMIC, 'authorizationList'], // EIP-7702
]

type Fields = Readonly<Partial<Pick<Transaction, FieldName>>>
/** A transaction as it was sent, and what of it was understood: the fields of its layout. */
type Decoded = ReturnType<typeof decodeTransaction>

function decodeTransaction(source: unknown) {
  const field = reader.fieldsOf(source, NAMES)
  const type = field('type', scalar.type)
  // The decoders give the fields their types.
  const fields: Fields = Object.fromEntries(LAYOUTS[type].map(name => [name, field<unknown>(name, DECODERS[name])]))
  // Endpoints name the parity of a typed transaction by either name.
  const parity = type === 0 ? undefined : field('yParity', optional(scalar.uint256))
  const [v, r, s] = [parity ?? field('v', scalar.uint256), field('r', scalar.uint256), field('s', scalar.uint256)]
  // It is hashed, without the bytes by which a block holds it.
  const rlp = encodeTyped(type, [...payloadOf(fields), ...[v, r, s].map(toRlp)])
  return { source, type, fields, v, r, s, rlp }
}

const payloadOf = (fields: Fields) => Object.values(fields).map(toRlp)

/** EIP-155: the v of a legacy transaction holds the chain. */
function decodeParity({ type, v }: Decoded): { yParity: number; legacyChainId: bigint | null } {
  if (type > 0 && v > 1n) throw refusal('TRANSACTION_PARITY', '0 or 1', v)
  if (type === 0 && v !== 27n && v !== 28n && v < 37n) throw refusal('TRANSACTION_PARITY', '27, 28, or at least 37', v)
  return { yParity: Number(type === 0 ? (v + 1n) % 2n : v), legacyChainId: v < 37n ? null : (v - 35n) / 2n }
}

/** What the protocol demands of the types 3 and 4. */
function verifyRules({ type, fields }: Decoded): void {
  const { to, blobVersionedHashes = [], authorizationList = [] } = own(fields)
  const isVersioned = blobVersionedHashes.length > 0 && blobVersionedHashes.every(hash => hash.startsWith('0x01'))
  if (type >= 3 && to === null) throw refusal('TRANSACTION_CREATES', 'a recipient', 'none')
  if (type === 3 && !isVersioned) throw refusal('TRANSACTION_BLOBS', 'one or more hashes that begin with 01', 'others')
  if (type === 4 && authorizationList.length === 0) throw refusal('TRANSACTION_AUTHORIZATIONS', 'one or more', 0)
}

function openTransaction(decoded: Decoded, hash: Hex, transactionIndex: number): Transaction {
  const { type, fields, v, r, s } = decoded
  verifyRules(decoded)
  const { yParity, legacyChainId } = decodeParity(decoded)
  const replayGuard = type === 0 && legacyChainId !== null ? [legacyChainId, 0n, 0n].map(toRlp) : []
  const from = recoverSender(keccak256(encodeTyped(type, [...payloadOf(fields), ...replayGuard])), { r, s, yParity })
  const proven = { type, hash, transactionIndex, from, chainId: legacyChainId }
  // The layout of the type has all fields that are not optional.
  return { ...proven, ...fields, v, yParity, r, s } as Transaction
}

/** {@link verifyTransactions}, without comparing what else was sent. Each `open` recovers a sender: about a millisecond. */
export function openTransactions(list: unknown, root: Uint8Array) {
  const decoded = listOf(decodeTransaction, MAX_TRANSACTIONS)(list)
  const encoded = decoded.map(({ rlp }) => rlp)
  verifyListRoot('TRANSACTIONS_ROOT_MISMATCH', encoded, root)
  return decoded.map((transaction, index) => {
    const { source, type, fields, rlp } = transaction
    const hash = bytesToHex(keccak256(rlp))
    return { source, hash, rlp, signed: { type, ...fields }, open: () => openTransaction(transaction, hash, index) }
  })
}

/**
 * Verifies that these are all transactions of a block, in order. Each is encoded again from what was sent, and its hash and
 * sender are computed. Whatever else was sent is compared with what is proven, or left out.
 *
 * @param transactions the `transactions` of an `eth_getBlockByNumber` result with full transactions, parsed from JSON
 * @param claim the root in the proven header, 32 bytes
 * @returns one per transaction, in order
 * @throws ProofError `TRANSACTIONS_ROOT_MISMATCH`, `TRANSACTION_*`, `BLOCK_*`, `BAD_HEX`, `WRONG_LENGTH`; ArgumentError
 *
 * @example
 * ```ts
 * import { verifyTransactions } from 'rollup-state-proof/blocks'
 *
 * // A block without transactions.
 * const transactionsRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
 * console.log(verifyTransactions([], { transactionsRoot }).length) // 0
 * ```
 */
export function verifyTransactions(transactions: unknown, claim: { transactionsRoot: Hex }): Transaction[] {
  const { transactionsRoot } = readOptions('', claim, ['transactionsRoot'])
  const opened = openTransactions(transactions, decodeArgument('transactionsRoot', transactionsRoot, 32))
  return mapAt(opened, ({ source, open }) => verifyStated(source, open()))
}
