import { bytesToHex, equalBytes, hexToBytes } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { encodeInteger, encodeRlp, type RlpItem } from '../anchor/trie.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { mismatch } from '../tree/path.ts'

/** A value, and what is left of its key below a node: one hexadecimal digit for each nibble. */
interface Entry {
  readonly path: string
  readonly value: Uint8Array
}

/** The root of the Merkle-Patricia trie that holds a list, 32 bytes: each value is under the RLP of its index. */
export function orderedTrieRoot(values: readonly Uint8Array[]): Uint8Array {
  const pathOf = (index: number) => bytesToHex(encodeRlp(encodeInteger(BigInt(index)))).slice(2)
  return keccak256(encodeRlp(nodeOf(values.map((value, index) => ({ path: pathOf(index), value })))))
}

export function verifyListRoot(code: ProofErrorCode, values: readonly Uint8Array[], root: Uint8Array): void {
  const found = orderedTrieRoot(values)
  if (!equalBytes(found, root)) throw mismatch(code, root, found)
}

/** No key begins with another, so no branch has a value. */
function nodeOf(entries: readonly Entry[]): RlpItem {
  const [first, ...others] = entries
  if (first === undefined) return new Uint8Array(0)
  if (others.length === 0) return [encodePath(first.path, 2), first.value]
  const isShared = (digit: string, index: number) => others.every(({ path }) => path[index] === digit)
  const end = Array.from(first.path).findIndex((digit, index) => !isShared(digit, index))
  if (end > 0) return [encodePath(first.path.slice(0, end), 0), refer(nodeOf(below(entries, end)))]
  const children = Array.from('0123456789abcdef', digit => {
    const own = entries.filter(({ path }) => path.startsWith(digit))
    return refer(nodeOf(below(own, 1)))
  })
  return [...children, new Uint8Array(0)]
}

const below = (entries: readonly Entry[], depth: number): Entry[] =>
  entries.map(({ path, value }) => ({ path: path.slice(depth), value }))

/** How a parent holds a node: by its hash, or as it is if its RLP is shorter than a hash. */
export function refer(node: RlpItem): RlpItem {
  const rlp = encodeRlp(node)
  return rlp.length < 32 ? node : keccak256(rlp)
}

/** Hex-prefix encoding. @param flag 2 for a leaf, 0 for an extension */
export function encodePath(path: string, flag: number): Uint8Array {
  const digits = path.length % 2 === 1 ? `${flag + 1}${path}` : `${flag}0${path}`
  return hexToBytes(`0x${digits}`, digits.length / 2)
}
