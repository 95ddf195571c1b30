import { bytesToBigint, bytesToHex } from '../../base/bytes.ts'
import { isRefusal, ProofError } from '../../base/errors.ts'
import { FIELDS, verifyHeader } from '../../verify/anchor/header.ts'
import { decodeRlp } from '../../verify/anchor/rlp.ts'
import { decodeBeacon } from '../../verify/beacon/decode.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import type { Leaf } from '../../verify/tree/leaf.ts'
import { decodeAccount } from '../../verify/verifier/leaf-api.ts'
import { formOf, guessSchemeOfPath, leafPaths, schemeNamed } from './answer.ts'
import { DocumentError } from './error.ts'
import { parseNumber } from './evidence.ts'
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
import { MAX_LISTED_ITEMS, MAX_SHOWN_DEPTH } from './limits.ts'
import { fieldIn, isGiven, isObject, itemsOf, show } from './value.ts'
import { formatTime } from './wording.ts'

/** What a file says, part by part. No part is passed on whole, because deep nesting could break the code that prints it. */
export type UnverifiedField = string | number | bigint | boolean | null | UnverifiedFields
export interface UnverifiedFields {
  [name: string]: UnverifiedField
}

interface Problem {
  readonly path: string
  readonly message: string
}

/** Decodes what can be decoded, and notes what cannot. @throws DocumentError if the kind of file is unknown */
export function inspectContent(content: unknown) {
  if (!isObject(content)) throw new DocumentError('it is not a JSON object')
  const kind = kindOf(content)
  const problems: Problem[] = []
  return { kind, fields: fieldsIn(partOf(problems, schemeNamed(fieldIn(content, 'scheme')), '', content)), problems }
}

function kindOf(content: unknown): string {
  if (holdsTraces(content)) return 'traces of the state manager'
  const file = readInputFile(content)
  if (file.kind === 'evidence') return evidenceNames[file.evidence].replace(/^an? /, '')
  if (file.kind === 'function vector') return 'evidence vector'
  if (file.kind !== 'unknown') return file.kind
  throw new DocumentError('it is not a bundle, answer, JSON-RPC response, recording or vector')
}

/** A value of the file, at its path. Problems are collected, instead of stopping at the first one. */
interface Part {
  readonly value: unknown
  readonly scheme: HashScheme | undefined
  readonly depth: number
  at(name: string): Part
  /** The result of `decode`; undefined if it refuses, which is noted. */
  attempt<T>(decode: (value: unknown) => T): T | undefined
}

function partOf(problems: Problem[], scheme: HashScheme | undefined, path: string, value: unknown, depth = 0): Part {
  const join = (rest: string) => (path === '' || /^(\[|$)/.test(rest) ? `${path}${rest}` : `${path}.${rest}`)
  return {
    ...{ value, scheme, depth },
    at(name) {
      const item = Array.isArray(value) ? value[Number(name.slice(1, -1))] : fieldIn(value, name)
      return partOf(problems, scheme, join(name), item, depth + 1)
    },
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
type Look = (part: Part) => UnverifiedField

/** The value, or its parts. */
const look: Look = part => {
  const { value, depth } = part
  if (typeof value !== 'object' || value === null || depth >= MAX_SHOWN_DEPTH) return size(part)
  if (!Array.isArray(value)) return fieldsIn(part)
  const isLong = value.some(item => typeof item === 'string' && item.length > HASH_CHARACTERS)
  return isLong ? size(part) : each(look)(part)
}

/** Of a list or an object, only what it is. */
const size: Look = ({ value }) => (value === null ? null : show(value))

/** Lists of longer texts, such as the nodes of a proof, are only counted. */
const HASH_CHARACTERS = 66

/** The fields that are given, each as its name says. */
const fieldsIn = (part: Part): UnverifiedFields =>
  Object.fromEntries(
    Object.keys(Object(part.value))
      .filter(name => isGiven(fieldIn(part.value, name)))
      .map(name => [name, (looks.get(name) ?? look)(part.at(name))]),
  )

/** The items of a list, up to a limit, and how many `more` there are. Anything else as it is. */
const each =
  (lookAt: Look): Look =>
  part => {
    if (!Array.isArray(part.value)) return size(part)
    const more = part.value.length - MAX_LISTED_ITEMS
    const names = [...part.value.slice(0, MAX_LISTED_ITEMS).keys()].map(index => `[${index}]`)
    return { ...Object.fromEntries(names.map(name => [name, lookAt(part.at(name))])), ...(more > 0 && { more }) }
  }

const number: Look = ({ value }) => parseNumber(value, 256) ?? show(value)

const time: Look = part => {
  const seconds = parseNumber(part.value, 64)
  return seconds === null ? size(part) : `${seconds} (${formatTime(seconds)})`
}

/** Of an encoded header. */
const header: Look = part => {
  // A beacon header is an object.
  if (isObject(part.value)) return fieldsIn(part)
  const bytes = part.attempt(value => decodeHex(value))
  if (bytes === undefined) return size(part)
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

/** The root of the first one is what `--checkpoint` states. */
const beacon: Look = part => ({
  slot: size(part.at('slot')),
  root: part.attempt(value => bytesToHex(decodeBeacon(value).root)) ?? 'none',
})

/** How many of the 512 members signed. */
const signers: Look = part => {
  const bytes = readBytes(64, part.value)
  if (bytes === null) return size(part)
  const bits = [...bytes].flatMap(byte => [...byte.toString(2)])
  return `${bits.filter(bit => bit === '1').length} signers`
}

/** How many blocks there are, and how many of them have receipts or transactions. */
const blocks: Look = ({ value }) => {
  const having = (name: string) => itemsOf(value).filter(block => isGiven(fieldIn(block, name))).length
  return { count: itemsOf(value).length, withReceipts: having('receipts'), withTransactions: having('transactions') }
}

/** What a vector expects: of a long outcome, only whether it is one. */
const expected: Look = part =>
  isObject(part.value)
    ? Object.fromEntries(
        ['valid', 'code', 'path'].flatMap(name => (isGiven(part.at(name).value) ? [[name, size(part.at(name))]] : [])),
      )
    : size(part)

type EntryName = 'account' | 'slot'

const leafProof =
  (entry: EntryName): Look =>
  part => {
    // Nodes of an Ethereum state.
    if (!isObject(part.value)) return size(part)
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

/** What is more than a value, by the names that it has in files. */
const looks: ReadonlyMap<string, Look> = new Map(
  Object.entries({
    ...{
      header,
      l2Header: header,
      beacon,
      sync_committee_bits: signers,
      pubkeys: size,
      blocks,
      timestamp: time,
      expected,
    },
    ...{ l2BlockNumber: number, fromBlock: number, toBlock: number, fee: number, number },
    ...{ accountProof: leafProof('account'), storageProofs: each(leafProof('slot')) },
    ...{ codes: size, zkStateMerkleProof: each(size) },
  }),
)
