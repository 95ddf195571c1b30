import { verifyEvidence } from '../../entry/anchor.ts'
import type { AnyClaim, AnyEvidence } from '../../verify/evidence/types.ts'
import type { ChosenNetwork } from '../options/network.ts'
import { networkOf } from '../options/network.ts'
import { formatNotes, formatState } from '../output/report.ts'
import { bundleNotes, existenceOf, sourceWords } from '../words/wording.ts'
import { partsOf, reportOnEvidence, type Stated, type VerifyFile } from './evidence.ts'

type Claim = Pick<AnyClaim, 'l2BlockNumber' | 'address' | 'storageKeys'>

export const stateOf = (network: ChosenNetwork, claim: Claim): Stated<AnyEvidence> => ({
  ...{ network, parts: other => partsOf(claim, other) },
  verify: (bundle, head) => verifyEvidence(bundle, { rollup: network.rollup, ...claim, ...head }),
  adjust: ({ trustedInput, storage }) => ({
    ...(storage.length === 0 && { storageKeys: undefined }),
    // An L2 state root leaves out the way through the contract, and says nothing of the block.
    ...(trustedInput === 'l2StateRoot' && { l2BlockNumber: undefined }),
  }),
  tell(evidence, other) {
    const parts = partsOf(claim, other)
    const sources = { trusted: 'user', scheme: 'user', rollup: 'user' } as const
    return {
      what: existenceOf(evidence),
      rows: [
        ['address', evidence.address, sourceWords[parts.address]],
        ['storage keys', `${evidence.storage.length}`, sourceWords[parts.storageKeys]],
      ],
      more: stream => [
        ...formatState(evidence, stream),
        ...formatNotes(bundleNotes({ ...sources, ...parts }, evidence), stream),
      ],
    }
  },
})

export const verify: VerifyFile = async (bundle, flags, found) => {
  const { address = 'fromBundle', 'storage-key': storageKeys = 'fromBundle' } = flags
  const claim = { l2BlockNumber: flags['l2-block'] ?? 'fromBundle', address, storageKeys } as const
  return reportOnEvidence(bundle, flags, found, stateOf(networkOf(flags), claim))
}
