import { verifyEvidence } from '../../entry/anchor.ts'
import { type MessageEvidenceClaim, messageEvidence } from '../../entry/messages.ts'
import { trustedOf } from '../options/flags.ts'
import { networkOf, networkSource } from '../options/network.ts'
import { requireHex } from '../options/parse.ts'
import { formatMessage } from '../output/message-report.ts'
import { constantSources } from '../words/evidence.ts'
import { claimDataOf } from '../words/message.ts'
import { sourceWords } from '../words/wording.ts'
import { reportOnEvidence, statedBy, type VerifyFile } from './verify-evidence.ts'

/** Verifies a message as evidence. */
export const verify: VerifyFile = async (bundle, flags) => {
  requireHex('--message', 32, flags.message)
  const { message = 'fromBundle' } = flags
  const { rollup } = networkOf(flags)
  const trusted = await trustedOf(flags)
  // The option for L2 state roots was refused before, and the hexadecimal is checked.
  const claim = { kind: messageEvidence, rollup, trusted, message } as MessageEvidenceClaim
  const by = networkSource(flags)
  return reportOnEvidence({
    parts: { rollup: by, message: statedBy(message), ...constantSources({ rollup, trusted }, by) },
    verify: () => verifyEvidence(bundle, claim),
    asked: ['message', message === 'fromBundle' ? 'the one in the bundle' : message],
    more(verified) {
      const claimData = claimDataOf(verified)
      return claimData === undefined ? {} : { claimData }
    },
    format: (verdict, verified, stream) =>
      formatMessage(verdict, verified, stream, rollup.address, sourceWords[statedBy(message)]),
  })
}
