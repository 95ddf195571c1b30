import { createL1, named } from '../l1.ts'
import { BLOCK, rollup, rootSlot } from '../truth.ts'
import type { ForgeryClass } from './forgery.ts'

/** The proven state of the rollup contract. */
export const contract: ForgeryClass = async ({ bundle, header, storage, proofOf, judge }) => {
  const slots = [rootSlot(BLOCK), 281n]
  const elsewhere = await createL1(named('other contract', 20), new Map([[1n, 1n]]))
  const early = await createL1(rollup.address, new Map([...storage, [281n, BLOCK - 1n]]))
  return [
    {
      name: 'no-contract',
      code: 'ANCHOR_NO_CONTRACT',
      flag: 'Root',
      description: 'There is no such contract on this L1.',
      input: judge(
        { ...bundle, l1: { proof: await elsewhere.getProof(rollup.address, slots) } },
        { trusted: { l1StateRoot: elsewhere.stateRoot } },
      ),
    },
    {
      name: 'no-root',
      code: 'ANCHOR_NO_ROOT',
      flag: 'Root',
      description: 'A block inside a finalization: the contract has no root for it.',
      input: judge({ ...bundle, l1: { header, proof: await proofOf(BLOCK - 1n) }, l2BlockNumber: '0x1b3' }),
    },
    {
      name: 'block-ahead',
      code: 'ANCHOR_BLOCK_AHEAD',
      flag: 'Root',
      description: 'The contract says that an earlier block is the last finalized one.',
      input: judge(
        { ...bundle, l1: { proof: await early.getProof(rollup.address, slots) } },
        { trusted: { l1StateRoot: early.stateRoot } },
      ),
    },
  ]
}
