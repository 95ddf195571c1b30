import { rollupNamed } from '../cli/words/evidence.ts'
import { messageRows, messageStatements } from '../cli/words/message.ts'
import { brief } from '../cli/words/value.ts'
import { capitalized, type Row } from '../cli/words/wording.ts'
import { verifyEvidence } from '../entry/anchor.ts'
import { type MessageEvidenceClaim, messageEvidence, type VerifiedMessage } from '../entry/messages.ts'
import { drawMessage } from './chain.ts'
import { rollupOf, trustedOf } from './inputs.ts'
import { judgeAs } from './judging.ts'
import { amount, premiseSources } from './wording.ts'

const statusWords: Readonly<Record<VerifiedMessage['status'], string>> = {
  ...{ claimable: 'can be claimed', claimed: 'claimed', notAnchored: 'not anchored yet' },
  ...{ sent: 'sent', notSent: 'not sent yet', unknown: 'not known' },
}

/** Judges evidence of a message between the layers. */
export const judgeMessage = judgeAs<VerifiedMessage>({
  verify(file, statement) {
    const { value } = statement.message
    const message = value === '' ? 'fromBundle' : value
    const claim = { kind: messageEvidence, rollup: rollupOf(statement), trusted: trustedOf(file, statement), message }
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
    return verifyEvidence(file.bundle, claim as MessageEvidenceClaim)
  },
  tell(proven, statement) {
    const { rollup, message } = statement
    const isAsked = message.value !== ''
    const contract = rollupNamed(rollup.value)?.address ?? rollup.value
    const rows = messageRows(proven, amount, contract).map(([name, value, ...basis]): Row => {
      // In full, if it is for the clipboard.
      const shown = name === 'claim it with' ? value : brief(value)
      return [capitalized(name), shown, ...basis]
    })
    return {
      sources: { ...premiseSources(statement), message: isAsked ? message.source : 'bundle' },
      ...{ headline: `${capitalized(messageStatements[proven.status])}.`, l1Block: proven.l1Block },
      notes: isAsked ? [] : ['Whoever made the bundle chose the message: check that it is the one you mean.'],
      facts: [['Hash', proven.messageHash], ...rows],
    }
  },
  draw: scene => drawMessage(scene, scene.proven ? statusWords[scene.proven.status] : ''),
})
