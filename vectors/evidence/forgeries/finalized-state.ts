import type { FailureCode } from '../../../src/base/errors.ts'
import type { Flag } from '../../vector.ts'
import { makeFinalized, type Numbers, stated } from '../finalized.ts'
import { CURRENT } from '../truth.ts'
import type { Forgery, ForgeryClass } from './forgery.ts'

/** The data of the newest finalization that the contract keeps, in both of its layouts. */
export const finalizedState: ForgeryClass = async truth => {
  const { bundle, judge, l1, proof: twoSlots } = truth
  const numbers: Numbers = { message: 12n, forced: 3n, timestamp: 0x68ffff00n }
  const { forced: _, ...threeWords } = numbers
  const now = await makeFinalized(truth, numbers)
  const before = await makeFinalized(truth, threeWords)
  const older = await makeFinalized(truth, numbers, CURRENT)
  const served = (
    name: string,
    code: FailureCode,
    flag: Flag,
    description: string,
    stateRoot: string,
    l1: object,
  ): Forgery => ({
    name: `finalized-state-${name}`,
    code,
    flag,
    description,
    input: judge({ ...bundle, l1 }, { trusted: { l1StateRoot: stateRoot as `0x${string}` } }),
  })
  /** Numbers other than the contract's, with the true proof of the slots that they lead to. */
  const lie = async (name: string, description: string, chain: typeof now, lied: Numbers): Promise<Forgery> =>
    served(name, 'ANCHOR_FINALIZED_STATE_MISMATCH', 'Value', description, chain.stateRoot, {
      proof: await chain.prove(lied),
      finalizedState: stated(lied),
    })
  const malformed = async (name: string, finalizedState: unknown): Promise<Forgery> => ({
    ...served(name, 'EVIDENCE_MALFORMED', 'Shape', 'Not the shape of a finalized state.', now.stateRoot, {
      proof: await now.prove(),
      finalizedState,
    }),
    name: `bundle-finalized-state-${name}`,
  })
  const honest = await now.prove()
  return [
    await lie('other-timestamp', 'Another timestamp.', now, { ...numbers, timestamp: numbers.timestamp + 1n }),
    await lie('other-message', 'Another message, which has no rolling hash.', now, { ...numbers, message: 13n }),
    await lie('other-forced', 'Another forced transaction, which has no rolling hash.', now, {
      ...numbers,
      forced: 4n,
    }),
    await lie('forced-left-out', 'Three words, where the contract hashes five.', now, threeWords),
    await lie('three-words-other-timestamp', 'Another timestamp, before version 8.', before, {
      ...threeWords,
      timestamp: threeWords.timestamp - 1n,
    }),
    await lie('three-words-other-message', 'Another message, before version 8.', before, {
      ...threeWords,
      message: 0n,
    }),
    await lie('forced-added', 'Five words, where the contract hashes three.', before, { ...threeWords, forced: 0n }),
    await lie('of-older-block', 'Another timestamp, though it would not count: the block is not the newest.', older, {
      ...numbers,
      timestamp: 1n,
    }),
    served('never-kept', 'ANCHOR_FINALIZED_STATE_MISMATCH', 'Value', 'The contract keeps no such hash.', l1.stateRoot, {
      proof: await l1.getProof(
        bundle.rollup.address as `0x${string}`,
        honest.storageProof.map(({ key }) => BigInt(key)),
      ),
      finalizedState: stated(numbers),
    }),
    served('unproven', 'L1_STORAGE_PROOF_COUNT', 'Binding', 'The numbers without their slots.', l1.stateRoot, {
      proof: twoSlots,
      finalizedState: stated(numbers),
    }),
    served('forced-unproven', 'L1_STORAGE_PROOF_COUNT', 'Binding', 'Without the last slot.', now.stateRoot, {
      proof: { ...honest, storageProof: honest.storageProof.slice(0, -1) },
      finalizedState: stated(numbers),
    }),
    served('unstated', 'L1_STORAGE_PROOF_COUNT', 'Binding', 'The slots without the numbers.', now.stateRoot, {
      proof: honest,
    }),
    served('slot-of-another', 'L1_KEY_MISMATCH', 'Binding', 'The rolling hash of another message.', now.stateRoot, {
      proof: await now.prove({ ...numbers, message: 11n }),
      finalizedState: stated(numbers),
    }),
    await malformed('array', []),
    await malformed('no-message', { timestamp: '0x1' }),
    await malformed('no-timestamp', { messageNumber: '0x1' }),
    await malformed('number', { messageNumber: 12, timestamp: '0x1' }),
    await malformed('padded', { messageNumber: '0xc', timestamp: '0x068ffff00' }),
    await malformed('long-timestamp', { messageNumber: '0xc', timestamp: `0x1${'00'.repeat(8)}` }),
    await malformed('long-message', { messageNumber: `0x1${'00'.repeat(32)}`, timestamp: '0x1' }),
  ]
}
