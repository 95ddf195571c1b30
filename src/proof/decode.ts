import { decodeHexInto, hexLength, hexToBytes, quote } from '../bytes.ts'
import { ProofError, within } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { EntryKind } from '../tree/entry.ts'
import { accountEntry, storageEntry } from '../tree/entry.ts'
import { DIGEST_LENGTH, MAX_LEAVES } from '../tree/leaf.ts'
import { decodePath, NODE_COUNT, nodeLengths, type Path, verifyLeafIndex } from '../tree/path.ts'

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
export function decodeAnswer(scheme: Scheme, answer: unknown, keyCount: number): DecodedAnswer {
  const result = readFields(openResponse(answer), RESULT_FIELDS)
  if ((isGiven(result.storageHash) || isGiven(result.storageProof)) && isArray(result.accountProof)) {
    throw new ProofError('FOREIGN_PROOF')
  }
  const accountProof = within('accountProof', () => decodeLeafProof(scheme, accountEntry, result.accountProof))
  const storageProofs = within('storageProofs', () => decodeStorageProofs(scheme, result.storageProofs, keyCount))
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

function decodeStorageProofs(scheme: Scheme, proofs: unknown, keyCount: number): (DecodedLeafProof | null)[] {
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
      return item === null ? null : decodeLeafProof(scheme, storageEntry, item)
    }),
  )
}

/** Exactly one of the two forms of section 6. */
export function decodeLeafProof(scheme: Scheme, kind: EntryKind, leafProof: unknown): DecodedLeafProof {
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
    const proof = within(name, () => decodeProof(scheme, kind, leafIndex, fields[name], valueLengths))
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
  scheme: Scheme,
  kind: EntryKind,
  leafIndex: number,
  proof: unknown,
  valueLengths: readonly number[],
): DecodedProof {
  const fields = readFields(proof, ['value', 'proofRelatedNodes'])
  // The nodes first: their lengths tell the schemes apart, so a proof of the other scheme is called what it is.
  const nodes = within('proofRelatedNodes', () => decodeNodes(scheme, fields.proofRelatedNodes))
  const value = within('value', () => decodeValue(scheme, kind, fields.value, valueLengths))
  return { value, path: decodePath(scheme, leafIndex, nodes) }
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

function decodeValue(scheme: Scheme, kind: EntryKind, value: unknown, lengths: readonly number[]): Uint8Array {
  const hex = asString(value)
  const bytes = hexToBytes(hex, knownLength(hex, lengths))
  if (bytes.length === kind.valueLength) kind.verifyCanonical(scheme, bytes)
  return bytes
}

/** The 42 entries, joined: what `decodePath` takes. */
export function decodeNodes(scheme: Scheme, proofRelatedNodes: unknown): Uint8Array {
  const entries = asArray(proofRelatedNodes)
  const count = lengthOf(entries)
  if (count !== NODE_COUNT) throw new ProofError('WRONG_NODE_COUNT', { expected: '42 nodes', found: `${count}` })
  const nodes = Array.from({ length: NODE_COUNT }, (_, index) =>
    within(`[${index}]`, () => {
      const hex = asString(readOwn(entries, index))
      return { hex, length: knownLength(hex, nodeLengths(scheme, index)) }
    }),
  )
  const bytes = new Uint8Array(nodes.reduce((total, node) => total + node.length, 0))
  let offset = 0
  for (const [index, node] of nodes.entries()) {
    within(`[${index}]`, () => decodeHexInto(node.hex, bytes, offset))
    offset += node.length
  }
  return bytes
}

/** The length in bytes of `hex`, when it is one of `lengths`. */
function knownLength(hex: string, lengths: readonly number[]): number {
  const length = hexLength(hex)
  if (!lengths.includes(length)) {
    throw new ProofError('WRONG_LENGTH', { expected: `${lengths.join(' or ')} bytes`, found: `${length} bytes` })
  }
  return length
}

/** Reads each of the named own properties of an object once. */
function readFields<Name extends string>(source: unknown, names: readonly Name[]): Partial<Record<Name, unknown>> {
  if (typeof source !== 'object' || source === null || isArray(source)) throw malformed('an object', source)
  // Without a prototype: a field that is missing must not turn up on a polluted Object.prototype.
  const fields: Partial<Record<Name, unknown>> = Object.create(null)
  for (const name of names) fields[name] = readOwn(source, name)
  return fields
}

/** What is inherited counts as missing. */
function readOwn(source: object, name: PropertyKey): unknown {
  return guardReading(() => (Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined))
}

/** Every touch of a stranger's object goes through here: a getter or proxy can throw anything. */
function guardReading<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new ProofError('MALFORMED_RESPONSE', { found: 'an object that cannot be read' })
  }
}

/** Some serializers write null for a field that is not there. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Even this can throw: on a revoked proxy. */
const isArray = (value: unknown): value is readonly unknown[] => guardReading(() => Array.isArray(value))

function asArray(value: unknown): readonly unknown[] {
  if (!isArray(value)) throw malformed('an array', value)
  return value
}

/** A proxy around an array can say that its length is anything. */
function lengthOf(items: readonly unknown[]): number {
  const length = readOwn(items, 'length')
  if (typeof length !== 'number') throw malformed('an array', length)
  return length
}

function asString(value: unknown): string {
  if (typeof value !== 'string') throw malformed('a string', value)
  return value
}

function malformed(expected: string, value: unknown): ProofError {
  const found = isArray(value) ? 'an array' : value === undefined || value === null ? 'nothing' : `a ${typeof value}`
  return new ProofError('MALFORMED_RESPONSE', { expected, found })
}
