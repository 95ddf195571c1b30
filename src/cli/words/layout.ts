import { bytesToBigint, bytesToHex, concatBytes, type Hex, hexLength, hexToBytes } from '../../base/bytes.ts'
import { isRefusal, type Refusal } from '../../base/errors.ts'
import { readerOf } from '../../base/json/reader.ts'
import { decodeRlp } from '../../verify/anchor/trie.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { decodeLeafIndex } from '../../verify/proof/decode.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import {
  DIGEST_LENGTH,
  HEAD_INDEX,
  openingLength,
  TAIL_INDEX,
  TREE_DEPTH,
  verifyCanonical,
} from '../../verify/tree/leaf.ts'
import { INNER_LENGTH, LEAF_NODE, NODE_COUNT } from '../../verify/tree/path.ts'
import { emptySubtreeDigests } from '../../verify/verifier/empty-subtrees.ts'

/** Hexadecimal that people write or read: the layout of a path's bytes, the checksum of an address. The verifier's own functions decode everything. */

export { bytesToBigint as toNumber, bytesToHex as toHex } from '../../base/bytes.ts'
export { DIGEST_LENGTH, MAX_LEAVES, openingLength as leafLength } from '../../verify/tree/leaf.ts'
export { LEAF_NODE, SIBLING_LEAF_NODE } from '../../verify/tree/path.ts'
export { decodeLeafIndex, decodeRlp as readRlp }

const hexReader = /* @__PURE__ */ readerOf('BAD_HEX')

/** Decodes strict hexadecimal of any length. @throws ProofError */
export function decodeHex(value: unknown): Uint8Array {
  const hex = hexReader.string(value)
  return hexToBytes(hex, hexLength(hex))
}

/** The result of `decode`; null if it refuses what it reads. */
export function attempt<T>(decode: () => T): T | null {
  try {
    return decode()
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** Strict hexadecimal of exactly `length` bytes; null for anything else. */
export const readBytes = (length: number, value: unknown): Uint8Array | null =>
  typeof value === 'string' ? attempt(() => hexToBytes(value, length)) : null

export const isHexOf = (length: number, value: unknown): value is Hex => readBytes(length, value) !== null

/** The number in an index word; null if the word has stray bytes. */
export function readWord(scheme: HashScheme, word: Uint8Array): bigint | null {
  const number = scheme.decodeWord(word)
  return number && bytesToBigint(number)
}

export const isLeafIndex = (value: unknown): value is number => attempt(() => decodeLeafIndex(value)) !== null

/** The index, with the name if it is HEAD or TAIL. */
export function nameLeafIndex(index: number): string {
  const name = index === HEAD_INDEX ? ' (HEAD)' : index === TAIL_INDEX ? ' (TAIL)' : ''
  return `${index}${name}`
}

export type PathLevel = ReturnType<typeof readLevels>['levels'][number]

/**
 * The 40 levels of a path, from the sub-root down, and the roots to which they lead; null if something below cannot be hashed. No levels
 * unless there are 42 nodes. It ignores the sub-root in node 0.
 */
export function readLevels(scheme: HashScheme, leafIndex: number | null, nodes: readonly unknown[]) {
  if (nodes.length !== NODE_COUNT) return { levels: [], subRoot: null, root: null }
  const { hasher } = scheme
  const empty = emptySubtreeDigests(scheme.hasher)
  let running = hashNode(scheme, nodes[LEAF_NODE], openingLength(scheme)).digest
  const levels = Array.from({ length: TREE_DEPTH }, (_, level) => {
    // Where the sibling of the node on the path is.
    const entry = TREE_DEPTH - level
    const node = nodes[entry]
    // 32 zero bytes stand for a missing leaf: they are its digest, not its preimage.
    const missing = level === 0 && readBytes(DIGEST_LENGTH, node)?.every(byte => byte === 0)
    const { digest, problem } = missing
      ? { digest: new Uint8Array(DIGEST_LENGTH), problem: null }
      : hashNode(scheme, node, level === 0 ? openingLength(scheme) : INNER_LENGTH)
    // Division instead of a shift, because an index can exceed 2^32.
    const isRight = Math.floor((leafIndex ?? 0) / 2 ** level) % 2 === 1
    const before = running
    const pair = running && digest && (isRight ? concatBytes(digest, running) : concatBytes(running, digest))
    running = pair && leafIndex !== null ? hasher.hash(pair) : null
    return {
      level,
      entry,
      siblingSide: isRight ? ('left' as const) : ('right' as const),
      /** Null if it cannot be hashed, for the `problem`. */
      sibling: digest && bytesToHex(digest),
      problem,
      /** Whether the sibling is a subtree without leaves. */
      isEmpty: digest !== null && bytesToHex(digest) === bytesToHex(empty[level] ?? digest.subarray(1)),
      /** The digest of the node on the path; null if something below it cannot be hashed. */
      running: before && bytesToHex(before),
    }
  })
  const top = readBytes(scheme.wordLength + DIGEST_LENGTH, nodes[0])
  const root = running && top && hasher.hash(concatBytes(top.subarray(0, scheme.wordLength), running))
  return { levels: levels.reverse(), subRoot: running && bytesToHex(running), root: root && bytesToHex(root) }
}

function hashNode(scheme: HashScheme, node: unknown, length: number) {
  try {
    const preimage = hexToBytes(readerOf('MALFORMED_RESPONSE').string(node), length)
    verifyCanonical(scheme, preimage)
    return { digest: scheme.hasher.hash(preimage), problem: null }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { digest: null, problem: describeDetails(error) }
  }
}

/** What the error expected and found, in one line. */
export const describeDetails = ({ code, expected, found }: Refusal): string =>
  [expected && `expected ${expected}`, found && `found ${found}`].filter(Boolean).join(', ') || code

/** The first digit of an address, from 1, whose case is not that of its checksum (EIP-55); null if none is, or all letters have one case. */
export function digitOffChecksum(address: string): number | null {
  const digits = address.slice(2)
  const lower = digits.toLowerCase()
  if (digits === lower || digits === digits.toUpperCase()) return null
  const hash = bytesToHex(keccak256(new TextEncoder().encode(lower))).slice(2)
  const off = [...lower].findIndex((digit, index) => {
    const isUpper = Number.parseInt(hash[index] ?? '', 16) >= 8
    return digits[index] !== (isUpper ? digit.toUpperCase() : digit)
  })
  return off < 0 ? null : off + 1
}
