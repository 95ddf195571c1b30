import { stringify } from '../../base/json/stringify.ts'
import { DEFAULT_HARDFORK } from '../../client/network/network.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { isProviderError, type VerifiedCall, verifyCallEvidence } from '../../entry/provider.ts'
import type { CallOutcome } from '../../provider/call-evidence/types.ts'
import { revertReason } from '../../provider/error.ts'
import { CALL_GAS } from '../../provider/limits.ts'
import { UsageError } from '../errors.ts'
import type { Flags } from '../options/declared.ts'
import { networkOf } from '../options/network.ts'
import { type Row, sourceWords } from '../words/wording.ts'
import { partsOf, type Stated } from './evidence.ts'

export const callRequestOf = ({ call, sender, value, gas }: Flags) => ({
  ...call,
  from: sender,
  value,
  gas: gas === undefined ? undefined : BigInt(gas),
})

/** Turns errors that the user can fix into UsageErrors: a value to state, a call that cannot start. */
export function callFailed(error: unknown): never {
  if (!isProviderError(error)) throw error
  const hints: Readonly<Record<string, string>> = {
    VALUE_UNPROVEN: ' (--environment NAME=VALUE)',
    TIMEOUT: ' (--timeout SECONDS)',
  }
  throw new UsageError(`${error.message}${hints[error.reason] ?? ''}`)
}

export function statedIn(flags: Flags & { readonly timeout: number }): Stated<VerifiedCall<Trusted, StateScheme>> {
  const network = networkOf(flags)
  const { rollup, hardfork = DEFAULT_HARDFORK } = network
  const request = callRequestOf(flags)
  const { from = 'fromBundle', to = 'fromBundle', data = 'fromBundle', value = 'fromBundle' } = request
  // The bundle does not decide the gas.
  const call = { from, to, data, value, gas: request.gas ?? CALL_GAS } as const
  const { 'l2-block': l2BlockNumber = 'fromBundle' } = flags
  const deadline = { timeoutMs: 1000 * flags.timeout }
  return {
    network,
    parts: other => partsOf({ l2BlockNumber, ...call }, other),
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
