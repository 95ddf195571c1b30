import { decodeHexes } from '../bytes.ts'
import { ProofError, within } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { openingLength, verifyCanonical } from '../tree/leaf.ts'
import {
  INNER_LENGTH,
  type InnerNode,
  NODE_COUNT,
  NOT_HASHED,
  nodeLengths,
  type PathNodes,
  SIBLING_LEAF,
  topLength,
} from '../tree/path.ts'
import type { KnownNodes } from './known-nodes.ts'
import { asArray, asString, knownLength, lengthOf, readOwn } from './read.ts'

/** What an answer is decoded with. */
export interface Context {
  readonly scheme: Scheme
  readonly known: KnownNodes
}

/** An entry that has to be decoded. */
interface FreshEntry {
  readonly entry: number
  readonly hex: string
  readonly length: number
}

/**
 * The 42 entries of `proofRelatedNodes` as bytes, of the lengths that their places demand. Inner nodes that are known are
 * not decoded again.
 *
 * @throws ProofError; `NON_CANONICAL` for entries 1 to 39 alone, the others are read by `decodePath`
 */
export function decodeNodes({ scheme, known }: Context, proofRelatedNodes: unknown): PathNodes {
  const entries = asArray(proofRelatedNodes)
  const count = lengthOf(entries)
  if (count !== NODE_COUNT) throw new ProofError('WRONG_NODE_COUNT', { expected: '42 nodes', found: `${count}` })

  const inner: InnerNode[] = []
  const fresh: FreshEntry[] = []
  let entry = 0
  within(
    () => `[${entry}]`,
    () => {
      for (; entry < NODE_COUNT; entry++) {
        const hex = asString(readOwn(entries, entry))
        const node = isInner(entry) ? known.find(entry, hex) : undefined
        if (node !== undefined) inner[entry - 1] = node
        else fresh.push({ entry, hex, length: knownLength(hex, nodeLengths(scheme, entry)) })
      }
    },
  )

  // All at once, for speed: the first is entry 0, the last two are the leaves, and between them are the inner nodes.
  const bytes = decodeHexes(
    fresh.map(({ hex }) => hex),
    fresh.reduce((total, { length }) => total + length, 0),
    index => `[${fresh[index]?.entry}]`,
  )
  const freshInner = fresh.slice(1, -2)
  const innerStart = topLength(scheme)
  const innerEnd = innerStart + freshInner.length * INNER_LENGTH
  const openingStart = bytes.length - openingLength(scheme)
  verifyInnerNodes(scheme, bytes.subarray(innerStart, innerEnd), freshInner)
  freshInner.forEach(({ entry, hex }, index) => {
    const start = innerStart + index * INNER_LENGTH
    const node = { preimage: bytes.slice(start, start + INNER_LENGTH), digest: NOT_HASHED }
    inner[entry - 1] = node
    known.add(entry, hex, node)
  })
  return {
    top: bytes.subarray(0, innerStart),
    inner,
    siblingLeaf: bytes.subarray(innerEnd, openingStart),
    opening: bytes.subarray(openingStart),
  }
}

const isInner = (entry: number): boolean => entry > 0 && entry < SIBLING_LEAF

/** All nodes at once, for speed; one by one to name the one that is refused. */
function verifyInnerNodes(scheme: Scheme, nodes: Uint8Array, entries: readonly FreshEntry[]): void {
  if (scheme.isCanonical(nodes)) return
  entries.forEach(({ entry }, index) => {
    const node = nodes.subarray(index * INNER_LENGTH, (index + 1) * INNER_LENGTH)
    within(`[${entry}]`, () => verifyCanonical(scheme, node))
  })
}
