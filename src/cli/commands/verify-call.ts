import { DEFAULT_HARDFORK } from '../../client/network/hardfork.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { type CallClaim, verifyCallEvidence } from '../../entry/provider.ts'
import { callClaimOf, callFailed, timeoutOf } from '../options/chain-flags.ts'
import { blockClaimOf, trustedOf } from '../options/flags.ts'
import { networkOf, networkSource } from '../options/network.ts'
import { environmentSource, formatCall } from '../output/call-report.ts'
import { constantSources } from '../words/evidence.ts'
import { reportOnEvidence, statedBy, type VerifyFile } from './verify-evidence.ts'

/** Executes a call as evidence again. */
export const verify: VerifyFile = async (bundle, flags, found) => {
  const call = callClaimOf(flags)
  const { hardfork = DEFAULT_HARDFORK } = networkOf(flags)
  const block = blockClaimOf(flags, found)
  const claim: CallClaim<Trusted, StateScheme> = { ...block, hardfork, call, trusted: await trustedOf(flags) }
  const by = networkSource(flags)
  return reportOnEvidence({
    parts: {
      ...{ rollup: by, scheme: found === undefined ? by : 'lengths' },
      l2BlockNumber: statedBy(claim.l2BlockNumber),
      ...constantSources(claim, by),
      ...Object.fromEntries(Object.entries(call).map(([name, value]) => [name, statedBy(value)])),
    },
    verify: () => verifyCallEvidence(bundle, claim, timeoutOf(flags.timeout)).catch(callFailed),
    asked: ['call', call.to === 'fromBundle' ? 'whatever the bundle is for' : call.to],
    unproven: verified => environmentSource(verified, 'bundle'),
    format: (verdict, verified, stream) => formatCall(verdict, verified, stream, call),
  })
}
