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
import { type Network, readNetwork, serviceOf } from '../network/network.ts'
import type { Attempt } from '../sources/pool.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import { EndpointError, isEndpointError, isFailure } from '../transport/error.ts'
import { KEYS_PER_REQUEST } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import { begin, type Scope, scoped } from '../transport/waiting.ts'
import {
  areFinalizations,
  fetchHeld,
  findBlocks,
  type HeldMessage,
  type MessageSource,
  placesOf,
  refuted,
} from './message-places.ts'
import { askSent, type FoundSent, findSent, type Sender, type SentMessage, type WantedMessage } from './messages.ts'
import type { Recorded } from './record.ts'
import {
  fetchRecordBlock,
  openRecording,
  RECORDING_FIELDS,
  type RecordBlock,
  type RecordingOptions,
} from './recording.ts'

/** Which message to record, and how. */
export interface MessageRecordOptions extends RecordingOptions {
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
  const source = verifyOptions(options)
  return redactProofErrors(() => record(source), ...source.l1.sources, ...source.l2.sources)
}

function verifyOptions(options: MessageRecordOptions) {
  const own = readOptions('', options, [...RECORDING_FIELDS, 'network', 'direction', 'message', 'layout'])
  const { direction = 'toL1' } = own
  if (direction !== 'toL1' && direction !== 'toL2') throw invalid('direction', 'toL1 or toL2', direction)
  const network = readNetwork(own.network)
  const { rollup, schemeAt } = network
  const layout = readLayout(own.layout)
  const recording = openRecording(own)
  const sender: Sender =
    direction === 'toL2'
      ? { layer: 'L1', address: lowerCase(rollup.address) }
      : { layer: 'L2', address: serviceOf(network) }
  const how = { maxKeysPerRequest: KEYS_PER_REQUEST }
  return { ...recording, rollup, schemeAt, layout, sender, how, search: readWanted(own.message) }
}

/** @throws ArgumentError */
function readWanted(message: WantedMessage): WantedMessage {
  const own = readOptions('message', message, WANTED)
  const { number } = own
  if (number !== undefined) verifyUint('message.number', number, 256, 1n)
  if (WANTED.every(name => own[name] === undefined)) {
    throw invalid('message', 'a messageHash, a transactionHash, a number, or who sends or receives it', message)
  }
  const read = (name: 'messageHash' | 'transactionHash' | 'from' | 'to', length: number) => {
    const value = own[name]
    return value && bytesToHex(decodeArgument(`message.${name}`, value, length))
  }
  return {
    messageHash: read('messageHash', 32),
    transactionHash: read('transactionHash', 32),
    from: read('from', 20),
    to: read('to', 20),
    number,
  }
}

const WANTED = ['messageHash', 'transactionHash', 'from', 'to', 'number'] as const

async function record(source: ReturnType<typeof verifyOptions>): Promise<RecordedMessage> {
  const fetching = begin(fetchRecordBlock(source))
  // The message is searched for meanwhile. A proof of consensus takes so long that whoever waits for it would count as silent.
  if (source.beacon !== undefined) await fetching
  const find = source.sender.layer === 'L2' ? findMessage : findToL2
  const { sent, proof, place: messageProof, newest } = await find(source, fetching, source.search).catch(orSeveral)
  const { block, consensus, trusted, l1BlockHashFrom } = await fetching
  const { rollup, layout } = source
  const message = toMessage(sent.message)
  const bundle = createMessageBundle({ rollup, message, messageProof, consensus, l1: { block, proof } })
  // The parts were verified one by one. This verifies the whole.
  const verified = verifyEvidence(bundle, { kind: messageEvidence, rollup, message, layout, trusted })
  const isClaimable = verified.status === 'claimable'
  const claim = isClaimable ? encodeMessageClaim({ message, messageProof: verified.messageProof }) : undefined
  return { bundle, verified, claim, sentInBlock: sent.block, newestFinalized: newest, l1BlockHashFrom }
}

/** For `catch`: that several messages fit is the caller's mistake, if no endpoint knows better. */
function orSeveral(error: unknown): never {
  throw isOfSeveral(error) ? error.cause : error
}

const isOfSeveral = (error: unknown): error is EndpointError & { cause: unknown } =>
  isEndpointError(error) && error.code === 'MESSAGE_MISSING' && isArgumentError(error.cause)

/**
 * A message is only taken to be in a block that is not finalized if no endpoint can prove it. Its tree is not known then: the place
 * is that in a tree of its own.
 */
async function findMessage(source: MessageSource, fetching: Promise<RecordBlock>, search: WantedMessage) {
  const at = begin(fetching.then(({ l1Block }) => l1Block))
  // It counts when the message is there.
  const asking = begin(fetching.then(({ l1Block, newest }) => newest ?? fetchNewest(source, l1Block)))
  let waiting: SentMessage | undefined
  const find = (over: Scope) =>
    source.l2.run(async (provider, attempt) => {
      const onL1 = <T>(work: Promise<T>) => work.catch(error => Promise.reject(over.stop(error)))
      const finding = begin(
        findSent(provider, source.sender, search, attempt).then(async found => {
          const { block } = found.sent
          if (block <= (await onL1(asking))) return found
          waiting = found.sent
          throw new EndpointError('BLOCK_NOT_FINALIZED', { found: `the message is in block ${block}`, layer: 'L2' })
        }),
      )
      return findInLogs({ ...source, signal: attempt.signal }, { provider, attempt, at, finding, onL1 })
    }, over.signal)
  const found = await scoped(source.signal, find).catch(async error => {
    if (waiting === undefined || !isFailure(error)) throw error
    // There is one for one message.
    return (await fetchHeld(source, await at, placesOf([waiting])))[0] as HeldMessage
  })
  return { ...found, newest: await asking }
}

interface Search {
  /** An L2 endpoint. */
  readonly provider: AnyProvider
  readonly attempt: Attempt
  readonly at: Promise<L1Block>
  readonly finding: Promise<FoundSent>
  /** For what is not the L2 endpoint's fault: its failure ends the search. */
  onL1<T>(work: Promise<T>): Promise<T>
}

/** What L1 holds of the message if the logs of its finalization lead to a root that L1 knows. One honest L1 endpoint is enough. */
async function findInLogs(
  source: MessageSource,
  { provider, attempt, at, finding, onL1 }: Search,
): Promise<HeldMessage> {
  const { l1, sender, signal } = source
  const tried = new Set<string>()
  let [failure, isRefuted]: [Error | null, boolean] = [null, false]
  const block = begin(finding.then(({ sent }) => sent.block))
  const find = async (own: AnyProvider, over: Attempt) =>
    findBlocks(own, { ...source, signal: over.signal }, await at, block)
  for await (const said of l1.each(find, { signal, isBlamed: () => false })) {
    const { sent, beside } = await finding
    if ('error' in said) {
      // Another endpoint may have known it.
      if (failure === null || isTooOld(failure)) failure = said.error
      continue
    }
    const { first, last } = said.value
    const name = `${first}-${last}`
    if (tried.has(name)) continue
    tried.add(name)
    const isKnown = beside && beside.first <= first && beside.last >= last
    const all = isKnown
      ? beside.all.filter(one => one.block >= first && one.block <= last)
      : await askSent(provider, sender, said.value, attempt)
    const hash = bytesToHex(sent.message.hash)
    const placed = placesOf(all).find(one => bytesToHex(one.sent.message.hash) === hash)
    const [held] = placed === undefined ? [] : await onL1(fetchHeld(source, await at, [placed]))
    if (held && held.status !== 'notAnchored') return held
    if (await onL1(areFinalizations(source, await at, said.value))) isRefuted = true
    else failure = new EndpointError('L1_CONTRADICTION', { found: `no L2 block ${first - 1n} or ${last}`, layer: 'L1' })
  }
  const { sent } = await finding
  if (isRefuted) throw refuted(`the logs around L2 block ${sent.block}`)
  // Perhaps the block of the L2 endpoint is wrong: another one may know better.
  if (isTooOld(failure)) throw failure
  return onL1(Promise.reject(failure))
}

const isTooOld = (error: unknown) => isEndpointError(error) && error.code === 'MESSAGE_MISSING'

interface FoundToL2 {
  readonly sent: SentMessage
  readonly proof: unknown
  readonly place?: undefined
  readonly newest?: undefined
}

/** Finds a message to L2. It is only taken for one that L1 has not sent yet if no endpoint has one that L1 has sent. */
async function findToL2(
  source: MessageSource,
  fetching: Promise<RecordBlock>,
  search: WantedMessage,
): Promise<FoundToL2> {
  const { l1, rollup, sender, layout, signal } = source
  let other: FoundToL2 | undefined
  const find = ({ signal: over, stop }: Scope) => {
    const at = fetching.then(({ l1Block }) => l1Block).catch(error => Promise.reject(stop(error)))
    return l1.run(async (provider, attempt) => {
      const { sent } = await findSent(provider, sender, search, attempt)
      const { message } = sent
      const l1Block = await at
      const contract = decodeContract(l1Block.stateRoot, readRollup(rollup))
      const keys = messageToL2Keys({ message: toMessage(message), layout })
      const { proof, status } = await fetchProof(source, keys, l1Block.number, proof => ({
        proof,
        status: statusOf(() => verifySent(proof, { contract, message, layout })),
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
