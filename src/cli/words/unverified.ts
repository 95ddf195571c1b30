import { bytesToBigint, bytesToHex } from '../../base/bytes.ts'
import { isRefusal, ProofError } from '../../base/errors.ts'
import { FIELDS, verifyHeader } from '../../verify/anchor/header.ts'
import { decodeRlp } from '../../verify/anchor/rlp.ts'
import { decodeBeacon } from '../../verify/beacon/decode.ts'
import type { EvidenceName } from '../../verify/evidence/names.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import type { Leaf } from '../../verify/tree/leaf.ts'
import { decodeAccount } from '../../verify/verifier/leaf-api.ts'
import { formOf, guessSchemeOfPath, isEthAnswer, leafPaths, schemeNamed } from './answer.ts'
import { DocumentError } from './error.ts'
import { MESSAGE_NUMBERS, parseNumber } from './evidence.ts'
import { holdsTraces, readInputFile } from './input-file.ts'
import { evidenceNames } from './kinds.ts'
import {
  DIGEST_LENGTH,
  decodeHex,
  decodeLeafIndex,
  describeDetails,
  LEAF_NODE,
  nameLeafIndex,
  readBytes,
  readNodes,
  treeLengths,
} from './layout.ts'
import { MAX_LISTED_ITEMS } from './limits.ts'
import { fieldIn, isGiven, isObject, itemsOf, show } from './value.ts'
import { formatTime } from './wording.ts'

/** What a file says, part by part. No part is passed on whole, because deep nesting could break the code that prints it. */
export type UnverifiedField = string | number | bigint | boolean | null | UnverifiedFields
export interface UnverifiedFields {
  [name: string]: UnverifiedField
}

/** What could not be decoded, and where. */
interface Problem {
  readonly path: string
  readonly message: string
}

/** Decodes what can be decoded, and notes what cannot. @throws DocumentError if the kind of file is unknown */
export function inspectContent(content: unknown) {
  if (!isObject(content)) throw new DocumentError('it is not a JSON object')
  const [kind, look] = lookAt(content)
  const problems: Problem[] = []
  return { kind, fields: look(partOf(problems, schemeNamed(fieldIn(content, 'scheme')), '', content)), problems }
}

/** What the file is, and how to look at it. @throws DocumentError */
function lookAt(content: unknown): [kind: string, look: Look<UnverifiedFields>] {
  if (holdsTraces(content)) return ['traces of the state manager', traces]
  const file = readInputFile(content)
  const { kind } = file
  switch (kind) {
    case 'function vector':
      return ['evidence vector', fields(vectorFields)]
    case 'evidence vector':
      return [kind, evidenceVector(evidenceLooks[file.evidence])]
    case 'evidence':
      return [evidenceNames[file.evidence].replace(/^an? /, ''), evidenceLooks[file.evidence]]
    case 'vector':
    case 'recording':
      return [kind, fields({ ...vectorFields, answer, result: answer })]
    case 'unknown':
      throw new DocumentError('it is not a bundle, answer, JSON-RPC response, recording or vector')
    default:
      return [kind, answer]
  }
}

/** A value of the file, at its path. Problems are collected, instead of stopping at the first one. */
interface Part {
  readonly value: unknown
  /** The hash scheme that the file states. */
  readonly scheme: HashScheme | undefined
  at(name: string): Part
  /** Notes a problem unless the value is what was expected. */
  expect(expected: string, isSo: boolean): void
  /** The items of a list, each with its index as its name. */
  items(): readonly (readonly [name: string, item: Part])[]
  /** The result of `decode`; undefined if it refuses, which is noted. */
  attempt<T>(decode: (value: unknown) => T): T | undefined
}

function partOf(problems: Problem[], scheme: HashScheme | undefined, path: string, value: unknown): Part {
  const join = (rest: string) => (path === '' || /^(\[|$)/.test(rest) ? `${path}${rest}` : `${path}.${rest}`)
  return {
    ...{ value, scheme },
    at: name => partOf(problems, scheme, join(name), fieldIn(value, name)),
    expect(expected, isSo) {
      if (!isSo) problems.push({ path, message: `expected ${expected}, found ${show(value)}` })
    },
    items: () =>
      itemsOf(value)
        .slice(0, MAX_LISTED_ITEMS)
        .map((item, index) => [`[${index}]`, partOf(problems, scheme, join(`[${index}]`), item)]),
    attempt(decode) {
      try {
        return decode(value)
      } catch (error) {
        if (!isRefusal(error)) throw error
        problems.push({ path: join(error.path), message: `${error.code}: ${describeDetails(error)}` })
        return undefined
      }
    },
  }
}

/** How to look at a part of a file. */
type Look<Field extends UnverifiedField = UnverifiedField> = (part: Part) => Field

/** The value; of a list or an object, only what it is. */
const size: Look = ({ value }) => show(value)

/** The items of a list, up to a limit, and how many `more` there are. */
const each =
  (look: Look): Look =>
  part => {
    part.expect('an array', Array.isArray(part.value))
    const more = itemsOf(part.value).length - MAX_LISTED_ITEMS
    return { ...Object.fromEntries(part.items().map(([name, item]) => [name, look(item)])), ...(more > 0 && { more }) }
  }

/** The value, or the items of a list. */
const text: Look = part => (Array.isArray(part.value) ? each(size)(part) : size(part))
const texts = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, text]))

/** A quantity of at most `bits` bits. */
const number =
  (bits: number): Look =>
  ({ value }) =>
    parseNumber(value, bits) ?? show(value)

/** The fields of an object that it has, and those that it needs. */
const fields =
  (looks: Readonly<Record<string, Look>>, ...needed: readonly string[]): Look<UnverifiedFields> =>
  part => {
    part.expect('an object', isObject(part.value))
    return Object.fromEntries(
      Object.entries(looks).flatMap(([name, look]) => {
        const field = part.at(name)
        return isGiven(field.value) || needed.includes(name) ? [[name, look(field)]] : []
      }),
    )
  }

const traces: Look<UnverifiedFields> = part => {
  const range = texts('zkParentStateRootHash', 'zkEndStateRootHash', 'zkStateManagerVersion')
  const look = fields({ ...range, zkStateMerkleProof: each(size) })
  const result = part.at('result')
  return look(isGiven(result.value) ? result : part)
}

/** Of an encoded header. */
const header: Look = part => {
  const bytes = part.attempt(decodeHex)
  if (bytes === undefined) return { header: size(part) }
  const hash = bytesToHex(keccak256(bytes))
  // Verifying it against its own hash shows only that it is a header.
  const block = part.attempt(hex => verifyHeader(hex, hash))
  if (block === undefined) return { hash }
  const items = decodeRlp(bytes)
  const named = FIELDS.flatMap(([name, [kind]], index): [string, UnverifiedField][] => {
    const item = items[index]
    return item instanceof Uint8Array ? [[name, kind === 'integer' ? bytesToBigint(item) : bytesToHex(item)]] : []
  })
  return { hash, ...Object.fromEntries(named), timestamp: formatTime(block.timestamp) }
}

/** An eth_getProof answer, with only the number of its nodes. */
const ethProof = fields(
  {
    ...texts('address', 'nonce', 'balance', 'storageHash', 'codeHash'),
    accountProof: size,
    storageProof: each(fields({ ...texts('key', 'value'), proof: size })),
  },
  'storageProof',
)

const time: Look = part => {
  const seconds = parseNumber(part.value, 64)
  return seconds === null ? size(part) : `${seconds} (${formatTime(seconds)})`
}

/** The root of the first one is what `--checkpoint` states. */
const beaconHeader = fields({
  beacon: part => ({
    slot: size(part.at('slot')),
    root: part.attempt(beacon => bytesToHex(decodeBeacon(beacon).root)) ?? 'none',
  }),
  execution: fields(texts('block_number', 'block_hash')),
  execution_block_hash: text,
})

/** How many of the 512 members signed. */
const signers: Look = part => {
  const bytes = readBytes(64, part.value)
  if (bytes === null) return size(part)
  const bits = [...bytes].flatMap(byte => [...byte.toString(2)])
  return `${bits.filter(bit => bit === '1').length} signers`
}

const committee = fields({ pubkeys: size })
const signed = fields({
  version: text,
  data: fields({
    ...{ attested_header: beaconHeader, finalized_header: beaconHeader, signature_slot: text },
    ...{ sync_aggregate: fields({ sync_committee_bits: signers }), next_sync_committee: committee },
  }),
})

/** The head of all evidence. */
const head = {
  ...texts('format', 'version', 'kind', 'scheme'),
  rollup: fields(texts('name', 'address')),
  l2BlockNumber: number(64),
  consensus: fields({
    network: text,
    bootstrap: fields({ version: text, data: fields({ header: beaconHeader, current_sync_committee: committee }) }),
    updates: each(signed),
    finality: signed,
  }),
  l1: fields({
    header,
    proof: ethProof,
    finalizedState: fields({ messageNumber: number(256), forcedTransactionNumber: number(256), timestamp: time }),
  }),
  l2Header: header,
}

type EntryName = 'account' | 'slot'

const leafProof =
  (entry: EntryName): Look =>
  part => {
    part.expect('an object', isObject(part.value))
    const key = part.at('key')
    key.attempt(value => decodeHex(value, [treeLengths[entry].key]))
    const found: UnverifiedFields = { key: size(key), claims: claimWords[formOf(part.value)] }
    for (const names of leafPaths) {
      const [index, proof] = [part.at(names.index), part.at(names.proof)]
      if (!isGiven(index.value) && !isGiven(proof.value)) continue
      const decoded = index.attempt(decodeLeafIndex)
      found[names.index] = decoded === undefined ? size(index) : nameLeafIndex(decoded)
      found[names.proof] = inspectProof(proof, entry)
    }
    return found
  }

const claimWords = {
  ...{ existence: 'existence', 'non-existence': 'non-existence' },
  ...{ both: 'both existence and non-existence', neither: 'nothing' },
} as const

function inspectProof(proof: Part, entry: EntryName): UnverifiedFields {
  proof.expect('an object', isObject(proof.value))
  const scheme = proof.scheme ?? guessSchemeOfPath(proof.value)
  const [value, nodes] = [proof.at('value'), proof.at('proofRelatedNodes')]
  const { value: length } = treeLengths[entry]
  // A neighbour may be HEAD or TAIL, whose value is 32 bytes.
  const bytes = value.attempt(hex => decodeHex(hex, [length, DIGEST_LENGTH]))
  const isAccount = scheme && entry === 'account' && bytes?.length === length
  const account = isAccount && value.attempt(() => decodeAccount(scheme, bytesToHex(bytes)))
  const path = nodes.attempt(all => {
    if (scheme) return inspectPath(scheme, all)
    const expected = '128 bytes (mimc) or 192 bytes (poseidon2)'
    throw new ProofError('WRONG_LENGTH', { path: `[${LEAF_NODE}]`, expected })
  })
  return { value: account ? { ...account } : size(value), ...(path ?? { proofRelatedNodes: size(nodes) }) }
}

/** @throws ProofError */
function inspectPath(scheme: HashScheme, nodes: unknown): UnverifiedFields {
  const { rootNode, siblingLeaf, leafNode } = readNodes(scheme, nodes)
  return {
    scheme: scheme.name,
    nextFreeNode: rootNode.nextFreeNode,
    subRoot: bytesToHex(rootNode.subRoot),
    leaf: describeLeaf(leafNode),
    siblingLeaf: siblingLeaf ? describeLeaf(siblingLeaf) : 'none',
  }
}

const describeLeaf = ({ prev, next, hKey, hVal }: Leaf): UnverifiedFields => ({
  prev: nameLeafIndex(prev),
  next: nameLeafIndex(next),
  hKey: bytesToHex(hKey),
  hVal: bytesToHex(hVal),
})

const slots = each(part => (part.value === null ? null : leafProof('slot')(part)))
const treeProof = fields({ accountProof: leafProof('account'), storageProofs: slots }, 'accountProof', 'storageProofs')
const proofs: Look<UnverifiedFields> = part => (isEthAnswer(part.value) ? ethProof : treeProof)(part)

/** An answer, bare or in a JSON-RPC response. */
const answer: Look<UnverifiedFields> = part => {
  const isResponse = ['result', 'error'].some(name => part.at(name).value !== undefined)
  const response = { ...texts('jsonrpc', 'id'), error: fields(texts('code', 'message')), result: proofs }
  return (isResponse ? fields(response) : proofs)(part)
}

/** How many blocks there are, and how many of them have receipts or transactions. */
const blocks: Look = ({ value }) => {
  const having = (name: string) => itemsOf(value).filter(block => isGiven(fieldIn(block, name))).length
  return { count: itemsOf(value).length, withReceipts: having('receipts'), withTransactions: having('transactions') }
}

const logsFields = {
  ...{ fromBlock: number(64), toBlock: number(64) },
  ...{ filter: fields({ address: text, topics: each(text) }), blocks, answer },
}

/** Evidence of each kind: the head, and the fields of its body. */
const evidenceLooks: Readonly<Record<EvidenceName, Look<UnverifiedFields>>> = {
  state: fields(
    { ...head, request: fields(texts('address', 'storageKeys')), answer },
    ...['rollup', 'request', 'answer'],
  ),
  logs(part) {
    // Where L1 holds the hash of the newest block, there need not be an answer.
    const needed = ['rollup', 'filter', ...(part.scheme === undefined ? [] : ['answer'])]
    return fields({ ...head, ...logsFields }, ...needed)(part)
  },
  message: fields(
    {
      ...head,
      message: fields({
        ...texts('from', 'to', 'data'),
        ...Object.fromEntries(MESSAGE_NUMBERS.map(name => [name, number(256)])),
      }),
      messageProof: fields(texts('root', 'leafIndex')),
    },
    ...['rollup', 'message'],
  ),
  call: fields(
    {
      ...{ ...head, ...texts('chainId', 'hardfork') },
      call: fields(texts('from', 'to', 'data', 'value', 'gas')),
      environment: fields(texts('timestamp', 'gasLimit', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao')),
      answers: each(fields({ ...texts('address', 'storageKeys'), answer }, 'answer')),
      codes: size,
    },
    ...['rollup', 'call', 'environment', 'answers'],
  ),
}

/** What vectors and recordings state beside the evidence. */
const vectorFields = {
  ...texts('description', 'flag', 'operation', 'kind', 'scheme', 'stateRoot', 'address', 'storageKeys'),
  expected: (part: Part) => (isObject(part.value) ? fields(texts('valid', 'code', 'path'))(part) : size(part)),
}

const evidenceVector = (bundle: Look): Look<UnverifiedFields> =>
  fields({
    ...vectorFields,
    claim: fields({
      ...texts('l2BlockNumber', 'address', 'storageKeys'),
      rollup: fields(texts('name', 'address')),
      trusted: fields(texts('beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot')),
    }),
    ...{ bundle, input: bundle },
  })
