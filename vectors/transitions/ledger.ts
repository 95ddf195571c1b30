import { bigintToBytes, bytesToHex, compareBytes, concatBytes, hexToBytes } from '../../src/base/bytes.ts'
import { type Trace, traceRead, traceWrite } from '../../src/devnet/world/block.ts'
import { getLeaf, hashSubtree, pathDigests, putLeaf } from '../../src/devnet/world/sparse.ts'
import { createKind, createTree, locate, rootOf, setValue, type Tree } from '../../src/devnet/world/tree.ts'
import type { Hex } from '../../src/entry/index.ts'
import type { HashScheme } from '../../src/verify/scheme/scheme.ts'
import { encodeOpening, encodeRootNode } from '../../src/verify/tree/encode.ts'
import { accountTree, storageTree } from '../../src/verify/tree/kind.ts'
import { HEAD_INDEX } from '../../src/verify/tree/leaf.ts'
import { wordFor } from '../vector.ts'

type Raw = Tree<Uint8Array>
type Leaf = NonNullable<ReturnType<typeof getLeaf<ReturnType<typeof locate<Uint8Array>>['leaf']>>>

const bytes = (hex: string): Uint8Array => hexToBytes(hex, hex.length / 2 - 1)
const ZERO = wordFor(0)

/**
 * Trees whose keeper writes what no honest server writes: values that are not encodings of anything, leaves at any index, links
 * to any neighbour. All paths and roots are true, so that a single check stands between the traces and a verdict.
 */
export function createLedger(scheme: HashScheme) {
  const kindOf = (kind: typeof accountTree) => createKind<Uint8Array>(scheme, kind, value => value)
  let accounts = createTree(kindOf(accountTree))
  /** The root before the first trace: what is planted changes it, too. */
  let start = rootOf(accounts)
  /** A root that no tree of 40 levels has. */
  let otherRoot: Uint8Array | null = null
  const emptyStorage = createTree(kindOf(storageTree))
  const storages = new Map<Hex, Raw>()
  const storageOf = (address: Hex) => storages.get(address) ?? emptyStorage
  const targetOf = (address: Hex) => ({ location: '0x' as const, key: bytes(address) })
  const hashSlot = (key: string) => storageTree.hashKey(scheme, bytes(key))
  const hashKey = (address: Hex) => accountTree.hashKey(scheme, bytes(address))

  /** The value of an account with this nonce and the storage that it has, or another storage root. */
  const accountWith = (address: Hex, nonce: bigint, root?: Uint8Array): Uint8Array =>
    concatBytes(
      ...[bigintToBytes(nonce, 32), bigintToBytes(5n, 32), root ?? rootOf(storageOf(address))],
      ...[scheme.hasher.hash(new Uint8Array(32)), bytes(`0x${'c5'.repeat(32)}`), bigintToBytes(0n, 32)],
    )

  return {
    stateRoot: (): Hex => bytesToHex(otherRoot ?? rootOf(accounts)),
    /** The root that the first trace starts from. */
    startRoot: (): Hex => bytesToHex(otherRoot ?? start),
    storageRoot: (address: Hex): Uint8Array => rootOf(storageOf(address)),
    /** Reads an account. */
    read: (address: Hex): Trace => traceRead(accounts, targetOf(address)),
    /** Reads an account in a tree that has more or fewer levels, whose root becomes that of the ledger. */
    readOnOtherPath(address: Hex, change: (siblings: Hex[]) => Hex[]): Trace {
      const trace = traceRead(accounts, targetOf(address))
      const { leafIndex, siblings: true40 } = Object(trace['proof'])
      const siblings = change(true40)
      const { leaf } = locate(accounts, hashKey(address))
      const opening = scheme.hasher.hash(
        encodeOpening(scheme, { ...leaf, hVal: accounts.kind.hashContent(leaf.content) }),
      )
      const subRoot = scheme.hasher.foldPath(opening, siblings.map(bytes), leafIndex)
      otherRoot = scheme.hasher.hash(encodeRootNode(scheme, accounts.nextFreeNode, subRoot))
      return { ...trace, proof: { leafIndex, siblings }, subRoot: bytesToHex(subRoot) }
    },
    /** Creates or updates an account. */
    write(address: Hex, nonce: bigint, root?: Uint8Array): Trace {
      const { tree, trace } = traceWrite(accounts, targetOf(address), accountWith(address, nonce, root))
      accounts = tree
      return trace
    },
    /** Deletes an account, and its storage. */
    remove(address: Hex): Trace {
      const { tree, trace } = traceWrite(accounts, targetOf(address), null)
      accounts = tree
      storages.delete(address)
      return trace
    },
    /** Reads a slot, or writes it, in the storage of the account; zero deletes it. */
    slot(address: Hex, key: Hex, value?: Hex): Trace {
      const target = { location: address, key: bytes(key) }
      if (value === undefined) return traceRead(storageOf(address), target)
      const { tree, trace } = traceWrite(storageOf(address), target, value === ZERO ? null : bytes(value))
      storages.set(address, tree)
      return trace
    },
    /** Stores a slot with value zero. */
    slotZero(address: Hex, key: Hex): Trace {
      const { tree, trace } = traceWrite(storageOf(address), { location: address, key: bytes(key) }, bytes(ZERO))
      storages.set(address, tree)
      return trace
    },
    /** The order of two accounts in a block. */
    compare: (a: Hex, b: Hex): number => compareBytes(hashKey(a), hashKey(b)),
    /** The way to the next free place. */
    placeOf: (address: Hex) => prove(storageOf(address), storageOf(address).nextFreeNode),
    /** The neighbours of a slot that exists. */
    leafOf(address: Hex, key: Hex): { left: number; right: number } {
      const { leaf } = locate(storageOf(address), hashSlot(key))
      return { left: leaf.prev, right: leaf.next }
    },
    /** The neighbours that a slot which does not exist would have. */
    gapOf(address: Hex, key: Hex): { left: number; right: number } {
      const { index, leaf } = locate(storageOf(address), hashSlot(key))
      return { left: index, right: leaf.next }
    },
    /** HEAD and the first leaf of the list. */
    firstGap: (address: Hex) => ({ left: HEAD_INDEX, right: leafAt(storageOf(address), HEAD_INDEX).next }),
    /** The second of three keys in the list. */
    middleOf: (keys: readonly Hex[]): Hex => keys.toSorted((a, b) => compareBytes(hashSlot(a), hashSlot(b)))[1] ?? '0x',
    /** Inserts a slot between any two leaves, at any index. Its neighbours point there, or at `linked`. */
    insertAt(
      address: Hex,
      key: Hex,
      { left, right, index, linked }: { left: number; right: number; index?: number; linked?: number },
    ): Trace {
      const tree = storageOf(address)
      const at = index ?? tree.nextFreeNode
      const link = linked ?? at
      const inserted = { hKey: hashSlot(key), content: { key: bytes(key), value: bytes(wordFor(7)), hVal: null } }
      const [leftLeaf, rightLeaf] = [leafAt(tree, left), leafAt(tree, right)]
      const woven = weave(tree, [
        [left, { ...leftLeaf, next: link }],
        [at, { ...inserted, prev: left, next: right }],
        [right, { ...rightLeaf, prev: link }],
      ])
      const [leftProof, newProof, rightProof] = woven.proofs
      const changed = { ...woven.tree, nextFreeNode: tree.nextFreeNode + 1 }
      storages.set(address, changed)
      return {
        ...{ type: 2, location: address, key, value: wordFor(7), leftProof, newProof, rightProof },
        ...{ priorLeftLeaf: spell(tree, leftLeaf), priorRightLeaf: spell(tree, rightLeaf) },
        ...{ oldSubRoot: subRootOf(tree), newSubRoot: subRootOf(changed), newNextFreeNode: changed.nextFreeNode },
      }
    },
    /** Deletes a slot, and links any two others. */
    deleteBetween(address: Hex, key: Hex, { left, right }: { left: number; right: number }): Trace {
      const tree = storageOf(address)
      const { index, leaf, held } = locate(tree, hashSlot(key))
      const [leftLeaf, rightLeaf] = [leafAt(tree, left), leafAt(tree, right)]
      const woven = weave(tree, [
        [left, { ...leftLeaf, next: leaf.next }],
        [index, null],
        [right, { ...rightLeaf, prev: leaf.prev }],
      ])
      const [leftProof, deletedProof, rightProof] = woven.proofs
      storages.set(address, woven.tree)
      return {
        ...{ type: 4, location: address, key, deletedValue: bytesToHex(held?.value ?? bytes(ZERO)) },
        ...{ leftProof, deletedProof, rightProof, priorDeletedLeaf: spell(tree, leaf) },
        ...{ priorLeftLeaf: spell(tree, leftLeaf), priorRightLeaf: spell(tree, rightLeaf) },
        ...{ oldSubRoot: subRootOf(tree), newSubRoot: subRootOf(woven.tree), newNextFreeNode: tree.nextFreeNode },
      }
    },
    /** Reads a slot as absent between any two leaves. */
    absentBetween(address: Hex, key: Hex, { left, right }: { left: number; right: number }): Trace {
      const tree = storageOf(address)
      const [leftProof, rightProof] = [left, right].map(index => prove(tree, index))
      return {
        ...{ type: 1, location: address, key, leftProof, rightProof },
        ...{ leftLeaf: spell(tree, leafAt(tree, left)), rightLeaf: spell(tree, leafAt(tree, right)) },
        ...{ subRoot: subRootOf(tree), nextFreeNode: tree.nextFreeNode },
      }
    },
    /** Writes without a trace. */
    plant(address: Hex, slots: Readonly<Record<Hex, Hex>>): void {
      const planted = Object.entries(slots).reduce((tree, [key, value]) => {
        return setValue(tree, hashSlot(key), bytes(value), bytes(key))
      }, emptyStorage)
      storages.set(address, planted)
      accounts = setValue(accounts, hashKey(address), accountWith(address, 1n), bytes(address))
      start = rootOf(accounts)
    },
    /** Points a leaf of the storage elsewhere, without a trace. */
    plantLinks(address: Hex, index: number, links: Partial<Record<'prev' | 'next', number>>): void {
      const tree = storageOf(address)
      const top = putLeaf(tree.top, index, { ...leafAt(tree, index), ...links })
      storages.set(address, { ...tree, top, root: null })
      accounts = setValue(accounts, hashKey(address), accountWith(address, 1n), bytes(address))
      start = rootOf(accounts)
    },
    nextFreeNode: (address: Hex): number => storageOf(address).nextFreeNode,
  }
}

function leafAt(tree: Raw, index: number): Leaf {
  const leaf = getLeaf(tree.top, index)
  if (leaf === null) throw new Error(`no leaf ${index}`)
  return leaf
}

/** Puts leaves one after the other, each proven where the one before it has led. */
function weave(tree: Raw, changes: readonly (readonly [index: number, leaf: Leaf | null])[]) {
  let { top } = tree
  const proofs = changes.map(([index, leaf]) => {
    const proof = prove({ ...tree, top }, index)
    top = putLeaf(top, index, leaf)
    return proof
  })
  return { proofs, tree: { ...tree, top, root: null } }
}

const subRootOf = ({ kind, top }: Raw): Hex => bytesToHex(hashSubtree(kind.hashing, top))

const prove = ({ kind, top }: Raw, leafIndex: number) => ({
  leafIndex,
  siblings: pathDigests(kind.hashing, top, leafIndex).map(bytesToHex),
})

const spell = ({ kind }: Raw, { prev, next, hKey, content }: Leaf) => ({
  ...{ prevLeaf: prev, nextLeaf: next, hkey: bytesToHex(hKey), hval: bytesToHex(kind.hashContent(content)) },
})
