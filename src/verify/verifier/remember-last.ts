import type { Decode } from '../proof/tree.ts'
import { NODE_COUNT } from '../tree/path.ts'

/**
 * Remembers the last result at each node, because consecutive proofs share most of their path. It compares the whole text,
 * so a remembered result is what decoding the text again would give.
 */
export function rememberLast<T>(decode: Decode<T>): Decode<T> {
  interface Decoded {
    readonly hex: string
    readonly decoded: T
  }
  // Filled, because reading a hole consults Array.prototype, which may be polluted.
  const last = new Array<Decoded | undefined>(NODE_COUNT).fill(undefined)
  return (hex, node) => {
    const recent = last[node]
    if (recent?.hex === hex) return recent.decoded
    const decoded = decode(hex, node)
    last[node] = { hex, decoded }
    return decoded
  }
}
