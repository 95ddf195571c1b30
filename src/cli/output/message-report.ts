import { encodeMessageClaim, type VerifiedMessage } from '../../entry/messages.ts'
import type { Output } from '../command.ts'
import type { Verdict } from '../words/verdict.ts'
import { beaconRows, ifRight, l1BlockRows, type Row } from '../words/wording.ts'
import { formatTable } from './report.ts'
import { formatVerdict } from './verdict.ts'

const statements: Readonly<Record<VerifiedMessage['status'], string>> = {
  claimable: 'this message from L2 can be claimed on L1',
  claimed: 'this message from L2 is claimed on L1',
  notAnchored: 'L1 does not know the root of this message from L2, at this block',
  sent: 'L1 has sent this message to L2',
  notSent: 'L1 has given this number to no message, at this block',
  unknown: 'L1 gave this number away before it kept rolling hashes: nothing shows which message it is',
}

/** The data of the claim, if the message can be claimed; undefined otherwise. */
export const claimDataOf = ({ status, message, messageProof }: VerifiedMessage): string | undefined =>
  status === 'claimable' ? encodeMessageClaim({ message, messageProof }) : undefined

/** @param rollup the contract to which a claim goes @param isStated whether the user stated the message */
export function formatMessage(
  verdict: Verdict,
  verified: VerifiedMessage,
  stream: Output,
  rollup: string,
  isStated: boolean,
): string {
  const { status, message, messageHash, messageProof, l1Block, beaconBlock } = verified
  const said = isStated ? 'stated by you' : 'from the bundle, not stated by you'
  const claimData = claimDataOf(verified)
  const rows: Row[] = [
    ...(beaconBlock === undefined ? [] : beaconRows({ trustedInput: 'beaconBlockRoot', beaconBlock })),
    ...l1BlockRows(l1Block),
    ['message', messageHash, said],
    ['from', message.from],
    ['to', message.to],
    ['fee', `${message.fee} wei`],
    ['value', `${message.value} wei`],
    ['number', `${message.number}`],
    ['data', message.data],
    ...(messageProof === undefined ? [] : [['root of its tree', messageProof.root] as const]),
    ...(claimData === undefined ? [] : [['claim it with', claimData, `data of a transaction to ${rollup}`] as const]),
  ]
  const isGood = status === 'claimable' || status === 'claimed' || status === 'sent'
  return `${formatVerdict(verdict, statements[status], stream, { isGood })}\n${formatTable(ifRight(verdict, rows))}`
}
