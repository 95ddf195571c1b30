import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeHeader, FIELDS, verifyHeader } from '../anchor/header.ts'
import { decodeRlp } from '../anchor/rlp.ts'
import { decodeBeacon } from '../beacon/decode.ts'
import { bytesToBigint, bytesToHex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { decodeAccount } from '../proof/leaf-api.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { Leaf } from '../tree/leaf.ts'
import { formOf, guessSchemeOfPath, type LeafForm, schemeNamed } from './answer.ts'
import { DocumentError } from './error.ts'
import { parseNumber } from './evidence.ts'
import { type CallFile, isBundleFile, isCallBundle, isCallFile, readInputFile } from './input-file.ts'
import {
  DIGEST_LENGTH,
  decodeHex,
  decodeLeafIndex,
  describeDetails,
  LEAF_NODE,
  nameLeafIndex,
  readNodes,
  treeLengths,
} from './layout.ts'
import { type Fields, fieldIn, fieldsOf, isGiven, isObject, show } from './value.ts'
import { formatTime } from './wording.ts'

/** What a file says, part by part. No part is passed on whole, because deep nesting could break the code that prints it. */
export type UnverifiedField = string | number | bigint | boolean | null | UnverifiedFields
export interface UnverifiedFields {
  [name: string]: UnverifiedField
}

/** What could not be decoded, and where. */
export interface Problem {
  readonly path: string
  readonly message: string
}

export interface Inspection {
  readonly kind: string
  readonly fields: UnverifiedFields
  readonly problems: readonly Problem[]
}

/** Maximum number of items to list. Any more are only counted. */
const MAX_ITEMS = 1000

/** Decodes what can be decoded, and notes what cannot. @throws DocumentError if the kind of file is unknown */
export function inspectContent(content: unknown): Inspection {
  const problems: Problem[] = []
  const inspector = inspectorOf(problems)
  const { kind, fields } = inspectDocument(inspector, content)
  return { kind, fields, problems }
}

function inspectDocument(inspector: Inspector, content: unknown): { kind: string; fields: UnverifiedFields } {
  if (!isObject(content)) throw new DocumentError('it is not a JSON object')
  const file = readInputFile(content)
  const { kind } = file
  const all = fieldsOf(content)
  if (isCallBundle(file)) return { kind: 'call as evidence', fields: inspectCallBundle(inspector, content) }
  if (isCallFile(file)) return { kind: 'evidence vector', fields: inspectCall(inspector, file) }
  if (isBundleFile(file)) {
    return { kind, fields: file.claim ? inspectEvidenceVector(inspector, all) : inspectBundle(inspector, '', content) }
  }
  if (kind === 'unknown') throw new DocumentError('it is not a bundle, answer, JSON-RPC response, recording or vector')
  const { scheme, expected } = all
  const guess = schemeNamed(scheme)
  if (kind === 'vector' || kind === 'recording') {
    const part = kind === 'vector' ? 'answer' : 'result'
    const stated = pick(all, ['description', 'flag', 'scheme', 'stateRoot', 'address', 'storageKeys'])
    const fields = { ...stated, [part]: inspectAnswer(inspector, part, file.answer, guess) }
    return { kind, fields: { ...fields, ...(kind === 'vector' && inspectExpected(expected)) } }
  }
  return { kind, fields: inspectAnswer(inspector, '', content, guess) }
}

/** Collects problems instead of stopping at the first one. */
interface Inspector {
  /** The result of `decode`; undefined if it throws a ProofError. */
  attempt<T>(path: string, decode: () => T): T | undefined
  /** The fields of an object; empty for any other value. */
  fields(path: string, value: unknown): Fields
  /** The first items of an array; empty for any other value. */
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
        problems.push({ path: join(path, error.path), message: `${error.code}: ${describeDetails(error)}` })
        return undefined
      }
    },
    fields(path, value) {
      if (isObject(value)) return fieldsOf(value)
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

/** The named fields, if present. A list becomes its items. */
function pick(fields: Fields, names: readonly string[]): UnverifiedFields {
  const given = names.filter(name => Object.hasOwn(fields, name))
  return Object.fromEntries(
    given.map(name => {
      const value = fields[name]
      return [name, Array.isArray(value) ? listItems(value.slice(0, MAX_ITEMS).map(show), value) : show(value)]
    }),
  )
}

/** Items by index. If `all` has further items, `more` says how many. */
function listItems(items: readonly UnverifiedField[], all: unknown): UnverifiedFields {
  const more = Array.isArray(all) ? all.length - items.length : 0
  return { ...Object.fromEntries(items.map((item, index) => [`[${index}]`, item])), ...(more > 0 && { more }) }
}

function inspectBundle(inspector: Inspector, path: string, content: unknown): UnverifiedFields {
  const bundle = inspector.fields(path, content)
  const { rollup, l2BlockNumber, consensus, l1, request, answer, scheme } = bundle
  return {
    ...pick(bundle, ['version', 'scheme']),
    rollup: pick(inspector.fields(join(path, 'rollup'), rollup), ['name', 'address']),
    l2BlockNumber: parseNumber(l2BlockNumber, 64) ?? show(l2BlockNumber),
    request: pick(inspector.fields(join(path, 'request'), request), ['address', 'storageKeys']),
    ...(isGiven(consensus) && { consensus: inspectConsensus(inspector, join(path, 'consensus'), consensus) }),
    ...(isGiven(l1) && { l1: inspectL1(inspector, join(path, 'l1'), l1) }),
    answer: inspectAnswer(inspector, join(path, 'answer'), answer, schemeNamed(scheme)),
  }
}

/** Slots, committee size and signers of each beacon API answer. The root of the first header is the checkpoint. */
function inspectConsensus(inspector: Inspector, path: string, content: unknown): UnverifiedFields {
  const consensus = inspector.fields(path, content)
  const { bootstrap, updates, finality } = consensus
  const steps = inspector
    .items(join(path, 'updates'), updates)
    .map((update, index) => inspectSigned(inspector, join(path, `updates[${index}]`), update))
  return {
    ...pick(consensus, ['network']),
    bootstrap: inspectBootstrap(inspector, join(path, 'bootstrap'), bootstrap),
    updates: listItems(steps, updates),
    ...(isGiven(finality) && { finality: inspectSigned(inspector, join(path, 'finality'), finality) }),
  }
}

function inspectBootstrap(inspector: Inspector, path: string, content: unknown): UnverifiedFields {
  const { version, data } = inspector.fields(path, content)
  const { header, current_sync_committee } = inspector.fields(join(path, 'data'), data)
  const { beacon } = fieldsOf(header)
  const root = inspector.attempt(join(path, 'data.header.beacon'), () => bytesToHex(decodeBeacon(beacon).root))
  const { pubkeys } = fieldsOf(current_sync_committee)
  return {
    ...(isGiven(version) && { version: show(version) }),
    ...(root !== undefined && { beaconBlockRoot: root }),
    ...inspectBeaconHeader(header),
    committee: show(pubkeys),
  }
}

function inspectSigned(inspector: Inspector, path: string, content: unknown): UnverifiedFields {
  const { version, data } = inspector.fields(path, content)
  const { attested_header, finalized_header, sync_aggregate, signature_slot, next_sync_committee } = inspector.fields(
    join(path, 'data'),
    data,
  )
  const { sync_committee_bits: bits } = fieldsOf(sync_aggregate)
  const digits = typeof bits === 'string' && bits.length === 130 ? [...bits.slice(2)] : []
  const signers = digits.reduce(
    (sum, digit) => sum + (Number.parseInt(digit, 16).toString(2).match(/1/g) ?? []).length,
    0,
  )
  return {
    ...(isGiven(version) && { version: show(version) }),
    attested: inspectBeaconHeader(attested_header),
    finalized: inspectBeaconHeader(finalized_header),
    signatureSlot: show(signature_slot),
    signers,
    ...(isGiven(next_sync_committee) && { nextCommittee: show(fieldIn(next_sync_committee, 'pubkeys')) }),
  }
}

function inspectBeaconHeader(header: unknown): UnverifiedFields {
  const { beacon, execution, execution_block_hash } = fieldsOf(header)
  const { slot } = fieldsOf(beacon)
  const { block_hash, block_number } = fieldsOf(execution)
  return {
    slot: show(slot),
    l1BlockHash: show(execution_block_hash ?? block_hash),
    ...(isGiven(block_number) && { l1BlockNumber: show(block_number) }),
  }
}

/** Inspects each answer, but only counts the codes. */
function inspectCallBundle(inspector: Inspector, content: unknown): UnverifiedFields {
  const bundle = inspector.fields('', content)
  const { rollup, l2BlockNumber, l1, environment, call, answers, codes, scheme } = bundle
  const { blockHashes, ...values } = inspector.fields('environment', environment)
  const listed = inspector.items('answers', answers).map((item, index) => {
    const path = `answers[${index}]`
    const entry = inspector.fields(path, item)
    const { answer } = entry
    const parts = inspectAnswer(inspector, join(path, 'answer'), answer, schemeNamed(scheme))
    return { ...pick(entry, ['address', 'storageKeys']), answer: parts }
  })
  return {
    ...pick(bundle, ['version', 'kind', 'scheme']),
    rollup: pick(inspector.fields('rollup', rollup), ['name', 'address']),
    l2BlockNumber: parseNumber(l2BlockNumber, 64) ?? show(l2BlockNumber),
    ...pick(bundle, ['chainId', 'hardfork']),
    call: pick(inspector.fields('call', call), ['from', 'to', 'data', 'value', 'gas']),
    environment: {
      ...pick(values, ['timestamp', 'gasLimit', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao']),
      ...(isGiven(blockHashes) && { blockHashes: show(blockHashes) }),
    },
    ...(isGiven(l1) && { l1: inspectL1(inspector, 'l1', l1) }),
    answers: listItems(listed, answers),
    codes: show(codes),
  }
}

function inspectL1(inspector: Inspector, path: string, l1: unknown): UnverifiedFields {
  const { header, proof, finalizedState } = inspector.fields(path, l1)
  return {
    ...(header !== undefined && { header: inspectHeader(inspector, join(path, 'header'), header) }),
    ...(proof !== undefined && { proof: inspectEthProof(inspector, join(path, 'proof'), proof) }),
    ...(finalizedState !== undefined && {
      finalizedState: inspectFinalizedState(inspector, join(path, 'finalizedState'), finalizedState),
    }),
  }
}

function inspectFinalizedState(inspector: Inspector, path: string, value: unknown): UnverifiedFields {
  const { messageNumber, forcedTransactionNumber, timestamp } = inspector.fields(path, value)
  const spell = (number: unknown) => parseNumber(number, 256) ?? show(number)
  const time = parseNumber(timestamp, 64)
  return {
    messageNumber: spell(messageNumber),
    ...(forcedTransactionNumber !== undefined && { forcedTransactionNumber: spell(forcedTransactionNumber) }),
    timestamp: time === null ? show(timestamp) : `${time} (${formatTime(time)})`,
  }
}

function inspectHeader(inspector: Inspector, path: string, header: unknown): UnverifiedFields {
  const bytes = inspector.attempt(path, () => decodeHex(header))
  if (bytes === undefined) return { header: show(header) }
  const hash = bytesToHex(keccak_256(bytes))
  // Verifying it against its own hash shows only that it is a header.
  const block = inspector.attempt(path, () => verifyHeader(header, hash))
  if (block === undefined) return { hash }
  const items = decodeRlp(bytes)
  const fields = FIELDS.flatMap(([name, { kind }], index): [string, UnverifiedField][] => {
    const item = items[index]
    return item instanceof Uint8Array ? [[name, kind === 'integer' ? bytesToBigint(item) : bytesToHex(item)]] : []
  })
  return { hash, ...Object.fromEntries(fields), timestamp: formatTime(block.timestamp) }
}

/** The fields of an eth_getProof answer, with only the number of its nodes. */
function inspectEthProof(inspector: Inspector, path: string, content: unknown): UnverifiedFields {
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
function inspectAnswer(
  inspector: Inspector,
  path: string,
  answer: unknown,
  scheme: Scheme | undefined,
): UnverifiedFields {
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

function inspectResult(
  inspector: Inspector,
  path: string,
  answer: Fields,
  scheme: Scheme | undefined,
): UnverifiedFields {
  const { accountProof, storageProofs, storageProof } = answer
  if (Array.isArray(accountProof) && storageProof !== undefined) return inspectEthProof(inspector, path, answer)
  const inspectSlot = (proof: unknown, index: number): UnverifiedField =>
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
): UnverifiedFields {
  const leafProof = inspector.fields(path, content)
  const { key } = leafProof
  inspector.attempt(join(path, 'key'), () => decodeHex(key, [treeLengths[entry].key]))
  const fields: UnverifiedFields = { key: show(key), claims: claimWords[formOf(leafProof)] }
  for (const [indexName, name] of PROOFS) {
    if (!isGiven(leafProof[indexName]) && !isGiven(leafProof[name])) continue
    const index = inspector.attempt(join(path, indexName), () => decodeLeafIndex(leafProof[indexName]))
    fields[indexName] = index === undefined ? show(leafProof[indexName]) : nameLeafIndex(index)
    const proof = inspector.fields(join(path, name), leafProof[name])
    fields[name] = inspectProof(inspector, join(path, name), proof, entry, scheme ?? guessSchemeOfPath(proof))
  }
  return fields
}

const claimWords: Readonly<Record<LeafForm, string>> = {
  existence: 'existence',
  'non-existence': 'non-existence',
  both: 'both existence and non-existence',
  neither: 'nothing',
}

function inspectProof(
  inspector: Inspector,
  path: string,
  { value, proofRelatedNodes }: Fields,
  entry: EntryName,
  scheme: Scheme | undefined,
): UnverifiedFields {
  const { value: valueLength } = treeLengths[entry]
  // A neighbour may be HEAD or TAIL, whose value is 32 bytes.
  const lengths = [valueLength, DIGEST_LENGTH]
  const bytes = inspector.attempt(join(path, 'value'), () => decodeHex(value, lengths))
  const account =
    scheme &&
    entry === 'account' &&
    bytes?.length === valueLength &&
    inspector.attempt(join(path, 'value'), () => decodeAccount(scheme, bytesToHex(bytes)))
  const leafPath = inspector.attempt(join(path, 'proofRelatedNodes'), () => {
    if (scheme) return inspectPath(scheme, proofRelatedNodes)
    throw new ProofError('WRONG_LENGTH', {
      path: `[${LEAF_NODE}]`,
      expected: '128 bytes (mimc) or 192 bytes (poseidon2)',
    })
  })
  return {
    value: account ? { ...account } : show(value),
    ...(leafPath ?? { proofRelatedNodes: show(proofRelatedNodes) }),
  }
}

/** @throws ProofError */
function inspectPath(scheme: Scheme, nodes: unknown): UnverifiedFields {
  const { rootNode, siblingLeaf, leafNode } = readNodes(scheme, nodes)
  return {
    scheme: scheme.name,
    nextFreeNode: rootNode.nextFreeNode,
    subRoot: bytesToHex(rootNode.subRoot),
    leaf: describeLeaf(leafNode.leaf),
    siblingLeaf: siblingLeaf ? describeLeaf(siblingLeaf.leaf) : 'none',
  }
}

const describeLeaf = ({ prev, next, hKey, hVal }: Leaf): UnverifiedFields => ({
  prev: nameLeafIndex(prev),
  next: nameLeafIndex(next),
  hKey: bytesToHex(hKey),
  hVal: bytesToHex(hVal),
})

const VECTOR_FIELDS = ['description', 'flag', 'operation', 'scheme', 'code', 'codeHash'] as const

function inspectCall(inspector: Inspector, { operation, fields, expected }: CallFile): UnverifiedFields {
  const stated = { ...pick(fields, VECTOR_FIELDS), ...inspectExpected(expected) }
  if (operation !== 'encodeHeader') return stated
  const { block } = fields
  const header = inspector.attempt('block', () => encodeHeader(block))
  return { ...stated, block: header === undefined ? show(block) : inspectHeader(inspector, 'block', header) }
}

function inspectEvidenceVector(inspector: Inspector, vector: Fields): UnverifiedFields {
  const { claim, bundle, expected } = vector
  const fields = fieldsOf(claim)
  const { rollup, trusted } = fields
  return {
    ...pick(vector, VECTOR_FIELDS),
    claim: {
      ...pick(fields, ['l2BlockNumber', 'address', 'storageKeys']),
      rollup: pick(fieldsOf(rollup), ['name', 'address']),
      trusted: pick(fieldsOf(trusted), ['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot']),
    },
    bundle: inspectBundle(inspector, 'bundle', bundle),
    ...inspectExpected(expected),
  }
}

function inspectExpected(expected: unknown): UnverifiedFields {
  return { expected: isObject(expected) ? pick(fieldsOf(expected), ['valid', 'code', 'path']) : show(expected) }
}
