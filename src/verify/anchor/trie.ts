import { RLP } from '@ethereumjs/rlp'
import { bigintToBytes, bytesToBigint, bytesToHex, equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError, plural, refusal } from '../../base/errors.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { mismatch } from '../tree/path.ts'

// Each check of this file is a rule of test/soundness/Trie.v.

/** What RLP can encode: a byte string, or a list of items. */
export type RlpItem = Uint8Array | RlpItem[]

export const encodeRlp = (item: RlpItem): Uint8Array => RLP.encode(item)

/** Decodes exactly one item, as {@link encodeRlp} writes it. The caller bounds the length of `bytes`, and so the depth of the lists. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  try {
    const item = RLP.decode(bytes)
    // The library refuses most non-canonical encodings. Encoding the item again catches the rest.
    if (equalBytes(encodeRlp(item), bytes)) return item
  } catch {
    // Reported below.
  }
  throw new ProofError('RLP_NON_CANONICAL', { expected: 'one canonical RLP item' })
}

/** The bytes of an integer in RLP: big-endian without leading zeros, so none for zero. */
export const encodeInteger = (value: bigint): Uint8Array =>
  value === 0n ? new Uint8Array(0) : bigintToBytes(value, Math.ceil(value.toString(16).length / 2))

/** An integer as RLP encodes it: big-endian, at most `maxLength` bytes, no leading zero; null if it is not one. */
export function decodeInteger(item: RlpItem | undefined, maxLength: number): bigint | null {
  if (!(item instanceof Uint8Array) || item.length > maxLength || item[0] === 0) return null
  return bytesToBigint(item)
}

const BRANCH_LENGTH = 17
const DIGEST_LENGTH = 32

/** keccak256 of the RLP of the empty string: the root of a trie that holds nothing. */
export const emptyTrieRoot = (): Uint8Array => keccak256(encodeRlp(new Uint8Array(0)))
/** The same, as headers and accounts spell it. */
export const EMPTY_TRIE_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** A node, as seen by one key: of a branch, only the child that the next nibble of the key selects. */
type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'branch' | 'extension'; readonly path: readonly number[]; readonly child: RlpItem | undefined }
  | { readonly kind: 'leaf'; readonly path: readonly number[]; readonly value: Uint8Array }

/**
 * Walks a Merkle-Patricia proof from the trusted root to the key, a keccak256 digest, or to the node that proves the key absent.
 *
 * @param nodes the RLP of the nodes on the path, root first, each at most `MAX_NODE_LENGTH` bytes. Nodes that are
 * embedded in their parent are not repeated. Empty for an empty trie
 * @returns the value, or null if the key is proven absent
 */
export function verifyTrieProof(root: Uint8Array, key: Uint8Array, nodes: readonly Uint8Array[], open = openNode) {
  let used = 0
  /** The next node of the proof, which must hash to `digest`. */
  const takeNode = (digest: Uint8Array): RlpItem => {
    const index = used++
    const bytes = nodes[index]
    if (bytes === undefined) throw new ProofError('MPT_NODES_MISSING', { expected: `a node ${bytesToHex(digest)}` })
    return atPath(`[${index}]`, () => open(bytes, digest))
  }
  const place = () => `[${used - 1}]`
  const walk = (): Uint8Array | null => {
    let item = takeNode(root)
    let rest: readonly number[] = toNibbles(key)
    let parent: Node['kind'] | null = null
    // Every turn but the last goes at least one nibble deeper, and no branch or extension may go past the last nibble.
    for (;;) {
      const node: Node = atPath(place, () => decodeNode(item, rest, parent))
      if (node.kind === 'empty' || node.path.some((nibble, index) => rest[index] !== nibble)) return null
      if (node.kind === 'leaf') return node.value
      const { kind, path, child } = node
      if (!child?.length) return null
      // A child shorter than a digest is embedded in its parent. Any other is referenced by its digest.
      item = child instanceof Uint8Array ? takeNode(child) : child
      rest = rest.slice(path.length)
      parent = kind
    }
  }
  const isEmpty = nodes.length === 0 && equalBytes(root, emptyTrieRoot())
  const value = isEmpty ? null : walk()
  if (used < nodes.length) throw unusedNodes(used, nodes.length)
  return value
}

/** What a node contains, which must hash to `digest`. */
export function openNode(bytes: Uint8Array, digest: Uint8Array): RlpItem {
  const found = keccak256(bytes)
  // Before parsing: only bytes that the trusted root commits to are parsed.
  if (!equalBytes(found, digest)) throw mismatch('MPT_HASH_MISMATCH', digest, found)
  return decodeRlp(bytes)
}

export const unusedNodes = (used: number, found: number): ProofError =>
  refusal('MPT_NODES_UNUSED', plural(used, 'node'), found)

/** @param rest the nibbles of the key that are left at this node */
function decodeNode(item: RlpItem, rest: readonly number[], parent: Node['kind'] | null): Node {
  const node = decodeItem(item, rest)
  if (parent === 'extension' && node.kind !== 'branch') throw malformed('a branch below an extension')
  if (parent !== null && node.kind === 'empty') throw malformed('a node')
  return node
}

function decodeItem(item: RlpItem, rest: readonly number[]): Node {
  if (item instanceof Uint8Array) {
    if (item.length > 0) throw malformed('a list')
    return { kind: 'empty' }
  }
  if (item.length === BRANCH_LENGTH) return decodeBranch(item, rest)
  const [encodedPath, content] = item
  if (item.length !== 2 || encodedPath === undefined || content === undefined) {
    throw malformed('a list of 2 or 17 items', `a list of ${item.length}`)
  }
  const { path, isLeaf } = decodePath(encodedPath)
  if (isLeaf) {
    // All keys have the same length, so a leaf ends where the key does.
    if (path.length !== rest.length) throw malformed(`a leaf path of ${rest.length} nibbles`, `${path.length}`)
    if (!(content instanceof Uint8Array) || content.length === 0) throw malformed('a leaf with a value')
    return { kind: 'leaf', path, value: content }
  }
  if (path.length >= rest.length) throw malformed(`an extension of less than ${rest.length} nibbles`, `${path.length}`)
  verifyChild(content)
  if (content.length === 0) throw malformed('an extension with a child')
  return { kind: 'extension', path, child: content }
}

function decodeBranch(items: readonly RlpItem[], [nibble]: readonly number[]): Node {
  if (nibble === undefined) throw malformed('no branch after the last nibble')
  const children = items.slice(0, -1)
  for (const child of children) verifyChild(child)
  // All keys have the same length, so none ends at a branch.
  const value = items.at(-1)
  if (!(value instanceof Uint8Array) || value.length > 0) throw malformed('a branch without a value')
  return { kind: 'branch', path: [nibble], child: children[nibble] }
}

/** A child is empty, a digest, or a whole node shorter than a digest. A longer node must be referenced by its digest. */
function verifyChild(child: RlpItem): void {
  if (child instanceof Uint8Array) {
    if (child.length !== 0 && child.length !== DIGEST_LENGTH) throw malformed('a child of 0 or 32 bytes')
  } else if (child.length === 0 || encodeRlp(child).length >= DIGEST_LENGTH) {
    throw malformed('an embedded node of less than 32 bytes')
  }
}

/**
 * Hex-prefix encoding. The first nibble distinguishes a leaf (2) from an extension (0). Its lowest bit marks an odd path;
 * before an even path comes a zero nibble. The path of an extension is never empty.
 */
function decodePath(encoded: RlpItem): { path: readonly number[]; isLeaf: boolean } {
  const [flags, padding, ...evenPath] = encoded instanceof Uint8Array ? toNibbles(encoded) : []
  if (flags === undefined || padding === undefined || flags > 3) throw nonCanonicalPath('a flag from 0 to 3')
  const isOdd = flags % 2 === 1
  if (!isOdd && padding !== 0) throw nonCanonicalPath('a zero nibble before an even path')
  const path = isOdd ? [padding, ...evenPath] : evenPath
  const isLeaf = flags >= 2
  if (!isLeaf && path.length === 0) throw nonCanonicalPath('an extension of at least one nibble')
  return { path, isLeaf }
}

function toNibbles(bytes: Uint8Array): number[] {
  const nibbles: number[] = []
  for (const byte of bytes) nibbles.push(byte >> 4, byte & 15)
  return nibbles
}

const nonCanonicalPath = (expected: string): ProofError => new ProofError('MPT_PATH_NON_CANONICAL', { expected })

const malformed = (expected: string, found?: string): ProofError =>
  new ProofError('MPT_NODE_MALFORMED', { expected, found })
