import { type Hex, mappingSlot } from 'rollup-state-proof'
import type { Rollup } from 'rollup-state-proof/anchor'
import { poseidon2 } from 'rollup-state-proof/poseidon2'
import { createRollupClient, fetchVerifiedRoot } from 'rollup-state-proof/rpc'

/** The ERC-20 balance of one holder: slot 0 of this token maps holders to balances. */
export async function readTokenBalance(l1: string, l2: string, rollup: Rollup, l1BlockHash: Hex, holder: Hex) {
  const { l2BlockNumber, stateRoot } = await fetchVerifiedRoot({ l1, rollup, l1BlockHash, holds: 'stateRoot' })
  const { storage } = await createRollupClient(l2, { rollup }).getVerifiedState({
    ...{ scheme: poseidon2, stateRoot, l2BlockNumber },
    address: `0x${'70'.repeat(20)}`,
    storageKeys: [mappingSlot({ slot: 0n, keys: [holder] })],
  })
  return BigInt(storage[0].value)
}
