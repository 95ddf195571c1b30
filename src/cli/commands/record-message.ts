import { verifyEvidence } from '../../entry/anchor.ts'
import type { Hex } from '../../entry/index.ts'
import {
  type MessageArrival,
  type MessageEvidenceClaim,
  messageArrivalKey,
  messageEvidence,
  readMessageArrival,
} from '../../entry/messages.ts'
import { type RecordedMessage, recordEvidence, recordMessage } from '../../entry/rpc.ts'
import { refuseOverwrite } from '../files/output-file.ts'
import { type RecordFlags, requireEvidence, type Subject } from '../files/recorded-file.ts'
import { flag, optionsOf, text } from '../options/declared.ts'
import { messageServiceIn, requireKind, rollupOf } from '../options/flags.ts'
import { integerOf, requireHex } from '../options/parse.ts'
import { trustedIn } from '../options/record-trust.ts'
import { claimDataOf, formatMessage } from '../output/message-report.ts'
import { formatTable } from '../output/report.ts'
import type { Row } from '../words/wording.ts'

/** Which message to record. */
export const messageRecordOptions = {
  message: text('HASH', 'the hash of the message, 32 bytes'),
  transaction: text('HASH', 'the transaction that sent it; without it, the logs of the newest blocks are searched'),
  number: text('N', 'the number of the message'),
  from: text('ADDRESS', 'who sent it'),
  to: text('ADDRESS', 'who receives it'),
  'to-l2': flag('a message to L2; with --scheme, the report also says whether it has arrived'),
  ...optionsOf('message-service'),
  'from-block': text('N', 'the first block to search (default: a million blocks before the newest)'),
}

/** Whether the arguments ask for a message. */
export const isMessageRecord = (args: readonly string[]): boolean =>
  args.some(arg => /^--(message|transaction|number|to|to-l2|message-service)(=|$)/.test(arg))

/** A message as evidence, and what it proves. */
type RecordedFile = Pick<RecordedMessage, 'bundle'> & {
  /** Missing if the file existed. */
  sentInBlock?: bigint | undefined
  newestFinalized?: bigint | undefined
  verified: RecordedMessage['verified'] & {
    claimData?: string | undefined
    /** How far a message to L2 has come, and the L2 block of which that is proven. */
    arrival?: { status: MessageArrival; l2BlockNumber: bigint } | undefined
  }
}

type Flags = RecordFlags & {
  readonly [Name in Exclude<keyof typeof messageRecordOptions, 'to-l2'>]?: string | undefined
} & { readonly 'to-l2': boolean }

/** The subject of `record --message HASH`: a message in either direction. @throws UsageError */
export function messageSubject(flags: Flags): Subject<RecordedFile> {
  const { 'to-l2': isToL2, scheme, transaction, message: messageHash } = flags
  const rollup = rollupOf(flags)
  for (const name of ['message', 'transaction'] as const) requireHex(`--${name}`, 32, flags[name])
  for (const name of ['from', 'to'] as const) requireHex(`--${name}`, 20, flags[name])
  const messageService = messageServiceIn(flags, rollup)
  const { from, to } = flags
  // The hexadecimal is checked.
  const wanted = {
    ...({ messageHash, transactionHash: transaction, from, to } as Readonly<Record<string, Hex | undefined>>),
    ...{ number: integerOf(flags, 'number', 256), fromBlock: integerOf(flags, 'from-block', 64) },
  }
  return {
    keyCount: 0,
    askedFor: () => ({ command: 'record --message' }),
    async fetch([l1, l2], { beacon, l1BlockNumber, onProgress, signal, ...how }) {
      const kind = scheme === undefined ? undefined : requireKind(scheme)
      const shared = { l1, l2, rollup: { ...rollup, method: how.method }, beacon, l1BlockNumber, onProgress, signal }
      const { verified, claim, ...rest } = await recordMessage({
        ...{ ...shared, direction: isToL2 ? 'toL2' : 'toL1', message: wanted, messageService, scheme: kind },
      })
      if (!isToL2 || kind === undefined) {
        return { ...rest, verified: { ...verified, ...(claim && { claimData: claim }) } }
      }
      const { message } = verified
      const request = { address: messageService, storageKeys: [messageArrivalKey({ message })] }
      const { verified: state } = await recordEvidence({ ...shared, ...how, ...request, scheme: kind })
      const arrival = {
        status: readMessageArrival({ account: state.account, storage: state.storage }, { message }),
        l2BlockNumber: state.l2BlockNumber,
      }
      return { ...rest, verified: { ...verified, arrival } }
    },
    async verifyExisting(bundle, trust, path) {
      requireEvidence(path, bundle, 'message')
      // A transaction is not in the file: then the file says which message it is for.
      const claim = {
        kind: messageEvidence,
        rollup,
        message: messageHash ?? 'fromBundle',
        trusted: trustedIn(bundle, trust),
      }
      const verified = verifyEvidence(bundle, claim as MessageEvidenceClaim)
      const { message, messageProof } = verified
      const { number = message.number } = wanted
      const isIt = number === message.number && (messageProof === undefined) === isToL2
      const isBetween = isSame(from, message.from) && isSame(to, message.to)
      if (!isIt || !isBetween) throw refuseOverwrite(path, 'is for another message')
      const claimData = claimDataOf(verified)
      return { ...verified, ...(claimData !== undefined && { claimData }) }
    },
    // A transaction does not prove which message it sent.
    sources: (_, { source }) =>
      messageHash === undefined ? { message: source === 'file' ? 'bundle' : 'endpoint' } : {},
    format: (recorded, { path, source, verdict }, stream) => [
      formatMessage(verdict, recorded.verified, stream, rollup.address, messageHash !== undefined),
      formatTable([['file', path, source === 'file' ? 'existed already' : 'written'], ...rowsOf(recorded)]),
    ],
    verifyArguments: ({ verified }) => ['--message', verified.messageHash],
  }
}

const isSame = (stated: string | undefined, found: Hex) => stated === undefined || stated.toLowerCase() === found

/** How far the message is, beyond what L1 keeps about it. */
function rowsOf({ verified, sentInBlock, newestFinalized }: RecordedFile): Row[] {
  const { status, arrival } = verified
  const isWaiting = status === 'notAnchored' && newestFinalized !== undefined
  return [
    ...(isWaiting
      ? [
          ['sent in L2 block', `${sentInBlock}`, 'as the L2 endpoint says'] as const,
          ['last finalized', `${newestFinalized}`, 'proven'] as const,
        ]
      : []),
    ...(arrival ? [['on L2', arrival.status, `proven at L2 block ${arrival.l2BlockNumber}`] as const] : []),
  ]
}
