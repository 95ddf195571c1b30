import { encodeRlp, type RlpItem } from '../../verify/anchor/rlp.ts'
import { emptyTrieRoot } from '../../verify/anchor/trie.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'

/**
 * A Merkle Patricia trie, as on L1, that supports insertions, deletions and proofs. It is immutable: a change returns a new trie, which
 * shares its unchanged nodes with the old one.
 */
export type Trie = TrieNode | null

/** A leaf, or a branch with the extension that leads to it. */
interface TrieNode {
  /** The nibbles before the end; of a branch without an extension, none. */
  readonly path: readonly number[]
  /** The value of a leaf, or the 16 children of a branch. */
  readonly end: Uint8Array | readonly Trie[]
  /** Computed on first use: the node, and the branch behind it if it is an extension. */
  encoded?: Encodings
}

interface Encoded {
  readonly item: RlpItem
  readonly rlp: Uint8Array
}
type Encodings = readonly [Encoded, ...Encoded[]]

/** Returns the trie with `value` at `key`. The value must not be empty. */
export const putEntry = (trie: Trie, key: Uint8Array, value: Uint8Array): TrieNode => insert(trie, pathOf(key), value)

/** Returns the trie without `key`, whether it was there or not. */
export const removeEntry = (trie: Trie, key: Uint8Array): Trie => remove(trie, pathOf(key))

/** 32 bytes. */
export const trieRoot = (trie: Trie): Uint8Array => (trie === null ? emptyTrieRoot() : keccak256(encode(trie)[0].rlp))

/**
 * The value at `key`, null if there is none; and its proof: the RLP of the nodes on the path to it, root first, except for those
 * embedded in their parent.
 */
export function lookUp(trie: Trie, key: Uint8Array): { value: Uint8Array | null; proof: Uint8Array[] } {
  const proof: Uint8Array[] = []
  const add = ({ rlp }: Encoded) => {
    if (proof.length === 0 || rlp.length >= 32) proof.push(rlp)
  }
  let path = pathOf(key)
  for (let node = trie; node !== null; ) {
    const [first, branch] = encode(node)
    const { length } = node.path
    add(first)
    if (commonLength(node.path, path) < length) break
    if (node.end instanceof Uint8Array) return { value: node.end, proof }
    if (branch) add(branch)
    node = node.end[path[length] ?? 0] ?? null
    path = path.slice(length + 1)
  }
  return { value: null, proof }
}

const pathOf = (key: Uint8Array): number[] => Array.from(keccak256(key)).flatMap(byte => [byte >> 4, byte & 15])

function insert(node: Trie, path: readonly number[], value: Uint8Array): TrieNode {
  const shared = node === null ? path.length : commonLength(node.path, path)
  if (node === null || shared === path.length) return { path, end: value }
  const { end } = node
  // If the paths diverge inside this node, a branch goes there.
  const children =
    shared === node.path.length && !(end instanceof Uint8Array)
      ? end
      : new Array<Trie>(16).fill(null).with(node.path[shared] ?? 0, { path: node.path.slice(shared + 1), end })
  const nibble = path[shared] ?? 0
  const child = insert(children[nibble] ?? null, path.slice(shared + 1), value)
  return { path: path.slice(0, shared), end: children.with(nibble, child) }
}

function remove(node: Trie, path: readonly number[]): Trie {
  if (node === null || commonLength(node.path, path) < node.path.length) return node
  if (node.end instanceof Uint8Array) return null
  const nibble = path[node.path.length] ?? 0
  const children = node.end.with(nibble, remove(node.end[nibble] ?? null, path.slice(node.path.length + 1)))
  const left = children.flatMap((child, index) => (child === null ? [] : [{ child, index }]))
  const [lone, other] = left
  if (lone === undefined || other !== undefined) return { path: node.path, end: children }
  // A branch has two children at least. The one that is left takes its place.
  return { path: [...node.path, lone.index, ...lone.child.path], end: lone.child.end }
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  const end = a.findIndex((nibble, index) => nibble !== b[index])
  return end === -1 ? a.length : end
}

const encoded = (item: RlpItem): Encoded => ({ item, rlp: encodeRlp(item) })

const encode = (node: TrieNode): Encodings => (node.encoded ??= encodeNode(node))

function encodeNode({ path, end }: TrieNode): Encodings {
  if (end instanceof Uint8Array) return [encoded([encodePath(path, 2), end])]
  const children = end.map(child => (child === null ? new Uint8Array(0) : refer(encode(child)[0])))
  const branch = encoded([...children, new Uint8Array(0)])
  return path.length === 0 ? [branch] : [encoded([encodePath(path, 0), refer(branch)]), branch]
}

/** How a parent refers to a node: by its hash, or by the node itself if that is shorter than a digest. */
const refer = ({ item, rlp }: Encoded): RlpItem => (rlp.length < 32 ? item : keccak256(rlp))

/** Hex-prefix encoding. @param flag 2 for a leaf, 0 for an extension */
function encodePath(path: readonly number[], flag: number): Uint8Array {
  const nibbles = path.length % 2 === 1 ? [flag + 1, ...path] : [flag, 0, ...path]
  return Uint8Array.from({ length: nibbles.length / 2 }, (_, index) => {
    return ((nibbles[2 * index] ?? 0) << 4) | (nibbles[2 * index + 1] ?? 0)
  })
}
