import { bytesToHex, compareBytes, equalBytes } from '../../base/bytes.ts'
import { atPath, refusal } from '../../base/errors.ts'
import type { FieldReader } from '../../base/json/reader.ts'
import type { Tree } from '../proof/tree.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { encodeOpening, encodeRootNode } from '../tree/encode.ts'
import { type Leaf, zeroDigest } from '../tree/leaf.ts'
import { mismatch } from '../tree/path.ts'
import {
  DELETE,
  decodeDigest,
  decodeLeaf,
  decodePlace,
  decodeStart,
  decodeValue,
  type HashedValue,
  INSERT,
  type Place,
  READ,
  READ_ABSENT,
  type TraceKind,
  type TreeState,
  UPDATE,
} from './decode.ts'

// Each check of this file is a rule of test/soundness/Transition.v.

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
  const start = decodeStart(tree.scheme, field, kind)
  if (reached === null || (equalBytes(start.subRoot, reached.subRoot) && start.nextFreeNode === reached.nextFreeNode))
    return start
  const spell = ({ subRoot, nextFreeNode }: TreeState) =>
    `sub-root ${bytesToHex(subRoot)}, next free node ${nextFreeNode}`
  throw refusal('TRACE_NOT_CONTINUOUS', spell(reached), spell(start))
}

export function applyTrace(trace: Trace, start: TreeState): Change {
  switch (trace.kind) {
    case READ:
      return read(trace, start)
    case READ_ABSENT:
      return readAbsent(trace, start)
    case INSERT:
      return verifyResult(trace, insert(trace, start))
    case UPDATE:
      return verifyResult(trace, update(trace, start))
    case DELETE:
      return verifyResult(trace, remove(trace, start))
  }
}

function verifyResult({ tree, field }: Trace, change: Change): Change {
  const { subRoot } = change.state
  const stated = field('newSubRoot', decodeDigest(tree.scheme))
  if (!equalBytes(subRoot, stated)) throw mismatch('TRACE_RESULT_MISMATCH', subRoot, stated)
  return change
}

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

function openHeld(
  trace: Trace,
  start: TreeState,
  [leafName, name, valueName]: readonly [string, string, string],
): Opened & HashedValue {
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
function replace(
  { tree: { scheme } }: Trace,
  subRoot: Uint8Array,
  { name, place, leaf }: Opened<Leaf | null>,
  successor: Leaf | null,
): Uint8Array {
  const { leafIndex, siblings } = place
  const fold = (leaf: Leaf | null) => scheme.hasher.foldPath(digestOf(scheme, leaf), siblings, leafIndex)
  const opened = fold(leaf)
  atPath(name, () => {
    if (!equalBytes(opened, subRoot)) throw mismatch('TRACE_PATH_MISMATCH', subRoot, opened)
  })
  return successor === leaf ? subRoot : fold(successor)
}

/** A missing leaf is 32 zero bytes, which are not hashed. */
const digestOf = (scheme: HashScheme, leaf: Leaf | null): Uint8Array =>
  leaf === null ? zeroDigest() : scheme.hasher.hash(encodeOpening(scheme, leaf))
