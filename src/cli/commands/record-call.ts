import { recordCall, verifyCallEvidence } from '../../entry/provider.ts'
import type { Io } from '../command.ts'
import { type RecordedCall, type RecordFlags, requireEvidence, type Subject } from '../files/recorded-file.ts'
import { callClaimOf, callFailed, callRequestOf, deadlineOf, environmentOf } from '../options/chain-flags.ts'
import { showProgress } from '../options/endpoint.ts'
import { blockClaimOf, blockRequestOf } from '../options/flags.ts'
import { trustedIn } from '../options/record-trust.ts'
import { environmentSource, formatCall } from '../output/call-report.ts'
import { kindOf } from '../words/evidence.ts'

/** The subject of `record --call TO DATA`: a call, and all that it reads. @throws UsageError */
export function callSubject(flags: RecordFlags, io: Io): Subject<RecordedCall> {
  const { call, ...about } = callRequestOf(flags)
  const { to = '0x', data = '0x' } = call
  const request = { ...blockRequestOf(flags), ...about, call: { ...call, to, data }, environment: environmentOf(flags) }
  const claim = { ...blockClaimOf(flags), ...callClaimOf(flags) }
  const deadline = deadlineOf(flags)
  return {
    keyCount: 0,
    askedFor: () => ({ command: 'record --call', to, data }),
    fetch([l1, l2], options) {
      showProgress(io, 'looking for the newest finalized block, then executing the call')
      return recordCall({ l1, l2, ...request, ...options, ...deadline }).catch(callFailed)
    },
    async verifyExisting(bundle, trust, path) {
      requireEvidence(path, bundle, 'call')
      const known = { ...claim, scheme: kindOf(bundle, claim.scheme), trusted: trustedIn(bundle, trust) }
      return verifyCallEvidence(bundle, known, deadline)
    },
    // What is recorded now is executed with the values that the user passes.
    sources: ({ verified }, { source }) => environmentSource(verified, source === 'file' ? 'bundle' : 'user'),
    format: ({ verified: evidence }, { verdict }, stream) => [formatCall(verdict, evidence, stream, claim.call)],
    verifyArguments: ({ verified: { call } }) => ['--call', call.to, call.data, '--from', call.from],
  }
}
