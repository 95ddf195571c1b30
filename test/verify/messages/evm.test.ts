import { encodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import type { Hex } from '../../../src/entry/index.ts'
import { encodeMessageClaim, hashMessage, verifyMessageFromL2 } from '../../../src/entry/messages.ts'
import { flipLast } from '../../../vectors/evidence/forgeries/forgery.ts'
import { createBridge, type Place, type Sent } from '../../../vectors/messages/bridge.ts'
import { at, contentOf, rollup, seal } from '../../../vectors/messages/truth.ts'
import { claimAbi } from './abi.ts'
import { openBridge } from './deployed.ts'

const { deploy, variables } = await openBridge()

interface Placed {
  sent: Sent
  place: Place
}

/** The calldata of an ABI library. */
const encodeWithViem = (
  { sent: { number, ...sent }, place }: Placed,
  feeRecipient: Hex = `0x${'00'.repeat(20)}`,
): Hex => {
  const { root: merkleRoot, ...where } = place
  const params = { ...sent, ...where, messageNumber: number, merkleRoot, feeRecipient }
  return encodeFunctionData({ abi: claimAbi, functionName: 'claimMessageWithProof', args: [params] })
}

it('has the variables where the contract on L1 has them', () => {
  const { nextMessageNumber, rollingHashes, claimed, depths } = variables
  expect([nextMessageNumber, rollingHashes, claimed, depths]).toEqual(['228', '334', '335', '336'])
})

it('encodes the claims of an ABI library', () => {
  const bridge = createBridge(2n ** 256n - 12n)
  for (const length of [0, 1, 31, 32, 33, 64, 1000]) bridge.sendFromL2(contentOf(`${length}`, length))
  const most = 2n ** 256n - 1n
  bridge.sendFromL2({ ...contentOf('most'), fee: most, value: most })
  const feeRecipient = contentOf('recipient').to
  const shallow = bridge.finalize(3)
  bridge.sendFromL2(contentOf('deep'))
  for (const placed of [...shallow, ...bridge.finalize(9)]) {
    const claim = { message: placed.sent, messageProof: placed.place }
    expect(encodeMessageClaim(claim)).toBe(encodeWithViem(placed))
    expect(encodeMessageClaim({ ...claim, feeRecipient })).toBe(encodeWithViem(placed, feeRecipient))
  }
})

it('makes claims that the contract takes once, and none that it refuses', async () => {
  const contract = await deploy()
  const bridge = createBridge(252n)
  for (let index = 0; index < 38; index++) bridge.sendFromL2(contentOf(`${index}`, index))
  const anchored = bridge.finalize()
  const claimOf = ({ sent, place }: Placed) => contract.send(encodeMessageClaim({ message: sent, messageProof: place }))
  const [first, late, other] = [at(anchored, 4), at(anchored, 37), at(anchored, 5)]

  expect(await claimOf(first)).toBe('UnknownRoot')
  for (const root of new Set(anchored.map(({ place }) => place.root))) await contract.call('anchor', root, 5n)
  const forged = first.place.proof.with(2, flipLast(at(first.place.proof, 2)) as Hex)
  expect(await contract.send(encodeWithViem({ ...first, place: { ...first.place, proof: forged } }))).toBe('NotInTree')
  const cut = { ...first.place, proof: first.place.proof.slice(1) }
  expect(await contract.send(encodeWithViem({ ...first, place: cut }))).toBe('WrongDepth')
  for (const placed of [first, late]) {
    expect(await claimOf(placed)).toBe('accepted')
    expect(await claimOf(placed)).toBe('AlreadyClaimed')
    bridge.claim(placed.sent)
  }
  // The same claim, to a contract that knows the tree with another depth.
  await contract.call('anchor', late.place.root, 6n)
  expect(await claimOf(late)).toBe('WrongDepth')
  await contract.call('anchor', late.place.root, 5n)

  for (const { from, to, fee, value, data } of [0, 1, 2].map(index => contentOf(`to L2 ${index}`, index * 20))) {
    if (bridge.toL2.length === 0) await contract.call('begin', 252n)
    await contract.call('send', from, to, fee, value, data)
    bridge.sendToL2({ from, to, fee, value, data })
  }
  // The model, on which other tests rest, has the storage of the contract, and the verdict is that of the contract.
  const storage = await contract.read(bridge.l1.keys())
  expect(storage).toEqual(bridge.l1)
  const state = await seal(storage)
  for (const [placed, status] of [
    [first, 'claimed'],
    [late, 'claimed'],
    [other, 'claimable'],
  ] as const) {
    const { sent: message, place: messageProof } = placed
    const parts = { messageProof, l1Proof: await state.ofTree(message, messageProof.root) }
    const verified = verifyMessageFromL2(parts, { l1StateRoot: state.l1StateRoot, rollup, message })
    expect(verified).toEqual({ status, messageHash: hashMessage(message) })
    expect(await claimOf(placed)).toBe(status === 'claimed' ? 'AlreadyClaimed' : 'accepted')
  }
})
