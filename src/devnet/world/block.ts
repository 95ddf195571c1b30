import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, compareBytes, equalBytes, type Hex, isZero } from '../../base/bytes.ts'
import { ArgumentError, atPath } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import { accountTree, storageTree } from '../../verify/tree/kind.ts'
import { type Account, type AccountChanges, decodeChanges } from './account.ts'
import { hashSubtree, pathDigests, putLeaf } from './sparse.ts'
import { deleteKey, getValue, leafAt, locate, setValue, type Tree } from './tree.ts'

/** An access to a tree, as `rollup_getZkEVMStateMerkleProofV0` serves it: what it has beside these three fields depends on its type. */
export interface Trace extends Readonly<Record<string, unknown>> {
  /** 0 reads, 1 reads what is absent, 2 inserts, 3 updates, 4 deletes. */
  readonly type: 0 | 1 | 2 | 3 | 4
  /** `0x` for an account; for a slot, the address of its account. */
  readonly location: Hex
  /** An address, 20 bytes, or the key of a slot, 32 bytes. */
  readonly key: Hex
}

/** A key of the tree at a location. */
interface Target {
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

/** What a block does to one account. */
export interface BlockAccess {
  /** 20 bytes. */
  address: Hex
  /** Creates the account, or changes it; null deletes it with its storage. Left out, it is read, or only its storage is written. */
  account?: AccountChanges | null | undefined
  /** Deletes the account first, with its storage, and creates it again. Default: false. */
  recreate?: boolean | undefined
  /** Slots that are written or read. */
  storage?: readonly SlotWrite[] | undefined
}

/** What a block does to a slot. */
interface SlotWrite {
  /** 32 bytes. */
  key: Hex
  /** 32 bytes. Zero deletes the slot. Left out, it is only read. */
  value?: Hex | undefined
}

type Access = ReturnType<typeof decodeAccess>

/** Applies what a block does, in the order of the key hashes, as the state manager does it. @throws ArgumentError */
export function applyAccesses(
  scheme: HashScheme,
  { accounts, newAccount }: { readonly accounts: Tree<Account>; readonly newAccount: Account },
  accesses: readonly BlockAccess[],
): { accounts: Tree<Account>; traces: Trace[] } {
  const decoded = readItems('accesses', accesses, access => decodeAccess(scheme, access))
  const traces: Trace[] = []
  let tree = accounts
  for (const access of inOrder('accesses', decoded)) tree = applyAccess(tree, newAccount, access, traces)
  return { accounts: tree, traces }
}

/** @throws ArgumentError if a key is there twice */
function inOrder<T extends { readonly hKey: Uint8Array }>(name: string, items: readonly T[]): T[] {
  const sorted = items.toSorted((a, b) => compareBytes(a.hKey, b.hKey))
  const isDouble = sorted.some(({ hKey }, index) => equalBytes(hKey, sorted[index + 1]?.hKey ?? new Uint8Array(0)))
  if (isDouble) throw new ArgumentError({ path: name, expected: 'each key once', found: 'a key that is there twice' })
  return sorted
}

function decodeAccess(scheme: HashScheme, access: BlockAccess) {
  const { address: text, account, recreate = false, storage = [] } = readOptions('', access, ACCESS_FIELDS)
  const address = decodeArgument('address', text, 20)
  if (typeof recreate !== 'boolean') throw invalid('recreate', 'true or false', recreate)
  const slots = readItems('storage', storage, slot => decodeSlot(scheme, slot))
  return {
    address,
    text,
    hKey: accountTree.hashKey(scheme, address),
    recreate,
    /** null deletes the account; undefined leaves its fields as they are. */
    changes: account && atPath('account', () => decodeChanges(scheme, account)),
    reads: inOrder(
      'storage',
      slots.filter(({ value }) => value === undefined),
    ),
    writes: inOrder(
      'storage',
      slots.filter(({ value }) => value !== undefined),
    ),
  }
}

const ACCESS_FIELDS = ['address', 'account', 'recreate', 'storage']

/** The value null deletes the slot; undefined reads it. */
function decodeSlot(scheme: HashScheme, slot: SlotWrite) {
  const { key: keyText, value: text } = readOptions('', slot, ['key', 'value'])
  const key = decodeArgument('key', keyText, 32)
  const value = text === undefined ? undefined : decodeArgument('value', text, 32)
  return { key, hKey: storageTree.hashKey(scheme, key), value: value && isZero(value) ? null : value }
}

/** Adds the traces of one account: what is read, what is deleted, what is written. */
function applyAccess(accounts: Tree<Account>, newAccount: Account, access: Access, traces: Trace[]): Tree<Account> {
  const { address, text: location, hKey, changes, recreate, reads, writes } = access
  const target = { location: '0x' as const, key: address }
  const held = getValue(accounts, hKey)
  const isRead = changes === undefined && writes.length === 0 && !recreate
  if (isRead) traces.push(traceRead(accounts, target))
  // The storage of an account that does not exist cannot be read.
  if (held !== null) traces.push(...reads.map(({ key }) => traceRead(held.storage, { location, key })))
  if (isRead) return accounts
  const isMissing = held === null && (changes === null || changes === undefined || recreate)
  if (isMissing) throw new ArgumentError({ path: 'address', expected: 'an account that exists', found: 'none' })
  let tree = accounts
  if (changes === null || recreate) {
    const deleted = traceWrite(tree, target, null)
    traces.push(deleted.trace)
    tree = deleted.tree
  }
  if (changes === null) return tree
  const account = getValue(tree, hKey) ?? newAccount
  let { storage } = account
  for (const { key, value = null } of writes) {
    const written = traceWrite(storage, { location, key }, value)
    traces.push(written.trace)
    storage = written.tree
  }
  const written = traceWrite(tree, target, { ...account, ...changes, storage })
  traces.push(written.trace)
  return written.tree
}
