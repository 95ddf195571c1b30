import { hexToBytes, quote } from '../bytes.ts'
import { ProofError, within } from '../errors.ts'
import type { EntryKind } from '../tree/entry.ts'
import { accountEntry, storageEntry } from '../tree/entry.ts'
import { DIGEST_LENGTH, MAX_LEAVES } from '../tree/leaf.ts'
import { decodePath, type Path, verifyLeafIndex } from '../tree/path.ts'
import { type Context, decodeNodes } from './nodes.ts'
import { asArray, asString, isArray, isGiven, knownLength, lengthOf, malformed, readFields, readOwn } from './read.ts'

const RESULT_FIELDS = ['accountProof', 'storageProofs', 'storageHash', 'storageProof'] as const
const EXISTENCE_FIELDS = ['leafIndex', 'proof'] as const
const ABSENCE_FIELDS = ['leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof'] as const

/** A `Proof` of the answer, decoded and canonical. Nothing in it has been hashed or compared yet. */
export interface DecodedProof {
  readonly value: Uint8Array
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
export function decodeAnswer(context: Context, answer: unknown, keyCount: number): DecodedAnswer {
  const result = readFields(openResponse(answer), RESULT_FIELDS)
  if ((isGiven(result.storageHash) || isGiven(result.storageProof)) && isArray(result.accountProof)) {
    throw new ProofError('FOREIGN_PROOF')
  }
  const accountProof = within('accountProof', () => decodeLeafProof(context, accountEntry, result.accountProof))
  const storageProofs = within('storageProofs', () => decodeStorageProofs(context, result.storageProofs, keyCount))
  return { accountProof, storageProofs }
}

/** The result inside a JSON-RPC response, or the answer itself when it is bare. */
function openResponse(answer: unknown): unknown {
  const { jsonrpc, result, error } = readFields(answer, ['jsonrpc', 'result', 'error'])
  if (isGiven(error)) throw rpcError(error)
  return isGiven(jsonrpc) || isGiven(result) ? result : answer
}

function rpcError(error: unknown): ProofError {
  const { code, message } =
    typeof error === 'object' ? within('error', () => readFields(error, ['code', 'message'])) : {}
  const quotedCode = typeof code === 'number' ? `${code}` : 'without a code'
  return new ProofError('RPC_ERROR', {
    path: 'error',
    found: typeof message === 'string' ? `error ${quotedCode}: ${quote(message)}` : `error ${quotedCode}`,
  })
}

function decodeStorageProofs(context: Context, proofs: unknown, keyCount: number): (DecodedLeafProof | null)[] {
  const items = asArray(proofs)
  const count = lengthOf(items)
  const counts = { expected: `${keyCount} for ${keyCount} requested keys`, found: `${count}` }
  if (count > keyCount) throw new ProofError('STORAGE_PROOF_UNEXPECTED', counts)
  // An empty list stands for an account without storage, whatever was asked for; whether it is one shows later.
  if (count === 0) return new Array<null>(keyCount).fill(null)
  if (count < keyCount) throw new ProofError('STORAGE_PROOF_MISSING', counts)
  return Array.from({ length: keyCount }, (_, index) =>
    within(`[${index}]`, () => {
      const item = readOwn(items, index)
      return item === null ? null : decodeLeafProof(context, storageEntry, item)
    }),
  )
}

/** Exactly one of the two forms of section 6. */
export function decodeLeafProof(context: Context, kind: EntryKind, leafProof: unknown): DecodedLeafProof {
  const fields = readFields(leafProof, ['key', ...EXISTENCE_FIELDS, ...ABSENCE_FIELDS])
  const exists = EXISTENCE_FIELDS.some(name => isGiven(fields[name]))
  const isAbsent = ABSENCE_FIELDS.some(name => isGiven(fields[name]))
  if (exists && isAbsent) throw new ProofError('MALFORMED_RESPONSE', { found: 'both forms of a leaf proof' })
  if (!exists && !isAbsent) throw new ProofError('MALFORMED_RESPONSE', { found: 'neither form of a leaf proof' })

  const key = within('key', () => hexToBytes(asString(fields.key), kind.keyLength))
  /** Decodes the proof in field `name`, whose leaf index is in field `indexName`. */
  const decodeAt = (
    name: keyof typeof fields,
    indexName: keyof typeof fields,
    valueLengths: readonly number[],
  ): DecodedProof => {
    const leafIndex = within(indexName, () => decodeLeafIndex(fields[indexName]))
    const proof = within(name, () => decodeProof(context, kind, leafIndex, fields[name], valueLengths))
    within(indexName, () => verifyLeafIndex(proof.path))
    return proof
  }
  if (exists) return { claims: 'existence', key, proof: decodeAt('proof', 'leafIndex', [kind.valueLength]) }
  // A neighbour may be HEAD or TAIL, whose value is 32 zero bytes.
  const valueLengths = [kind.valueLength, DIGEST_LENGTH]
  const left = decodeAt('leftProof', 'leftLeafIndex', valueLengths)
  const right = decodeAt('rightProof', 'rightLeafIndex', valueLengths)
  return { claims: 'absence', key, left, right }
}

function decodeProof(
  context: Context,
  kind: EntryKind,
  leafIndex: number,
  proof: unknown,
  valueLengths: readonly number[],
): DecodedProof {
  const fields = readFields(proof, ['value', 'proofRelatedNodes'])
  // The nodes first: their lengths tell the schemes apart, so a proof of the other scheme is called what it is.
  const nodes = within('proofRelatedNodes', () => decodeNodes(context, fields.proofRelatedNodes))
  const value = within('value', () => decodeValue(context, kind, fields.value, valueLengths))
  return { value, path: decodePath(context.scheme, leafIndex, nodes) }
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

function decodeValue(context: Context, kind: EntryKind, value: unknown, lengths: readonly number[]): Uint8Array {
  const hex = asString(value)
  const bytes = hexToBytes(hex, knownLength(hex, lengths))
  if (bytes.length === kind.valueLength) kind.verifyCanonical(context.scheme, bytes)
  return bytes
}
