import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type CallClaim, recordCall, verifyCallEvidence } from '../../src/entry/provider.ts'
import { withNetwork } from '../network.ts'
import { ALICE, demoState, TOKEN } from './contracts.ts'
import { createEndpoints, LEFT, ROLLUP, word } from './endpoints.ts'
import { CHAIN_ID } from './full-state.ts'

const known = {
  ...{ scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID },
  ...({ l2BlockNumber: 'fromBundle', hardfork: 'prague', call: LEFT } as const),
}

it('tells the compiler what is proven from what is trusted, and how the call ended', async () => {
  const { l1, l2 } = createEndpoints(demoState)
  const call = { from: ALICE, to: TOKEN, data: '0x313ce567' } as const
  const { bundle, verified } = await recordCall(
    withNetwork({ l1, l2, scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID, call }),
  )
  const recordedAt: bigint = verified.l1Block.number
  const fromHash = await verifyCallEvidence(bundle, { ...known, trusted: { l1BlockHash: verified.l1Block.hash } })
  const provenAt: bigint = fromHash.l1Block.number
  expect(provenAt).toBe(recordedAt)
  // @ts-expect-error no beacon block is proven from an L1 block hash
  expect(fromHash.beaconBlock).toBeUndefined()
  // @ts-expect-error there are data only if it returned or reverted
  const unsure: Hex | undefined = fromHash.returnData
  expect(unsure).toBe(word(18))
  if (fromHash.outcome === 'returned') {
    const returned: Hex = fromHash.returnData
    expect(returned).toBe(word(18))
    // @ts-expect-error it did not revert
    expect(fromHash.revertData).toBeUndefined()
  } else if (fromHash.outcome === 'reverted') {
    const reverted: Hex = fromHash.revertData
    expect.unreachable(reverted)
  } else {
    // @ts-expect-error it returned nothing
    expect.unreachable(fromHash.returnData)
  }
  const trusted = { l2StateRoot: verified.stateRoot }
  const fromRoot = await verifyCallEvidence(bundle, { ...known, l2BlockNumber: 0n, trusted })
  const [block, l1Block]: [bigint, undefined] = [fromRoot.l2BlockNumber, fromRoot.l1Block]
  expect([block, l1Block]).toEqual([0n, undefined])
})

it('does not compile with a claim that leaves anything out', () => {
  const claim: CallClaim = { ...known, trusted: { l1BlockHash: word(1) } }
  const { from, to, data, value, gas } = LEFT
  const { l2BlockNumber: _, ...noBlock } = claim
  const { hardfork: __, ...noHardfork } = claim
  const { call: ___, ...noCall } = claim
  const wrong: CallClaim[] = [
    // @ts-expect-error
    noBlock,
    // @ts-expect-error
    noHardfork,
    // @ts-expect-error
    noCall,
    // @ts-expect-error
    { ...claim, call: { to, data, value, gas } },
    // @ts-expect-error
    { ...claim, call: { from, data, value, gas } },
    // @ts-expect-error
    { ...claim, call: { from, to, value, gas } },
    // @ts-expect-error
    { ...claim, call: { from, to, data, gas } },
    // @ts-expect-error
    { ...claim, call: { from, to, data, value } },
    // @ts-expect-error
    { ...claim, call: { ...LEFT, gas: 21_000 } },
    // @ts-expect-error
    { ...claim, maxgas: 1n },
  ]
  expect(wrong.length).toBe(10)
})
