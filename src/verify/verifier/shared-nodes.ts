import { equalBytes, uint32At } from '../../base/bytes.ts'
import type { Hasher } from '../hash/hasher.ts'
import type { Decode, Tree, Trees } from '../proof/tree.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { DIGEST_LENGTH, type LeafNode, zeroDigest } from '../tree/leaf.ts'
import { INNER_LENGTH, NODE_COUNT } from '../tree/path.ts'

/** How many digests an answer remembers at most: about 5 MB with their messages. */
const PLACES = 2 ** 13
/** The kernel of poseidon2 hashes this many messages of one length in little more time than two. */
const TOGETHER = 4

/**
 * Trees for one answer, which decode and hash like `trees`. What several paths of a tree have in common, they decode and hash
 * once. Nothing else refers to what they remember, so it is freed with them. Of several slots, every path is worth remembering.
 */
export const shareNodes = ({ account, storage }: Trees, slotCount: number): Trees => ({
  account: shareFromSecondPath(account),
  storage: slotCount > 1 ? { ...storage, ...partsWithMemory(storage) } : shareFromSecondPath(storage),
})

/** Most trees have one path in an answer, which a memory would only slow down. So the second path brings the memory. */
function shareFromSecondPath(tree: Tree): Tree {
  let isFirst = true
  const shared: Tree = {
    ...tree,
    decodeRootNode(hex, node) {
      // In time for the hashes of both paths, because the whole answer is decoded before anything is hashed.
      if (!isFirst) Object.assign(shared, partsWithMemory(tree))
      isFirst = false
      return tree.decodeRootNode(hex, node)
    },
  }
  return shared
}

function partsWithMemory(tree: Tree) {
  const openings: Uint8Array[] = []
  const noteOpening = <Leaf extends LeafNode | null>(leaf: Leaf): Leaf => {
    if (leaf !== null) openings.push(leaf.opening)
    return leaf
  }
  return {
    ...memoryOf(tree, PLACES, openings),
    decodeSiblingLeaf: (hex, node) => noteOpening(tree.decodeSiblingLeaf(hex, node)),
    decodeLeafNode: (hex, node) => noteOpening(tree.decodeLeafNode(hex, node)),
  } satisfies Partial<Tree>
}

const memoryOf = ({ scheme, ...tree }: Tree, places: number, openings?: readonly Uint8Array[]) => ({
  scheme: withHasher(scheme, rememberingHasher(scheme.hasher, places, openings)),
  decodeRootNode: rememberLast(tree.decodeRootNode),
  decodeInner: rememberLast(tree.decodeInner),
})

/** The scheme with another hasher. It inherits, because a copy would lose members that the scheme itself inherits. */
export const withHasher = (scheme: HashScheme, hasher: Hasher): HashScheme =>
  Object.create(scheme, { hasher: { value: hasher } })

/** A tree that decodes and hashes like `tree`, with a memory of so many digests, a power of two. */
export const rememberingTree = (tree: Tree, digests: number): Tree => ({
  ...tree,
  ...memoryOf(tree, digests),
  decodeSiblingLeaf: rememberLast(tree.decodeSiblingLeaf),
  decodeLeafNode: rememberLast(tree.decodeLeafNode),
  decodeValue: rememberLast(tree.decodeValue),
})

/** Consecutive proofs share most of their path. The whole text is compared: to decode it again would give the same. */
export function rememberLast<T>(decode: Decode<T>): Decode<T> {
  // Filled, because reading a hole consults Array.prototype, which may be polluted.
  const last = new Array<{ hex: string; decoded: T } | undefined>(NODE_COUNT).fill(undefined)
  return (hex, node) => {
    const recent = last[node]
    if (recent?.hex === hex) return recent.decoded
    const decoded = decode(hex, node)
    last[node] = { hex, decoded }
    return decoded
  }
}

/**
 * A hasher that remembers which digest belongs to which bytes, and the path that it folded last: at most so many digests, a power of
 * two. Nobody may modify a message that it was given. @param openings those that it will have to hash, in this order
 */
export function rememberingHasher(hasher: Hasher, places: number, openings: readonly Uint8Array[] = []): Hasher {
  const { recall, remember, hashAll, hashPair } = createMemory(hasher, places)
  let nextOpening = 0
  let lastBatch: Record<'messages' | 'digests', readonly Uint8Array[]> = { messages: [], digests: [] }
  let lastFold: FoldedPath = { siblings: [], leafIndex: 0 }
  /** The running digest of the last fold at each level, then its top. */
  const running: Uint8Array[] = []
  return {
    hash(message) {
      // Too short for a node: an encoded address, whose digest would take the place of a node's.
      if (message.length < INNER_LENGTH) return hasher.hash(message)
      const isNext = openings[nextOpening] === message
      const digest = recall(message)
      if (digest !== undefined) {
        if (isNext) nextOpening++
        return digest
      }
      if (!isNext) return remember(message, hasher.hash(message))
      const digests = hashAll(openings.slice(nextOpening, nextOpening + TOGETHER))
      nextOpening += digests.length
      return digests[0] as Uint8Array
    },
    hashBatch(messages) {
      const last = lastBatch
      const recallAt = (message: Uint8Array, index: number) =>
        message === last.messages[index] ? last.digests[index] : recall(message)
      const digests = hashUnknown(messages, recallAt, hashAll)
      lastBatch = { messages, digests }
      return digests
    },
    foldPath(leafDigest, siblings, leafIndex) {
      const meeting = meetingLevel(lastFold, siblings, leafIndex)
      // `running` is overwritten below: if this fold fails, the next one must not reuse it.
      lastFold = { siblings: [], leafIndex }
      let [digest, rest] = [leafDigest, Math.floor(leafIndex)]
      for (let level = 0; level < siblings.length; level++, rest = Math.floor(rest / 2)) {
        if (level >= meeting && isSame(running[level] as Uint8Array, digest)) {
          // From here up, the digest, the siblings and the sides are those of the last fold, and so is the top.
          digest = running[siblings.length] as Uint8Array
          break
        }
        running[level] = digest
        const sibling = siblings[level] as Uint8Array
        digest = rest % 2 === 1 ? hashPair(sibling, digest) : hashPair(digest, sibling)
      }
      running[siblings.length] = digest
      lastFold = { siblings, leafIndex }
      return digest
    },
  }
}

interface FoldedPath {
  readonly siblings: readonly Uint8Array[]
  readonly leafIndex: number
}

/** The level from which two paths have the same siblings on the same sides. */
function meetingLevel(last: FoldedPath, siblings: readonly Uint8Array[], leafIndex: number): number {
  let level = siblings.length
  while (level > 0 && last.siblings[level - 1] === siblings[level - 1]) level--
  const placeOf = (index: number) => Math.floor(index / 2 ** level)
  while (placeOf(last.leafIndex) !== placeOf(leafIndex)) level++
  return level
}

/** The message is `left`, or `left` and then `right`. */
interface Known {
  readonly left: Uint8Array
  readonly right: Uint8Array | null
  readonly digest: Uint8Array
}

function createMemory(hasher: Hasher, places: number) {
  const known = new Map<number, Known>()
  const pair = new Uint8Array(INNER_LENGTH)
  const placeOfEnds = (...ends: Parameters<typeof mixEnds>) => mixEnds(...ends) & (places - 1)
  const placeOf = (message: Uint8Array) => placeOfEnds(message, message.length - DIGEST_LENGTH, message)
  const remember = (message: Uint8Array, digest: Uint8Array): Uint8Array => {
    known.set(placeOf(message), { left: message, right: null, digest })
    return digest
  }
  /** In an array that the next pair overwrites. */
  const join = (left: Uint8Array, right: Uint8Array) => {
    pair.set(left)
    pair.set(right, DIGEST_LENGTH)
    return pair
  }
  const isMessage = ({ left, right }: Known, message: Uint8Array) =>
    right === null ? isSame(left, message) : equalBytes(message, join(left, right))
  const isPair = (one: Known, left: Uint8Array, right: Uint8Array) =>
    one.right === null ? equalBytes(one.left, join(left, right)) : isSame(one.left, left) && isSame(one.right, right)
  return {
    remember,
    recall(message: Uint8Array): Uint8Array | undefined {
      const one = known.get(placeOf(message))
      return one !== undefined && isMessage(one, message) ? one.digest : undefined
    },
    hashAll(messages: readonly Uint8Array[]): Uint8Array[] {
      const digests = hasher.hashBatch(messages)
      for (let index = 0; index < digests.length; index++)
        remember(messages[index] as Uint8Array, digests[index] as Uint8Array)
      return digests
    },
    hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
      const place = placeOfEnds(left, DIGEST_LENGTH, right)
      const one = known.get(place)
      if (one !== undefined && isPair(one, left, right)) return one.digest
      const digest = hasher.hash(join(left, right))
      known.set(place, { left, right, digest })
      return digest
    },
  }
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => one === other || equalBytes(one, other)

/** Mixes the ends of two digests, which look random. Two messages of one place cost only time: the later is remembered. */
function mixEnds(left: Uint8Array, leftEnd: number, right: Uint8Array): number {
  const leftWord = leftEnd < 4 ? 0 : uint32At(left, leftEnd - 4)
  const mixed = Math.imul(uint32At(right, right.length - 4), 0x9e3779b1) ^ Math.imul(leftWord, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** The digests of `messages`: those that `recall` returns, and those that `hashBatch` computes where it returns undefined. */
export function hashUnknown(
  messages: readonly Uint8Array[],
  recall: (message: Uint8Array, index: number) => Uint8Array | undefined,
  hashBatch: Hasher['hashBatch'],
): Uint8Array[] {
  const unknown: Uint8Array[] = []
  const known = messages.map((message, index) => {
    const digest = recall(message, index)
    if (digest === undefined) unknown.push(message)
    return digest
  })
  // Often a memory has them all.
  if (unknown.length === 0) return known as Uint8Array[]
  const hashed = hashBatch(unknown)
  let next = 0
  // There are as many digests as messages: otherwise, nothing is verified.
  return known.map(digest => digest ?? hashed[next++] ?? zeroDigest())
}
