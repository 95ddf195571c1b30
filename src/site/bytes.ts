import { meaningOf } from '../base/error-meanings.ts'
import type { FailureCode } from '../base/errors.ts'
import { leafPaths } from '../cli/words/answer.ts'
import {
  DIGEST_LENGTH,
  isHexOf,
  LEAF_NODE,
  MAX_LEAVES,
  nameLeafIndex,
  readBytes,
  readWord,
  SIBLING_LEAF_NODE,
  toHex,
  toNumber,
} from '../cli/words/layout.ts'
import { brief, show } from '../cli/words/value.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import type { PlacedError } from './checks.ts'

/** The bytes of a path that have fields, as the specification lays them out: what each field is called, and what it means. */

export type Bytes = ReturnType<typeof readFields>
/** One part. `end` is exclusive, both are in bytes. */
export type ByteField = Bytes['fields'][number]

/** What has fields: the value, or one of these nodes. In the order in which they are shown. */
export const entries = [LEAF_NODE, 0, 'value', SIBLING_LEAF_NODE] as const
export type Entry = (typeof entries)[number]

/** An `index` is a word, and so is the number of leaves, a `count`; both are below or up to 2^40. */
type Kind = 'index' | 'count' | 'digest' | 'hash' | 'number' | 'uint64'
type Layout = readonly (readonly [name: string, kind: Kind, note: string])[]

const leaf: Layout = [
  ['prev', 'index', 'Index of the leaf with the next smaller key hash.'],
  ['next', 'index', 'Index of the leaf with the next larger key hash.'],
  ['hKey', 'digest', 'Hash of the key: the leaves are sorted by it.'],
  ['hVal', 'digest', 'Hash of the value. HEAD and TAIL have zeros here.'],
]
const missingLeaf: Layout = [
  ['missing leaf', 'hash', '32 zero bytes stand for a missing leaf: they are its digest, not its preimage.'],
]
const node0: Layout = [
  ['nextFreeNode', 'count', 'The index that the next new key will get. Every leaf index is below it.'],
  ['sub-root', 'digest', 'The top of the 40 levels. The root is the hash of these two fields together.'],
]
const account: Layout = [
  ['nonce', 'uint64', 'How many transactions the account has sent.'],
  ['balance', 'number', 'In wei.'],
  ['storageRoot', 'digest', "Root of the account's own tree of storage slots."],
  ['snarkCodeHash', 'digest', "The rollup's own hash of the contract code."],
  ['keccakCodeHash', 'hash', 'keccak256 of the contract code; without code, keccak256 of the empty string.'],
  ['codeSize', 'uint64', 'Length of the contract code, in bytes.'],
]
const end: Layout = [['value', 'number', 'HEAD and TAIL are not accounts: their value is 32 zero bytes.']]
const slot: Layout = [['value', 'number', 'What the storage slot holds, as a number.']]

/** @param tree 0 for that of the accounts */
function layoutOf(entry: Entry, tree: number, hex: unknown): readonly [title: string, place: string, layout: Layout] {
  const isDigest = isHexOf(DIGEST_LENGTH, hex)
  if (entry === LEAF_NODE) return ['The leaf (node 41)', 'leaf', leaf]
  if (entry === 0) return ['Node 0', 'node 0', node0]
  if (entry !== 'value') return ['The sibling leaf (node 40)', 'level 0', isDigest ? missingLeaf : leaf]
  if (tree > 0) return ['The slot value', 'value', slot]
  return isDigest ? ['The value of HEAD or TAIL', 'value', end] : ['The account value', 'value', account]
}

const isWord = (kind: Kind): boolean => kind === 'index' || kind === 'count'

export const wordNotes: Readonly<Record<HashScheme['name'], string>> = {
  mimc: 'An index is one field element: the number itself, 32 bytes.',
  poseidon2: 'Of an index, each 2-byte piece of the 32-byte number takes 4 bytes, of which the first two are zero.',
}

/** The content of a field, and whether it is valid by itself. */
function readField(scheme: HashScheme, kind: Kind, bytes: Uint8Array): { value: string; isSound: boolean } {
  if (isWord(kind)) {
    const number = readWord(scheme, bytes)
    if (number === null) return { value: 'stray bytes: no number', isSound: false }
    const isInRange = number < MAX_LEAVES + (kind === 'index' ? 0 : 1)
    const value = kind === 'index' ? nameLeafIndex(Number(number)) : `${number}`
    return { value, isSound: isInRange && scheme.isCanonical(bytes) }
  }
  if (kind === 'digest' || kind === 'hash') {
    return { value: toHex(bytes), isSound: kind === 'hash' || scheme.isCanonical(bytes) }
  }
  const number = toNumber(bytes)
  const isSound = kind === 'uint64' ? number < 2n ** 64n : scheme.isCanonical(scheme.encodeWord(bytes))
  return { value: `${number}`, isSound }
}

/** Splits bytes into their fields, if they have the right length. @param fault marks the fields that the failed check covers */
export function readFields(scheme: HashScheme, tree: number, entry: Entry, hex: unknown, fault: Fault | null = null) {
  const [title, place, layout] = layoutOf(entry, tree, hex)
  const lengthOf = (kind: Kind) => (isWord(kind) ? scheme.wordLength : DIGEST_LENGTH)
  const length = layout.reduce((sum, [, kind]) => sum + lengthOf(kind), 0)
  const bytes = readBytes(length, hex)
  if (bytes === null) {
    const isText = typeof hex === 'string'
    const problem = isText ? `This is not hexadecimal of ${length} bytes.` : `This is ${brief(show(hex))}.`
    return { title, entry, hex: isText ? brief(hex) : '', fields: [], problem }
  }
  let at = 0
  const all = layout.map(([name, kind, note]) => {
    const start = at
    at += lengthOf(kind)
    const { value, isSound } = readField(scheme, kind, bytes.subarray(start, at))
    const isCovered = fault?.place === place && (fault.field ?? name) === name
    return { isCovered, isSound, name, start, end: at, value, note }
  })
  // If no covered field is unsound by itself, all of them are marked.
  const isBlamed = all.some(({ isCovered, isSound }) => isCovered && !isSound)
  const fields = all.map(({ isCovered, isSound, ...field }) => ({
    ...field,
    isFault: isCovered && !(isBlamed && isSound),
  }))
  return { title, entry, hex: String(hex), fields, problem: null }
}

/** Where the errors belong that have one place, whatever their path, and the field at fault. */
const placesOfCodes: Readonly<Partial<Record<FailureCode, readonly [place: string, field?: string]>>> = {
  STATE_ROOT_MISMATCH: ['root'],
  STORAGE_ROOT_MISMATCH: ['root'],
  SUB_ROOT_MISMATCH: ['node 0', 'sub-root'],
  SENTINEL_MISPLACED: ['leaf', 'hKey'],
  LEAF_KEY_MISMATCH: ['leaf', 'hKey'],
  VALUE_MISMATCH: ['value'],
}

export type Fault = ReturnType<typeof describeFault>

/** Where in the drawing the check failed. The place is empty if it is in none of what is drawn. */
export function describeFault({ code, path, found }: PlacedError) {
  const [, name, rest = ''] = /^(\w+)\.?(.*)$/s.exec(path) ?? []
  const part = leafPaths.find(({ proof, index }) => proof === name || index === path)?.proof ?? null
  const [, entry] = /^proofRelatedNodes\[(\d+)\]$/.exec(rest) ?? []
  const own = entry !== undefined ? placeOfNode(Number(entry)) : rest === 'value' ? rest : ''
  const [fixed, field = null] = placesOfCodes[code] ?? []
  const place = fixed ?? (part !== null && part !== name ? 'leaf index' : own)
  const node = entry === undefined ? '' : `Node ${entry}${found === '' ? '' : `, ${brief(found)}`}. `
  const more = code === 'SUB_ROOT_MISMATCH' ? ' Hashes cannot tell which node of the path was altered.' : ''
  return { place, code, text: `${node}${meaningOf(code)}${more}`, field, part }
}

const placeOfNode = (entry: number): string =>
  entry === 0 ? 'node 0' : entry === LEAF_NODE ? 'leaf' : `level ${LEAF_NODE - 1 - entry}`
