import { stringify } from '../../base/json/stringify.ts'
import { DEFAULT_HARDFORK } from '../../client/network/hardfork.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { type VerifiedCall, verifyCallEvidence } from '../../entry/provider.ts'
import type { CallOutcome } from '../../provider/call-evidence/types.ts'
import { revertReason } from '../../provider/revert.ts'
import { callClaimOf, callFailed } from '../options/chain-flags.ts'
import type { Flags } from '../options/declared.ts'
import { networkOf } from '../options/network.ts'
import { type Row, sourceWords } from '../words/wording.ts'
import { partsOf, reportOnEvidence, type Stated, type VerifyFile } from './evidence.ts'

/** Evidence of a call, which is executed again. @throws UsageError */
export function callOf(flags: Flags & { readonly timeout: number }): Stated<VerifiedCall<Trusted, StateScheme>> {
  const network = networkOf(flags)
  const { rollup, hardfork = DEFAULT_HARDFORK } = network
  const call = callClaimOf(flags)
  const { 'l2-block': l2BlockNumber = 'fromBundle' } = flags
  const deadline = { timeoutMs: 1000 * flags.timeout }
  return {
    ...{ network, parts: other => partsOf({ l2BlockNumber, ...call }, other) },
    asked: ['call', call.to === 'fromBundle' ? 'whatever the bundle is for' : call.to],
    verify: (bundle, head) =>
      verifyCallEvidence(bundle, { rollup, hardfork, call, l2BlockNumber, ...head }, deadline).catch(callFailed),
    // Block values that no proof covers, if the call has read any: its outcome depends on them.
    adjust: ({ environment }, by): Record<string, typeof by> =>
      Object.keys(environment).length > 0 ? { environment: by } : {},
    tell(verified, other) {
      const { gasUsed, call: executed, environment, outcome } = verified
      const parts = partsOf(call, other)
      const said = (name: keyof typeof call) => sourceWords[parts[name]]
      const isEmpty = !verified.hasCode && outcome === 'returned' && verified.returnData === '0x'
      return {
        what: `the call ${isEmpty ? 'returned nothing, and there is no code at this address' : outcome}`,
        isGood: outcome === 'returned' && !isEmpty,
        rows: [
          ['hard fork', verified.hardfork],
          ['to', executed.to, said('to')],
          ['data', executed.data, said('data')],
          ['from', executed.from, said('from')],
          ['value', `${executed.value} wei`, said('value')],
          ['gas limit', `${executed.gas}`],
          ...Object.entries(environment).map(
            ([name, value]): Row => [name, stringify(value), 'NOT proven: stated by whoever recorded it'],
          ),
          ['gas used', `${gasUsed}`],
          ...outcomeRows(verified),
        ],
      }
    },
  }
}

function outcomeRows(verified: CallOutcome): Row[] {
  if (verified.outcome === 'failed') return []
  if (verified.outcome === 'returned') return [['returned', verified.returnData]]
  const reason = revertReason(verified.revertData)
  return [['reverted with', verified.revertData], ...(reason === null ? [] : [['which says', reason] as const])]
}

export const verify: VerifyFile = async (bundle, flags, found) => reportOnEvidence(bundle, flags, found, callOf(flags))
