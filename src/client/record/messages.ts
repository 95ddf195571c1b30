import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError } from '../../base/errors.ts'
import { decodeQuantity } from '../../base/hex.ts'
import { atMost } from '../../base/json/decoders.ts'
import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { slotKey } from '../../verify/anchor/slots.ts'
import { encodeMessageLog, MESSAGE_SENT, readMessageLog } from '../../verify/messages/log.ts'
import type { DecodedMessage } from '../../verify/messages/message.ts'
import { allowedBlocks, askLogs, type BlockRange, inOrder } from '../l1/log-ranges.ts'
import type { Attempt } from '../sources/pool.ts'
import { EndpointError, type Layer } from '../transport/error.ts'
import {
  BLOCKS_PER_REQUEST,
  BLOCKS_WITH_RECEIPTS,
  LOGS_AT_ONCE,
  MAX_MESSAGE_DATA,
  MAX_MESSAGES,
  MAX_SEARCH_REQUESTS,
} from '../transport/limits.ts'
import { type AnyProvider, callProvider, parseQuantity } from '../transport/provider.ts'
import { redactorFor } from '../transport/redact.ts'
import { inAdvance } from '../transport/waiting.ts'

/** Messages from logs of endpoints that may lie. What L1 keeps decides which of them were sent. */

export interface SentMessage {
  readonly message: DecodedMessage
  readonly block: bigint
  /** Its place among the logs of the block. */
  readonly index: bigint
}

/** Who sends messages, and on which layer. */
export interface Sender {
  readonly layer: Layer
  /** The contract, 20 bytes, lower case. */
  readonly address: Hex
}

export interface FoundSent {
  readonly sent: SentMessage
  /** All messages of these blocks, if its search has brought them. */
  readonly beside: MessagesInBlocks | null
}

interface MessagesInBlocks extends BlockRange {
  readonly all: readonly SentMessage[]
}

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
}

const reader = readerOf('MALFORMED_RESPONSE')

interface Budget {
  messages: number
  /** In bytes. */
  data: number
}

const newBudget = (): Budget => ({ messages: MAX_MESSAGES, data: MAX_MESSAGE_DATA })

/** The messages in an endpoint's logs, in order. @throws ProofError, EndpointError */
export function readSent(
  provider: AnyProvider,
  logs: unknown,
  { layer, address }: Sender,
  budget: Budget,
): SentMessage[] {
  const redact = redactorFor(provider)
  let before: SentMessage | undefined
  const listed = Array.isArray(logs) && logs.length <= MAX_MESSAGES ? inOrder(logs) : logs
  return reader.items(listed, atMost('MALFORMED_RESPONSE', MAX_MESSAGES), source => {
    const data = readOwn(Object(source), 'data')
    // Before it is hashed.
    budget.data -= typeof data === 'string' ? data.length / 2 : 0
    if (budget.data < 0 || --budget.messages < 0) {
      const found = `more than ${MAX_MESSAGES} messages, or ${MAX_MESSAGE_DATA} bytes of them`
      throw new EndpointError('RESPONSE_TOO_LARGE', { found, layer })
    }
    const log = readMessageLog(source)
    const [block, index] = ['blockNumber', 'logIndex'].map(name => decodeQuantity(readOwn(Object(source), name), 64))
    if (log === null || log.address !== address || block == null || index == null) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'a log that was not asked for', layer })
    }
    const sent = { message: log.message, block, index }
    if (before?.block === block && before.index === index) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'two logs in one place', layer })
    }
    before = sent
    // The fields are written to files, too.
    const { topics, data: fields } = encodeMessageLog(log.message)
    if ([...topics, fields].some(redact.isInHex)) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'the API key of the endpoint', layer })
    }
    return sent
  })
}

type Topics = readonly (Hex | null)[]

/** In pieces that the endpoint allows. @param topics those behind the first */
async function* readPieces(
  provider: AnyProvider,
  sender: Sender,
  blocks: BlockRange,
  { signal, heard }: Attempt,
  topics: Topics = [],
  isBackwards = false,
): AsyncGenerator<MessagesInBlocks, void> {
  const { layer, address } = sender
  const budget = newBudget()
  // Of L1, whose finalizations are far apart, nobody would read all receipts.
  const options = { signal, isBackwards, withReceipts: layer === 'L2' }
  const filter = { address, topics: [MESSAGE_SENT, ...topics] }
  for await (const { first, last, logs } of askLogs(provider, filter, blocks, options)) {
    const all = readSent(provider, logs, sender, budget)
    heard()
    if (all.some(({ block }) => block < first || block > last)) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'a log of another block', layer })
    }
    yield { first, last, all }
  }
}

export async function askSent(...asked: Parameters<typeof readPieces>): Promise<SentMessage[]> {
  const sent: SentMessage[] = []
  for await (const { all } of readPieces(...asked)) sent.push(...all)
  return sent
}

/**
 * In the logs of its transaction, or in those of all blocks from the newest back.
 *
 * @param search hexadecimal in lower case
 * @throws EndpointError `MESSAGE_MISSING`, with an ArgumentError as its cause if several fit; ProofError
 */
export async function findSent(
  provider: AnyProvider,
  sender: Sender,
  search: WantedMessage,
  attempt: Attempt,
): Promise<FoundSent> {
  const { layer } = sender
  const isIt = ({ message }: SentMessage) => isWanted(message, search)
  const { transactionHash } = search
  if (transactionHash !== undefined) {
    const receipt = await callProvider(provider, 'eth_getTransactionReceipt', [transactionHash], attempt.signal)
    if (!isGiven(receipt)) throw new EndpointError('MESSAGE_MISSING', { found: `no ${transactionHash}`, layer })
    // A transaction has logs of other contracts, too.
    const logs = reader
      .items(readOwn(Object(receipt), 'logs'), atMost('MALFORMED_RESPONSE', MAX_MESSAGES), log => log)
      .filter(log => readMessageLog(log)?.address === sender.address)
    return { sent: onlyOf(readSent(provider, logs, sender, newBudget()).filter(isIt), layer), beside: null }
  }
  const addresses = [search.from, search.to].map(address => (address === undefined ? null : slotKey(BigInt(address))))
  const topics = [...addresses, search.messageHash ?? null]
  const areAll = topics.every(topic => topic === null)
  const latest = parseQuantity(await callProvider(provider, 'eth_blockNumber', [], attempt.signal))
  let first = latest
  for await (const blocks of searchBack(provider, sender, topics, latest, attempt)) {
    first = blocks.first
    const found = blocks.all.filter(isIt)
    if (found.length > 0) return { sent: onlyOf(found, layer), beside: areAll ? blocks : null }
  }
  throw new EndpointError('MESSAGE_MISSING', { found: `none in the blocks ${first} to ${latest}`, layer })
}

/** All messages with these topics, newest blocks first. The newest piece teaches how many blocks the endpoint allows at once. */
async function* searchBack(
  provider: AnyProvider,
  sender: Sender,
  topics: Topics,
  latest: bigint,
  attempt: Attempt,
): AsyncGenerator<MessagesInBlocks, void> {
  const blocksTo = (last: bigint, count: bigint) => ({ first: last < count ? 0n : last - count + 1n, last })
  const begun = blocksTo(latest, BLOCKS_PER_REQUEST)
  const { value: newest } = await readPieces(provider, sender, begun, attempt, topics, true).next()
  if (!newest) return
  yield newest
  const per = allowedBlocks(provider) || BLOCKS_WITH_RECEIPTS
  // As many pieces as are left.
  const count = Math.min(Number((newest.first + per - 1n) / per), MAX_SEARCH_REQUESTS - 1)
  const ask = async (index: number, signal: AbortSignal) => {
    const blocks = blocksTo(newest.first - 1n - BigInt(index) * per, per)
    return { ...blocks, all: await askSent(provider, sender, blocks, { ...attempt, signal }, topics) }
  }
  yield* inAdvance(count, LOGS_AT_ONCE, ask, attempt.signal)
}

/** @throws EndpointError `MESSAGE_MISSING`, with an ArgumentError as its cause if there are several */
function onlyOf(found: readonly SentMessage[], layer: Layer): SentMessage {
  const [sent, ...others] = found
  if (sent === undefined) throw new EndpointError('MESSAGE_MISSING', { found: 'none in the transaction', layer })
  if (others.length === 0) return sent
  const hashes = found.slice(0, 4).map(({ message }) => bytesToHex(message.hash))
  const listed = `${found.length} that fit: ${hashes.join(', ')}${others.length > 3 ? ', …' : ''}`
  // Only its word: another endpoint may know better.
  const cause = new ArgumentError({ path: 'message', expected: 'what only one message fits', found: listed })
  throw new EndpointError('MESSAGE_MISSING', { found: listed, layer, cause })
}

export const isWanted = (message: DecodedMessage, { messageHash, from, to, number }: WantedMessage): boolean =>
  (messageHash === undefined || bytesToHex(message.hash) === messageHash) &&
  (from === undefined || bytesToHex(message.from) === from) &&
  (to === undefined || bytesToHex(message.to) === to) &&
  (number === undefined || message.number === number)
