import { resultIn } from '../cli/words/answer.ts'
import { attempt, decodeHex, readRlp, toHex } from '../cli/words/layout.ts'
import { fieldIn, itemsOf } from '../cli/words/value.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { MAX_NODES_SHOWN } from './limits.ts'

/** One node of a Merkle-Patricia proof. */
export interface TrieNode {
  /** Its hash; null if it is not hexadecimal. */
  readonly hash: string | null
  readonly kind: 'branch' | 'extension' | 'leaf' | 'not readable'
  /** The part of the key's hash that it takes, in hexadecimal digits. */
  readonly digits: string
  /** The children of a branch that are there, and the one that the key leads to. */
  readonly children: readonly boolean[]
  readonly child: number | null
}

/** The nodes from the root down, as the file has them. Nothing here is verified. */
export function viewTrie(answer: unknown, index: number, key: string): TrieNode[] {
  const { accountProof, storageProof } = resultIn(answer)
  const nodes = index === 0 ? accountProof : fieldIn(itemsOf(storageProof)[index - 1], 'proof')
  const bytes = attempt(() => decodeHex(key))
  let rest = bytes === null ? '' : toHex(keccak256(bytes)).slice(2)
  return itemsOf(nodes)
    .slice(0, MAX_NODES_SHOWN)
    .map(node => {
      const read = readNode(node, rest)
      rest = rest.slice(read.digits.length)
      return read
    })
}

function readNode(node: unknown, rest: string): TrieNode {
  const none = { kind: 'not readable', digits: '', children: [], child: null } as const
  const bytes = attempt(() => decodeHex(node))
  if (bytes === null) return { ...none, hash: null }
  const hash = toHex(keccak256(bytes))
  const items = attempt(() => readRlp(bytes))
  if (!Array.isArray(items)) return { ...none, hash }
  if (items.length === 17) {
    const children = items.slice(0, 16).map(item => item.length > 0)
    const digits = rest.slice(0, 1)
    return { hash, kind: 'branch', digits, children, child: digits === '' ? null : Number.parseInt(digits, 16) }
  }
  const [path] = items
  if (items.length !== 2 || !(path instanceof Uint8Array)) return { ...none, hash }
  const packed = toHex(path).slice(2)
  const flag = Number.parseInt(packed.slice(0, 1) || '0', 16)
  return { ...none, hash, kind: flag >= 2 ? 'leaf' : 'extension', digits: packed.slice(flag % 2 === 1 ? 1 : 2) }
}
