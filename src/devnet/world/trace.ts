import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { hashSubtree, pathDigests, putLeaf } from './sparse.ts'
import { deleteKey, leafAt, locate, setValue, type Tree } from './tree.ts'

/**
 * An access to a tree, as `rollup_getZkEVMStateMerkleProofV0` serves it: what it has beside these three fields depends on its
 * type.
 */
export interface Trace extends Readonly<Record<string, unknown>> {
  /** 0 reads, 1 reads what is absent, 2 inserts, 3 updates, 4 deletes. */
  readonly type: 0 | 1 | 2 | 3 | 4
  /** `0x` for an account; for a slot, the address of its account. */
  readonly location: Hex
  /** An address, 20 bytes, or the key of a slot, 32 bytes. */
  readonly key: Hex
}

/** A key of the tree at a location. */
export interface Target {
  readonly location: Hex
  readonly key: Uint8Array
}

type Top<Value> = Tree<Value>['top']

/** Reads a key, whether it has a leaf or not. */
export function traceRead<Value>(tree: Tree<Value>, { location, key }: Target): Trace {
  const { scheme, kind, encodeValue } = tree.kind
  const { index, leaf, held } = locate(tree, kind.hashKey(scheme, key))
  const at = { location, key: bytesToHex(key), subRoot: subRootOf(tree), nextFreeNode: tree.nextFreeNode }
  const proof = prove(tree, tree.top, index)
  if (held !== null)
    return { type: 0, ...at, value: bytesToHex(encodeValue(held.value)), leaf: spell(tree, leaf), proof }
  const leaves = { leftLeaf: spell(tree, leaf), rightLeaf: spell(tree, leafAt(tree, leaf.next)) }
  return { type: 1, ...at, ...leaves, leftProof: proof, rightProof: prove(tree, tree.top, leaf.next) }
}

/** Writes a value; null deletes it. A key that is deleted without having a leaf is only read. */
export function traceWrite<Value>(tree: Tree<Value>, target: Target, value: Value | null) {
  const hKey = tree.kind.kind.hashKey(tree.kind.scheme, target.key)
  const { index, leaf, held } = locate(tree, hKey)
  const written = value === null ? deleteKey(tree, hKey) : setValue(tree, hKey, value, target.key)
  const text = (value: Value) => bytesToHex(tree.kind.encodeValue(value))
  const traced = (change: object) => {
    const { location, key } = target
    const roots = { oldSubRoot: subRootOf(tree), newSubRoot: subRootOf(written), newNextFreeNode: written.nextFreeNode }
    return { tree: written, trace: { location, key: bytesToHex(key), ...roots, ...change } as unknown as Trace }
  }
  if (value === null) {
    if (held === null) return { tree, trace: traceRead(tree, target) }
    return traced({ type: 4, deletedValue: text(held.value), ...deletion(tree, index, leaf) })
  }
  if (held === null) return traced({ type: 2, value: text(value), ...insertion(tree, index, locate(written, hKey)) })
  const opened = { priorUpdatedLeaf: spell(tree, leaf), proof: prove(tree, tree.top, index) }
  return traced({ type: 3, oldValue: text(held.value), newValue: text(value), ...opened })
}

/** Three changes, each proven where the one before it has led: the left neighbour, the new leaf, the right neighbour. */
function insertion<Value>(tree: Tree<Value>, leftIndex: number, inserted: Located<Value>) {
  const { index, leaf } = inserted
  const [left, right] = [leafAt(tree, leftIndex), leafAt(tree, leaf.next)]
  const linked = putLeaf(tree.top, leftIndex, { ...left, next: index })
  return {
    priorLeftLeaf: spell(tree, left),
    priorRightLeaf: spell(tree, right),
    leftProof: prove(tree, tree.top, leftIndex),
    newProof: prove(tree, linked, index),
    rightProof: prove(tree, putLeaf(linked, index, leaf), leaf.next),
  }
}

function deletion<Value>(tree: Tree<Value>, index: number, leaf: Located<Value>['leaf']) {
  const [left, right] = [leafAt(tree, leaf.prev), leafAt(tree, leaf.next)]
  const linked = putLeaf(tree.top, leaf.prev, { ...left, next: leaf.next })
  return {
    priorLeftLeaf: spell(tree, left),
    priorDeletedLeaf: spell(tree, leaf),
    priorRightLeaf: spell(tree, right),
    leftProof: prove(tree, tree.top, leaf.prev),
    deletedProof: prove(tree, linked, index),
    rightProof: prove(tree, putLeaf(linked, index, null), leaf.next),
  }
}

type Located<Value> = ReturnType<typeof locate<Value>>

const subRootOf = <Value>({ kind, top }: Tree<Value>): Hex => bytesToHex(hashSubtree(kind.hashing, top))

const prove = <Value>({ kind }: Tree<Value>, top: Top<Value>, leafIndex: number) => ({
  leafIndex,
  siblings: pathDigests(kind.hashing, top, leafIndex).map(bytesToHex),
})

function spell<Value>({ kind }: Tree<Value>, { prev, next, hKey, content }: Located<Value>['leaf']) {
  return { prevLeaf: prev, nextLeaf: next, hkey: bytesToHex(hKey), hval: bytesToHex(kind.hashContent(content)) }
}
