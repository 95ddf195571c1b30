import { hexToBytes } from '../bytes.ts'
import { atPath, excerpt, ProofError } from '../errors.ts'
import { decodeValue, type EntryKind, type ValueNode } from '../tree/entry.ts'
import { DIGEST_LENGTH, MAX_LEAVES } from '../tree/leaf.ts'
import { NOT_HASHED, type Path, verifyLeafIndex } from '../tree/path.ts'
import { decodeNodes, type NodeContext } from './nodes.ts'
import { asArray, asString, isArray, isGiven, knownLength, lengthOf, malformed, readFields, readOwn } from './read.ts'

const RESPONSE_FIELDS = ['jsonrpc', 'result', 'error'] as const
const RESULT_FIELDS = ['accountProof', 'storageProofs', 'storageHash', 'storageProof'] as const
const PROOF_FIELDS = ['value', 'proofRelatedNodes'] as const
/** Of either form. */
const LEAF_PROOF_FIELDS = [
  'key',
  'leafIndex',
  'proof',
  'leftLeafIndex',
  'leftProof',
  'rightLeafIndex',
  'rightProof',
] as const

/** What the proofs of one kind of tree are decoded with. */
export interface TreeContext extends NodeContext {
  readonly kind: EntryKind
}

/** The tree of accounts, and the trees of storage slots. */
export interface Contexts {
  readonly account: TreeContext
  readonly storage: TreeContext
}

/** A `Proof` of the answer, decoded and canonical. Nothing in it has been hashed or compared yet. */
export interface DecodedProof {
  readonly valueNode: ValueNode
  readonly path: Path
}

/** A leaf proof of the answer, decoded. Which of its two forms it has is what it claims, not yet a verdict. */
export type DecodedLeafProof =
  | { readonly claims: 'existence'; readonly key: Uint8Array; readonly proof: DecodedProof }
  | { readonly claims: 'absence'; readonly key: Uint8Array; readonly left: DecodedProof; readonly right: DecodedProof }

export interface DecodedAnswer {
  readonly accountProof: DecodedLeafProof
  /** One a requested key; null where the answer has none. */
  readonly storageProofs: readonly (DecodedLeafProof | null)[]
}

/**
 * Reads what a stranger sent: a result of section 6, bare or in a JSON-RPC response. Each field is read once, own
 * properties only, and every length is checked before its content, so the work is bounded by what was asked for.
 *
 * @param keyCount how many storage keys were asked for
 */
export function decodeAnswer(contexts: Contexts, answer: unknown, keyCount: number): DecodedAnswer {
  const [account, storage, storageHash, storageProof] = readFields(openResponse(answer), RESULT_FIELDS)
  if ((isGiven(storageHash) || isGiven(storageProof)) && isArray(account)) throw new ProofError('FOREIGN_PROOF')
  const accountProof = atPath('accountProof', () => decodeLeafProof(contexts.account, account))
  const storageProofs = atPath('storageProofs', () => decodeStorageProofs(contexts.storage, storage, keyCount))
  return { accountProof, storageProofs }
}

/** The result inside a JSON-RPC response, or the answer itself when it is bare. */
function openResponse(answer: unknown): unknown {
  const [jsonrpc, result, error] = readFields(answer, RESPONSE_FIELDS)
  if (isGiven(error)) throw rpcError(error)
  return isGiven(jsonrpc) || isGiven(result) ? result : answer
}

function rpcError(error: unknown): ProofError {
  const [code, message] = typeof error === 'object' ? atPath('error', () => readFields(error, ['code', 'message'])) : []
  const quotedCode = typeof code === 'number' ? `${code}` : 'without a code'
  return new ProofError('RPC_ERROR', {
    path: 'error',
    found: typeof message === 'string' ? `error ${quotedCode}: ${excerpt(message)}` : `error ${quotedCode}`,
  })
}

function decodeStorageProofs(context: TreeContext, proofs: unknown, keyCount: number): (DecodedLeafProof | null)[] {
  const items = asArray(proofs)
  const count = lengthOf(items)
  const counts = { expected: `${keyCount} for ${keyCount} requested keys`, found: `${count}` }
  if (count > keyCount) throw new ProofError('STORAGE_PROOF_UNEXPECTED', counts)
  // An empty list stands for an account without storage, whatever was asked for; whether it is one shows later.
  if (count === 0) return new Array<null>(keyCount).fill(null)
  if (count < keyCount) throw new ProofError('STORAGE_PROOF_MISSING', counts)
  return Array.from({ length: keyCount }, (_, index) =>
    atPath(`[${index}]`, () => {
      const item = readOwn(items, index)
      return item === null ? null : decodeLeafProof(context, item)
    }),
  )
}

/** Exactly one of the two forms of section 6. */
export function decodeLeafProof(context: TreeContext, leafProof: unknown): DecodedLeafProof {
  const [keyHex, leafIndex, proof, leftLeafIndex, leftProof, rightLeafIndex, rightProof] = readFields(
    leafProof,
    LEAF_PROOF_FIELDS,
  )
  const exists = isGiven(leafIndex) || isGiven(proof)
  const isAbsent = isGiven(leftLeafIndex) || isGiven(leftProof) || isGiven(rightLeafIndex) || isGiven(rightProof)
  if (exists && isAbsent) throw new ProofError('MALFORMED_RESPONSE', { found: 'both forms of a leaf proof' })
  if (!exists && !isAbsent) throw new ProofError('MALFORMED_RESPONSE', { found: 'neither form of a leaf proof' })

  const { keyLength, valueLength } = context.kind
  const key = atPath('key', () => hexToBytes(asString(keyHex), keyLength))
  const decode = (name: string, proof: unknown, indexName: string, index: unknown, valueLengths: readonly number[]) => {
    const leafIndex = atPath(indexName, () => decodeLeafIndex(index))
    const decoded = atPath(name, () => decodeProof(context, leafIndex, proof, valueLengths))
    atPath(indexName, () => verifyLeafIndex(decoded.path))
    return decoded
  }
  if (exists) return { claims: 'existence', key, proof: decode('proof', proof, 'leafIndex', leafIndex, [valueLength]) }
  // A neighbour may be HEAD or TAIL, whose value is 32 zero bytes.
  const valueLengths = [valueLength, DIGEST_LENGTH]
  const left = decode('leftProof', leftProof, 'leftLeafIndex', leftLeafIndex, valueLengths)
  const right = decode('rightProof', rightProof, 'rightLeafIndex', rightLeafIndex, valueLengths)
  return { claims: 'absence', key, left, right }
}

function decodeProof(
  context: TreeContext,
  leafIndex: number,
  proof: unknown,
  valueLengths: readonly number[],
): DecodedProof {
  const [value, proofRelatedNodes] = readFields(proof, PROOF_FIELDS)
  // The nodes first: their lengths tell the schemes apart, so a proof of the other scheme is called what it is.
  const nodes = atPath('proofRelatedNodes', () => decodeNodes(context, proofRelatedNodes))
  const valueNode = atPath('value', () => decodeValueField(context, value, valueLengths))
  return { valueNode, path: { leafIndex, ...nodes } }
}

/** A JSON number can be fractional, negative or past 2^53; an index is none of these. */
export function decodeLeafIndex(index: unknown): number {
  if (typeof index !== 'number') throw malformed('a number', index)
  if (!Number.isSafeInteger(index) || index < 0 || index >= MAX_LEAVES) {
    throw new ProofError('INDEX_OUT_OF_RANGE', { expected: 'an integer from 0 to 2^40 - 1', found: `${index}` })
  }
  // JSON can spell -0: it is 0.
  return index + 0
}

function decodeValueField({ scheme, kind, known }: TreeContext, value: unknown, lengths: readonly number[]): ValueNode {
  const hex = asString(value)
  const found = known.value.find(0, hex)
  if (found !== undefined) return found
  const bytes = hexToBytes(hex, knownLength(hex, lengths))
  // That of a sentinel: it is compared, not hashed.
  if (bytes.length !== kind.valueLength) return { value: bytes, preimage: bytes, digest: NOT_HASHED, fields: null }
  const node = decodeValue(kind, scheme, bytes)
  known.value.add(0, hex, node)
  return node
}
