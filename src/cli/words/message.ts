import { encodeMessageClaim, type MessageArrival, type VerifiedMessage } from '../../entry/messages.ts'
import type { Row } from './wording.ts'

export const messageStatements: Readonly<Record<VerifiedMessage['status'], string>> = {
  claimable: 'this message from L2 can be claimed on L1',
  claimed: 'this message from L2 is claimed on L1',
  notAnchored: 'L1 does not know the root of this message from L2, at this block',
  sent: 'L1 has sent this message to L2',
  notSent: 'L1 has given this number to no message, at this block',
  unknown: 'L1 gave this number away before it kept rolling hashes: nothing shows which message it is',
}

export const arrivals: Readonly<Record<MessageArrival, string>> = {
  notReceived: 'not received',
  received: 'received',
  claimed: 'claimed',
}

/** The data of the claim, if the message can be claimed; undefined otherwise. */
export const claimDataOf = ({ status, message, messageProof }: VerifiedMessage): string | undefined =>
  status === 'claimable' ? encodeMessageClaim({ message, messageProof }) : undefined

/** What the message holds, and how to claim it. @param amount of wei, in words @param rollup the contract to which a claim goes */
export function messageRows(verified: VerifiedMessage, amount: (wei: bigint) => string, rollup: string): Row[] {
  const { message, messageProof } = verified
  const claimData = claimDataOf(verified)
  return [
    ['from', message.from],
    ['to', message.to],
    ['fee', amount(message.fee)],
    ['value', amount(message.value)],
    ['number', `${message.number}`],
    ['data', message.data],
    ...(messageProof === undefined ? [] : [['root of its tree', messageProof.root] as const]),
    ...(claimData === undefined ? [] : [['claim it with', claimData, `data of a transaction to ${rollup}`] as const]),
  ]
}
