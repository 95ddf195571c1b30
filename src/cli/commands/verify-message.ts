import { verifyEvidence } from '../../entry/anchor.ts'
import { isArgumentError, safely } from '../../entry/index.ts'
import { type MessageEvidenceClaim, messageEvidence } from '../../entry/messages.ts'
import { optionsOf, text } from '../options/declared.ts'
import { trustedOf } from '../options/flags.ts'
import { networkOf } from '../options/network.ts'
import { requireHex, requireOnly } from '../options/parse.ts'
import { claimDataOf, formatMessage } from '../output/message-report.ts'
import { describeSources, reportOnError, type VerdictReport } from '../output/report.ts'
import { constantSources } from '../words/evidence.ts'
import { verdictOf } from '../words/verdict.ts'
import type { EvidenceFlags } from './verify-logs.ts'

export const messageOptions = { message: text('HASH', 'the hash of the message') }

const allowed = {
  ...messageOptions,
  ...optionsOf('checkpoint', 'l1-block-hash', 'l1-state-root', 'network', 'implementation'),
}

/** Verifies a message as evidence. @throws UsageError */
export function verifyMessageFile(bundle: unknown, { addresses: _, ...flags }: EvidenceFlags): VerdictReport {
  requireOnly(flags, allowed, 'a message as evidence')
  requireHex('--message', 32, flags.message)
  const { message = 'fromBundle' } = flags
  const { rollup } = networkOf(flags)
  const trusted = trustedOf(flags)
  // The option for L2 state roots was refused above, and the hexadecimal is checked.
  const claim = { kind: messageEvidence, rollup, trusted, message } as MessageEvidenceClaim
  const isStated = message !== 'fromBundle'
  const parts = { message: isStated ? 'user' : 'bundle', ...constantSources({ rollup, trusted }, 'user') } as const
  const sources = describeSources({ trusted: 'user', rollup: 'user', ...parts })
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok) {
    if (isArgumentError(outcome.error)) throw outcome.error
    return reportOnError(outcome.error, { sources }, [['message', isStated ? message : 'the one in the bundle']])
  }
  const verified = outcome.value
  const claimData = claimDataOf(verified)
  const verdict = verdictOf(true, { ...parts, network: 'user' })
  const format: VerdictReport['format'] = stream =>
    `${formatMessage(verdict, verified, stream, rollup.address, isStated)}\n`
  return { verdict, json: { sources, ...verified, ...(claimData !== undefined && { claimData }) }, format }
}
