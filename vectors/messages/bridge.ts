import { concat, encodeAbiParameters, keccak256, numberToHex, parseAbiParameters, stringToHex, zeroHash } from 'viem'
import type { Hex } from '../../src/entry/index.ts'

/** A model of the two contracts and the prover, with viem for hashes and encodings: nothing here is of `src/verify/messages`. */

/** A message as its sender has it. */
export interface Sent {
  from: Hex
  to: Hex
  fee: bigint
  value: bigint
  number: bigint
  data: Hex
}

export const hashOf = ({ from, to, fee, value, number, data }: Sent): Hex =>
  keccak256(
    encodeAbiParameters(parseAbiParameters('address, address, uint256, uint256, uint256, bytes'), [
      ...([from, to, fee, value, number, data] as const),
    ]),
  )

const entry = (slot: number, key: bigint | Hex): bigint => {
  const word = typeof key === 'bigint' ? numberToHex(key, { size: 32 }) : key
  return BigInt(keccak256(concat([word, numberToHex(slot, { size: 32 })])))
}

/** Where the contracts keep messages. */
export const slots = {
  next: 228n,
  rollingHash: (number: bigint) => entry(334, number),
  claimed: (number: bigint) => entry(335, number >> 8n),
  depth: (root: Hex) => entry(336, root),
  inbox: (hash: Hex) => entry(176, hash),
  /** Where a proxy keeps the address of its code (EIP-1967). */
  implementation: BigInt(keccak256(stringToHex('eip1967.proxy.implementation'))) - 1n,
}

/** All nodes of a tree, level by level from the leaves on. */
function levelsOf(leaves: readonly Hex[], depth: number): Hex[][] {
  const levels: Hex[][] = [Array.from({ length: 2 ** depth }, (_, index) => leaves[index] ?? zeroHash)]
  for (let height = 0; height < depth; height++) {
    const below = levels[height] ?? []
    levels.push(
      below.flatMap((node, index) => (index % 2 ? [] : [keccak256(concat([node, below[index + 1] ?? zeroHash]))])),
    )
  }
  return levels
}

/** The place of a message in its tree. */
export interface Place {
  root: Hex
  leafIndex: number
  proof: Hex[]
}

/** A bridge on which nothing has happened yet. Messages are numbered from `first` on. */
export function createBridge(first = 1n) {
  /** The storage of the contracts: the rollup's on L1, and that of the message service on L2. */
  const l1 = new Map<bigint, bigint>([[slots.next, first]])
  const l2 = new Map<bigint, bigint>()
  const toL2: Sent[] = []
  const fromL2: Sent[] = []
  let anchored = 0
  return {
    ...{ l1, l2, toL2, fromL2 },
    sendToL2(message: Omit<Sent, 'number'>): Sent {
      const number = first + BigInt(toL2.length)
      const sent = { ...message, number }
      const before = numberToHex(l1.get(slots.rollingHash(number - 1n)) ?? 0n, { size: 32 })
      l1.set(slots.rollingHash(number), BigInt(keccak256(concat([before, hashOf(sent)]))))
      l1.set(slots.next, number + 1n)
      toL2.push(sent)
      return sent
    },
    sendFromL2(message: Omit<Sent, 'number'>): Sent {
      const sent = { ...message, number: first + BigInt(fromL2.length) }
      fromL2.push(sent)
      return sent
    },
    /** The messages from L2 that no finalization has anchored yet. */
    pending: () => fromL2.slice(anchored),
    /** Anchors all messages from L2, and returns their places. */
    finalize(depth = 5): { sent: Sent; place: Place }[] {
      const sent = fromL2.slice(anchored)
      anchored = fromL2.length
      const size = 2 ** depth
      const trees = Array.from({ length: Math.ceil(sent.length / size) }, (_, tree) =>
        levelsOf(sent.slice(tree * size, (tree + 1) * size).map(hashOf), depth),
      )
      return sent.map((message, index) => {
        const levels = trees[Math.floor(index / size)] ?? []
        const root = levels.at(-1)?.[0] ?? zeroHash
        l1.set(slots.depth(root), BigInt(depth))
        const leafIndex = index % size
        const proof = levels.slice(0, -1).map((level, height) => {
          const at = Math.floor(leafIndex / 2 ** height)
          return level[at % 2 ? at - 1 : at + 1] ?? zeroHash
        })
        return { sent: message, place: { root, leafIndex, proof } }
      })
    },
    claim({ number }: Sent): void {
      const slot = slots.claimed(number)
      l1.set(slot, (l1.get(slot) ?? 0n) | (1n << (number & 255n)))
    },
    /** Sets the status of a message to L2: 1 received, 2 claimed. */
    arrive(message: Sent, status: bigint): void {
      l2.set(slots.inbox(hashOf(message)), status)
    },
  }
}
