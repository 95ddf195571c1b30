import { stringify } from '../../base/json/stringify.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import type { VerifiedCall } from '../../entry/provider.ts'
import type { CallOutcome, StatedCall } from '../../provider/call-evidence/types.ts'
import { revertReason } from '../../provider/revert.ts'
import { headerOf } from '../../verify/evidence/chain.ts'
import type { Output } from '../command.ts'
import type { Source } from '../words/claim.ts'
import type { PartSources, Verdict } from '../words/verdict.ts'
import { headRows, type Row, sourceWords, timeRow } from '../words/wording.ts'
import { formatProven } from './report.ts'

/** Who stated the block values that no proof covers, if the call has read any: its outcome depends on them. */
export const environmentSource = ({ environment }: Pick<VerifiedCall, 'environment'>, by: Source): PartSources =>
  Object.keys(environment).length > 0 ? { environment: by } : {}

/** @param stated what the user stated about the call @param other who states the rest, in words */
export function formatCall(
  verdict: Verdict,
  verified: VerifiedCall<Trusted, StateScheme>,
  stream: Output,
  stated: Omit<StatedCall, 'gas'>,
  other = sourceWords.bundle,
): string {
  const { gasUsed, call, l2BlockNumber, environment, hardfork } = verified
  const header = headerOf(verified)
  const said = (name: keyof typeof stated) => (stated[name] === 'fromBundle' ? other : sourceWords.user)
  const rows: Row[] = [
    ...headRows(verified),
    ['L2 block', `${l2BlockNumber}`],
    timeRow(verified),
    ...(header === undefined ? [] : [['L2 block hash', header.hash] as const]),
    ['L2 state root', verified.stateRoot],
    ['hard fork', hardfork],
    ['to', call.to, said('to')],
    ['data', call.data, said('data')],
    ['from', call.from, said('from')],
    ['value', `${call.value} wei`, said('value')],
    ['gas limit', `${call.gas}`],
    ...Object.entries(environment).map(
      ([name, value]): Row => [name, stringify(value), 'NOT proven: stated by whoever recorded it'],
    ),
    ['gas used', `${gasUsed}`],
    ...outcomeRows(verified),
  ]
  const isEmpty = !verified.hasCode && verified.outcome === 'returned' && verified.returnData === '0x'
  const what = isEmpty ? 'returned nothing, and there is no code at this address' : verified.outcome
  return formatProven(verdict, `the call ${what}`, rows, stream, verified.outcome === 'returned' && !isEmpty)
}

function outcomeRows(verified: CallOutcome): Row[] {
  if (verified.outcome === 'failed') return []
  if (verified.outcome === 'returned') return [['returned', verified.returnData]]
  const reason = revertReason(verified.revertData)
  return [['reverted with', verified.revertData], ...(reason === null ? [] : [['which says', reason] as const])]
}
