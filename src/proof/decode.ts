import { hexToBytes, knownLength } from '../bytes.ts'
import { atPath, excerpt, ProofError } from '../errors.ts'
import { readerOf } from '../json/reader.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { TreeKind } from '../tree/kind.ts'
import { DIGEST_LENGTH, decodeCanonical, MAX_LEAVES, openingLength, verifyCanonical } from '../tree/leaf.ts'
import {
  decodeLeafNode,
  decodeRootNode,
  decodeSiblingLeaf,
  INNER_LENGTH,
  LEAF_NODE,
  NODE_COUNT,
  type Path,
  type PathNodes,
  rootLength,
  SIBLING_LEAF_NODE,
  verifyLeafIndex,
} from '../tree/path.ts'

const reader = readerOf('MALFORMED_RESPONSE')

const RESPONSE_FIELDS = ['jsonrpc', 'result', 'error'] as const
const RESULT_FIELDS = ['accountProof', 'storageProofs', 'storageHash', 'storageProof'] as const
const PROOF_FIELDS = ['value', 'proofRelatedNodes'] as const
const EXISTENCE_FIELDS = ['leafIndex', 'proof'] as const
const NON_EXISTENCE_FIELDS = ['leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof'] as const
const LEAF_PROOF_FIELDS = ['key', ...EXISTENCE_FIELDS, ...NON_EXISTENCE_FIELDS] as const

/**
 * How the proofs of one kind of tree are decoded and hashed. The decoders are pure, so a cache may wrap them.
 */
export interface Tree {
  readonly scheme: Scheme
  readonly kind: TreeKind
  readonly decodeRootNode: Decode<PathNodes['rootNode']>
  /** One of the 39 inner siblings. Returns its preimage, canonical. */
  readonly decodeInner: Decode<Uint8Array>
  readonly decodeSiblingLeaf: Decode<PathNodes['siblingLeaf']>
  readonly decodeLeafNode: Decode<PathNodes['leafNode']>
  /** A value of `kind.valueLength` bytes. */
  readonly decodeValue: Decode<DecodedValue>
}

/**
 * Decodes one node or value from hexadecimal, and checks its length.
 *
 * @param node the index of the node in `proofRelatedNodes`; for a value, that of its leaf
 */
export type Decode<T> = (hex: string, node: number) => T

/**
 * A value as served, and the message whose hash is the value hash in its leaf. In the tree of accounts, HEAD and TAIL have a
 * value of another length: it stands for both, and need not be canonical.
 */
export interface DecodedValue {
  readonly value: Uint8Array
  readonly preimage: Uint8Array
}

/** A `Proof` of the answer, decoded and canonical. Nothing in it has been hashed or compared yet. */
export interface DecodedProof extends DecodedValue {
  readonly path: Path
}

/** A leaf proof of the answer, decoded. Its form is a claim, not yet a verdict. */
export type DecodedLeafProof =
  | { readonly claims: 'existence'; readonly key: Uint8Array; readonly proof: DecodedProof }
  | {
      readonly claims: 'non-existence'
      readonly key: Uint8Array
      readonly left: DecodedProof
      readonly right: DecodedProof
    }

export interface DecodedAnswer {
  readonly accountProof: DecodedLeafProof
  /** One per requested key, or none at all; null where the answer has null. */
  readonly storageProofs: readonly (DecodedLeafProof | null)[]
}

/** The tree of accounts, and the trees of storage slots. */
export interface Trees {
  readonly account: Tree
  readonly storage: Tree
}

/** A tree whose decoders have no cache. */
export const plainTree = (scheme: Scheme, kind: TreeKind): Tree => ({
  scheme,
  kind,
  decodeRootNode: hex => decodeRootNode(scheme, decodeCanonical(scheme, hex, rootLength(scheme))),
  decodeInner: (hex, node) => scheme.hasher.knownPreimage?.(node, hex) ?? decodeCanonical(scheme, hex, INNER_LENGTH),
  decodeSiblingLeaf: hex =>
    decodeSiblingLeaf(scheme, decodeCanonical(scheme, hex, knownLength(hex, [openingLength(scheme), DIGEST_LENGTH]))),
  decodeLeafNode: hex => decodeLeafNode(scheme, decodeCanonical(scheme, hex, openingLength(scheme))),
  decodeValue: hex => {
    const value = hexToBytes(hex, kind.valueLength)
    const preimage = kind.valuePreimage(scheme, value)
    verifyCanonical(scheme, preimage)
    return { value, preimage }
  },
})

/**
 * Decodes an untrusted answer, a bare `GetProofResult` or a JSON-RPC response with one. Only own properties are read, each
 * once, and each length is checked before the content, so the request bounds the work.
 *
 * @param keyCount the number of requested storage keys
 */
export function decodeAnswer(trees: Trees, answer: unknown, keyCount: number): DecodedAnswer {
  const result = reader.fields(openResponse(answer), RESULT_FIELDS)
  const isForeign = result.storageHash !== undefined || result.storageProof !== undefined
  if (isForeign && reader.isArray(result.accountProof)) throw new ProofError('FOREIGN_PROOF', { found: 'eth_getProof' })
  const accountProof = atPath('accountProof', () => decodeLeafProof(trees.account, result.accountProof))
  const decodeSlots = () => decodeStorageProofs(trees.storage, result.storageProofs, keyCount)
  return { accountProof, storageProofs: atPath('storageProofs', decodeSlots) }
}

/** The result inside a JSON-RPC response, or the answer itself if it is bare. */
function openResponse(answer: unknown): unknown {
  const { jsonrpc, result, error } = reader.fields(answer, RESPONSE_FIELDS)
  if (error !== undefined) throw rpcError(error)
  return jsonrpc === undefined && result === undefined ? answer : result
}

function rpcError(error: unknown): ProofError {
  const read = () => reader.fields(error, ['code', 'message'])
  const { code, message } = typeof error === 'object' ? atPath('error', read) : {}
  const numbered = `error ${typeof code === 'number' ? code : 'without a code'}`
  const found = typeof message === 'string' ? `${numbered}: ${excerpt(message)}` : numbered
  return new ProofError('RPC_ERROR', { path: 'error', found })
}

function decodeStorageProofs(tree: Tree, proofs: unknown, keyCount: number): (DecodedLeafProof | null)[] {
  const verifyCount = (count: number) => {
    const counts = { expected: `${keyCount} for ${keyCount} requested keys`, found: `${count}` }
    if (count > keyCount) throw new ProofError('STORAGE_PROOF_UNEXPECTED', counts)
    // An empty list stands for an account without storage, whatever keys were requested; verifyStorage checks that it has none.
    if (count < keyCount && count !== 0) throw new ProofError('STORAGE_PROOF_MISSING', counts)
  }
  return reader.items(proofs, verifyCount, item => (item === null ? null : decodeLeafProof(tree, item)))
}

/** Accepts exactly one of the two forms, `ExistenceProof` and `NonExistenceProof`. */
export function decodeLeafProof(tree: Tree, leafProof: unknown): DecodedLeafProof {
  const fields = reader.fields(leafProof, LEAF_PROOF_FIELDS)
  const isExistence = EXISTENCE_FIELDS.some(name => fields[name] !== undefined)
  const isNonExistence = NON_EXISTENCE_FIELDS.some(name => fields[name] !== undefined)
  const forms = isExistence ? 'both forms' : 'neither form'
  if (isExistence === isNonExistence) throw new ProofError('MALFORMED_RESPONSE', { found: `${forms} of a leaf proof` })

  const { keyLength, valueLength } = tree.kind
  const key = atPath('key', () => reader.bytes(fields.key, keyLength))
  const decode = (name: keyof typeof fields, indexName: keyof typeof fields, valueLengths: readonly number[]) => {
    const leafIndex = atPath(indexName, () => decodeLeafIndex(fields[indexName]))
    const decoded = atPath(name, () => decodeProof(tree, leafIndex, fields[name], valueLengths))
    atPath(indexName, () => verifyLeafIndex(decoded.path))
    return decoded
  }
  if (isExistence) return { claims: 'existence', key, proof: decode('proof', 'leafIndex', [valueLength]) }
  // A neighbour may be HEAD or TAIL, whose value is 32 zero bytes.
  const valueLengths = [valueLength, DIGEST_LENGTH]
  const left = decode('leftProof', 'leftLeafIndex', valueLengths)
  const right = decode('rightProof', 'rightLeafIndex', valueLengths)
  return { claims: 'non-existence', key, left, right }
}

function decodeProof(tree: Tree, leafIndex: number, proof: unknown, valueLengths: readonly number[]): DecodedProof {
  const fields = reader.fields(proof, PROOF_FIELDS)
  // Nodes first: their lengths tell the schemes apart, so a proof of the other scheme is reported as such.
  const nodes = atPath('proofRelatedNodes', () => decodeNodes(tree, fields.proofRelatedNodes))
  const value = atPath('value', () => decodeValueField(tree, reader.string(fields.value), valueLengths))
  // In this order: a literal that begins with a spread makes the engine build a hidden class per object, which takes microseconds.
  return { path: { leafIndex, ...nodes }, ...value }
}

/** A JSON number can be fractional, negative or above 2^53; an index cannot. */
export function decodeLeafIndex(index: unknown): number {
  const number = reader.number(index)
  if (!Number.isSafeInteger(number) || number < 0 || number >= MAX_LEAVES) {
    throw new ProofError('INDEX_OUT_OF_RANGE', { expected: 'an integer from 0 to 2^40 - 1', found: `${number}` })
  }
  // JSON can spell -0; adding 0 turns it into 0.
  return number + 0
}

function decodeValueField({ kind, decodeValue }: Tree, hex: string, lengths: readonly number[]): DecodedValue {
  const length = knownLength(hex, lengths)
  if (length === kind.valueLength) return decodeValue(hex, LEAF_NODE)
  // The value of HEAD or TAIL in the tree of accounts. It is compared with zero, never hashed.
  const value = hexToBytes(hex, length)
  return { value, preimage: value }
}

/**
 * Tree format, "The proof": decodes the 42 nodes of `proofRelatedNodes`, each of the length required at its place, and
 * canonical.
 *
 * @throws ProofError `WRONG_NODE_COUNT`, `SCHEME_MISMATCH`, `WRONG_LENGTH`, `BAD_HEX`, `NON_CANONICAL`,
 * `INDEX_OUT_OF_RANGE`, `ZERO_OPENING`
 */
export function decodeNodes(tree: Tree, proofRelatedNodes: unknown): PathNodes {
  const texts = reader.items(proofRelatedNodes, verifyNodeCount, text => text)
  verifyNodeScheme(tree.scheme, texts)
  let node = 0
  const decode = <T>(decodeNode: Decode<T>, index: number): T => {
    node = index
    return decodeNode(reader.string(texts[index]), index)
  }
  const place = () => `[${node}]`
  return atPath(place, () => ({
    rootNode: decode(tree.decodeRootNode, 0),
    inner: texts.slice(1, SIBLING_LEAF_NODE).map((_, index) => decode(tree.decodeInner, index + 1)),
    siblingLeaf: decode(tree.decodeSiblingLeaf, SIBLING_LEAF_NODE),
    leafNode: decode(tree.decodeLeafNode, LEAF_NODE),
  }))
}

function verifyNodeCount(count: number): void {
  if (count !== NODE_COUNT) throw new ProofError('WRONG_NODE_COUNT', { expected: '42 nodes', found: `${count}` })
}

/** Node 0 and the leaf have different lengths in the two schemes. @throws ProofError `SCHEME_MISMATCH` */
function verifyNodeScheme({ name, wordLength }: Scheme, texts: readonly unknown[]): void {
  const other = wordLength === 32 ? { name: 'poseidon2', wordLength: 64 } : { name: 'mimc', wordLength: 32 }
  const hasLength = (hex: unknown, bytes: number) => typeof hex === 'string' && hex.length === 2 + 2 * bytes
  if (hasLength(texts[0], rootLength(other)) && hasLength(texts[LEAF_NODE], openingLength(other))) {
    throw new ProofError('SCHEME_MISMATCH', { expected: `a proof of ${name}`, found: `one of ${other.name}` })
  }
}
