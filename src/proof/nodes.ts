import { hexToBytes } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { DIGEST_LENGTH, openingLength } from '../tree/leaf.ts'
import {
  decodeInner,
  decodeLeaf,
  decodeTop,
  INNER_LENGTH,
  LEAF,
  NODE_COUNT,
  type PathNodes,
  SIBLING_LEAF,
  type TreeNode,
  topLength,
} from '../tree/path.ts'
import type { KnownNodes, KnownTexts } from './known-nodes.ts'
import { asArray, asString, knownLength, lengthOf, readOwn } from './read.ts'

/** What nodes are decoded with. */
export interface NodeContext {
  readonly scheme: Scheme
  readonly known: KnownNodes
}

/**
 * Section 4: the 42 entries of `proofRelatedNodes`, each of the length that its place demands, and canonical. An entry that
 * is known is not decoded again.
 *
 * @throws ProofError `WRONG_NODE_COUNT`, `WRONG_LENGTH`, `BAD_HEX`, `NON_CANONICAL`, `INDEX_OUT_OF_RANGE`
 */
export function decodeNodes({ scheme, known }: NodeContext, proofRelatedNodes: unknown): PathNodes {
  const entries = asArray(proofRelatedNodes)
  const count = lengthOf(entries)
  if (count !== NODE_COUNT) throw new ProofError('WRONG_NODE_COUNT', { expected: '42 nodes', found: `${count}` })

  let entry = 0
  const textAt = (index: number): string => {
    entry = index
    return asString(readOwn(entries, index))
  }
  /** The node that `hex`, entry number `entry`, spells. */
  const nodeOf = <Node>(texts: KnownTexts<Node>, hex: string, length: number, decode: Decode<Node>): Node => {
    const found = texts.find(entry, hex)
    if (found !== undefined) return found
    const node = decode(scheme, hexToBytes(hex, length))
    texts.add(entry, hex, node)
    return node
  }
  const leafLength = openingLength(scheme)
  return atPath(
    () => `[${entry}]`,
    () => {
      const top = nodeOf(known.top, textAt(0), topLength(scheme), decodeTop)
      const inner: TreeNode[] = []
      for (let index = 1; index < SIBLING_LEAF; index++) {
        inner.push(nodeOf(known.inner, textAt(index), INNER_LENGTH, decodeInner))
      }
      const sibling = textAt(SIBLING_LEAF)
      const isMissing = knownLength(sibling, [leafLength, DIGEST_LENGTH]) === DIGEST_LENGTH
      const siblingLeaf = isMissing ? decodeMissingLeaf(sibling) : nodeOf(known.leaf, sibling, leafLength, decodeLeaf)
      return { top, inner, siblingLeaf, leafNode: nodeOf(known.leaf, textAt(LEAF), leafLength, decodeLeaf) }
    },
  )
}

const MISSING_LEAF = `0x${'00'.repeat(DIGEST_LENGTH)}`

type Decode<Node> = (scheme: Scheme, preimage: Uint8Array) => Node

/** A missing leaf is 32 zero bytes, which have one spelling: its digest, not a preimage. */
function decodeMissingLeaf(hex: string): null {
  if (hex === MISSING_LEAF) return null
  hexToBytes(hex, DIGEST_LENGTH)
  throw new ProofError('WRONG_LENGTH', { expected: 'a leaf opening', found: '32 bytes not zero' })
}
