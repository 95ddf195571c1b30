import {
  type MessageArrival,
  messageArrivalKey,
  readMessageArrival,
  type VerifiedMessage,
} from '../../entry/messages.ts'
import { isEndpointError, recordEvidence, recordMessage } from '../../entry/rpc.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { recordToFile, type Subject } from '../files/recorded-file.ts'
import { messageOf } from '../kinds/message.ts'
import { type FlagsOf, flag, recordOptions, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { showProgress } from '../options/endpoint.ts'
import { messageServiceOf, networkOf } from '../options/network.ts'
import { address, hex } from '../options/read.ts'
import { arrivals } from '../words/message.ts'
import { printable } from '../words/value.ts'

const options = {
  message: typed('HASH', 'the hash of the message', hex(32)),
  transaction: typed('HASH', 'the transaction that sent it', hex(32)),
  sender: typed('ADDRESS', 'who sent it: its newest message', address),
  'to-l2': flag('a message to L2; also says whether it has arrived'),
}

export const command = defineCommand(
  {
    usage: 'record message (--message HASH | --transaction HASH | --sender ADDRESS) -o FILE [options]',
    options,
    shared: recordOptions,
    about: `
Finds a message of the bridge, and all messages of its finalization, and records
what L1 holds about it. The report has the data with which it can be claimed. If
the logs of the L2 endpoints do not suffice, receipts prove the message.`,
    notes: `
Without --transaction, the logs of the newest blocks are searched. Exit codes:
as \`record state\`.`,
    examples: `
export L1_URL=https://... L2_URL=https://...
rollup-state-proof record message --transaction 0x... -o message.json
rollup-state-proof record message --to-l2 --sender 0x... -o message.json`,
  },
  async (values, io) => recordToFile(values, messageSubject(values, io), io),
)

/** How far a message to L2 has come, and the L2 block of which that is proven. Missing if L2 does not say. */
type Arriving = VerifiedMessage & { readonly arrival?: { status: MessageArrival; l2BlockNumber: bigint } }

function messageSubject(flags: FlagsOf<typeof recordOptions & typeof options>, io: Io): Subject<Arriving> {
  const { 'to-l2': isToL2 = false, message: messageHash, transaction, sender } = flags
  const network = networkOf(flags)
  const messageService = messageServiceOf(network)
  if ([messageHash, transaction, sender].filter(known => known !== undefined).length !== 1) {
    throw new UsageError('which message? State one of --message, --transaction and --sender')
  }
  const message = messageHash ?? 'fromBundle'
  return {
    stated: messageOf(network, message),
    // A transaction does not prove which message it sent.
    others: 'endpoint',
    async fetch([l1, l2], { beacon, l1BlockNumber, onProgress, signal }) {
      const shared = { l1, l2, network, beacon, l1BlockNumber, onProgress, signal }
      const direction = isToL2 ? 'toL2' : 'toL1'
      const wanted = { messageHash, transactionHash: transaction, from: sender }
      const { bundle, verified } = await recordMessage({ ...shared, direction, message: wanted })
      if (!isToL2) return { bundle, verified }
      const { message } = verified
      const request = { address: messageService, storageKeys: [messageArrivalKey({ message })] }
      const arrival = await recordEvidence({ ...shared, ...request }).then(
        ({ verified: { account, storage, l2BlockNumber } }) => ({
          status: readMessageArrival({ account, storage }, { message }),
          l2BlockNumber,
        }),
        (error: unknown) => {
          // What L1 holds is proven without L2.
          if (!isEndpointError(error) || error.layer !== 'L2') throw error
          showProgress(io, `whether it has arrived is unknown: ${printable(error.message)}`)
          return undefined
        },
      )
      const rows = arrival && [
        ['on L2', arrivals[arrival.status], `proven at L2 block ${arrival.l2BlockNumber}`] as const,
      ]
      return { bundle, verified: { ...verified, ...(arrival && { arrival }) }, rows: rows ?? [] }
    },
    verifyArguments: verified => ['--message', verified.messageHash],
  }
}
