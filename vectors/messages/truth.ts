import type { Hex } from '../../src/entry/index.ts'
import { createL1, named } from '../evidence/l1.ts'
import { createBridge, hashOf, type Place, type Sent, slots } from './bridge.ts'

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** The contract on L1. */
export const rollup = { address: named('rollup contract', 20) }

/** The content of a message, all of it different for each name. */
export const contentOf = (name: string, length = 0): Omit<Sent, 'number'> => ({
  from: named(`sender ${name}`, 20),
  to: named(`recipient ${name}`, 20),
  fee: BigInt(named(`fee ${name}`, 6)),
  value: BigInt(named(`value ${name}`, 9)),
  data: `0x${named(`data ${name}`)
    .slice(2)
    .repeat(Math.ceil(length / 32))
    .slice(0, 2 * length)}`,
})

/** The storage of the contract as a state of L1, and proofs from it. */
export async function seal(storage: ReadonlyMap<bigint, bigint>) {
  // A zero is not in a trie.
  const l1 = await createL1(rollup.address, new Map([...storage].filter(([, value]) => value !== 0n)))
  return {
    l1StateRoot: l1.stateRoot,
    block: l1.block,
    /** What to request for a message from L2, in a tree with this root; `more` are slots behind these. */
    ofTree: ({ number }: Sent, root: Hex, ...more: bigint[]) =>
      l1.getProof(rollup.address, [slots.depth(root), slots.claimed(number), ...more]),
    /** The proof that there is no such account. */
    ofAbsent: (address: Hex) => l1.getProof(address, []),
    /** What to request for a message to L2. */
    ofSent: ({ number }: Sent, ...more: bigint[]) =>
      l1.getProof(rollup.address, [slots.rollingHash(number - 1n), slots.rollingHash(number), slots.next, ...more]),
  }
}

export type Sealed = Awaited<ReturnType<typeof seal>>

/** What the vectors of messages start from. Numbers begin at 230, so that the words of the bitmap change at the 27th message. */
export type Truth = Awaited<ReturnType<typeof makeTruth>>

export async function makeTruth() {
  const bridge = createBridge(230n)
  for (let index = 0; index < 4; index++) bridge.sendToL2(contentOf(`to L2 ${index}`, index * 31))
  for (let index = 0; index < 70; index++) bridge.sendFromL2(contentOf(`from L2 ${index}`, index))
  /** By their index: three trees, the last of which is not full. */
  const anchored: readonly { sent: Sent; place: Place }[] = bridge.finalize()
  bridge.sendFromL2({ ...contentOf('shallow'), fee: 0n, value: 0n })
  const shallow = bridge.finalize(1)
  for (const index of [0, 25, 27, 69]) bridge.claim(at(anchored, index).sent)
  // Anchored in no state that a vector trusts.
  const sealed = new Map(bridge.l1)
  bridge.sendFromL2(contentOf('pending'))
  const pending = at(bridge.finalize(), 0)
  return { bridge, storage: sealed, state: await seal(sealed), anchored, shallow: at(shallow, 0), pending }
}

/** The item at the index, which exists. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new Error(`no item ${index}`)
  return item
}

/** As a vector states a message. */
export const spellMessage = ({ fee, value, number, ...rest }: Sent): Record<string, unknown> => ({
  ...{ ...rest, fee: quantity(fee), value: quantity(value), number: quantity(number) },
})

export const inboxSlot = (message: Sent): Hex => `0x${slots.inbox(hashOf(message)).toString(16).padStart(64, '0')}`
