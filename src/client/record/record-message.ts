import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { isArgumentError, isProofError } from '../../base/errors.ts'
import { lowerCase } from '../../base/hex.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { readRollup } from '../../verify/anchor/rollup.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import {
  createMessageBundle,
  type MessageBundle,
  messageEvidence,
  type VerifiedMessage,
} from '../../verify/evidence/kinds/message.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { encodeMessageClaim } from '../../verify/messages/claim-call.ts'
import { decodeContract } from '../../verify/messages/from-l2.ts'
import { type MessageLayout, readLayout } from '../../verify/messages/layout.ts'
import { toMessage } from '../../verify/messages/message.ts'
import { type MessageToL2, messageToL2Keys, verifySent } from '../../verify/messages/to-l2.ts'
import { fetchNewest, fetchProof } from '../l1/l1.ts'
import { allowedBlocks } from '../l1/log-ranges.ts'
import { type Network, readNetwork, serviceOf } from '../network/network.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import { EndpointError, isEndpointError, isFailure } from '../transport/error.ts'
import { KEYS_PER_REQUEST, LOGS_AT_ONCE } from '../transport/limits.ts'
import { begin, type Scope, scoped } from '../transport/waiting.ts'
import { partOf } from '../transport/whose.ts'
import {
  type FinalizedBlocks,
  fetchHeld,
  type HeldMessage,
  type MessageSource,
  narrowBlocks,
  placesOf,
  refuted,
  withEachL2,
} from './message-places.ts'
import { askSent, findSent, isSameAs, type MessageSearch, type SentMessage } from './messages.ts'
import { openRecorded, type Recorded, type RecordOptions } from './record.ts'
import { fetchRecordBlock, type RecordBlock, verifyBlockOptions } from './record-block.ts'

/**
 * Which message. One field is needed; all that are given must fit. The newest blocks are searched first, so of several messages, an
 * older one takes its hash or its number.
 */
export interface WantedMessage {
  /** The hash of the message, 32 bytes: the last topic of its log. */
  messageHash?: Hex | undefined
  /** The transaction that sent it, 32 bytes. With it, no blocks are searched. */
  transactionHash?: Hex | undefined
  /** Its number, from 1. */
  number?: bigint | undefined
  /** Who sent it, 20 bytes. */
  from?: Hex | undefined
  /** Who receives it, 20 bytes. */
  to?: Hex | undefined
  /** The first block to search. Default: a million blocks before the newest. */
  fromBlock?: bigint | undefined
}

/** Which message to record, and how. */
export interface MessageRecordOptions
  extends Pick<RecordOptions, 'l1' | 'l2' | 'l1BlockNumber' | 'beacon' | 'onProgress' | 'signal'> {
  /** The rollup and its L1, such as `lineaMainnet` of `rollup-state-proof/networks`. */
  network: Network
  /** Where the message goes. Default: `toL1`. */
  direction?: 'toL1' | 'toL2' | undefined
  /** Which message. */
  message: WantedMessage
  /** Where the contracts keep messages. Default: `lineaMessageLayout`. */
  layout?: MessageLayout | undefined
}

/** The evidence of a message, and what it proves. */
export interface RecordedMessage extends Pick<Recorded, 'l1BlockHashFrom'> {
  /** The bundle, verified; plain JSON. */
  bundle: MessageBundle
  /** What the bundle proves to whoever trusts the hash of its L1 block, or the beacon block. */
  verified: VerifiedMessage<
    | {
        /** 32 bytes, lower case. */
        l1BlockHash: Hex
      }
    | TrustedBeaconBlock
  > & {
    /** The L1 block, whose state holds the message. */
    l1Block: L1Block
  }
  /** The data of the transaction to the rollup contract that claims the message; undefined if it is not claimable. */
  claim: Hex | undefined
  /** The block of the layer that sent the message, as an endpoint says. */
  sentInBlock: bigint
  /** The newest finalized L2 block, proven. Undefined for a message to L2. */
  newestFinalized: bigint | undefined
}

/**
 * Records the evidence of a message: finds its log, and proves what L1 holds about it. Of a message from L2, it also finds all
 * messages of the finalization, without which there is no claim.
 *
 * Logs prove nothing, and endpoints may lie. A message from L2 is proven by the root on L1 to which the logs of its finalization
 * lead. If they do not, the next L2 endpoint is asked. If one L1 endpoint of several tells which finalization it is, that is
 * enough. Only if no endpoint can prove it, a message may be `notAnchored`: then only the endpoint says that it was sent.
 *
 * @param options which message, from where, and how
 * @throws EndpointError `MESSAGE_MISSING` if no endpoint finds the message, `MESSAGES_REFUTED` if no logs lead to a root that
 * L1 knows, and others. ProofError if no answer verifies. ArgumentError, also if several messages fit. None contains a URL or an
 * API key
 *
 * @example
 * ```ts
 * import { lineaMessageService as messageService } from 'rollup-state-proof/messages'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { recordMessage } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup, messageService })
 * const { chain } = service
 * const user = `0x${'a1'.repeat(20)}` as const
 * chain.messages.sendFromL2([{ from: user, to: user, value: 10n ** 18n }])
 * chain.addBlock()
 * chain.finalize()
 *
 * const { url: l2, l1Url: l1 } = await service.listen()
 * const network = { rollup, scheme: poseidon2, messageService }
 * const { verified, claim } = await recordMessage({ l1, l2, network, message: { from: user } })
 * console.log(verified.status, verified.message.number, claim?.slice(0, 10)) // claimable 1n 0x6463fb2a
 * await service.close()
 * ```
 */
export async function recordMessage(options: MessageRecordOptions): Promise<RecordedMessage> {
  // Check everything before the first request.
  const settings = verifyOptions(options)
  const { l1, l2 } = settings.source
  return redactProofErrors(() => record(settings), ...l1.sources, ...l2.sources)
}

type Settings = ReturnType<typeof verifyOptions>

const FIELDS = [
  ...['l1', 'l2', 'network', 'direction', 'message', 'layout'],
  ...['l1BlockNumber', 'beacon', 'onProgress', 'signal'],
]

function verifyOptions(options: MessageRecordOptions) {
  const own = readOptions('', options, FIELDS)
  const { direction = 'toL1', signal } = own
  if (direction !== 'toL1' && direction !== 'toL2') throw invalid('direction', 'toL1 or toL2', direction)
  const network = readNetwork(own.network)
  const { rollup, schemeAt } = network
  const layout = readLayout(own.layout)
  const { tell, ...endpoints } = openRecorded(own)
  const sender =
    direction === 'toL2'
      ? ({ layer: 'L1', address: lowerCase(rollup.address) } as const)
      : ({ layer: 'L2', address: serviceOf(network) } as const)
  const how = { maxKeysPerRequest: KEYS_PER_REQUEST }
  const source: MessageSource = { ...endpoints, rollup, signal, sender, layout, schemeAt, how }
  return { source, search: readWanted(own.message), start: verifyBlockOptions(own), tell }
}

const HASHES = ['messageHash', 'transactionHash'] as const
const ADDRESSES = ['from', 'to'] as const

/** @throws ArgumentError */
function readWanted(message: WantedMessage): MessageSearch {
  const own = readOptions('message', message, [...HASHES, ...ADDRESSES, 'number', 'fromBlock'])
  const { number, fromBlock } = own
  if (number !== undefined) verifyUint('message.number', number, 256, 1n)
  if (fromBlock !== undefined) verifyUint('message.fromBlock', fromBlock, 64)
  const lengths = [...HASHES.map(name => [name, 32] as const), ...ADDRESSES.map(name => [name, 20] as const)]
  const given = lengths.flatMap(([name, length]) => {
    const value = own[name]
    return value === undefined ? [] : [[name, bytesToHex(decodeArgument(`message.${name}`, value, length))] as const]
  })
  if (given.length === 0 && number === undefined) {
    throw invalid('message', 'a messageHash, a transactionHash, a number, or who sends or receives it', message)
  }
  return { ...Object.fromEntries(given), number, fromBlock }
}

async function record({ source, search, start, tell }: Settings): Promise<RecordedMessage> {
  const fetching = begin(fetchRecordBlock(source, start, tell))
  // The message is searched for meanwhile. A proof of consensus takes so long that whoever waits for it would count as silent.
  if (start.beacon !== undefined) await fetching
  const isToL1 = source.sender.layer === 'L2'
  const find = isToL1 ? findMessage : findToL2
  const found = await find(source, fetching, search).catch(orSeveral)
  const { sent, proof } = found
  const { block, l1Block, consensus } = await fetching
  const { rollup, layout } = source
  const message = toMessage(sent.message)
  const { place: messageProof, newest: newestFinalized } = { place: undefined, newest: undefined, ...found }
  const bundle = createMessageBundle({ rollup, message, messageProof, consensus, l1: { block, proof } })
  const trusted = start.beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  // The parts were verified one by one. This verifies the whole.
  const verified = verifyEvidence(bundle, { kind: messageEvidence, rollup, message, layout, trusted })
  const isClaimable = verified.status === 'claimable'
  const claim = isClaimable ? encodeMessageClaim({ message, messageProof: verified.messageProof }) : undefined
  const l1BlockHashFrom = start.beacon === undefined ? 'l1Endpoint' : 'beaconBlock'
  return { bundle, verified, claim, sentInBlock: sent.block, newestFinalized, l1BlockHashFrom }
}

/** For `catch`: that several messages fit is the caller's mistake, if no endpoint knows better. */
function orSeveral(error: unknown): never {
  throw isOfSeveral(error) ? error.cause : error
}

const isOfSeveral = (error: unknown): error is EndpointError & { cause: unknown } =>
  isEndpointError(error) && error.code === 'MESSAGE_MISSING' && isArgumentError(error.cause)

interface FoundMessage extends HeldMessage {
  /** The newest finalized L2 block, proven. */
  readonly newest: bigint
}

/**
 * A message is only taken to be in a block that is not finalized if no endpoint can prove it. Its tree is not known then: the place
 * is that in a tree of its own.
 */
async function findMessage(
  source: MessageSource,
  fetching: Promise<RecordBlock>,
  search: MessageSearch,
): Promise<FoundMessage> {
  const at = begin(fetching.then(({ l1Block }) => l1Block))
  // It counts when the message is there.
  const asking = begin(fetching.then(({ l1Block, newest }) => newest ?? fetchNewest(source, l1Block)))
  let waiting: SentMessage | undefined
  const found = await findInLogs(source, { at, asking }, search, sent => {
    waiting = sent
  }).catch(async error => {
    if (waiting === undefined || !isFailure(error)) throw error
    // There is one for one message.
    return (await fetchHeld(source, await at, placesOf([waiting])))[0] as HeldMessage
  })
  return { ...found, newest: await asking }
}

/**
 * From the first L2 endpoint whose logs lead to a root that L1 knows. What L1 holds is asked for while it is proven which blocks a
 * finalization has: only for the first that is named, and only if few requests bring its logs.
 */
const findInLogs = (
  source: MessageSource,
  { at, asking }: { readonly at: Promise<L1Block>; readonly asking: Promise<bigint> },
  search: MessageSearch,
  onWaiting: (sent: SentMessage) => void,
): Promise<HeldMessage> =>
  withEachL2(source, async (provider, attempt, onL1) => {
    const known = () => onL1(asking)
    const ending = partOf(attempt.signal)
    const own = { ...attempt, signal: ending.signal }
    const finding = begin(findSent(provider, source.sender, search, known, own))
    /** What L1 holds of the message if it is one of these; null if they lead to no root that L1 knows. */
    const hold = async (sent: SentMessage, all: readonly SentMessage[]) => {
      const placed = placesOf(all).find(one => isSameAs(sent)(one.sent))
      const [held] = placed === undefined ? [] : await fetchHeld(source, await at, [placed])
      return held && held.status !== 'notAnchored' ? held : null
    }
    const judge = async (blocks: FinalizedBlocks) => {
      const { sent, beside } = await finding
      const isIn = ({ block }: SentMessage) => block >= blocks.first && block <= blocks.last
      const all =
        beside && beside.first <= blocks.first && beside.last >= blocks.last
          ? beside.all.filter(isIn)
          : await askSent(provider, source.sender, blocks, own)
      return { holding: begin(hold(sent, all)) }
    }
    let hinted: (FinalizedBlocks & { readonly judging: ReturnType<typeof judge> }) | undefined
    const onHint = (blocks: FinalizedBlocks) => {
      const isShort = blocks.last - blocks.first < BigInt(LOGS_AT_ONCE) * allowedBlocks(provider)
      if (isShort) hinted ??= { ...blocks, judging: begin(judge(blocks)) }
    }
    const block = begin(finding.then(({ sent }) => sent.block))
    const ranges = narrowBlocks({ ...source, signal: ending.signal }, at, block, onHint)
    const narrowing = begin(ranges.next())
    try {
      const { sent } = await finding
      if (sent.block > (await known())) {
        onWaiting(sent)
        throw new EndpointError('BLOCK_NOT_FINALIZED', { found: `the message is in block ${sent.block}`, layer: 'L2' })
      }
      for (let next = await onL1(narrowing); !next.done; next = await onL1(ranges.next())) {
        const isHinted = hinted?.first === next.value.first && hinted.last === next.value.last
        const { holding } = await (isHinted && hinted ? hinted.judging : judge(next.value))
        const held = await onL1(holding)
        if (held) return held
      }
      throw refuted(`the logs around L2 block ${sent.block}`)
    } finally {
      ending.forget()
      ending.abort()
    }
  })

interface FoundToL2 {
  readonly sent: SentMessage
  readonly proof: unknown
}

/** Finds a message to L2. It is only taken for one that L1 has not sent yet if no endpoint has one that L1 has sent. */
async function findToL2(
  source: MessageSource,
  fetching: Promise<RecordBlock>,
  search: MessageSearch,
): Promise<FoundToL2> {
  const { l1, rollup, sender, layout, signal } = source
  let other: FoundToL2 | undefined
  const find = ({ signal: over, stop }: Scope) => {
    const at = fetching.then(({ l1Block }) => l1Block).catch(error => Promise.reject(stop(error)))
    return l1.run(async (provider, attempt) => {
      const { sent } = await findSent(provider, sender, search, async () => (await at).number, attempt)
      const { message } = sent
      const l1Block = await at
      const contract = decodeContract(l1Block.stateRoot, readRollup(rollup))
      const keys = messageToL2Keys({ message: toMessage(message), layout })
      const { proof, status } = await fetchProof(source, keys, l1Block.number, proof => ({
        ...{ proof, status: statusOf(() => verifySent(proof, { contract, message, layout })) },
      }))
      const found = { sent, proof }
      if (status === 'sent') return found
      if (status !== null) other = found
      // A block after that of the proof says nothing false: its message is not final yet.
      const code = status === 'notSent' && sent.block > l1Block.number ? 'BLOCK_NOT_FINALIZED' : 'L1_CONTRADICTION'
      throw new EndpointError(code, { found: `L1 did not send this message ${message.number}` })
    }, over)
  }
  try {
    return await scoped(signal, find)
  } catch (error) {
    if (other === undefined || !isFailure(error)) throw error
    return other
  }
}

/** null if L1 sent another message with the number. */
function statusOf(verify: () => MessageToL2): MessageToL2['status'] | null {
  try {
    return verify().status
  } catch (error) {
    if (isProofError(error) && error.code === 'MESSAGE_ROLLING_HASH_MISMATCH') return null
    throw error
  }
}
