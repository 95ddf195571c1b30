import { bytesToHex } from '../bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { emptyInnerNodes } from '../tree/empty.ts'
import type { InnerNode } from '../tree/path.ts'

/** Inner nodes that were decoded and found canonical before, by their hexadecimal text: neither is done again. */
export interface KnownNodes {
  /** @param entry 1 to 39, where in `proofRelatedNodes` the text stands */
  find(entry: number, text: string): InnerNode | undefined
  add(entry: number, text: string, node: InnerNode): void
}

interface TextNode {
  readonly text: string
  readonly node: InnerNode
}

const emptyNodes = /* @__PURE__ */ new WeakMap<Scheme, readonly TextNode[]>()

/** The siblings without leaves: above the highest leaf index in use, they are the same in every tree. */
function emptyTextNodes(scheme: Scheme): readonly TextNode[] {
  const known = emptyNodes.get(scheme)
  if (known !== undefined) return known
  const made = emptyInnerNodes(scheme).map(node => ({ text: bytesToHex(node.preimage), node }))
  emptyNodes.set(scheme, made)
  return made
}

/** What is known without having seen a proof. */
export function knownEmptyNodes(scheme: Scheme): KnownNodes {
  const empty = emptyTextNodes(scheme)
  return {
    find: (entry, text) => {
      const known = empty[entry - 1]
      return known?.text === text ? known.node : undefined
    },
    add: () => {},
  }
}

/**
 * Also remembers what it is given, up to `limit` nodes; then it starts anew. A text is found by comparing all of it, so
 * what is found is what decoding it again would give.
 */
export function rememberNodes(scheme: Scheme, limit: number): KnownNodes {
  const empty = knownEmptyNodes(scheme)
  const nodes = new Map<string, InnerNode>()
  /** What stood last in each entry: near the root that is the same from proof to proof, and faster to compare. */
  const last: (TextNode | undefined)[] = []
  return {
    find(entry, text) {
      const recent = last[entry]
      if (recent?.text === text) return recent.node
      const node = empty.find(entry, text) ?? nodes.get(text)
      if (node !== undefined) last[entry] = { text, node }
      return node
    },
    add(entry, text, node) {
      if (nodes.size >= limit) nodes.clear()
      nodes.set(text, node)
      last[entry] = { text, node }
    },
  }
}
