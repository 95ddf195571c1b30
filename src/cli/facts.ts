import { keccak_256 } from '@noble/hashes/sha3.js'
import { FIELDS } from '../anchor/header.ts'
import { decodeRlp } from '../anchor/rlp.ts'
import { encodeHeader, verifyHeader } from '../anchor.ts'
import { bytesToBigint, bytesToHex, hexLength, hexToBytes } from '../bytes.ts'
import { decodeAccount, errorMeanings, ProofError, type Scheme } from '../index.ts'
import { decodeLeafIndex } from '../proof/decode.ts'
import { noNodes } from '../proof/known-nodes.ts'
import { decodeNodes } from '../proof/nodes.ts'
import { knownLength } from '../proof/read.ts'
import { accountEntry, storageEntry } from '../tree/entry.ts'
import { DIGEST_LENGTH, HEAD_INDEX, type Leaf, TAIL_INDEX } from '../tree/leaf.ts'
import { LEAF } from '../tree/path.ts'
import { schemeNamed } from './case.ts'
import { UsageError } from './command.ts'
import { isBundle } from './evidence.ts'
import { isEvidenceVector } from './evidence-vector.ts'
import { formatTime } from './report.ts'
import { isObject, show } from './value.ts'

/** What a file says, part by part. Nothing that it holds is passed on whole: it can be deep enough to break a printer. */
export type Fact = string | number | bigint | boolean | null | Facts
export interface Facts {
  [name: string]: Fact
}

/** What could not be decoded, and where. */
export interface Problem {
  readonly path: string
  readonly message: string
}

export interface Inspection {
  readonly kind: string
  readonly facts: Facts
  readonly problems: readonly Problem[]
}

type Fields = Readonly<Record<string, unknown>>

/** More of a kind are counted, not listed. */
const MAX_ITEMS = 1000

/** Takes apart what can be taken apart, and notes what cannot. @throws UsageError when it is nothing that is known */
export function inspectContent(content: unknown): Inspection {
  const problems: Problem[] = []
  const inspector = inspectorOf(problems)
  const { kind, facts } = inspectDocument(inspector, content)
  return { kind, facts, problems }
}

function inspectDocument(inspector: Inspector, content: unknown): { kind: string; facts: Facts } {
  if (!isObject(content)) throw new UsageError('it is no JSON object')
  if (isBundle(content)) return { kind: 'evidence bundle', facts: inspectBundle(inspector, '', content) }
  if (isEvidenceVector(content)) return { kind: 'evidence vector', facts: inspectEvidenceVector(inspector, content) }
  const { scheme, answer, result, expected } = content
  const guess = schemeOf(scheme)
  if (Object.hasOwn(content, 'jsonrpc')) {
    return { kind: 'JSON-RPC response', facts: inspectAnswer(inspector, '', content, guess) }
  }
  const stated = () => pick(content, ['description', 'flag', 'scheme', 'stateRoot', 'address', 'storageKeys'])
  if (Object.hasOwn(content, 'answer')) {
    const facts = { ...stated(), answer: inspectAnswer(inspector, 'answer', answer, guess) }
    return { kind: 'vector', facts: { ...facts, ...inspectExpected(expected) } }
  }
  if (Object.hasOwn(content, 'result')) {
    return { kind: 'recording', facts: { ...stated(), result: inspectAnswer(inspector, 'result', result, guess) } }
  }
  if (Object.hasOwn(content, 'accountProof') || Object.hasOwn(content, 'storageProofs')) {
    return { kind: 'answer', facts: inspectAnswer(inspector, '', content, guess) }
  }
  throw new UsageError('it is no bundle, answer, JSON-RPC response, recording or vector')
}

/** Collects what goes wrong and goes on. */
interface Inspector {
  /** What `decode` returns, or nothing when it throws a ProofError. */
  attempt<T>(path: string, decode: () => T): T | undefined
  /** The fields of an object; none when it is no object. */
  fields(path: string, value: unknown): Fields
  /** The first items of an array; none when it is no array. */
  items(path: string, value: unknown): readonly unknown[]
}

function inspectorOf(problems: Problem[]): Inspector {
  const expectShape = (path: string, expected: string, value: unknown) => {
    problems.push({ path, message: `expected ${expected}, found ${show(value)}` })
  }
  return {
    attempt(path, decode) {
      try {
        return decode()
      } catch (error) {
        if (!(error instanceof ProofError)) throw error
        const { code, expected, found } = error
        const facts = [expected && `expected ${expected}`, found && `found ${found}`].filter(Boolean).join(', ')
        problems.push({ path: join(path, error.path), message: `${code}: ${facts || errorMeanings[code]}` })
        return undefined
      }
    },
    fields(path, value) {
      if (isObject(value)) return value
      expectShape(path, 'an object', value)
      return {}
    },
    items(path, value) {
      if (Array.isArray(value)) return value.slice(0, MAX_ITEMS)
      expectShape(path, 'an array', value)
      return []
    },
  }
}

const join = (path: string, rest: string): string =>
  path === '' || rest === '' || rest.startsWith('[') ? `${path}${rest}` : `${path}.${rest}`

/** Those of the named fields that are there. Of a list, its items. */
function pick(fields: Fields, names: readonly string[]): Facts {
  const given = names.filter(name => Object.hasOwn(fields, name))
  return Object.fromEntries(
    given.map(name => {
      const value = fields[name]
      return [name, Array.isArray(value) ? listItems(value.slice(0, MAX_ITEMS).map(show), value) : show(value)]
    }),
  )
}

/** Numbered; when there were more than were looked at, it says how many. */
function listItems(facts: readonly Fact[], all: unknown): Facts {
  const more = Array.isArray(all) ? all.length - facts.length : 0
  return { ...Object.fromEntries(facts.map((fact, index) => [`[${index}]`, fact])), ...(more > 0 && { more }) }
}

const schemeOf = (name: unknown): Scheme | undefined =>
  name === 'mimc' || name === 'poseidon2' ? schemeNamed(name) : undefined

function inspectBundle(inspector: Inspector, path: string, content: unknown): Facts {
  const bundle = inspector.fields(path, content)
  const { rollup, l2BlockNumber, l1, request, answer, scheme } = bundle
  const isQuantity = typeof l2BlockNumber === 'string' && /^0x[0-9a-f]{1,16}$/i.test(l2BlockNumber)
  return {
    ...pick(bundle, ['version', 'scheme']),
    rollup: pick(inspector.fields(join(path, 'rollup'), rollup), ['name', 'address']),
    l2BlockNumber: isQuantity ? BigInt(l2BlockNumber) : show(l2BlockNumber),
    request: pick(inspector.fields(join(path, 'request'), request), ['address', 'storageKeys']),
    ...((l1 ?? null) !== null && { l1: inspectL1(inspector, join(path, 'l1'), l1) }),
    answer: inspectAnswer(inspector, join(path, 'answer'), answer, schemeOf(scheme)),
  }
}

function inspectL1(inspector: Inspector, path: string, l1: unknown): Facts {
  const { header, proof } = inspector.fields(path, l1)
  return {
    ...(header !== undefined && { header: inspectHeader(inspector, join(path, 'header'), header) }),
    ...(proof !== undefined && { proof: inspectEthProof(inspector, join(path, 'proof'), proof) }),
  }
}

function inspectHeader(inspector: Inspector, path: string, header: unknown): Facts {
  const bytes = inspector.attempt(path, () => decodeHex(header))
  if (bytes === undefined) return { header: show(header) }
  const hash = bytesToHex(keccak_256(bytes))
  // Verified against its own hash, which says no more than that it is a header.
  const block = inspector.attempt(path, () => verifyHeader(header, hash))
  if (block === undefined) return { hash }
  const items = decodeRlp(bytes)
  const fields = FIELDS.flatMap(([name, { kind }], index): [string, Fact][] => {
    const item = items[index]
    return item instanceof Uint8Array ? [[name, kind === 'integer' ? bytesToBigint(item) : bytesToHex(item)]] : []
  })
  return { hash, ...Object.fromEntries(fields), timestamp: formatTime(block.timestamp) }
}

/** @param lengths in bytes; any when left out. @throws ProofError */
function decodeHex(value: unknown, lengths?: readonly number[]): Uint8Array {
  if (typeof value !== 'string') throw new ProofError('BAD_HEX', { expected: 'a string', found: show(value) })
  return hexToBytes(value, lengths ? knownLength(value, lengths) : hexLength(value))
}

/** An eth_getProof answer: what stands beside its nodes. */
function inspectEthProof(inspector: Inspector, path: string, content: unknown): Facts {
  const proof = inspector.fields(path, content)
  const { accountProof, storageProof } = proof
  const slots = inspector.items(join(path, 'storageProof'), storageProof).map((item, index) => {
    const slot = inspector.fields(join(path, `storageProof[${index}]`), item)
    const { proof: nodes } = slot
    return { ...pick(slot, ['key', 'value']), nodes: show(nodes) }
  })
  return {
    ...pick(proof, ['address', 'nonce', 'balance', 'storageHash', 'codeHash']),
    accountProof: show(accountProof),
    storageProof: listItems(slots, storageProof),
  }
}

/** A rollup_getProof answer, bare or in a JSON-RPC response. */
function inspectAnswer(inspector: Inspector, path: string, answer: unknown, scheme: Scheme | undefined): Facts {
  const fields = inspector.fields(path, answer)
  const { error, result } = fields
  const response = pick(fields, ['jsonrpc', 'id'])
  if (error !== undefined && error !== null) {
    return { ...response, error: pick(inspector.fields(join(path, 'error'), error), ['code', 'message']) }
  }
  if (result === undefined) return { ...response, ...inspectResult(inspector, path, fields, scheme) }
  const resultPath = join(path, 'result')
  const inner = inspector.fields(resultPath, result)
  return { ...response, result: inspectResult(inspector, resultPath, inner, scheme) }
}

function inspectResult(inspector: Inspector, path: string, answer: Fields, scheme: Scheme | undefined): Facts {
  const { accountProof, storageProofs, storageProof } = answer
  if (Array.isArray(accountProof) && storageProof !== undefined) return inspectEthProof(inspector, path, answer)
  const inspectSlot = (proof: unknown, index: number): Fact =>
    proof === null ? null : inspectLeafProof(inspector, join(path, `storageProofs[${index}]`), proof, 'slot', scheme)
  return {
    accountProof: inspectLeafProof(inspector, join(path, 'accountProof'), accountProof, 'account', scheme),
    storageProofs: listItems(
      inspector.items(join(path, 'storageProofs'), storageProofs).map(inspectSlot),
      storageProofs,
    ),
  }
}

const PROOFS = [
  ['leafIndex', 'proof'],
  ['leftLeafIndex', 'leftProof'],
  ['rightLeafIndex', 'rightProof'],
] as const

type EntryName = 'account' | 'slot'

function inspectLeafProof(
  inspector: Inspector,
  path: string,
  content: unknown,
  entry: EntryName,
  scheme: Scheme | undefined,
): Facts {
  const leafProof = inspector.fields(path, content)
  const has = (...names: string[]) => names.some(name => (leafProof[name] ?? null) !== null)
  const exists = has('leafIndex', 'proof')
  const isAbsent = has('leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof')
  const { key } = leafProof
  const { keyLength } = entry === 'account' ? accountEntry : storageEntry
  inspector.attempt(join(path, 'key'), () => decodeHex(key, [keyLength]))
  const facts: Facts = {
    key: show(key),
    claims: exists === isAbsent ? (exists ? 'both presence and absence' : 'nothing') : exists ? 'presence' : 'absence',
  }
  for (const [indexName, name] of PROOFS) {
    if (!has(indexName, name)) continue
    const index = inspector.attempt(join(path, indexName), () => decodeLeafIndex(leafProof[indexName]))
    facts[indexName] = index === undefined ? show(leafProof[indexName]) : nameIndex(index)
    const proof = inspector.fields(join(path, name), leafProof[name])
    facts[name] = inspectProof(inspector, join(path, name), proof, entry, scheme ?? guessScheme(proof))
  }
  return facts
}

function nameIndex(index: number): string {
  const name = index === HEAD_INDEX ? ' (HEAD)' : index === TAIL_INDEX ? ' (TAIL)' : ''
  return `${index}${name}`
}

/** The length of the leaf tells the schemes apart. */
function guessScheme({ proofRelatedNodes }: Fields): Scheme | undefined {
  const leaf: unknown = Array.isArray(proofRelatedNodes) ? proofRelatedNodes[LEAF] : undefined
  const length = typeof leaf === 'string' ? leaf.length : 0
  return length === 2 + 2 * 128 ? schemeNamed('mimc') : length === 2 + 2 * 192 ? schemeNamed('poseidon2') : undefined
}

function inspectProof(
  inspector: Inspector,
  path: string,
  { value, proofRelatedNodes }: Fields,
  entry: EntryName,
  scheme: Scheme | undefined,
): Facts {
  const accountLength = accountEntry.valueLength
  const lengths = entry === 'account' ? [accountLength, DIGEST_LENGTH] : [storageEntry.valueLength]
  const bytes = inspector.attempt(join(path, 'value'), () => decodeHex(value, lengths))
  const account =
    scheme &&
    bytes?.length === accountLength &&
    inspector.attempt(join(path, 'value'), () => decodeAccount(scheme, bytesToHex(bytes)))
  const leafPath = inspector.attempt(join(path, 'proofRelatedNodes'), () => {
    if (scheme) return inspectPath(scheme, proofRelatedNodes)
    throw new ProofError('WRONG_LENGTH', { path: `[${LEAF}]`, expected: '128 bytes (mimc) or 192 bytes (poseidon2)' })
  })
  return {
    value: account ? { ...account } : show(value),
    ...(leafPath ?? { proofRelatedNodes: show(proofRelatedNodes) }),
  }
}

/** @throws ProofError */
function inspectPath(scheme: Scheme, nodes: unknown): Facts {
  const { top, siblingLeaf, leafNode } = decodeNodes({ scheme, known: noNodes }, nodes)
  return {
    scheme: scheme.name,
    nextFreeNode: top.nextFreeNode,
    subRoot: bytesToHex(top.subRoot),
    leaf: describeLeaf(leafNode.leaf),
    siblingLeaf: siblingLeaf ? describeLeaf(siblingLeaf.leaf) : 'none',
  }
}

const describeLeaf = ({ prev, next, hKey, hVal }: Leaf): Facts => ({
  prev: nameIndex(prev),
  next: nameIndex(next),
  hKey: bytesToHex(hKey),
  hVal: bytesToHex(hVal),
})

function inspectEvidenceVector(inspector: Inspector, vector: Fields): Facts {
  const { operation, claim, bundle, block, expected } = vector
  const stated = pick(vector, ['description', 'flag', 'operation', 'scheme', 'code', 'codeHash'])
  if (operation === 'encodeHeader') {
    const header = inspector.attempt('block', () => encodeHeader(block))
    const facts = header === undefined ? show(block) : inspectHeader(inspector, 'block', header)
    return { ...stated, block: facts, ...inspectExpected(expected) }
  }
  if (operation !== 'verifyEvidence') return { ...stated, ...inspectExpected(expected) }
  const { rollup, trusted } = isObject(claim) ? claim : {}
  return {
    ...stated,
    claim: {
      ...pick(isObject(claim) ? claim : {}, ['l2BlockNumber', 'address', 'storageKeys']),
      rollup: pick(isObject(rollup) ? rollup : {}, ['name', 'address']),
      trusted: pick(isObject(trusted) ? trusted : {}, ['l1BlockHash', 'l1StateRoot', 'l2StateRoot']),
    },
    bundle: inspectBundle(inspector, 'bundle', bundle),
    ...inspectExpected(expected),
  }
}

function inspectExpected(expected: unknown): Facts {
  return { expected: isObject(expected) ? pick(expected, ['valid', 'code', 'path']) : show(expected) }
}
