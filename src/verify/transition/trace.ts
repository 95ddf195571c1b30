import { bytesToHex, compareBytes, equalBytes } from '../../base/bytes.ts'
import { atPath, refusal } from '../../base/errors.ts'
import { type FieldReader, readerOf } from '../../base/json/reader.ts'
import type { Tree } from '../proof/tree.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { encodeOpening, encodeRootNode, FIRST_FREE_NODE } from '../tree/encode.ts'
import { DIGEST_LENGTH, type Leaf, MAX_LEAVES, verifyCanonical, zeroDigest } from '../tree/leaf.ts'
import { mismatch } from '../tree/path.ts'
import { SIBLING_COUNT } from './limits.ts'

// Each check of this file is a rule of test/soundness/Transition.v.

// Every digest and value of a trace is canonical, and every index in range, before anything is hashed.

export const reader = /* @__PURE__ */ readerOf('TRANSITION_MALFORMED')

/** The kinds of traces, by `type`. */
export const [READ, READ_ABSENT, INSERT, UPDATE, DELETE] = [0, 1, 2, 3, 4] as const
export type TraceKind = 0 | 1 | 2 | 3 | 4

const VALUES = ['value', 'oldValue', 'newValue', 'deletedValue']
const TREES = ['subRoot', 'oldSubRoot', 'newSubRoot', 'nextFreeNode', 'newNextFreeNode']
const LEAVES = ['leaf', 'leftLeaf', 'rightLeaf']
const PRIOR_LEAVES = ['priorLeftLeaf', 'priorRightLeaf', 'priorUpdatedLeaf', 'priorDeletedLeaf']
const PROOFS = ['proof', 'leftProof', 'rightProof', 'newProof', 'deletedProof']
const NAMES = [...VALUES, ...TREES, ...LEAVES, ...PRIOR_LEAVES, ...PROOFS]

export const readHead = (trace: unknown) => reader.fieldsOf(trace, ['type', 'location', 'key'])

/** The other fields of a trace. `null`, which some servers write for a trace that they lost, is refused. */
export const readTrace = (trace: unknown): FieldReader => reader.fieldsOf(trace, NAMES)

export function decodeKind(value: unknown): TraceKind {
  const type = reader.number(value)
  if (type === READ || type === READ_ABSENT || type === INSERT || type === UPDATE || type === DELETE) return type
  throw refusal('TRACE_TYPE_UNKNOWN', 'a type from 0 to 4', type)
}

/** The account whose storage a trace is about; null for the tree of accounts. */
export const decodeLocation = (value: unknown): Uint8Array | null =>
  reader.string(value) === '0x' ? null : reader.bytesOf(20)(value)

/** How far a tree has come. */
export interface TreeState {
  readonly subRoot: Uint8Array
  readonly nextFreeNode: number
}

export const decodeDigest = (scheme: HashScheme) => (value: unknown) => {
  const digest = reader.bytesOf(DIGEST_LENGTH)(value)
  verifyCanonical(scheme, digest)
  return digest
}

const decodeIndex = (least: number, most: number) => (value: unknown) => {
  const index = reader.number(value)
  const isIndex = Number.isSafeInteger(index) && index >= least && index <= most
  if (!isIndex) throw refusal('INDEX_OUT_OF_RANGE', `an integer from ${least} to ${most}`, index)
  // JSON can spell -0; adding 0 turns it into 0.
  return index + 0
}

/** A place in the tree: the way from it to the sub-root. */
interface Place {
  readonly leafIndex: number
  /** Digests, that of the neighbouring leaf first. */
  readonly siblings: readonly Uint8Array[]
}

const decodePlace = (scheme: HashScheme, start: TreeState) => (proof: unknown) => {
  const field = reader.fieldsOf(proof, ['leafIndex', 'siblings'])
  // The next new key takes the leaf at nextFreeNode. No other trace opens it.
  const leafIndex = field('leafIndex', decodeIndex(0, Math.min(start.nextFreeNode, MAX_LEAVES - 1)))
  const siblings = field('siblings', list => reader.items(list, verifySiblingCount, decodeDigest(scheme)))
  return { leafIndex, siblings }
}

function verifySiblingCount(count: number): void {
  if (count !== SIBLING_COUNT) throw refusal('TRACE_SIBLING_COUNT', `${SIBLING_COUNT} siblings`, count)
}

const decodeLeaf = (scheme: HashScheme) => (leaf: unknown) => {
  const field = reader.fieldsOf(leaf, ['prevLeaf', 'nextLeaf', 'hkey', 'hval'])
  const index = decodeIndex(0, MAX_LEAVES - 1)
  const digest = decodeDigest(scheme)
  return {
    prev: field('prevLeaf', index),
    next: field('nextLeaf', index),
    hKey: field('hkey', digest),
    hVal: field('hval', digest),
  }
}

/** A value that a leaf may hold, with its hash. */
const decodeValue = (tree: Tree) => (text: unknown) => {
  const { value, preimage } = tree.decodeValue(reader.string(text), 0)
  tree.kind.verifyStorable(value)
  return { value, hVal: tree.scheme.hasher.hash(preimage) }
}

/** One trace: a key of a tree is read, inserted, updated or deleted, and the tree comes to another sub-root. */
export interface Trace {
  readonly tree: Tree
  readonly kind: TraceKind
  /** The hash of its key. */
  readonly hKey: Uint8Array
  readonly field: FieldReader
}

/** What a trace proves: the value of the key before and after it, as served, null where it has none. */
export interface Change {
  readonly before: Uint8Array | null
  readonly after: Uint8Array | null
  readonly state: TreeState
}

/** The root of a tree: H(word(nextFreeNode) || subRoot). */
export const rootOf = (scheme: HashScheme, { nextFreeNode, subRoot }: TreeState): Uint8Array =>
  scheme.hasher.hash(encodeRootNode(scheme, nextFreeNode, subRoot))

/** Where the tree is before a trace. @param reached where the trace before it has left the tree; null for the first one */
export function startOf({ tree, kind, field }: Trace, reached: TreeState | null): TreeState {
  const isRead = kind === READ || kind === READ_ABSENT
  // An insertion states the number after it. A deletion frees no leaf.
  const taken = kind === INSERT ? 1 : 0
  const decodeNext = decodeIndex(FIRST_FREE_NODE + taken, MAX_LEAVES)
  const start = {
    subRoot: field(isRead ? 'subRoot' : 'oldSubRoot', decodeDigest(tree.scheme)),
    nextFreeNode: field(isRead ? 'nextFreeNode' : 'newNextFreeNode', decodeNext) - taken,
  }
  if (reached === null || (equalBytes(start.subRoot, reached.subRoot) && start.nextFreeNode === reached.nextFreeNode))
    return start
  const spell = ({ subRoot, nextFreeNode }: TreeState) =>
    `sub-root ${bytesToHex(subRoot)}, next free node ${nextFreeNode}`
  throw refusal('TRACE_NOT_CONTINUOUS', spell(reached), spell(start))
}

export function applyTrace(trace: Trace, start: TreeState): Change {
  const { kind, tree, field } = trace
  if (kind === READ) return read(trace, start)
  if (kind === READ_ABSENT) return readAbsent(trace, start)
  const change = WRITES[kind](trace, start)
  const { subRoot } = change.state
  const stated = field('newSubRoot', decodeDigest(tree.scheme))
  if (!equalBytes(subRoot, stated)) throw mismatch('TRACE_RESULT_MISMATCH', subRoot, stated)
  return change
}

const WRITES = { [INSERT]: insert, [UPDATE]: update, [DELETE]: remove }

function read(trace: Trace, start: TreeState): Change {
  const held = openHeld(trace, start, ['leaf', 'proof', 'value'])
  replace(trace, start.subRoot, held, held.leaf)
  return { before: held.value, after: held.value, state: start }
}

function readAbsent(trace: Trace, start: TreeState): Change {
  const { left, right } = openGap(trace, start, ['leftLeaf', 'rightLeaf'])
  replace(trace, start.subRoot, left, left.leaf)
  replace(trace, start.subRoot, right, right.leaf)
  return { before: null, after: null, state: start }
}

function update(trace: Trace, start: TreeState): Change {
  const held = openHeld(trace, start, ['priorUpdatedLeaf', 'proof', 'oldValue'])
  const { value, hVal } = trace.field('newValue', decodeValue(trace.tree))
  const subRoot = replace(trace, start.subRoot, held, { ...held.leaf, hVal })
  return { before: held.value, after: value, state: { ...start, subRoot } }
}

/** Three leaves change: the new one, and the links of its neighbours. Each is opened where the one before it has led. */
function insert(trace: Trace, start: TreeState): Change {
  const { tree, hKey, field } = trace
  const { left, right } = openGap(trace, start, ['priorLeftLeaf', 'priorRightLeaf'])
  const place = field('newProof', decodePlace(tree.scheme, start))
  const index = start.nextFreeNode
  if (place.leafIndex !== index) throw refusal('TRACE_INDEX_NOT_NEXT', `index ${index}`, place.leafIndex)
  const { value, hVal } = field('value', decodeValue(tree))
  const leaf = { prev: left.place.leafIndex, next: right.place.leafIndex, hKey, hVal }
  let subRoot = replace(trace, start.subRoot, left, { ...left.leaf, next: index })
  subRoot = replace(trace, subRoot, { name: 'newProof', place, leaf: null }, leaf)
  subRoot = replace(trace, subRoot, right, { ...right.leaf, prev: index })
  return { before: null, after: value, state: { subRoot, nextFreeNode: index + 1 } }
}

/** The reverse of an insertion, but the leaf is not used again. */
function remove(trace: Trace, start: TreeState): Change {
  const left = openLeaf(trace, start, 'priorLeftLeaf', 'leftProof')
  const held = openHeld(trace, start, ['priorDeletedLeaf', 'deletedProof', 'deletedValue'])
  const right = openLeaf(trace, start, 'priorRightLeaf', 'rightProof')
  verifyLinked(left, held)
  verifyLinked(held, right)
  let subRoot = replace(trace, start.subRoot, left, { ...left.leaf, next: held.leaf.next })
  subRoot = replace(trace, subRoot, held, null)
  subRoot = replace(trace, subRoot, right, { ...right.leaf, prev: held.leaf.prev })
  return { before: held.value, after: null, state: { ...start, subRoot } }
}

/** A leaf as a trace states it, and the name of the field that says where it is. */
interface Opened<L extends Leaf | null = Leaf> {
  readonly name: string
  readonly place: Place
  readonly leaf: L
}

function openLeaf({ tree: { scheme }, field }: Trace, start: TreeState, leafName: string, name: string): Opened {
  return { name, place: field(name, decodePlace(scheme, start)), leaf: field(leafName, decodeLeaf(scheme)) }
}

function openHeld(trace: Trace, start: TreeState, [leafName, name, valueName]: readonly [string, string, string]) {
  const held = openLeaf(trace, start, leafName, name)
  const { hKey, hVal } = held.leaf
  if (!equalBytes(hKey, trace.hKey)) throw mismatch('TRACE_KEY_MISMATCH', trace.hKey, hKey)
  const value = trace.field(valueName, decodeValue(trace.tree))
  if (!equalBytes(hVal, value.hVal)) throw mismatch('TRACE_VALUE_MISMATCH', hVal, value.hVal)
  return { ...held, ...value }
}

/** The two neighbours of a key that has no leaf. */
function openGap(trace: Trace, start: TreeState, [leftName, rightName]: readonly [string, string]) {
  const left = openLeaf(trace, start, leftName, 'leftProof')
  const right = openLeaf(trace, start, rightName, 'rightProof')
  verifyLinked(left, right)
  const isBetween = compareBytes(left.leaf.hKey, trace.hKey) < 0 && compareBytes(trace.hKey, right.leaf.hKey) < 0
  const [least, most] = [bytesToHex(left.leaf.hKey), bytesToHex(right.leaf.hKey)]
  if (!isBetween) throw refusal('TRACE_KEY_NOT_BETWEEN', `above ${least}, below ${most}`, bytesToHex(trace.hKey))
  return { left, right }
}

function verifyLinked(left: Opened, right: Opened): void {
  const [leftIndex, rightIndex] = [left.place.leafIndex, right.place.leafIndex]
  if (left.leaf.next !== rightIndex)
    throw refusal('TRACE_NOT_NEIGHBOURS', `${left.name}: next ${rightIndex}`, left.leaf.next)
  if (right.leaf.prev !== leftIndex)
    throw refusal('TRACE_NOT_NEIGHBOURS', `${right.name}: prev ${leftIndex}`, right.leaf.prev)
}

/** Opens a leaf, or an empty place, and puts another there. @returns the sub-root that this leads to */
function replace(trace: Trace, subRoot: Uint8Array, opened: Opened<Leaf | null>, successor: Leaf | null): Uint8Array {
  const { scheme } = trace.tree
  const { name, place, leaf } = opened
  const fold = (leaf: Leaf | null) => scheme.hasher.foldPath(digestOf(scheme, leaf), place.siblings, place.leafIndex)
  const root = fold(leaf)
  atPath(name, () => {
    if (!equalBytes(root, subRoot)) throw mismatch('TRACE_PATH_MISMATCH', subRoot, root)
  })
  return successor === leaf ? subRoot : fold(successor)
}

/** A missing leaf is 32 zero bytes, which are not hashed. */
const digestOf = (scheme: HashScheme, leaf: Leaf | null): Uint8Array =>
  leaf === null ? zeroDigest() : scheme.hasher.hash(encodeOpening(scheme, leaf))
