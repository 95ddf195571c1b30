import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { slotKey } from '../../verify/anchor/slots.ts'
import { createMessageBundle, type MessageBundle, messageEvidence } from '../../verify/evidence/kinds/message.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { encodeMessageClaim } from '../../verify/messages/claim-call.ts'
import { type MessageLayout, readLayout } from '../../verify/messages/layout.ts'
import { type Message, toMessage } from '../../verify/messages/message.ts'
import type { MessageProof } from '../../verify/messages/tree.ts'
import { fetchL1Block, fetchNewest } from '../l1/l1.ts'
import { readNetwork, serviceOf } from '../network/network.ts'
import {
  fetchHeld,
  type HeldMessage,
  type Judge,
  type MessageSource,
  type PlacedMessage,
  placesOf,
  provableFrom,
  refuted,
  type Said,
  withEachL2,
} from '../record/message-places.ts'
import { askSent, isWanted, type SentMessage } from '../record/messages.ts'
import { judgeProven } from '../record/prove-messages.ts'
import type { Attempt } from '../sources/pool.ts'
import { EndpointError, isEndpointError, orFailure } from '../transport/error.ts'
import { MAX_MESSAGES } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import { begin, sleep } from '../transport/waiting.ts'
import { partOf } from '../transport/whose.ts'
import { repeat, type Timing } from './follow.ts'
import { type FollowOptions, type Settings, verifyFollowOptions } from './follow-options.ts'
import { type FollowProgress, readState } from './follow-state.ts'
import { createFollower, type Followed, type Proven, trustedHash, type View } from './follower.ts'

/** Whose messages to follow, and from where. */
export interface FollowMessagesOptions
  extends Omit<FollowOptions, 'requests' | 'newestOnly' | 'skipUnavailable' | 'resumeFrom' | 'fromL2BlockNumber'> {
  /** Only messages that this account has sent, 20 bytes. Default: all. */
  from?: Hex
  /** Only messages to this account, 20 bytes. Default: all. */
  to?: Hex
  /** Where the contracts keep messages. Default: `lineaMessageLayout`. */
  layout?: MessageLayout | undefined
  /** Start after the first finalization at or above this L2 block. Default: after the newest. */
  fromL2BlockNumber?: bigint | undefined
  /** The `progress` of the last item that you acted on, to continue after it; null counts as none. */
  resumeFrom?: unknown
}

/** How far messages have been followed: small, plain JSON. Store it, and pass it to `followMessages` to continue. */
export interface MessagesProgress {
  /** The version of this format. */
  version: 1
  /** The message service on L2, 20 bytes. */
  messageService: Hex
  /** The number of the first message after the finalization. A quantity. */
  nextNumber: Hex
  /** The finalization up to which all messages have been yielded. */
  finalization: FollowProgress
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
export function followMessages(options: FollowMessagesOptions): AsyncGenerator<FollowedMessages, void, void> {
  return followMessagesWith(options, { wait: sleep, random: Math.random })
}

/** {@link followMessages} with another {@link Timing}. */
export function followMessagesWith(
  options: FollowMessagesOptions,
  timing: Timing,
): AsyncGenerator<FollowedMessages, void, void> {
  const given = readOptions('', options, FIELDS, ['from', 'to'])
  const { from, to, layout: ownLayout, resumeFrom, ...rest } = given
  const layout = readLayout(ownLayout)
  const service = serviceOf(readNetwork(rest.network))
  const position = readProgress(resumeFrom ?? undefined, service)
  const storageKeys = [slotKey(layout.nextNumberOnL2)]
  const requests = [{ address: service, storageKeys }]
  const settings = verifyFollowOptions({ ...rest, requests, resumeFrom: position?.finalization })
  const [sender, recipient] = [readAddress('from', from), readAddress('to', to)]
  const follower = createMessageFollower(settings, {
    ...{ service, layout, isSelected: ({ message }) => isWanted(message, { from: sender, to: recipient }) },
    position: position && { nextNumber: position.nextNumber, end: settings.position?.l2BlockNumber ?? 0n },
  })
  return repeat(settings, timing, follower)
}

const FIELDS = [
  ...['l1', 'l2', 'network', 'l1BlockHash', 'maxKeysPerRequest'],
  ...['from', 'to', 'layout', 'fromL2BlockNumber', 'resumeFrom'],
  ...['pollIntervalMs', 'maxBackoffMs', 'onEvent', 'signal'],
]

const readAddress = (name: string, value: Hex | undefined) =>
  value === undefined ? undefined : bytesToHex(decodeArgument(name, value, 20))

const reader = readerOf('MALFORMED_RESPONSE')

/** @throws ArgumentError if it is not progress, or that of another message service */
function readProgress(progress: unknown, service: Hex) {
  if (progress === undefined) return null
  const invalid = (found: string) => new ArgumentError({ path: 'resumeFrom', found })
  try {
    const own = reader.fields(progress, ['version', 'messageService', 'nextNumber', 'finalization'])
    const nextNumber = decodeQuantity(own.nextNumber, 256)
    if (own.version !== 1 || nextNumber === null) throw invalid('it is not what followMessages handed out')
    if (own.messageService !== service) throw invalid('it is of another message service')
    return { nextNumber, finalization: own.finalization ?? {} }
  } catch (error) {
    throw isProofError(error) ? invalid('it is not what followMessages handed out') : error
  }
}

/** What all messages up to it have been yielded. */
interface MessagesPosition {
  /** The number of the next message. */
  readonly nextNumber: bigint
  /** The last block of the finalization. */
  readonly end: bigint
}

interface Following {
  readonly service: Hex
  readonly layout: MessageLayout
  readonly isSelected: (sent: SentMessage) => boolean
  readonly position: MessagesPosition | null
}

/** Makes the function that returns the messages of the next finalization; null if there is none. */
function createMessageFollower(settings: Settings, following: Following): () => Promise<FollowedMessages | null> {
  const { service } = following
  let { position } = following
  const follow = (from: Settings['position']) =>
    createFollower({ ...settings, position: from }, (view, last, proving) => {
      if (position === null) return null
      const next = proving.then(nextNumberIn)
      return begin(readMessages(settings, following, { position, last, next, at: Promise.resolve(view) }))
    })
  let yielded = settings.position
  let follower = follow(yielded)
  /** A finalization whose messages could not be proven yet. */
  let begun: Followed<ReturnType<typeof readMessages> | null> | null = null
  return async () => {
    begun ??= await follower()
    if (begun === null) return null
    const { item, beside } = begun
    const { l2BlockNumber: last, progress: finalization } = item
    const nextNumber = nextNumberIn(item)
    // The states of older L1 blocks are soon gone: a later attempt takes a newer one.
    const again = () => {
      if (position === null) return null
      const at = begin(fetchBlockFrom(settings, item.l1Block))
      return readMessages(settings, following, { position, last, next: Promise.resolve(nextNumber), at })
    }
    begun = { item, beside: undefined }
    const found = await (beside === undefined ? again() : beside)?.catch(error => {
      // These are not the blocks of one finalization: L1 may tell it another time.
      if (isEndpointError(error) && error.code === 'L1_CONTRADICTION') {
        follower = follow(yielded)
        begun = null
      }
      throw error
    })
    const { l1Block, messages } = found ?? { l1Block: item.l1Block, messages: [] }
    position = { nextNumber, end: last }
    yielded = readState(finalization, settings.rollup.address)
    begun = null
    const progress = {
      version: 1,
      messageService: service,
      nextNumber: encodeQuantity(nextNumber),
      finalization,
    } as const
    return { l2BlockNumber: last, l1Block, messages, progress }
  }
}

/** A trusted L1 block that is not older than another one. */
async function fetchBlockFrom(settings: Settings, { number }: L1Block) {
  const fetched = await fetchL1Block(settings, await trustedHash(settings.l1BlockHash))
  if (fetched.l1Block.number >= number) return fetched
  throw new EndpointError('L1_UNCONFIRMED', { found: `L1 block ${number}`, layer: 'L1' })
}

/** The number of the first message after a finalization, proven. @throws ArgumentError if there is no message service */
function nextNumberIn({ verified: [service] }: Proven): bigint {
  const next = BigInt(service?.storage[0]?.value ?? 0n)
  if (next > 0n) return next
  const expected = 'a message service that keeps the number of its next message in this slot'
  throw new ArgumentError({ path: 'network.messageService', expected, found: 'none' })
}

/** Which messages to read, and from where. */
interface Reading {
  readonly position: MessagesPosition
  /** The last block of the finalization. */
  readonly last: bigint
  /** The number of the first message after it. */
  readonly next: Promise<bigint>
  /** The L1 block at which they are proven. */
  readonly at: Promise<Pick<View, 'block' | 'l1Block'>>
}

/** The messages of a finalization that are selected and claimable; null if it has none. */
async function readMessages(
  settings: Settings,
  following: Following,
  { position, last, next, at }: Reading,
): Promise<Pick<FollowedMessages, 'l1Block' | 'messages'> | null> {
  const { service, layout, isSelected } = following
  const ending = partOf(settings.signal)
  const source: MessageSource = {
    ...{ ...settings, layout, sender: { layer: 'L2', address: service }, signal: ending.signal },
  }
  const blocks = { first: position.end + 1n, last }
  const ask = (provider: AnyProvider, attempt: Attempt) => askSent(provider, source.sender, blocks, attempt)
  const asking = source.l2.run(
    async (provider, attempt, index) => ({ index, all: await ask(provider, attempt) }),
    ending.signal,
  )
  const first = begin(asking.catch(orFailure))
  const isFromPosition = (all: readonly SentMessage[]) =>
    all.every(({ message }, index) => message.number === position.nextNumber + BigInt(index))
  const hold = async (all: readonly SentMessage[]) =>
    fetchHeld(source, (await at).l1Block, witnessesOf(placesOf(all), isSelected))
  // While the state says how many messages there are.
  const early = begin(first.then(known => ('all' in known && isFromPosition(known.all) ? hold(known.all) : [])))
  try {
    const count = (await next) - position.nextNumber
    if (count === 0n) return null
    if (count < 0n || count > MAX_MESSAGES) {
      throw new EndpointError('RESPONSE_TOO_LARGE', { found: `${count} messages in a finalization`, layer: 'L2' })
    }
    const said: Said = new Map()
    const judge: Judge<HeldMessage[]> = async all => {
      if (!isFromPosition(all) || BigInt(all.length) !== count) return null
      const known = await first
      const asked = await ('all' in known && known.all === all ? early : hold(all))
      return asked.some(({ status }) => status === 'notAnchored') ? null : asked.filter(({ sent }) => isSelected(sent))
    }
    const held = await withEachL2(source, async (provider, attempt, onL1, index) => {
      const known = await first
      const all = 'all' in known && known.index === index ? known.all : await ask(provider, attempt)
      said.set(index, { blocks, all })
      const found = await onL1(judge(all))
      if (found) return found
      throw refuted(`not the ${count} messages of the L2 blocks ${blocks.first} to ${blocks.last}, which L2 has sent`)
    }).catch(async error => {
      const proving = provableFrom(source, error)
      if (proving === null) throw error
      // A later finalization may prove what that one could not.
      const { l1Block } = await at
      const newest = await fetchNewest(source, l1Block)
      return judgeProven(proving, { l1Block, newest, said, error }, blocks, judge)
    })
    const { block, l1Block } = await at
    const claimable = held.filter(({ status }) => status === 'claimable')
    return { l1Block, messages: claimable.map(one => openHeld(one, source, { block, l1Block })) }
  } finally {
    ending.forget()
    ending.abort()
  }
}

/** Those that are selected, and of each other tree the first: its root has to be one that L1 knows, too. */
function witnessesOf(placed: readonly PlacedMessage[], isSelected: (sent: SentMessage) => boolean): PlacedMessage[] {
  const shown = new Set(placed.filter(({ sent }) => isSelected(sent)).map(({ place }) => place.root))
  return placed.filter(({ sent, place }) => isSelected(sent) || (place.leafIndex === 0 && !shown.has(place.root)))
}

/** The parts were verified one by one. This verifies the whole. */
function openHeld(
  { sent, place: messageProof, proof }: HeldMessage,
  { rollup, layout }: MessageSource,
  { block, l1Block }: { block: unknown; l1Block: L1Block },
): ClaimableMessage {
  const message = toMessage(sent.message)
  const bundle = createMessageBundle({ rollup, message, messageProof, l1: { block, proof } })
  const trusted = { l1BlockHash: l1Block.hash }
  const { messageHash } = verifyEvidence(bundle, { kind: messageEvidence, rollup, trusted, message, layout })
  return { message, messageHash, messageProof, claim: encodeMessageClaim({ message, messageProof }), bundle }
}
