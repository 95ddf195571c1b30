import { bytesToBigint, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import {
  decodeInteger,
  decodeRlp,
  emptyTrieRoot,
  encodeInteger,
  encodeRlp,
  type RlpItem,
} from '../../verify/anchor/trie.ts'
import { encodePath, refer } from '../../verify/blocks/ordered-trie.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { Account } from '../world/account.ts'
import { changesBetween } from '../world/tree.ts'
import { insideOf, type World } from '../world/world.ts'

/** A Merkle Patricia trie, as on L1. It is immutable: a change returns a new trie, which shares its unchanged nodes with the old one. */
export type Trie = TrieNode | null

/** A leaf, or a branch with the extension that leads to it. */
interface TrieNode {
  /** The hexadecimal digits before the end; of a branch without an extension, none. */
  readonly path: string
  /** The value of a leaf, or the 16 children of a branch. */
  readonly end: Uint8Array | readonly Trie[]
  encoded?: Encoded
}

interface Encoded {
  /** How a parent holds the node. */
  readonly reference: RlpItem
  /** The node, and the branch behind it if it is an extension. */
  readonly rlps: readonly Uint8Array[]
}

export const putEntry = (trie: Trie, key: Uint8Array, value: Uint8Array): TrieNode => insert(trie, pathOf(key), value)

export const removeEntry = (trie: Trie, key: Uint8Array): Trie => remove(trie, pathOf(key))

export const trieRoot = (trie: Trie): Uint8Array =>
  trie === null ? emptyTrieRoot() : keccak256(encode(trie).rlps[0] ?? new Uint8Array(0))

/** The value at `key`, or null, and its proof: the RLP of the nodes on the path, root first, but for those embedded in their parent. */
export function lookUp(trie: Trie, key: Uint8Array): { value: Uint8Array | null; proof: Uint8Array[] } {
  const proof: Uint8Array[] = []
  let path = pathOf(key)
  for (let node = trie; node !== null; ) {
    const isOn = path.startsWith(node.path)
    const rlps = encode(node).rlps.slice(0, isOn ? 2 : 1)
    proof.push(...rlps.filter((rlp, index) => proof.length + index === 0 || rlp.length >= 32))
    if (!isOn) break
    if (node.end instanceof Uint8Array) return { value: node.end, proof }
    const { length } = node.path
    node = node.end[digitAt(path, length)] ?? null
    path = path.slice(length + 1)
  }
  return { value: null, proof }
}

const pathOf = (key: Uint8Array): string => bytesToHex(keccak256(key)).slice(2)

const digitAt = (path: string, index: number): number => Number.parseInt(path.charAt(index), 16)

function insert(node: Trie, path: string, value: Uint8Array): TrieNode {
  if (node === null || node.path === path) return { path, end: value }
  const { end } = node
  const shared = Array.from(node.path).findIndex((digit, index) => path[index] !== digit)
  // If the paths diverge inside this node, a branch goes there.
  const at = shared === -1 ? node.path.length : shared
  const below = { path: node.path.slice(at + 1), end }
  const children =
    shared === -1 && !(end instanceof Uint8Array)
      ? end
      : new Array<Trie>(16).fill(null).with(digitAt(node.path, at), below)
  const digit = digitAt(path, at)
  const child = insert(children[digit] ?? null, path.slice(at + 1), value)
  return { path: path.slice(0, at), end: children.with(digit, child) }
}

function remove(node: Trie, path: string): Trie {
  if (node === null || !path.startsWith(node.path)) return node
  if (node.end instanceof Uint8Array) return null
  const { length } = node.path
  const digit = digitAt(path, length)
  const children = node.end.with(digit, remove(node.end[digit] ?? null, path.slice(length + 1)))
  const left = children.flatMap((child, index) => (child === null ? [] : [{ child, index }]))
  const [lone, other] = left
  if (lone === undefined || other !== undefined) return { path: node.path, end: children }
  // A branch has two children at least. The one that is left takes its place.
  return { path: `${node.path}${lone.index.toString(16)}${lone.child.path}`, end: lone.child.end }
}

function encode(node: TrieNode): Encoded {
  node.encoded ??= encodeNode(node)
  return node.encoded
}

function encodeNode({ path, end }: TrieNode): Encoded {
  const nothing = new Uint8Array(0)
  const isLeaf = end instanceof Uint8Array
  const last: RlpItem = isLeaf
    ? [encodePath(path, 2), end]
    : [...end.map(child => (child === null ? nothing : encode(child).reference)), nothing]
  if (isLeaf || path === '') return { reference: refer(last), rlps: [encodeRlp(last)] }
  const extension = [encodePath(path, 0), refer(last)]
  return { reference: refer(extension), rlps: [extension, last].map(encodeRlp) }
}

/** States as Ethereum has them: a trie of accounts, and a trie of slots for each. */

interface TrieAccount {
  readonly nonce: bigint
  readonly balance: bigint
  /** 32 bytes. */
  readonly codeHash: Uint8Array
  readonly storage: Trie
}

const NO_ACCOUNT: TrieAccount = { nonce: 0n, balance: 0n, codeHash: keccak256(new Uint8Array(0)), storage: null }

export const CONTRACT_ACCOUNT: TrieAccount = { ...NO_ACCOUNT, nonce: 1n }

export const putAccount = (accounts: Trie, address: Uint8Array, account: TrieAccount): Trie => {
  const { nonce, balance, codeHash, storage } = account
  const fields = [encodeInteger(nonce), encodeInteger(balance), trieRoot(storage), codeHash]
  return putEntry(accounts, address, encodeRlp(fields))
}

/** A zero slot is never stored. */
export const putSlot = (storage: Trie, key: Uint8Array, value: bigint): Trie =>
  value === 0n ? removeEntry(storage, key) : putEntry(storage, key, encodeRlp(encodeInteger(value)))

export function slotIn(storage: Trie, key: Hex): { value: bigint; proof: Hex[] } {
  const { value, proof } = lookUp(storage, hexToBytes(key, 32))
  return { value: (value && decodeInteger(decodeRlp(value), 32)) ?? 0n, proof: proof.map(bytesToHex) }
}

/** A proof as an `eth_getProof` result. @param account null if it does not exist */
export function proveAccount(accounts: Trie, address: Hex, account: TrieAccount | null, keys: readonly Hex[]): object {
  const { nonce, balance, codeHash, storage } = account ?? NO_ACCOUNT
  const bytes = hexToBytes(address, 20)
  return {
    address: bytesToHex(bytes),
    accountProof: lookUp(accounts, bytes).proof.map(bytesToHex),
    balance: encodeQuantity(balance),
    nonce: encodeQuantity(nonce),
    codeHash: bytesToHex(codeHash),
    storageHash: bytesToHex(trieRoot(storage)),
    storageProof: keys.map(key => {
      const { value, proof } = slotIn(storage, key)
      return { key, value: encodeQuantity(value), proof }
    }),
  }
}

/** The tries of slots, by the tree that has the same slots. Neither ever changes. */
const storages = new WeakMap<Account['storage'], Trie & object>()

function storageTrie(storage: Account['storage'], before: Account['storage'] | null): Trie {
  const known = storages.get(storage)
  if (known !== undefined) return known
  const earlier = before === null ? undefined : storages.get(before)
  let trie: Trie = earlier ?? null
  for (const { key, after } of changesBetween(earlier === undefined ? null : before, storage)) {
    trie = putSlot(trie, key, after === null ? 0n : bytesToBigint(after))
  }
  if (trie !== null) storages.set(storage, trie)
  return trie
}

function inTrie({ nonce, balance, keccakCodeHash, storage }: Account, before: Account | null): TrieAccount {
  return { nonce, balance, codeHash: keccakCodeHash, storage: storageTrie(storage, before?.storage ?? null) }
}

/**
 * The trie of accounts of a state that nobody changes any more.
 * @param before an earlier state: only what differs from it is computed. It may have no such trie, or be none
 */
export function ethereumTrie(state: World, before?: { readonly state: World; readonly accounts: Trie | undefined }) {
  let accounts = before?.accounts ?? null
  const earlier = before?.accounts ? insideOf(before.state).accounts() : null
  for (const { key, before, after } of changesBetween(earlier, insideOf(state).accounts())) {
    accounts = after === null ? removeEntry(accounts, key) : putAccount(accounts, key, inTrie(after, before))
  }
  return accounts
}

/** @param accounts those of the state, as Ethereum has them */
export function proveEthereum(state: World, accounts: Trie, address: Hex, keys: readonly Hex[]): object {
  const account = insideOf(state).accountAt(hexToBytes(address, 20))
  return proveAccount(accounts, address, account && inTrie(account, null), keys)
}
