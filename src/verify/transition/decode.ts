import { refusal } from '../../base/errors.ts'
import { type FieldReader, readerOf } from '../../base/json/reader.ts'
import type { Tree } from '../proof/tree.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { FIRST_FREE_NODE } from '../tree/encode.ts'
import { DIGEST_LENGTH, type Leaf, MAX_LEAVES, verifyCanonical } from '../tree/leaf.ts'
import { SIBLING_COUNT } from './limits.ts'

// Each check of this file is a rule of test/soundness/Transition.v.

/** Reading traces. Every digest and value is canonical, and every index in range, before anything is hashed. */

export const reader = /* @__PURE__ */ readerOf('TRANSITION_MALFORMED')

/** The kinds of traces, by `type`. */
export const [READ, READ_ABSENT, INSERT, UPDATE, DELETE] = [0, 1, 2, 3, 4] as const
export type TraceKind = 0 | 1 | 2 | 3 | 4

const VALUES = ['value', 'oldValue', 'newValue', 'deletedValue']
const TREES = ['subRoot', 'oldSubRoot', 'newSubRoot', 'nextFreeNode', 'newNextFreeNode']
const LEAVES = [
  'leaf',
  'leftLeaf',
  'rightLeaf',
  'priorLeftLeaf',
  'priorRightLeaf',
  'priorUpdatedLeaf',
  'priorDeletedLeaf',
]
const PROOFS = ['proof', 'leftProof', 'rightProof', 'newProof', 'deletedProof']
const NAMES = [...VALUES, ...TREES, ...LEAVES, ...PROOFS]

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

/** Where a trace says that its tree is before it. */
export function decodeStart(scheme: HashScheme, field: FieldReader, kind: TraceKind): TreeState {
  const isRead = kind === READ || kind === READ_ABSENT
  // An insertion states the number after it. A deletion frees no leaf.
  const taken = kind === INSERT ? 1 : 0
  const decodeNext = decodeIndex(FIRST_FREE_NODE + taken, MAX_LEAVES)
  return {
    subRoot: field(isRead ? 'subRoot' : 'oldSubRoot', decodeDigest(scheme)),
    nextFreeNode: field(isRead ? 'nextFreeNode' : 'newNextFreeNode', decodeNext) - taken,
  }
}

export const decodeDigest =
  (scheme: HashScheme) =>
  (value: unknown): Uint8Array => {
    const digest = reader.bytesOf(DIGEST_LENGTH)(value)
    verifyCanonical(scheme, digest)
    return digest
  }

const decodeIndex =
  (least: number, most: number) =>
  (value: unknown): number => {
    const index = reader.number(value)
    const isIndex = Number.isSafeInteger(index) && index >= least && index <= most
    if (!isIndex) throw refusal('INDEX_OUT_OF_RANGE', `an integer from ${least} to ${most}`, index)
    // JSON can spell -0; adding 0 turns it into 0.
    return index + 0
  }

/** A place in the tree: the way from it to the sub-root. */
export interface Place {
  readonly leafIndex: number
  /** Digests, that of the neighbouring leaf first. */
  readonly siblings: readonly Uint8Array[]
}

export const decodePlace =
  (scheme: HashScheme, { nextFreeNode }: TreeState) =>
  (proof: unknown): Place => {
    const field = reader.fieldsOf(proof, ['leafIndex', 'siblings'])
    // The next new key takes the leaf at nextFreeNode. No other trace opens it.
    const leafIndex = field('leafIndex', decodeIndex(0, Math.min(nextFreeNode, MAX_LEAVES - 1)))
    const siblings = field('siblings', list => reader.items(list, verifySiblingCount, decodeDigest(scheme)))
    return { leafIndex, siblings }
  }

function verifySiblingCount(count: number): void {
  if (count !== SIBLING_COUNT) throw refusal('TRACE_SIBLING_COUNT', `${SIBLING_COUNT} siblings`, count)
}

export const decodeLeaf =
  (scheme: HashScheme) =>
  (leaf: unknown): Leaf => {
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
export interface HashedValue {
  readonly value: Uint8Array
  readonly hVal: Uint8Array
}

export const decodeValue =
  ({ scheme, kind, decodeValue }: Tree) =>
  (text: unknown): HashedValue => {
    const { value, preimage } = decodeValue(reader.string(text), 0)
    kind.verifyStorable(value)
    return { value, hVal: scheme.hasher.hash(preimage) }
  }
