import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeRlp, type RlpItem } from '../anchor/rlp.ts'
import { emptyTrieRoot } from '../anchor/trie.ts'

/**
 * A Merkle Patricia trie, as on L1, that supports insertions and proofs. It is immutable: inserting returns a new trie, which
 * shares its unchanged nodes with the old one.
 */
export type Trie = TrieNode | null

type TrieNode = Leaf | Extension | Branch

interface Leaf extends Encoded {
  readonly kind: 'leaf'
  readonly path: readonly number[]
  readonly value: Uint8Array
}
interface Extension extends Encoded {
  readonly kind: 'extension'
  readonly path: readonly number[]
  readonly child: Branch
}
interface Branch extends Encoded {
  readonly kind: 'branch'
  readonly children: readonly Trie[]
}
interface Encoded {
  /** Computed on first use. */
  encoded?: { readonly item: RlpItem; readonly rlp: Uint8Array }
}

/** Returns the trie with `value` at `key`. The value must not be empty. */
export function putEntry(trie: Trie, key: Uint8Array, value: Uint8Array): TrieNode {
  return insert(trie, pathOf(key), value)
}

/** 32 bytes. */
export const trieRoot = (trie: Trie): Uint8Array => (trie === null ? emptyTrieRoot() : keccak_256(encode(trie).rlp))

/** The value at `key`; null if there is none. */
export function getEntry(trie: Trie, key: Uint8Array): Uint8Array | null {
  let path: readonly number[] = pathOf(key)
  let node = trie
  while (node !== null) {
    if (node.kind === 'branch') {
      node = node.children[path[0] ?? 0] ?? null
      path = path.slice(1)
      continue
    }
    if (commonLength(node.path, path) < node.path.length) return null
    if (node.kind === 'leaf') return node.value
    path = path.slice(node.path.length)
    node = node.child
  }
  return null
}

/** The RLP of the nodes on the path to `key`, root first, except for those embedded in their parent. */
export function proveEntry(trie: Trie, key: Uint8Array): Uint8Array[] {
  const nodes: Uint8Array[] = []
  let path = pathOf(key)
  let node = trie
  while (node !== null) {
    const { rlp } = encode(node)
    if (nodes.length === 0 || rlp.length >= 32) nodes.push(rlp)
    if (node.kind === 'leaf') break
    if (node.kind === 'branch') {
      node = node.children[path[0] ?? 0] ?? null
      path = path.slice(1)
    } else {
      if (commonLength(node.path, path) < node.path.length) break
      path = path.slice(node.path.length)
      node = node.child
    }
  }
  return nodes
}

const pathOf = (key: Uint8Array): number[] => Array.from(keccak_256(key)).flatMap(byte => [byte >> 4, byte & 15])

function insert(node: Trie, path: readonly number[], value: Uint8Array): TrieNode {
  if (node === null) return { kind: 'leaf', path, value }
  if (node.kind === 'branch') return insertBelow(node, path, value)
  const shared = commonLength(node.path, path)
  if (node.kind === 'leaf' && shared === path.length) return { kind: 'leaf', path, value }
  if (node.kind === 'extension' && shared === node.path.length) {
    return { kind: 'extension', path: node.path, child: insertBelow(node.child, path.slice(shared), value) }
  }
  // The paths diverge inside this node: put a branch there.
  const rest = node.path.slice(shared + 1)
  const old: TrieNode =
    node.kind === 'leaf'
      ? { kind: 'leaf', path: rest, value: node.value }
      : rest.length === 0
        ? node.child
        : { kind: 'extension', path: rest, child: node.child }
  const children = new Array<Trie>(16).fill(null).with(node.path[shared] ?? 0, old)
  const branch = insertBelow({ kind: 'branch', children }, path.slice(shared), value)
  return shared === 0 ? branch : { kind: 'extension', path: path.slice(0, shared), child: branch }
}

function insertBelow(branch: Branch, path: readonly number[], value: Uint8Array): Branch {
  const nibble = path[0] ?? 0
  const child = insert(branch.children[nibble] ?? null, path.slice(1), value)
  return { kind: 'branch', children: branch.children.with(nibble, child) }
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  const end = a.findIndex((nibble, index) => nibble !== b[index])
  return end === -1 ? a.length : end
}

function encode(node: TrieNode): { readonly item: RlpItem; readonly rlp: Uint8Array } {
  if (node.encoded === undefined) {
    const item = itemOf(node)
    node.encoded = { item, rlp: encodeRlp(item) }
  }
  return node.encoded
}

function itemOf(node: TrieNode): RlpItem {
  switch (node.kind) {
    case 'leaf':
      return [encodePath(node.path, 2), node.value]
    case 'extension':
      return [encodePath(node.path, 0), refer(node.child)]
    case 'branch':
      return [...node.children.map(refer), new Uint8Array(0)]
  }
}

/** How a parent refers to a node: by its hash, or by the node itself if that is shorter than a digest. */
function refer(node: Trie): RlpItem {
  if (node === null) return new Uint8Array(0)
  const { item, rlp } = encode(node)
  return rlp.length < 32 ? item : keccak_256(rlp)
}

/** Hex-prefix encoding. @param flag 2 for a leaf, 0 for an extension */
function encodePath(path: readonly number[], flag: number): Uint8Array {
  const nibbles = path.length % 2 === 1 ? [flag + 1, ...path] : [flag, 0, ...path]
  return Uint8Array.from({ length: nibbles.length / 2 }, (_, index) => {
    return ((nibbles[2 * index] ?? 0) << 4) | (nibbles[2 * index + 1] ?? 0)
  })
}
