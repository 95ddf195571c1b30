import { decodeArgument, readItems } from '../../base/arguments.ts'
import { bytesToHex, concatBytes, equalBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { refusal } from '../../base/errors.ts'
import { hexOf } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { verifyWhole } from '../../base/options.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { mismatch } from '../tree/path.ts'
import { MAX_TREE_DEPTH } from './limits.ts'
import type { DecodedMessage } from './message.ts'

// Each check of this file is a rule of test/soundness/Messages.v.

/** Where a message is in the tree of a finalization. */
export interface MessageProof {
  /** Root of the tree, 32 bytes: L1 keeps it once the finalization is there. */
  root: Hex
  /** Which leaf of the tree the message is, from 0. */
  leafIndex: number
  /** The other child of each node on the way from the leaf to the root, 32 bytes each: as many as the tree is deep. */
  proof: Hex[]
}

/** A tree of messages. */
export interface MessageTree {
  /** 32 bytes. */
  root: Hex
  /** One per message, in order. */
  proofs: MessageProof[]
}

export const reader = /* @__PURE__ */ readerOf('MESSAGE_MALFORMED')

const hashPair = (left: Uint8Array, right: Uint8Array): Uint8Array => keccak256(concatBytes(left, right))

/** The empty subtree of each level but that of the root, from the leaves on. */
function emptySubtrees(depth: number): Uint8Array[] {
  let next: Uint8Array = new Uint8Array(32)
  return Array.from({ length: depth }, () => {
    const empty = next
    next = hashPair(empty, empty)
    return empty
  })
}

/**
 * The trees that a finalization makes of the messages from L2 in its blocks: each tree takes the next 2^depth of them, and the
 * last is filled up with zero hashes. Messages that are left out or added by whoever sent the logs lead to other roots, which L1
 * does not know.
 *
 * @param hashes of all messages that were sent in the finalization's blocks, in order, 32 bytes each
 * @param depth of each tree, from 1 to 32. Default: 5, as Linea has it
 * @returns the trees, in order; none if there are no messages
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { messageTrees } from 'rollup-state-proof/messages'
 *
 * const hashes = Array.from({ length: 33 }, (_, index) => `0x${'ab'.repeat(31)}${index + 10}` as const)
 * const [first, second] = messageTrees(hashes)
 * console.log(first?.proofs.length, second?.proofs[0]?.leafIndex) // 32 0
 * ```
 */
export function messageTrees(hashes: readonly Hex[], depth = 5): MessageTree[] {
  const leaves = readItems('hashes', hashes, hash => decodeArgument('', hash, 32))
  const empty = emptySubtrees(verifyWhole('depth', depth, 1, MAX_TREE_DEPTH))
  const size = 2 ** depth
  return Array.from({ length: Math.ceil(leaves.length / size) }, (_, tree) =>
    makeTree(leaves.slice(tree * size, (tree + 1) * size), empty),
  )
}

function makeTree(leaves: readonly Uint8Array[], empty: readonly Uint8Array[]): MessageTree {
  const levels: Hex[][] = []
  let nodes = leaves
  for (const none of empty) {
    levels.push(nodes.map(bytesToHex))
    const below = nodes
    nodes = below.flatMap((left, index) => (index % 2 === 0 ? [hashPair(left, below[index + 1] ?? none)] : []))
  }
  const [top = new Uint8Array(0)] = nodes
  const root = bytesToHex(top)
  const proofs = leaves.map((_, leafIndex) => ({
    root,
    leafIndex,
    proof: empty.map((none, height) => levels[height]?.[(leafIndex >>> height) ^ 1] ?? bytesToHex(none)),
  }))
  return { root, proofs }
}

/** Reads the place of a message, and verifies that its path leads from the message to the root. */
export function openMessageProof(source: unknown, { hash }: DecodedMessage): MessageProof {
  const messageProof = decodeMessageProof(source)
  const { root, leafIndex, proof } = messageProof
  const found = proof
    .map(node => hexToBytes(node, 32))
    .reduce((node, other, height) => ((leafIndex >>> height) & 1 ? hashPair(other, node) : hashPair(node, other)), hash)
  const expected = hexToBytes(root, 32)
  if (!equalBytes(found, expected)) throw mismatch('MESSAGE_ROOT_MISMATCH', expected, found)
  return messageProof
}

function decodeMessageProof(source: unknown): MessageProof {
  const field = reader.fieldsOf(source, ['root', 'leafIndex', 'proof'])
  const proof = field('proof', list => reader.items(list, verifyDepth, hexOf(reader, 32)))
  return {
    root: field('root', hexOf(reader, 32)),
    leafIndex: field('leafIndex', index => verifyIndex(reader.number(index), 2 ** proof.length)),
    proof,
  }
}

function verifyDepth(depth: number): void {
  if (depth < 1 || depth > MAX_TREE_DEPTH) throw refusal('MESSAGE_MALFORMED', `1 to ${MAX_TREE_DEPTH} nodes`, depth)
}

/** Older contracts ignore what is above the tree. */
function verifyIndex(index: number, size: number): number {
  if (Number.isInteger(index) && index >= 0 && index < size) return index
  throw refusal('MESSAGE_INDEX', `a whole number from 0 to ${size - 1}`, index)
}
