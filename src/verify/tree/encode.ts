import { bigintToBytes, concatBytes } from '../../base/bytes.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import type { Leaf } from './leaf.ts'

/** The first index a new key takes: HEAD and TAIL are before it. */
export const FIRST_FREE_NODE = 2

/** `word(index)` for an index of at most 2^40. */
export const indexWord = (scheme: HashScheme, index: number): Uint8Array =>
  scheme.encodeWord(bigintToBytes(BigInt(index), 32))

/** Tree format, "The messages": `word(prev) || word(next) || hKey || hVal`, the preimage of a leaf's digest. */
export const encodeOpening = (scheme: HashScheme, leaf: Leaf): Uint8Array =>
  concatBytes(indexWord(scheme, leaf.prev), indexWord(scheme, leaf.next), leaf.hKey, leaf.hVal)

/** Tree format, "The proof": node 0, `word(nextFreeNode) || subRoot`. */
export const encodeRootNode = (scheme: HashScheme, nextFreeNode: number, subRoot: Uint8Array): Uint8Array =>
  concatBytes(indexWord(scheme, nextFreeNode), subRoot)
