import { invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { isProofError } from '../../base/errors.ts'
import { lowerCase } from '../../base/hex.ts'
import { readHex, readOptions } from '../../base/options.ts'
import { verifyEthProof } from '../../verify/anchor/eth-proof.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { readRollup } from '../../verify/anchor/rollup.ts'
import { decodeContract } from '../../verify/anchor/verify.ts'
import {
  createMessageBundle,
  type MessageBundle,
  messageEvidence,
  type VerifiedMessage,
} from '../../verify/evidence/kinds/message.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { encodeMessageClaim, type MessageFromL2, messageFromL2Keys, verifyInL1 } from '../../verify/messages/from-l2.ts'
import { type MessageLayout, readLayout, toMessage } from '../../verify/messages/message.ts'
import { messageToL2Keys, verifySent } from '../../verify/messages/to-l2.ts'
import { type MessageProof, messageTrees } from '../../verify/messages/tree.ts'
import { ETHEREUM } from '../../verify/state/kind.ts'
import { walkBack } from '../l1/finalizations.ts'
import { contradiction, fetchAnchor, fetchProof, type L1Source, unless } from '../l1/l1.ts'
import { type BlockRange, oldestWithin } from '../l1/log-ranges.ts'
import { serviceOf } from '../network/network.ts'
import type { Attempt } from '../sources/endpoints.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import { EndpointError, isEndpointError } from '../transport/error.ts'
import { KEYS_PER_REQUEST, MAX_FINALIZED_BLOCKS, MAX_SEARCH_REQUESTS } from '../transport/limits.ts'
import type { OpenProvider } from '../transport/provider.ts'
import { type Scope, scoped } from '../transport/waiting.ts'
import { askSent, findSent, type Sender, type SentMessage, type WantedMessage } from './messages.ts'
import {
  fetchRecordBlock,
  openRecording,
  RECORDING_FIELDS,
  type RecordBlock,
  type RecordingOptions,
  type TrustedL1Block,
} from './record.ts'

/** Which message to record, and how. */
export interface MessageRecordOptions extends RecordingOptions {
  /** Where the message goes. Default: `toL1`. */
  direction?: 'toL1' | 'toL2' | undefined
  /** Which message. */
  message: WantedMessage
  /** Where the contracts keep messages. Default: `lineaMessageLayout`. */
  layout?: MessageLayout | undefined
}

/** The evidence of a message, and what it proves. */
export interface RecordedMessage {
  /** The bundle, verified; plain JSON. */
  bundle: MessageBundle
  /** What the bundle proves to whoever trusts the hash of its L1 block, or the beacon block. */
  verified: VerifiedMessage<TrustedL1Block> & {
    /** The L1 block, whose state holds the message. */
    l1Block: L1Block
  }
  /** The data of the transaction to the rollup contract that claims the message; undefined if it is not claimable. */
  claim: Hex | undefined
}

/**
 * Records the evidence of a message: finds its log, and proves what L1 holds about it. Of a message from L2, it also finds all
 * messages of the finalization, without which there is no claim.
 *
 * Logs prove nothing, and endpoints may lie. A message from L2 is proven by the root on L1 to which the logs of its finalization
 * lead, a message to L2 by the rolling hash of L1. If they do not, the next endpoint is asked. If one L1 endpoint of several
 * tells which finalization it is, that is enough.
 *
 * @param options which message, from where, and how
 * @throws EndpointError `BLOCK_NOT_FINALIZED` while only an endpoint says that the message was sent: try again later.
 * `MESSAGE_MISSING` if no endpoint finds it, `MESSAGES_REFUTED` if no logs lead to a root that L1 knows, and others. ProofError
 * if no answer verifies. ArgumentError. None contains a URL or an API key
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

type Source = ReturnType<typeof verifyOptions>

function verifyOptions(options: MessageRecordOptions) {
  const own = readOptions('', options, [...RECORDING_FIELDS, 'direction', 'message', 'layout'])
  const { direction = 'toL1' } = own
  if (direction !== 'toL1' && direction !== 'toL2') throw invalid('direction', 'toL1 or toL2', direction)
  const recording = openRecording(own)
  const isFromL1 = direction === 'toL2'
  const address = isFromL1 ? lowerCase(recording.rollup.address) : serviceOf(recording)
  const sender: Sender = { layer: isFromL1 ? 'L1' : 'L2', address }
  const how = { maxKeysPerRequest: KEYS_PER_REQUEST }
  return { ...recording, layout: readLayout(own.layout), sender, how, wanted: readWanted(own.message) }
}

/** @throws ArgumentError */
function readWanted(message: WantedMessage): WantedMessage {
  const own = readOptions('message', message, ['messageHash', 'transactionHash', 'from'])
  const read = (name: keyof WantedMessage, length: number) => own[name] && readHex(`message.${name}`, own[name], length)
  const [messageHash, transactionHash] = [read('messageHash', 32), read('transactionHash', 32)]
  const wanted = { messageHash, transactionHash, from: read('from', 20) }
  if (Object.values(wanted).filter(one => one !== undefined).length === 1) return wanted
  throw invalid('message', 'a messageHash, a transactionHash, or from, who sent it', message)
}

async function record(source: Source): Promise<RecordedMessage> {
  const recorded = await fetchRecordBlock(source)
  const { bundle, verified } = bundleMessage(source, recorded, await findProven(source, recorded))
  if (verified.status !== 'claimable') return { bundle, verified, claim: undefined }
  const { message, messageProof } = verified
  return { bundle, verified, claim: encodeMessageClaim({ message, messageProof }) }
}

/** A message to L2 has no place in a tree. */
type ProvenMessage = Omit<HeldMessage, 'place' | 'status'> & { readonly place?: MessageProof }

/** The parts were verified one by one. This verifies the whole. */
export function bundleMessage(
  { rollup, layout }: MessageSource,
  { block, consensus, trusted }: Pick<RecordBlock, 'block' | 'consensus' | 'trusted'>,
  { sent, place: messageProof, proof }: ProvenMessage,
) {
  const message = toMessage(sent.message)
  const bundle = createMessageBundle({ rollup, message, messageProof, consensus, l1: { block, proof } })
  return { bundle, verified: verifyEvidence(bundle, { kind: messageEvidence, rollup, message, layout, trusted }) }
}

/** Finds the log at one endpoint after the other, until L1 proves the message. */
function findProven(source: Source, { l1Block, newest }: RecordBlock): Promise<ProvenMessage> {
  const { l1, l2, sender, wanted } = source
  const isFromL2 = sender.layer === 'L2'
  const [pool, final] = isFromL2 ? [l2, newest] : [l1, l1Block.number]
  return scoped(source.signal, ({ signal, stop }) =>
    pool.run(async (provider, attempt) => {
      const sent = await findSent(provider, sender, wanted, attempt)
      if (sent.block > final) {
        const found = `the message is in block ${sent.block}, and the last final one is ${final}`
        throw new EndpointError('BLOCK_NOT_FINALIZED', { found })
      }
      const own = { ...source, signal: attempt.signal, stop }
      return isFromL2 ? proveFromL2(own, l1Block, sent, provider, attempt) : proveToL2(own, l1Block, sent)
    }, signal),
  )
}

/** The logs of its finalization have to lead to a root that L1 knows. One honest L1 endpoint is enough. */
async function proveFromL2(
  source: Source & Pick<Scope, 'stop'>,
  l1Block: L1Block,
  sent: SentMessage,
  provider: OpenProvider,
  attempt: Attempt,
): Promise<ProvenMessage> {
  const { l1, sender, signal, stop } = source
  // What L1 says is not the L2 endpoint's fault.
  const orStop = (error: unknown) => Promise.reject(stop(error))
  const hash = bytesToHex(sent.message.hash)
  const tried = new Set<string>()
  const failures: Error[] = []
  let isRefuted = false
  const find = (own: OpenProvider, over: Attempt) =>
    findBlocks(own, { ...source, signal: over.signal }, l1Block, sent.block)
  for await (const said of l1.each(find, { signal, isBlamed: () => false })) {
    if ('error' in said) {
      failures.push(said.error)
      continue
    }
    const { first, last } = said.value
    const name = `${first}-${last}`
    if (tried.has(name)) continue
    tried.add(name)
    const all = await askSent(provider, sender, said.value, attempt)
    const placed = placesOf(all).filter(one => bytesToHex(one.sent.message.hash) === hash)
    const [held] = await fetchHeld(source, l1Block, placed.slice(0, 1)).catch(orStop)
    if (held && held.status !== 'notAnchored') return held
    const found = `no L2 block ${first - 1n} or ${last}`
    if (await areFinalizations(source, l1Block, said.value).catch(orStop)) isRefuted = true
    else failures.push(new EndpointError('L1_CONTRADICTION', { found, layer: 'L1' }))
  }
  if (isRefuted) throw refuted(`the logs around L2 block ${sent.block}`)
  // If all say that the block is too old to be found, perhaps the L2 endpoint is wrong, and another one knows better.
  throw failures.every(isTooOld) ? failures[0] : stop(failures.find(error => !isTooOld(error)))
}

const isTooOld = (error: unknown) => isEndpointError(error) && error.code === 'MESSAGE_MISSING'

async function proveToL2(source: Source, l1Block: L1Block, sent: SentMessage): Promise<ProvenMessage> {
  const { rollup, layout } = source
  const { message } = sent
  const claim = { contract: decodeContract(l1Block.stateRoot, readRollup(rollup)), message, layout }
  const keys = messageToL2Keys({ message: toMessage(message), layout })
  const { proof, status } = await fetchProof(source, keys, l1Block.number, proof => ({
    proof,
    status: unlessOther('MESSAGE_ROLLING_HASH_MISMATCH', 'notSent', () => verifySent(proof, claim).status),
  }))
  if (status === 'sent') return { sent, proof }
  const found = `L1 ${status === 'unknown' ? 'kept no hash when it sent' : 'did not send this'} message ${message.number}`
  throw new EndpointError(status === 'unknown' ? 'MESSAGE_MISSING' : 'L1_CONTRADICTION', { found })
}

/** The blocks of the finalization of an L2 block, as an L1 endpoint says: a hint. @throws EndpointError `MESSAGE_MISSING` if it is too old */
async function findBlocks(provider: OpenProvider, source: L1Source, l1Block: L1Block, block: bigint) {
  const oldest = oldestWithin(MAX_SEARCH_REQUESTS, l1Block.number)
  // What is finalized first begins with block 0.
  const ends: bigint[] = oldest > 0n ? [] : [-1n]
  for await (const { logs } of walkBack(provider, source, { l1Block, oldest, sought: block })) {
    for (const { l2BlockNumber } of logs) ends.push(l2BlockNumber)
    if (logs.some(({ l2BlockNumber }) => l2BlockNumber < block)) break
  }
  ends.sort((a, b) => (a < b ? -1 : 1))
  const last = ends.find(end => end >= block)
  const before = ends.findLast(end => end < block)
  if (last === undefined || before === undefined) {
    // What is before the search is not the fault of L1. An L2 endpoint may have invented it.
    const code = last === undefined ? 'L1_CONTRADICTION' : 'MESSAGE_MISSING'
    const found = `no log of the finalization of L2 block ${block} from L1 block ${oldest} on`
    throw new EndpointError(code, { found, layer: 'L1' })
  }
  const count = last - before
  if (count <= MAX_FINALIZED_BLOCKS) return { first: before + 1n, last }
  throw contradiction(`a finalization of ${count} blocks`)
}

/** Whether finalizations end with the block before these, and with the last of them. There may be others between. */
async function areFinalizations(source: L1Source, l1Block: L1Block, { first, last }: BlockRange) {
  // A finalization is one, whatever L1 holds for its end.
  const any: L1Source = { ...source, scheme: ETHEREUM }
  const isEnd = (end: bigint) => unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', fetchAnchor(any, l1Block, end)))
  const anchors = await Promise.all([last, ...(first > 1n ? [first - 1n] : [])].map(isEnd))
  return anchors.every(anchor => anchor !== null)
}

export interface MessageSource extends L1Source {
  readonly layout: MessageLayout
  readonly how: { readonly maxKeysPerRequest: number }
}

export interface PlacedMessage {
  readonly sent: SentMessage
  readonly place: MessageProof
}

export const placesOf = (sent: readonly SentMessage[]): PlacedMessage[] => {
  const places = messageTrees(sent.map(({ message }) => bytesToHex(message.hash))).flatMap(({ proofs }) => proofs)
  // There is one place for each.
  return sent.map((one, index) => ({ sent: one, place: places[index] as MessageProof }))
}

interface HeldMessage extends PlacedMessage {
  readonly status: MessageFromL2['status']
  /** What L1 holds of it: the known fields of the `eth_getProof` answer. */
  readonly proof: unknown
}

/** What L1 holds of these messages. If a number is claimed without its root, the message is not the one that was sent. */
export async function fetchHeld(
  { how, layout, ...source }: MessageSource,
  { stateRoot, number }: L1Block,
  all: readonly PlacedMessage[],
): Promise<HeldMessage[]> {
  const { rollup } = source
  const contract = decodeContract(stateRoot, readRollup(rollup))
  const keyed = all.map(one => ({
    ...one,
    keys: messageFromL2Keys({ message: toMessage(one.sent.message), root: one.place.root, layout }),
  }))
  // Many share the root of a tree, or a slot.
  const wanted = [...new Set(keyed.flatMap(({ keys }) => keys))]
  const slots = new Map<Hex, unknown>()
  let account: object = {}
  for (let first = 0; first < wanted.length; first += how.maxKeysPerRequest) {
    const storageKeys = wanted.slice(first, first + how.maxKeysPerRequest)
    const { storageProof, ...rest } = await fetchProof(source, storageKeys, number, proof => {
      verifyEthProof(proof, { l1StateRoot: stateRoot, address: rollup.address, storageKeys })
      // It has a slot for each.
      return proof as { readonly storageProof: readonly unknown[] }
    })
    account = rest
    for (const [index, key] of storageKeys.entries()) slots.set(key, storageProof[index])
  }
  return keyed.map(({ keys, ...one }) => {
    const proof = { ...account, storageProof: keys.map(key => slots.get(key)) }
    const claim = { contract, message: one.sent.message, layout }
    const verify = () => verifyInL1(proof, one.place, claim).status
    return { ...one, proof, status: unlessOther('MESSAGE_NUMBER_CLAIMED', 'notAnchored', verify) }
  })
}

/** What L1 says of a message, or `status` if L1 has another message with its number. */
function unlessOther<Status extends string>(code: ProofErrorCode, status: Status, verify: () => Status): Status {
  try {
    return verify()
  } catch (error) {
    if (isProofError(error) && error.code === code) return status
    throw error
  }
}

/** The messages that L2 sent in these blocks do not lead to roots that L1 knows. */
export const refuted = (found: string): EndpointError => new EndpointError('MESSAGES_REFUTED', { found, layer: 'L2' })
