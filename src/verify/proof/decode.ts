import { hexToBytes, knownLength } from '../../base/bytes.ts'
import { atPath, excerpt, ProofError, refusal } from '../../base/errors.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { DIGEST_LENGTH, MAX_LEAVES, openingLength } from '../tree/leaf.ts'
import { LEAF_NODE, NODE_COUNT, type Path, rootLength, SIBLING_LEAF_NODE, verifyLeafIndex } from '../tree/path.ts'
import type { Decode, DecodedValue, Tree, Trees } from './tree.ts'

const reader = readerOf('MALFORMED_RESPONSE')

const RESULT_FIELDS = ['accountProof', 'storageProofs', 'storageHash', 'storageProof', 'answer'] as const
const EXISTENCE_FIELDS = ['leafIndex', 'proof'] as const
const NON_EXISTENCE_FIELDS = ['leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof'] as const
const LEAF_PROOF_FIELDS = ['key', ...EXISTENCE_FIELDS, ...NON_EXISTENCE_FIELDS] as const

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

/**
 * Only own properties are read, each once, and each length is checked before the content, so the request bounds the work.
 * @returns one storage proof per requested key, or none at all; null where the answer has null
 */
export function decodeAnswer(trees: Trees, answer: unknown, keyCount: number) {
  const result = reader.fields(openResponse(answer), RESULT_FIELDS)
  const isForeign = result.storageHash !== undefined || result.storageProof !== undefined
  if (isForeign && reader.isArray(result.accountProof)) throw refusal('FOREIGN_PROOF', 'linea_getProof', 'eth_getProof')
  const isBundle = result.accountProof === undefined && result.answer !== undefined
  if (isBundle) throw refusal('MALFORMED_RESPONSE', 'an answer', 'a bundle: use verifyEvidence')
  const accountProof = atPath('accountProof', () => decodeLeafProof(trees.account, result.accountProof))
  const decodeSlots = () => decodeStorageProofs(trees.storage, result.storageProofs, keyCount)
  return { accountProof, storageProofs: atPath('storageProofs', decodeSlots) }
}

function openResponse(answer: unknown): unknown {
  const { jsonrpc, result, error } = reader.fields(answer, ['jsonrpc', 'result', 'error'])
  if (error !== undefined) throw rpcError(error)
  return jsonrpc === undefined && result === undefined ? answer : result
}

function rpcError(error: unknown): ProofError {
  const read = () => reader.fields(error, ['code', 'message'])
  const { code, message } = typeof error === 'object' ? atPath('error', read) : {}
  const numbered = `error ${typeof code === 'number' ? code : 'without a code'}`
  const found = typeof message === 'string' ? `${numbered}: ${excerpt(message)}` : numbered
  return new ProofError('ANSWER_IS_ERROR', { path: 'error', found })
}

function decodeStorageProofs(tree: Tree, proofs: unknown, keyCount: number): (DecodedLeafProof | null)[] {
  const verifyCount = (count: number) => {
    const expected = `${keyCount} for ${keyCount} requested keys`
    if (count > keyCount) throw refusal('STORAGE_PROOF_UNEXPECTED', expected, count)
    // An empty list stands for an account without storage, whatever keys were requested. `verifyAnswer` checks that it has none.
    if (count < keyCount && count !== 0) throw refusal('STORAGE_PROOF_MISSING', expected, count)
  }
  return reader.items(proofs, verifyCount, item => (item === null ? null : decodeLeafProof(tree, item)))
}

/** Accepts exactly one of the two forms, `ExistenceProof` and `NonExistenceProof`. */
export function decodeLeafProof(tree: Tree, leafProof: unknown): DecodedLeafProof {
  const field = reader.fieldsOf(leafProof, LEAF_PROOF_FIELDS)
  type Name = (typeof LEAF_PROOF_FIELDS)[number]
  const isGiven = (name: Name) => field(name, value => value !== undefined)
  const [isExistence, isNonExistence] = [EXISTENCE_FIELDS.some(isGiven), NON_EXISTENCE_FIELDS.some(isGiven)]
  const forms = isExistence ? 'both forms' : 'neither form'
  if (isExistence === isNonExistence) throw new ProofError('MALFORMED_RESPONSE', { found: `${forms} of a leaf proof` })

  const { keyLength, valueLength } = tree.kind
  const key = field('key', reader.bytesOf(keyLength))
  const decode = (name: Name, indexName: Name, valueLengths: readonly number[]) => {
    const leafIndex = field(indexName, decodeLeafIndex)
    const decoded = field(name, proof => decodeProof(tree, leafIndex, proof, valueLengths))
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
  const field = reader.fieldsOf(proof, ['value', 'proofRelatedNodes'])
  // Nodes first: their lengths tell the schemes apart, so a proof of the other scheme is reported as such.
  const path = field('proofRelatedNodes', nodes => decodeNodes(tree, leafIndex, nodes))
  return { path, ...field('value', text => decodeValueField(tree, reader.string(text), valueLengths)) }
}

function decodeValueField({ kind, decodeValue }: Tree, hex: string, lengths: readonly number[]): DecodedValue {
  const length = knownLength(hex, lengths)
  if (length === kind.valueLength) return decodeValue(hex, LEAF_NODE)
  // The value of HEAD or TAIL in the tree of accounts. It is compared with zero, never hashed.
  const value = hexToBytes(hex, length)
  return { value, preimage: value }
}

/** A JSON number can be fractional, negative or above 2^53; an index cannot. */
export function decodeLeafIndex(index: unknown): number {
  const number = reader.number(index)
  const isIndex = Number.isSafeInteger(number) && number >= 0 && number < MAX_LEAVES
  if (!isIndex) throw refusal('INDEX_OUT_OF_RANGE', 'an integer from 0 to 2^40 - 1', number)
  // JSON can spell -0; adding 0 turns it into 0.
  return number + 0
}

/** Tree format, "The proof": decodes the 42 nodes of `proofRelatedNodes`, each of the length required at its place, and canonical. */
export function decodeNodes(tree: Tree, leafIndex: number, proofRelatedNodes: unknown): Path {
  const texts = reader.items(proofRelatedNodes, verifyNodeCount, text => text)
  verifyNodeScheme(tree.scheme, texts)
  let node = 0
  const decode = <T>(decodeNode: Decode<T>, index: number): T => {
    node = index
    return decodeNode(reader.string(texts[index]), index)
  }
  const place = () => `[${node}]`
  return atPath(place, () => ({
    leafIndex,
    rootNode: decode(tree.decodeRootNode, 0),
    inner: texts.slice(1, SIBLING_LEAF_NODE).map((_, index) => decode(tree.decodeInner, index + 1)),
    siblingLeaf: decode(tree.decodeSiblingLeaf, SIBLING_LEAF_NODE),
    leafNode: decode(tree.decodeLeafNode, LEAF_NODE),
  }))
}

function verifyNodeCount(count: number): void {
  if (count !== NODE_COUNT) throw refusal('WRONG_NODE_COUNT', '42 nodes', count)
}

/** Node 0 and the leaf have different lengths in the two schemes. @throws ProofError `SCHEME_MISMATCH` */
function verifyNodeScheme({ name, wordLength }: HashScheme, texts: readonly unknown[]): void {
  const other = wordLength === 32 ? { name: 'poseidon2', wordLength: 64 } : { name: 'mimc', wordLength: 32 }
  const hasLength = (hex: unknown, bytes: number) => typeof hex === 'string' && hex.length === 2 + 2 * bytes
  const isOther = hasLength(texts[0], rootLength(other)) && hasLength(texts[LEAF_NODE], openingLength(other))
  if (isOther) throw refusal('SCHEME_MISMATCH', `a proof of ${name}`, `one of ${other.name}`)
}
