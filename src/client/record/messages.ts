import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { isProofError } from '../../base/errors.ts'
import { decodeQuantity } from '../../base/hex.ts'
import { atMost } from '../../base/json/decoders.ts'
import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import { verifyEthProof } from '../../verify/anchor/eth-proof.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { readRollup } from '../../verify/anchor/rollup.ts'
import { decodeContract } from '../../verify/anchor/verify.ts'
import { type MessageFromL2, messageFromL2Keys, verifyInL1 } from '../../verify/messages/from-l2.ts'
import {
  type DecodedMessage,
  encodeMessageLog,
  MESSAGE_SENT,
  type MessageLayout,
  readMessageLog,
  toMessage,
} from '../../verify/messages/message.ts'
import { type MessageProof, messageTrees } from '../../verify/messages/tree.ts'
import { ETHEREUM } from '../../verify/state/kind.ts'
import { walkBack } from '../l1/finalizations.ts'
import { contradiction, fetchAnchor, fetchProof, type L1Source, unless } from '../l1/l1.ts'
import { askLogs, type BlockRange, inOrder, oldestWithin } from '../l1/log-ranges.ts'
import type { Attempt } from '../sources/endpoints.ts'
import { EndpointError, type EndpointErrorCode, type Layer } from '../transport/error.ts'
import {
  MAX_FINALIZED_BLOCKS,
  MAX_MESSAGE_DATA,
  MAX_MESSAGES,
  MAX_SEARCH_REQUESTS,
  MESSAGE_FIELDS,
} from '../transport/limits.ts'
import { type OpenProvider, parseQuantity } from '../transport/provider.ts'
import type { Redact } from '../transport/redact.ts'

/** Messages from logs of endpoints that may lie. What L1 keeps decides which of them were sent. */

export interface SentMessage {
  readonly message: DecodedMessage
  readonly block: bigint
}

/** Who sends messages, and on which layer. */
export interface Sender {
  readonly layer: Layer
  /** The contract, 20 bytes, lower case. */
  readonly address: Hex
}

/** Which message: state one of these. */
export interface WantedMessage {
  /** The hash of the message, 32 bytes: the last topic of its log. */
  messageHash?: Hex | undefined
  /** The transaction that sent it, and no other message, 32 bytes. With it, no blocks are searched. */
  transactionHash?: Hex | undefined
  /** Who sent it, 20 bytes: the newest message of this account. */
  from?: Hex | undefined
}

const reader = readerOf('MALFORMED_RESPONSE')
const failed = (code: EndpointErrorCode, layer: Layer, found: string) => new EndpointError(code, { found, layer })

/** The messages in an endpoint's logs, in order. @param budget what more may hold @throws ProofError, EndpointError */
export function readSent(
  logs: unknown,
  { layer, address }: Sender,
  redact: Redact,
  budget = { bytes: MAX_MESSAGE_DATA },
): SentMessage[] {
  const listed = Array.isArray(logs) && logs.length <= MAX_MESSAGES ? inOrder(logs) : logs
  return reader.items(listed, atMost('MALFORMED_RESPONSE', MAX_MESSAGES), source => {
    const data = readOwn(Object(source), 'data')
    // Before it is hashed.
    budget.bytes -= MESSAGE_FIELDS + (typeof data === 'string' ? data.length / 2 : 0)
    if (budget.bytes < 0) throw failed('RESPONSE_TOO_LARGE', layer, `more than ${MAX_MESSAGE_DATA} bytes of messages`)
    const log = readMessageLog(source)
    const block = decodeQuantity(readOwn(Object(source), 'blockNumber'), 64)
    if (log === null || log.address !== address || block === null)
      throw failed('ANSWER_MALFORMED', layer, 'a log that was not asked for')
    // The fields are written to files, too.
    const { topics, data: fields } = encodeMessageLog(log.message)
    const hasKey = [...topics, fields].some(redact.isInHex)
    if (hasKey) throw failed('ANSWER_MALFORMED', layer, 'the API key of the endpoint')
    return { message: log.message, block }
  })
}

/** In pieces that the endpoint allows. @param search the topics behind the first, to search from the newest block back */
async function* readPieces(
  provider: OpenProvider,
  sender: Sender,
  blocks: BlockRange,
  { signal, heard }: Attempt,
  search?: readonly (Hex | null)[],
): AsyncGenerator<SentMessage[], void> {
  const { layer, address } = sender
  const budget = { bytes: MAX_MESSAGE_DATA }
  // Of L1, whose finalizations are far apart, nobody would read all receipts.
  const options = { signal, isBackwards: search !== undefined, withReceipts: layer === 'L2' }
  const filter = { address, topics: [MESSAGE_SENT, ...(search ?? [])] }
  for await (const { logs } of askLogs(provider, filter, blocks, options)) {
    const all = readSent(logs, sender, provider.redact, budget)
    heard()
    yield all
  }
}

export async function askSent(provider: OpenProvider, sender: Sender, blocks: BlockRange, attempt: Attempt) {
  const sent: SentMessage[] = []
  for await (const all of readPieces(provider, sender, blocks, attempt)) sent.push(...all)
  return sent
}

/** In the logs of its transaction, or of all blocks from the newest back. @param wanted in lower case @throws EndpointError, ProofError */
export async function findSent(
  provider: OpenProvider,
  sender: Sender,
  { messageHash, transactionHash, from }: WantedMessage,
  attempt: Attempt,
): Promise<SentMessage> {
  const { layer } = sender
  if (transactionHash !== undefined) return findInTransaction(provider, sender, transactionHash, attempt.signal)
  const last = parseQuantity(await provider.call('eth_blockNumber', [], attempt.signal))
  const first = oldestWithin(MAX_SEARCH_REQUESTS, last)
  const topics = [from === undefined ? null : slotKey(BigInt(from)), null, messageHash ?? null]
  const isIt = ({ message }: SentMessage) =>
    messageHash === undefined ? bytesToHex(message.from) === from : bytesToHex(message.hash) === messageHash
  for await (const all of readPieces(provider, sender, { first, last }, attempt, topics)) {
    const found = all.findLast(isIt)
    if (found !== undefined) return found
  }
  throw failed('MESSAGE_MISSING', layer, `there is none in the blocks ${first} to ${last}`)
}

async function findInTransaction(provider: OpenProvider, sender: Sender, hash: Hex, signal: AbortSignal) {
  const { layer, address } = sender
  const receipt = await provider.call('eth_getTransactionReceipt', [hash], signal)
  if (!isGiven(receipt)) throw failed('MESSAGE_MISSING', layer, `it has no receipt of the transaction ${hash}`)
  // A transaction has logs of other contracts, too.
  const logs = reader
    .items(readOwn(Object(receipt), 'logs'), atMost('MALFORMED_RESPONSE', MAX_MESSAGES), log => log)
    .filter(log => readMessageLog(log)?.address === address)
  const all = readSent(logs, sender, provider.redact)
  const [sent] = all
  if (sent && all.length === 1) return sent
  const hashes = all.slice(0, 4).map(({ message }) => bytesToHex(message.hash))
  const some = `there are ${all.length} in the transaction: state the hash of one, such as ${hashes.join(', ')}`
  throw failed('MESSAGE_MISSING', layer, sent ? some : 'there is none in the transaction')
}

/** The blocks of the finalization of an L2 block, as an L1 endpoint says: a hint. @throws EndpointError `MESSAGE_MISSING` if it is too old */
export async function findBlocks(provider: OpenProvider, source: L1Source, l1Block: L1Block, block: bigint) {
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
    throw failed(code, 'L1', found)
  }
  const count = last - before
  if (count <= MAX_FINALIZED_BLOCKS) return { first: before + 1n, last }
  throw contradiction(`a finalization of ${count} blocks`)
}

/** Whether finalizations end with the block before these, and with the last of them. There may be others between. */
export async function areFinalizations(source: L1Source, l1Block: L1Block, { first, last }: BlockRange) {
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

export interface HeldMessage extends PlacedMessage {
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
    const verify = () => verifyInL1(proof, one.place, claim)
    return { ...one, proof, status: unlessOther('MESSAGE_NUMBER_CLAIMED', 'notAnchored', verify).status }
  })
}

/** What L1 says of a message, or its status if L1 has another message with its number. */
export function unlessOther<Status extends string>(
  code: ProofErrorCode,
  status: Status,
  verify: () => { readonly status: Status },
): { readonly status: Status } {
  try {
    return verify()
  } catch (error) {
    if (isProofError(error) && error.code === code) return { status }
    throw error
  }
}

/** The messages that L2 sent in these blocks do not lead to roots that L1 knows. */
export const refuted = (found: string): EndpointError => failed('MESSAGES_REFUTED', 'L2', found)
