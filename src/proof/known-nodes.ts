import { bytesToHex } from '../bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { emptyInnerNodes } from '../tree/empty.ts'
import type { ValueNode } from '../tree/entry.ts'
import { type LeafNode, NODE_COUNT, type TopNode, type TreeNode } from '../tree/path.ts'

/**
 * Nodes that were decoded and found canonical before, by their hexadecimal text: neither is done again, and their digests
 * are kept. A text is found by comparing all of it, so what is found is what decoding it again would give.
 */
export interface KnownTexts<Node> {
  /** @param entry where in `proofRelatedNodes` the text stands */
  find(entry: number, text: string): Node | undefined
  add(entry: number, text: string, node: Node): void
}

/** What is known of each kind of entry. */
export interface KnownNodes {
  readonly top: KnownTexts<TopNode>
  readonly inner: KnownTexts<TreeNode>
  readonly leaf: KnownTexts<LeafNode>
  readonly value: KnownTexts<ValueNode>
}

const nothing: KnownTexts<never> = { find: () => undefined, add: () => {} }

/** Not even the empty subtrees: every node of a proof is decoded and hashed. */
export const noNodes: KnownNodes = { top: nothing, inner: nothing, leaf: nothing, value: nothing }

const emptyNodes = /* @__PURE__ */ new WeakMap<Scheme, KnownNodes>()

/** What is known without having seen a proof: above the highest leaf index in use, the siblings are the same in all trees. */
export function knownEmptyNodes(scheme: Scheme): KnownNodes {
  const known = emptyNodes.get(scheme)
  if (known !== undefined) return known
  const empty = emptyInnerNodes(scheme).map(node => ({ text: bytesToHex(node.preimage), node }))
  const inner: KnownTexts<TreeNode> = {
    find: (entry, text) => {
      const known = empty[entry - 1]
      return known?.text === text ? known.node : undefined
    },
    add: () => {},
  }
  const made: KnownNodes = { ...noNodes, inner }
  emptyNodes.set(scheme, made)
  return made
}

/**
 * Also remembers what stood last in each entry: most of a path is the same from proof to proof. What stood there before is
 * decoded again, and its digest is for the hasher to remember.
 */
export function rememberLastNodes(scheme: Scheme): KnownNodes {
  const { top, inner, leaf, value } = knownEmptyNodes(scheme)
  return { top: rememberLast(top), inner: rememberLast(inner), leaf: rememberLast(leaf), value: rememberLast(value) }
}

function rememberLast<Node>(known: KnownTexts<Node>): KnownTexts<Node> {
  // Filled: the holes of an array show what stands on a polluted prototype.
  const last = new Array<{ readonly text: string; readonly node: Node } | undefined>(NODE_COUNT).fill(undefined)
  return {
    find(entry, text) {
      const recent = last[entry]
      return recent?.text === text ? recent.node : known.find(entry, text)
    },
    add(entry, text, node) {
      last[entry] = { text, node }
    },
  }
}
