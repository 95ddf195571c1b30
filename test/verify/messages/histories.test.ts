import { expect, it } from 'vitest'
import type { Hex } from '../../../src/entry/index.ts'
import {
  hashMessage,
  messageArrivalKey,
  messageFromL2Keys,
  messageToL2Keys,
  messageTrees,
  readMessageArrival,
  verifyMessageFromL2,
  verifyMessageToL2,
} from '../../../src/entry/messages.ts'
import { flipLast } from '../../../vectors/evidence/forgeries/forgery.ts'
import { createBridge, hashOf, type Place, type Sent, slots } from '../../../vectors/messages/bridge.ts'
import { at, contentOf, rollup, type Sealed, seal } from '../../../vectors/messages/truth.ts'
import { randomOf } from '../../random.ts'
import { sized } from '../../size.ts'
import { refusalOf } from '../blocks/helpers.ts'

interface Placed {
  sent: Sent
  place: Place
}

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const partsOf = async ({ sent, place }: Placed, state: Sealed) => ({
  ...{ messageProof: place, l1Proof: await state.ofTree(sent, place.root) },
})
const claimOf = (message: Sent, { l1StateRoot }: Sealed) => ({ l1StateRoot, rollup, message })
const statusOf = async (placed: Placed, state: Sealed) =>
  verifyMessageFromL2(await partsOf(placed, state), claimOf(placed.sent, state))

it('agrees with a second model over random histories of messages and finalizations', async () => {
  const counts = { notAnchored: 0, claimable: 0, claimed: 0, sent: 0, notSent: 0 }
  for (let seed = 1; seed <= sized(2); seed++) {
    const random = randomOf(seed)
    const below = (most: number) => Math.floor(random() * most)
    const bridge = createBridge(BigInt(1 + below(500)))
    const anchored: Placed[] = []
    const claimed = new Set<Sent>()
    for (let round = 0; round < 3; round++) {
      for (let count = below(80); count > 0; count--) bridge.sendFromL2(contentOf(`${seed} ${random()}`, below(70)))
      for (let count = below(4); count > 0; count--) bridge.sendToL2(contentOf(`${seed} ${random()}`, below(70)))
      const before = await seal(bridge.l1)
      const pending = bridge.pending()
      const depth = 1 + below(7)
      const trees = messageTrees(pending.map(hashMessage), depth)
      const places = trees.flatMap(({ proofs }) => proofs)
      for (const index of pending.length === 0 ? [] : [0, below(pending.length), pending.length - 1]) {
        const placed = { sent: at(pending, index), place: at(places, index) }
        expect(await statusOf(placed, before)).toEqual({ status: 'notAnchored', messageHash: hashOf(placed.sent) })
        counts.notAnchored++
      }
      const made = bridge.finalize(depth)
      expect(places).toEqual(made.map(({ place }) => place))
      expect(trees.map(({ root }) => root)).toEqual([...new Set(made.map(({ place }) => place.root))])
      anchored.push(...made)
      for (const { sent } of anchored.filter(() => random() < 0.3)) {
        bridge.claim(sent)
        claimed.add(sent)
      }
      const after = await seal(bridge.l1)
      for (const placed of anchored.filter(() => random() < 0.15)) {
        const status = claimed.has(placed.sent) ? 'claimed' : 'claimable'
        expect(await statusOf(placed, after)).toEqual({ status, messageHash: hashOf(placed.sent) })
        counts[status]++
      }
      const next = { ...contentOf('next'), number: bridge.l1.get(slots.next) ?? 0n }
      for (const message of [...bridge.toL2, next]) {
        const status = message === next ? 'notSent' : 'sent'
        const verified = verifyMessageToL2(await after.ofSent(message), claimOf(message, after))
        expect(verified).toEqual({ status, messageHash: hashOf(message) })
        counts[status]++
      }
    }
  }
  for (const count of Object.values(counts)) expect(count).toBeGreaterThanOrEqual(6)
})

it('asks for the slots where the contracts keep messages', () => {
  const message = { ...contentOf('asked', 3), number: 700n }
  const root = word(99n)
  const keys = [slots.depth(root), slots.claimed(700n)]
  const code = slots.implementation
  expect(messageFromL2Keys({ message, root })).toEqual([...keys, code].map(word))
  const rolling = [slots.rollingHash(699n), slots.rollingHash(700n), slots.next]
  expect(messageToL2Keys({ message })).toEqual([...rolling, code].map(word))
  expect(messageArrivalKey({ message })).toBe(word(slots.inbox(hashOf(message))))
  // A fork of the contracts may keep them elsewhere.
  const layout = {
    nextMessageNumber: 1n,
    rollingHashes: 2n,
    claimedMessages: 3n,
    treeDepths: 4n,
    inbox: 5n,
    nextNumberOnL2: 6n,
  }
  const moved = [
    ...messageFromL2Keys({ message, root, layout }),
    ...messageToL2Keys({ message, layout }),
    messageArrivalKey({ message, layout }),
  ]
  expect(moved[5]).toBe(word(1n))
  expect([moved[2], moved[6]]).toEqual([word(code), word(code)])
  expect(new Set([...moved, ...keys.map(word), ...rolling.map(word)]).size).toBe(12)
  const storage = [{ key: messageArrivalKey({ message, layout }), value: word(2n) }]
  expect(readMessageArrival({ account: {}, storage }, { message, layout })).toBe('claimed')
})

it('tells claimed messages from others for numbers around 256', async () => {
  const bridge = createBridge(250n)
  for (let index = 0; index < 270; index++) bridge.sendFromL2(contentOf(`${index}`))
  // The first and the last bits of three words, and those that a bitmap of the wrong order would take for them.
  const places = bridge
    .finalize(6)
    .filter(({ sent: { number } }) => [0n, 1n, 2n, 8n, 247n, 254n, 255n].includes(number & 255n))
  expect(places.map(({ sent }) => Number(sent.number))).toEqual([
    ...[254, 255, 256, 257, 258, 264, 503, 510, 511, 512, 513, 514],
  ])
  const expected = (bit: number) => places.map((_, index) => ((index >> bit) & 1 ? 'claimed' : 'claimable'))
  // Of each two messages, one is claimed and the other is not in at least one of these states.
  for (const bit of [0, 1, 2, 3]) {
    const storage = new Map(bridge.l1)
    for (const [index, { sent }] of places.entries()) {
      const slot = slots.claimed(sent.number)
      if ((index >> bit) & 1) storage.set(slot, (storage.get(slot) ?? 0n) | (1n << (sent.number & 255n)))
    }
    const state = await seal(storage)
    const found = await Promise.all(places.map(async placed => (await statusOf(placed, state)).status))
    expect(found).toEqual(expected(bit))
  }
})

it('refuses each link that is forged, with the code of that link', async () => {
  const bridge = createBridge(1n)
  for (let index = 0; index < 40; index++) bridge.sendFromL2(contentOf(`${index}`, 40))
  const placed = at(bridge.finalize(), 21)
  const state = await seal(bridge.l1)
  const parts = await partsOf(placed, state)
  const { place, sent } = placed
  const codeOf = (forged: object, message = sent) =>
    refusalOf(() => verifyMessageFromL2({ ...parts, ...forged }, claimOf(message, state))).split(' ')[0]
  expect(codeOf({})).toBe('accepted')

  const places = [
    ...place.proof.map((node, index) => ({ ...place, proof: place.proof.with(index, flipLast(node) as Hex) })),
    ...place.proof.map((_, height) => ({ ...place, leafIndex: place.leafIndex ^ (1 << height) })),
    { ...place, proof: place.proof.slice(1), leafIndex: place.leafIndex >> 1 },
    { ...place, proof: [...place.proof, place.root] },
    { ...place, root: flipLast(place.root) },
  ]
  for (const messageProof of places) expect(codeOf({ messageProof })).toBe('MESSAGE_ROOT_MISMATCH')
  for (const leafIndex of [32, -1, 2 ** 32 + place.leafIndex]) {
    expect(codeOf({ messageProof: { ...place, leafIndex } })).toBe('MESSAGE_INDEX')
  }
  const messages: Sent[] = [
    { ...sent, from: sent.to },
    { ...sent, to: sent.from },
    { ...sent, fee: sent.value, value: sent.fee },
    { ...sent, number: sent.number + 256n },
    { ...sent, data: `${sent.data}00` },
    { ...sent, data: sent.data.slice(0, -2) as Hex },
  ]
  for (const message of messages) expect(codeOf({}, message)).toBe('MESSAGE_ROOT_MISMATCH')

  const { l1Proof } = parts
  const nodes = [
    ...l1Proof.accountProof.map((node, index) => ({
      ...l1Proof,
      accountProof: l1Proof.accountProof.with(index, flipLast(node)),
    })),
    ...l1Proof.storageProof.flatMap((slot, position) =>
      slot.proof.map((node, index) => ({
        ...l1Proof,
        storageProof: l1Proof.storageProof.with(position, { ...slot, proof: slot.proof.with(index, flipLast(node)) }),
      })),
    ),
  ]
  expect(nodes.length).toBeGreaterThan(5)
  for (const l1Proof of nodes) expect(codeOf({ l1Proof })).toBe('MPT_HASH_MISMATCH')
})
