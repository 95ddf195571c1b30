import type { VerifiedMessage } from '../../entry/messages.ts'
import type { Output } from '../command.ts'
import { messageRows, messageStatements } from '../words/message.ts'
import type { Verdict } from '../words/verdict.ts'
import { beaconRows, ifRight, l1BlockRows, type Row } from '../words/wording.ts'
import { formatTable } from './table.ts'
import { formatVerdict } from './verdict.ts'

/** @param rollup the contract to which a claim goes @param isStated whether the user stated the message */
export function formatMessage(
  verdict: Verdict,
  verified: VerifiedMessage,
  stream: Output,
  rollup: string,
  isStated: boolean,
): string {
  const { status, messageHash, l1Block, beaconBlock } = verified
  const said = isStated ? 'stated by you' : 'from the bundle, not stated by you'
  const rows: Row[] = [
    ...(beaconBlock === undefined ? [] : beaconRows({ trustedInput: 'beaconBlockRoot', beaconBlock })),
    ...l1BlockRows(l1Block),
    ['message', messageHash, said],
    ...messageRows(verified, wei => `${wei} wei`, rollup),
  ]
  const isGood = status === 'claimable' || status === 'claimed' || status === 'sent'
  return `${formatVerdict(verdict, messageStatements[status], stream, { isGood })}\n${formatTable(ifRight(verdict, rows), stream)}`
}
