import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, plural } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { readHex, readOptions } from '../../base/options.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { MessageBundle } from '../../verify/evidence/kinds/message.ts'
import { encodeMessageClaim } from '../../verify/messages/from-l2.ts'
import { type Message, type MessageLayout, readLayout } from '../../verify/messages/message.ts'
import type { MessageProof } from '../../verify/messages/tree.ts'
import { serviceOf } from '../network/network.ts'
import { askSent, type Sender, type SentMessage } from '../record/messages.ts'
import {
  bundleMessage,
  fetchHeld,
  type MessageSource,
  type PlacedMessage,
  placesOf,
  refuted,
} from '../record/record-message.ts'
import { EndpointError } from '../transport/error.ts'
import { MAX_MESSAGES } from '../transport/limits.ts'
import { begin, partOf, type Scope, scoped } from '../transport/waiting.ts'
import { FOLLOWING, follow, type Settings, type Timing, type View, verifyFollowOptions } from './follow.ts'
import type { FollowedFinalization, FollowOptions, FollowProgress } from './types.ts'

/** Whose messages to follow, and from where. */
export interface FollowMessagesOptions
  extends Omit<FollowOptions, 'requests' | 'skipUnavailable' | 'fromL2BlockNumber'> {
  /** Only messages that this account has sent, 20 bytes. Default: all. */
  from?: Hex
  /** Only messages to this account, 20 bytes. Default: all. */
  to?: Hex
  /** Where the contracts keep messages. Default: `lineaMessageLayout`. */
  layout?: MessageLayout | undefined
  /** Start after the first finalization at or above this L2 block. Default: after the newest. */
  fromL2BlockNumber?: bigint | undefined
}

/** How far messages have been followed: small, plain JSON. Store it, and pass it to `followMessages` to continue. */
export interface MessagesProgress extends FollowProgress {
  /** The message service on L2, 20 bytes. */
  messageService: Hex
  /** The number of the first message after the finalization. A quantity. */
  nextNumber: Hex
}

/** A message from L2 that can be claimed on L1, proven at an L1 block. */
export interface ClaimableMessage {
  /** Hexadecimal in lower case. */
  message: Message
  /** 32 bytes. */
  messageHash: Hex
  /** Its place in a tree that L1 knows. */
  messageProof: MessageProof
  /** The data of the transaction to the rollup contract that claims it. */
  claim: Hex
  /** Anyone can verify the same with it. */
  bundle: MessageBundle
}

/** The messages of one finalization. */
export interface FollowedMessages {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** The L1 block at which the messages are claimable. */
  l1Block: L1Block
  /** Those that you asked for and that can be claimed, in order. There may be none. */
  messages: ClaimableMessage[]
  /** Save it once you have acted on the messages. Pass it to a later call to continue with the next finalization. */
  progress: MessagesProgress
}

/**
 * Follows the messages from L2: an async iterator over the finalizations, each with the messages of a sender or to a recipient
 * that can be claimed on L1 now. Each message is yielded once, in order.
 *
 * It works as {@link followFinalizations}, which says when it waits and when it throws. Each finalization proves how many
 * messages L2 has sent, and L1 keeps the roots of their trees. So logs that lack a message, or have another, are noticed, and
 * the next endpoint is asked. An endpoint that lies or lags can delay messages, but neither hide nor invent one. Messages that
 * are claimed when their finalization is read are left out. What is claimable may be claimed by somebody else at any time.
 *
 * The first item is where it begins, without messages. `progress` stays valid as long as an L2 endpoint has the proofs of the
 * finalizations since: keep the process running.
 *
 * @param options the endpoints, the rollup, the source of the L1 block hash, and whose messages
 * @throws ArgumentError for options that are missing, unknown or wrong, before any request, and if there is no message service
 *
 * @example
 * ```ts
 * import { lineaMessageService as messageService } from 'rollup-state-proof/messages'
 * import { poseidon2 as scheme } from 'rollup-state-proof/poseidon2'
 * import { finalizedBlockHash, followMessages } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(scheme), rollup, messageService })
 * const { chain } = service
 * const from = `0x${'a1'.repeat(20)}` as const
 * chain.messages.sendFromL2([{ from, to: from, value: 10n ** 18n }])
 * chain.addBlock()
 * chain.finalize()
 * const { url: l2, l1Url: l1 } = await service.listen()
 *
 * const l1BlockHash = finalizedBlockHash(l1) // in production: from a source that you trust
 * const network = { rollup, scheme, messageService }
 * const following = followMessages({ l1, l2, network, l1BlockHash, from, fromL2BlockNumber: 0n })
 * for await (const { messages, l2BlockNumber } of following) {
 *   console.log(l2BlockNumber, messages.map(({ claim }) => claim.slice(0, 10)))
 *   if (messages.length > 0) break
 * }
 * // 0n []
 * // 1n [ '0x6463fb2a' ]
 * await service.close()
 * ```
 */
export const followMessages = (options: FollowMessagesOptions): AsyncGenerator<FollowedMessages, void, void> =>
  followMessagesWith(options)

export function followMessagesWith(options: FollowMessagesOptions, timing?: Timing) {
  const own = readOptions('', options, [...FOLLOWING, 'from', 'to', 'layout'], ['from', 'to'])
  const { from, to, layout: ownLayout, ...rest } = own
  const layout = readLayout(ownLayout)
  const settings = verifyFollowOptions(rest)
  const messageService = serviceOf(settings)
  const { last } = settings.begun
  let position = last && { end: last.l2BlockNumber, nextNumber: readNextNumber(rest.resumeFrom, messageService) }
  const [sender, recipient] = [readAddress('from', from), readAddress('to', to)]
  const following: Following = {
    ...settings,
    requests: [{ address: messageService, storageKeys: [slotKey(layout.nextNumberOnL2)] }],
    layout,
    sender: { layer: 'L2', address: messageService },
    isSelected: ({ message }) =>
      (sender === undefined || bytesToHex(message.from) === sender) &&
      (recipient === undefined || bytesToHex(message.to) === recipient),
  }
  const read = async (view: View, end: bigint, proving: Promise<FollowedFinalization>): Promise<FollowedMessages> => {
    const next = begin(proving.then(nextNumberIn))
    const messages = position ? await readMessages(following, view, position, end, next) : []
    const [nextNumber, { l2BlockNumber, l1Block, progress }] = [await next, await proving]
    position = { end, nextNumber }
    const own = { messageService, nextNumber: encodeQuantity(nextNumber) }
    return { l2BlockNumber, l1Block, messages, progress: { ...progress, ...own } }
  }
  return follow(following, read, timing)
}

const readAddress = (name: string, value: Hex | undefined) =>
  value === undefined ? undefined : readHex(name, value, 20)

/** @throws ArgumentError unless it is the progress of messages, and of this message service */
function readNextNumber(progress: unknown, service: Hex): bigint {
  const nextNumber = decodeQuantity(readOwn(Object(progress), 'nextNumber'), 256)
  const isOfService = readOwn(Object(progress), 'messageService') === service
  if (nextNumber !== null && isOfService) return nextNumber
  const found = nextNumber === null ? 'it is not what followMessages handed out' : 'it is of another message service'
  throw new ArgumentError({ path: 'resumeFrom', found })
}

type Following = MessageSource & Settings & { sender: Sender; isSelected: (sent: SentMessage) => boolean }

/** The number of the first message after a finalization, proven. @throws ArgumentError if there is no message service */
function nextNumberIn({ verified: [service] }: FollowedFinalization): bigint {
  const next = BigInt(service?.storage[0]?.value ?? 0n)
  if (next > 0n) return next
  const expected = 'a message service that keeps the number of its next message in this slot'
  throw new ArgumentError({ path: 'network.messageService', expected, found: 'none' })
}

/** The messages of a finalization that are selected and claimable. The logs are asked for while the state says how many there are. */
async function readMessages(
  following: Following,
  view: View,
  { end, nextNumber }: { readonly end: bigint; readonly nextNumber: bigint },
  last: bigint,
  counting: Promise<bigint>,
): Promise<ClaimableMessage[]> {
  const { isSelected, sender } = following
  const blocks = { first: end + 1n, last }
  const ending = partOf(following.signal)
  const source = { ...following, signal: ending.signal }
  const readAll = (over: Scope) =>
    source.l2.run(async (provider, attempt) => {
      const orStop = <T>(work: Promise<T>) => work.catch(error => Promise.reject(over.stop(error)))
      const all = await askSent(provider, sender, blocks, attempt)
      const isInOrder = all.every(({ message }, index) => message.number === nextNumber + BigInt(index))
      const holding = isInOrder && begin(fetchHeld(source, view.l1Block, witnessesOf(placesOf(all), isSelected)))
      const count = (await orStop(counting)) - nextNumber
      const held = holding && BigInt(all.length) === count && (await orStop(holding))
      if (held && !held.some(({ status }) => status === 'notAnchored')) return held
      throw refuted(
        `not the ${plural(count, 'message')} of the L2 blocks ${blocks.first} to ${last}, which L2 has sent`,
      )
    }, over.signal)
  const reading = begin(scoped(ending.signal, readAll))
  try {
    const count = (await counting) - nextNumber
    if (count === 0n) return []
    if (count < 0n || count > MAX_MESSAGES) {
      throw new EndpointError('RESPONSE_TOO_LARGE', { found: `${count} messages in a finalization`, layer: 'L2' })
    }
    const claimable = (await reading).filter(({ sent, status }) => isSelected(sent) && status === 'claimable')
    const l1 = { block: view.block, trusted: { l1BlockHash: view.l1Block.hash }, consensus: undefined }
    return claimable.map(one => {
      const { bundle, verified } = bundleMessage(following, l1, one)
      const { message, messageHash } = verified
      const messageProof = one.place
      return { message, messageHash, messageProof, claim: encodeMessageClaim({ message, messageProof }), bundle }
    })
  } finally {
    ending.forget()
    ending.abort()
  }
}

/** Those that are selected, and of each other tree the first: its root has to be one that L1 knows, too. */
function witnessesOf(placed: readonly PlacedMessage[], isSelected: Following['isSelected']): PlacedMessage[] {
  const shown = new Set(placed.filter(({ sent }) => isSelected(sent)).map(({ place }) => place.root))
  return placed.filter(({ sent, place }) => isSelected(sent) || (place.leafIndex === 0 && !shown.has(place.root)))
}
