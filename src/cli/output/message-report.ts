import type { VerifiedMessage } from '../../entry/messages.ts'
import type { Output } from '../command.ts'
import { messageRows, messageStatements } from '../words/message.ts'
import type { Verdict } from '../words/verdict.ts'
import { headRows, type Row } from '../words/wording.ts'
import { formatProven } from './report.ts'

/** @param rollup the contract to which a claim goes @param said who stated the message, in words */
export function formatMessage(
  verdict: Verdict,
  verified: VerifiedMessage,
  stream: Output,
  rollup: string,
  said: string,
): string {
  const { status, messageHash } = verified
  const rows: Row[] = [
    ...headRows(verified),
    ['message', messageHash, said],
    ...messageRows(verified, wei => `${wei} wei`, rollup),
  ]
  const isGood = status === 'claimable' || status === 'claimed' || status === 'sent'
  return formatProven(verdict, messageStatements[status], rows, stream, isGood)
}
