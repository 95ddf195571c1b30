import { verifyEvidence } from '../../entry/anchor.ts'
import { type MessageEvidenceClaim, messageEvidence, type VerifiedMessage } from '../../entry/messages.ts'
import { type ChosenNetwork, networkOf } from '../options/network.ts'
import { claimDataOf, messageRows, messageStatements } from '../words/message.ts'
import { sourceWords } from '../words/wording.ts'
import { type EvidenceFlags, partsOf, type Stated } from './evidence.ts'

/** Evidence of a message of the bridge. @param message its hash, which was checked, or `fromBundle` */
export const messageOf = (network: ChosenNetwork, message: string): Stated<VerifiedMessage> => ({
  network,
  parts: other => partsOf({ message }, other),
  asked: ['message', message === 'fromBundle' ? 'the one in the bundle' : message],
  verify(bundle, { trusted }) {
    // The option for L2 state roots was refused before, and the hexadecimal is checked.
    const claim = { kind: messageEvidence, rollup: network.rollup, trusted, message } as MessageEvidenceClaim
    return verifyEvidence(bundle, claim)
  },
  tell(verified, other) {
    const { status, messageHash } = verified
    const claimData = claimDataOf(verified)
    return {
      what: messageStatements[status],
      isGood: status === 'claimable' || status === 'claimed' || status === 'sent',
      rows: [
        ['message', messageHash, sourceWords[partsOf({ message }, other).message]],
        ...messageRows(verified, wei => `${wei} wei`, network.rollup.address),
      ],
      json: claimData === undefined ? {} : { claimData },
    }
  },
})

export const statedIn = (flags: EvidenceFlags) => messageOf(networkOf(flags), flags.message ?? 'fromBundle')
