import { plural } from '../../base/errors.ts'
import { verifyEvidence } from '../../entry/anchor.ts'
import type { AnyClaim, AnyEvidence } from '../../verify/evidence/kinds/state.ts'
import { type ChosenNetwork, networkOf } from '../options/network.ts'
import { formatState } from '../output/report.ts'
import { paint } from '../output/verdict.ts'
import { existenceOf, notesOn, sourceWords } from '../words/wording.ts'
import { type EvidenceFlags, partsOf, type Stated } from './evidence.ts'

type Claim = Pick<AnyClaim, 'l2BlockNumber' | 'address' | 'storageKeys'>

export const stateOf = (network: ChosenNetwork, claim: Claim): Stated<AnyEvidence> => ({
  network,
  parts: other => partsOf(claim, other),
  verify: (bundle, head) => verifyEvidence(bundle, { rollup: network.rollup, ...claim, ...head }),
  adjust: ({ trustedInput, storage }) => ({
    ...(storage.length === 0 && { storageKeys: undefined }),
    // An L2 state root leaves out the way through the contract, and says nothing of the block.
    ...(trustedInput === 'l2StateRoot' && { l2BlockNumber: undefined }),
  }),
  tell(evidence, other) {
    const parts = partsOf(claim, other)
    return {
      what: existenceOf(evidence),
      rows: [
        ['address', evidence.address, sourceWords[parts.address]],
        ['slots', plural(evidence.storage.length, 'storage key'), sourceWords[parts.storageKeys]],
      ],
      more: stream => [
        ...formatState(evidence, stream),
        ...notesOn(evidence).map(note => paint(stream, 'dim', `Note: ${note}`)),
      ],
    }
  },
})

export function statedIn(flags: EvidenceFlags) {
  const { address = 'fromBundle', 'storage-key': storageKeys = 'fromBundle' } = flags
  return stateOf(networkOf(flags), { l2BlockNumber: flags['l2-block'] ?? 'fromBundle', address, storageKeys })
}
