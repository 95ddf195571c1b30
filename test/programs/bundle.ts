import type { Hex } from 'rollup-state-proof'
import { type Rollup, verifyEvidence } from 'rollup-state-proof/anchor'
import { poseidon2 } from 'rollup-state-proof/poseidon2'

/** What a bundle proves offline about one account, and about its own age. */
export function readBundle(text: string, rollup: Rollup, l1BlockHash: Hex, address: Hex) {
  const { account, l1Block, l2BlockNumber, currentL2BlockNumber } = verifyEvidence(JSON.parse(text), {
    ...{ scheme: poseidon2, rollup, trusted: { l1BlockHash }, address },
    ...{ l2BlockNumber: 'fromBundle', storageKeys: [] },
  })
  return { account, l1Time: l1Block.timestamp, isNewest: l2BlockNumber === currentL2BlockNumber }
}
