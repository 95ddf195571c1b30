import { bigintToBytes, bytesToHex, concatBytes, equalBytes, type Hex } from '../../src/base/bytes.ts'
import { verifyEthProof } from '../../src/verify/anchor/eth-proof.ts'
import {
  decodeRlp,
  emptyTrieRoot,
  encodeInteger,
  encodeRlp,
  type RlpItem,
  verifyTrieProof,
} from '../../src/verify/anchor/trie.ts'
import { orderedTrieRoot } from '../../src/verify/blocks/ordered-trie.ts'
import { keccak256 } from '../../src/verify/hash/keccak/index.ts'
import { type MessageProof, messageTrees, openMessageProof } from '../../src/verify/messages/tree.ts'
import { type Beside, digits } from './beside.ts'
import { below, pick, randomBytes } from './made.ts'

/** Merkle-Patricia proofs, `eth_getProof`, ordered lists and trees of messages, beside their verifiers. */

const hex = (bytes: Uint8Array) => digits(bytesToHex(bytes))
const listOf = (parts: readonly Uint8Array[]) => ['', ...parts.map(hex)].join(',')

// A second builder of tries, for keys of any one length.

type Nibbles = readonly number[]
interface Entry {
  path: Nibbles
  value: Uint8Array
}
const nibblesOf = (bytes: Uint8Array): Nibbles => Array.from(bytes).flatMap(byte => [byte >> 4, byte & 15])
const bytesOf = (nibbles: Nibbles) =>
  Uint8Array.from({ length: nibbles.length / 2 }, (_, at) => 16 * (nibbles[2 * at] ?? 0) + (nibbles[2 * at + 1] ?? 0))
const pathOf = (path: Nibbles, flag: number) =>
  bytesOf(path.length % 2 === 1 ? [flag + 1, ...path] : [flag, 0, ...path])
const under = (entries: readonly Entry[], depth: number): Entry[] =>
  entries.map(({ path, value }) => ({ path: path.slice(depth), value }))

function nodeOf(entries: readonly Entry[]): RlpItem {
  const [first] = entries
  if (first === undefined) return new Uint8Array(0)
  if (entries.length === 1) return [pathOf(first.path, 2), first.value]
  const shared = first.path.findIndex((nibble, at) => entries.some(({ path }) => path[at] !== nibble))
  if (shared > 0) return [pathOf(first.path.slice(0, shared), 0), refer(nodeOf(under(entries, shared)))]
  const own = (nibble: number) => entries.filter(({ path }) => path[0] === nibble)
  return [...Array.from({ length: 16 }, (_, nibble) => refer(nodeOf(under(own(nibble), 1)))), new Uint8Array(0)]
}

function refer(node: RlpItem): RlpItem {
  const rlp = encodeRlp(node)
  return rlp.length < 32 ? node : keccak256(rlp)
}

interface Trie {
  root: Uint8Array
  prove(key: Uint8Array): Uint8Array[]
}

/** The entries, by key. @returns the root, and the nodes on the way to any key */
function trieOf(entries: ReadonlyMap<Hex, Uint8Array>): Trie {
  const all = [...entries].map(([key, value]) => ({ path: nibblesOf(Buffer.from(key.slice(2), 'hex')), value }))
  const prove = (key: Uint8Array) => {
    const nodes: Uint8Array[] = []
    let [left, depth] = [all, 0]
    for (let path = nibblesOf(key); left.length > 0; ) {
      const node = encodeRlp(nodeOf(under(left, depth)))
      if (depth === 0 || node.length >= 32) nodes.push(node)
      const [first] = left
      if (first === undefined || left.length === 1) break
      const shared = first.path
        .slice(depth)
        .findIndex((_, at) => left.some(x => x.path[depth + at] !== first.path[depth + at]))
      if (shared > 0 && first.path.slice(depth, depth + shared).some((nibble, at) => nibble !== path[depth + at])) break
      const next = depth + Math.max(shared, 1)
      // Below an extension stands its branch, with the same entries.
      left = shared > 0 ? left : left.filter(x => x.path[depth] === path[depth])
      depth = next
      path = [...path]
    }
    return nodes
  }
  return { root: all.length === 0 ? emptyTrieRoot() : keccak256(encodeRlp(nodeOf(all))), prove }
}

// Lies.

const strange = (): RlpItem =>
  pick<RlpItem>([
    new Uint8Array(0),
    Uint8Array.of(1 + below(127)),
    randomBytes(31),
    randomBytes(32),
    randomBytes(33),
    [],
    // About as long as a digest.
    [randomBytes(29 + below(3))],
  ])

/** Changes an item of a node. */
function changeItem(item: RlpItem): RlpItem {
  if (item instanceof Uint8Array) return pick<RlpItem>([[], Uint8Array.of(1), [Uint8Array.of(0x20), randomBytes(2)]])
  const items = [...item]
  const [first, second] = items
  if (items.length === 2 && first instanceof Uint8Array && second !== undefined && below(4) > 0) {
    const flag = Uint8Array.from(first, (byte, at) =>
      at === 0 ? byte ^ pick([1, 5, 0x10, 0x20, 0x30, 0x40, 0x80]) : byte,
    )
    const shorter = first.slice(0, below(first.length + 1))
    const longer = concatBytes(first, randomBytes(1))
    const other = pick<RlpItem>([flag, flag, shorter, longer, new Uint8Array(0), Uint8Array.of(0), []])
    return below(2) === 0 ? [other, second] : [first, below(3) === 0 ? [first, second] : strange()]
  }
  if (items.length === 17 && below(3) === 0) items[16] = pick<RlpItem>([randomBytes(2), [], Uint8Array.of(1)])
  else if (below(3) === 0) items.splice(below(items.length), 1)
  else if (below(4) === 0) items.push(strange())
  else
    items[below(items.length)] =
      below(3) === 0 ? [Uint8Array.of(0x20 + below(2) * 0x10), randomBytes(below(40))] : strange()
  return items
}

/** Other bytes for the same item, or almost. */
function changeBytes(node: Uint8Array): Uint8Array {
  const flipped = Uint8Array.from(node)
  const at = below(node.length)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << below(8))
  const padded = concatBytes(Uint8Array.of(0xf8, node.length - 1), node.subarray(1))
  return pick([
    flipped,
    padded,
    concatBytes(node, randomBytes(1)),
    node.subarray(0, node.length - 1),
    new Uint8Array(0),
  ])
}

/** Changes a node, and what refers to it on the way up: only a rule about the content can refuse it then. */
function changeNode(root: Uint8Array, nodes: readonly Uint8Array[]) {
  const changed = [...nodes]
  const at = below(nodes.length)
  const node = nodes[at]
  if (node === undefined) return { root, nodes: changed }
  changed[at] = below(5) === 0 ? changeBytes(node) : encodeRlp(changeItem(decodeRlp(node)))
  for (let up = at; up > 0; up--) {
    const [was, now] = [keccak256(nodes[up] ?? node), keccak256(changed[up] ?? node)]
    const parent = Buffer.from(changed[up - 1] ?? node)
    const place = parent.indexOf(was)
    if (place >= 0) parent.set(now, place)
    changed[up - 1] = Uint8Array.from(parent)
  }
  const top = changed[0]
  return { root: top === undefined || below(12) === 0 ? root : keccak256(top), nodes: changed }
}

/** Nodes left out, added, doubled, exchanged. */
function changeList(nodes: readonly Uint8Array[]): Uint8Array[] {
  const changed = [...nodes]
  const at = below(changed.length + 1)
  const action = below(5)
  if (action === 0) changed.splice(at, 1)
  else if (action === 1) changed.splice(at, 0, pick([...nodes, randomBytes(40), Uint8Array.of(0x80)]))
  else if (action === 2) changed.reverse()
  else if (action === 3) changed.length = 0
  else changed.pop()
  return changed
}

/** An extension or a branch above what stands in no honest trie below it: a leaf, another extension, or nothing. */
function oddPair(key: Uint8Array) {
  const path = nibblesOf(key)
  const length = 1 + below(path.length - 1)
  const [start, rest] = [path.slice(0, length), path.slice(length)]
  const value = randomBytes(pick([1, 40]))
  const lower = pick<RlpItem>([
    [pathOf(rest, 2), value],
    [pathOf(rest.slice(0, 1), 0), randomBytes(32)],
    new Uint8Array(0),
  ])
  const child = lower instanceof Uint8Array ? keccak256(encodeRlp(lower)) : refer(lower)
  const branch: RlpItem[] = Array.from({ length: 17 }, () => new Uint8Array(0))
  branch[start[0] ?? 0] = child
  const upper = below(2) === 0 || length > 1 ? [pathOf(start, 0), child] : branch
  const nodes = [encodeRlp(upper), ...(child instanceof Uint8Array ? [encodeRlp(lower)] : [])]
  return { root: keccak256(encodeRlp(upper)), key, nodes }
}

function* madeTrieProofs(): Generator<{ root: Uint8Array; key: Uint8Array; nodes: Uint8Array[] }> {
  for (;;) {
    const length = pick([1, 1, 2, 3, 32])
    const near = randomBytes(length)
    // Keys that share their first nibbles make extensions; short values make embedded nodes.
    const someKey = () =>
      below(2) === 0 ? randomBytes(length) : Uint8Array.from(near, (b, at) => (at < length - 1 ? b : below(256)))
    const keys = Array.from({ length: below(pick([2, 4, 40])) }, someKey)
    const values = pick([3, 3, 50])
    const entries = new Map(keys.map(key => [bytesToHex(key), randomBytes(1 + below(values))]))
    const { root, prove } = trieOf(entries)
    for (let times = 0; times < 12; times++) {
      const key = pick([...keys, ...keys, someKey()])
      let proof = { root, nodes: prove(key) }
      const lie = below(6)
      if (lie > 2) proof = changeNode(proof.root, proof.nodes)
      if (lie === 2) proof.nodes = changeList(proof.nodes)
      const asked = below(20) === 0 ? pick([someKey(), new Uint8Array(0), randomBytes(length + 1)]) : key
      yield { ...proof, key: asked }
      if (below(12) === 0) yield oddPair(randomBytes(pick([1, 2, 3])))
    }
  }
}

export function askTrie(beside: Beside, root: Uint8Array, key: Uint8Array, nodes: Uint8Array[]): string {
  return beside.ask(['T', hex(root), hex(key), listOf(nodes)], () => {
    const value = verifyTrieProof(root, key, nodes)
    return value === null ? 'absent' : `present ${hex(value)}`
  })
}

export function askMadeTries(beside: Beside, size: number): void {
  for (const { root, key, nodes } of madeTrieProofs()) {
    askTrie(beside, root, key, nodes)
    if (beside.asked() >= size) return
  }
}

/** Asks both verifiers about an `eth_getProof` answer, of which the model sees the nodes alone. */
export function askEthProof(
  beside: Beside,
  root: Uint8Array,
  address: Uint8Array,
  nodes: Uint8Array[],
  slots: EthSlot[],
) {
  const question = ['W', hex(root), hex(address), listOf(nodes), listOf(slots.map(({ key }) => key))]
  return beside.ask([...question, ...slots.map(slot => listOf(slot.nodes))], () => {
    const proof = {
      accountProof: nodes.map(bytesToHex),
      storageProof: slots.map(slot => ({ key: bytesToHex(slot.key), proof: slot.nodes.map(bytesToHex) })),
    }
    const claim = {
      l1StateRoot: bytesToHex(root),
      address: bytesToHex(address),
      storageKeys: slots.map(({ key }) => bytesToHex(key)),
    }
    const { account, storage } = verifyEthProof(proof, claim)
    const spelt = (value: bigint) => hex(encodeInteger(value))
    const fields = account && [
      spelt(account.nonce),
      spelt(account.balance),
      digits(account.storageRoot),
      digits(account.codeHash),
    ]
    return `${fields === null ? 'absent' : `present ${fields.join()}`} with${storage.map(({ value }) => ` ${spelt(BigInt(value))}`).join('')}`
  })
}

export interface EthSlot {
  key: Uint8Array
  nodes: Uint8Array[]
}

const someInteger = (length: number) =>
  encodeInteger(BigInt(`0x${hex(randomBytes(1 + below(length)))}`) * BigInt(below(4)))

export function askMadeEthProofs(beside: Beside, size: number): void {
  const secure = (entries: readonly (readonly [Uint8Array, Uint8Array])[]) =>
    trieOf(new Map(entries.map(([key, value]) => [bytesToHex(keccak256(key)), value])))
  for (;;) {
    const keys = Array.from({ length: below(6) }, () => randomBytes(32))
    const storage = secure(
      keys.map(key => [
        key,
        strangeOr(
          20,
          encodeRlp(
            bigintToBytes(1n + BigInt(below(1e9)), 4).filter(
              (b, at, all) => b !== 0 || all.slice(0, at).some(x => x !== 0),
            ),
          ),
        ),
      ]),
    )
    const account = [someInteger(8), someInteger(31), storage.root, randomBytes(32)]
    const odd =
      below(12) === 0
        ? (changeItem(account) as RlpItem)
        : below(30) === 0
          ? [randomBytes(9), ...account.slice(1)]
          : account
    const addresses = Array.from({ length: 1 + below(8) }, () => randomBytes(20))
    const state = secure(
      addresses.map((address, index) => [
        address,
        strangeOr(60, encodeRlp(index === 0 ? odd : [someInteger(8), ...account.slice(1)])),
      ]),
    )
    for (let times = 0; times < 6; times++) {
      const address = pick([
        addresses[0] ?? randomBytes(20),
        addresses[0] ?? randomBytes(20),
        randomBytes(20),
        ...addresses,
      ])
      const own = equalBytes(address, addresses[0] ?? address)
      const asked = Array.from({ length: below(4) }, () => pick([...keys, randomBytes(32)]))
      const slots = asked.map(key => ({ key, nodes: own || below(8) === 0 ? storage.prove(keccak256(key)) : [] }))
      let account = { root: state.root, nodes: state.prove(keccak256(address)) }
      if (below(8) === 0) account = changeNode(account.root, account.nodes)
      const slot = slots[0]
      if (slot && below(5) === 0)
        slot.nodes = below(2) === 0 ? changeList(slot.nodes) : changeNode(storage.root, slot.nodes).nodes
      askEthProof(beside, account.root, address, account.nodes, slots)
      if (beside.asked() >= size) return
    }
  }
}

/** At times, other bytes. */
const strangeOr = (often: number, bytes: Uint8Array): Uint8Array =>
  below(often) === 0
    ? pick([
        encodeRlp(new Uint8Array(0)),
        encodeRlp([]),
        encodeRlp(Uint8Array.of(0, 1)),
        encodeRlp(randomBytes(33)),
        changeBytes(bytes),
        Uint8Array.of(1),
      ])
    : bytes

export const askList = (beside: Beside, values: readonly Uint8Array[]): string =>
  beside.ask(['R', listOf(values)], () => hex(orderedTrieRoot(values)))

/** Lists of all lengths at which the keys change theirs, and some between. */
export function askMadeLists(beside: Beside, size: number): void {
  const lengths = [0, 1, 2, 3, 15, 16, 17, 127, 128, 129, 130, 255, 256, 257, 300]
  for (let round = 0; beside.asked() < size; round++) {
    const length = lengths[round] ?? pick([below(10), below(40), below(150)])
    const values = Array.from({ length }, () => randomBytes(1 + below(pick([2, 40, 300]))))
    askList(beside, values)
  }
}

/** @param message what is hashed for it */
export function askPlace(beside: Beside, message: Uint8Array, { root, leafIndex, proof }: MessageProof): string {
  return beside.ask(['M', digits(root), hex(message), `${leafIndex}`, ['', ...proof.map(digits)].join(',')], () => {
    openMessageProof({ root, leafIndex, proof }, { hash: keccak256(message) } as Parameters<typeof openMessageProof>[1])
    return 'present'
  })
}

export function askMadeMessages(beside: Beside, size: number): void {
  for (;;) {
    const depth = pick([1, 2, 3, 5])
    const messages = Array.from({ length: 1 + below(2 ** depth) }, () => randomBytes(1 + below(200)))
    const [tree] = messageTrees(
      messages.map(message => bytesToHex(keccak256(message))),
      depth,
    )
    if (tree === undefined) continue
    for (let times = 0; times < 4; times++) {
      const place = below(messages.length)
      const honest = tree.proofs[place]
      if (honest === undefined) continue
      const own = messages[below(8) === 0 ? below(messages.length) : place] ?? randomBytes(5)
      const path: Hex[] = [...honest.proof]
      if (below(8) === 0) path[below(path.length)] = bytesToHex(randomBytes(32))
      if (below(12) === 0) path.splice(below(path.length), 1)
      if (below(12) === 0) path.push(...Array.from({ length: pick([1, 32]) }, () => bytesToHex(randomBytes(32))))
      const leafIndex =
        below(4) === 0
          ? pick([place + 2 ** depth, place ^ 1, -1, 2 ** 40, 2 ** path.length, 2 ** path.length - 1])
          : place
      askPlace(beside, own, { root: tree.root, leafIndex, proof: path })
      if (beside.asked() >= size) return
    }
  }
}
