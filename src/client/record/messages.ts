import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError } from '../../base/errors.ts'
import { decodeQuantity } from '../../base/hex.ts'
import { atMost } from '../../base/json/decoders.ts'
import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { slotKey } from '../../verify/anchor/slots.ts'
import { encodeMessageLog, MESSAGE_SENT, readMessageLog } from '../../verify/messages/log.ts'
import type { DecodedMessage } from '../../verify/messages/message.ts'
import { allowedBlocks, askLogs, inOrder } from '../l1/log-ranges.ts'
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
import { begin, inAdvance } from '../transport/waiting.ts'

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
  readonly beside: { readonly first: bigint; readonly last: bigint; readonly all: readonly SentMessage[] } | null
}

/** Which message. Whatever is given must fit. Hexadecimal is in lower case. */
export interface MessageSearch {
  readonly transactionHash?: Hex | undefined
  readonly messageHash?: Hex | undefined
  readonly from?: Hex | undefined
  readonly to?: Hex | undefined
  readonly number?: bigint | undefined
  /** The first block to search. */
  readonly fromBlock?: bigint | undefined
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
    if (before && (before.block > block || (before.block === block && before.index >= index))) {
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

/** Of L1, whose finalizations are far apart, nobody would read all receipts. */
const isOfL2 = ({ layer }: Sender) => layer === 'L2'

/** @param topics those behind the first */
export async function askSent(
  provider: AnyProvider,
  sender: Sender,
  blocks: { readonly first: bigint; readonly last: bigint },
  { signal, heard }: Attempt,
  topics: readonly (Hex | null)[] = [],
): Promise<SentMessage[]> {
  const all: SentMessage[] = []
  const budget = newBudget()
  const filter = { address: sender.address, topics: [MESSAGE_SENT, ...topics] }
  const options = { signal, withReceipts: isOfL2(sender) }
  for await (const { first, last, logs } of askLogs(provider, filter, blocks, options)) {
    const sent = readSent(provider, logs, sender, budget)
    heard()
    if (sent.some(({ block }) => block < first || block > last)) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'a log of another block', layer: sender.layer })
    }
    all.push(...sent)
  }
  return all
}

/**
 * In the logs of its transaction, or in those of all blocks from the newest back.
 *
 * @param known gives a block of the layer, proven: far above it, only one piece is searched, before it is known
 * @throws EndpointError `MESSAGE_MISSING`, with an ArgumentError as its cause if several fit; ProofError
 */
export async function findSent(
  provider: AnyProvider,
  sender: Sender,
  search: MessageSearch,
  known: () => Promise<bigint>,
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
  const topics = [search.from, search.to].map(address => (address === undefined ? null : slotKey(BigInt(address))))
  const wanted = [...topics, search.messageHash ?? null]
  // The newest block teaches how many the endpoint allows at once.
  const filter = { address: sender.address, topics: [MESSAGE_SENT, ...wanted] }
  const options = { signal: attempt.signal, isBackwards: true, withReceipts: isOfL2(sender) }
  const from = search.fromBlock ?? 0n
  const askNewest = async (latest: bigint) => {
    if (latest < from) {
      throw new EndpointError('MESSAGE_MISSING', { found: `block ${from} is after the newest, ${latest}`, layer })
    }
    const newest = { first: mostOf(from, latest - BLOCKS_PER_REQUEST + 1n), last: latest }
    return (await askLogs(provider, filter, newest, options).next()).value
  }
  const said = parseQuantity(await callProvider(provider, 'eth_blockNumber', [], attempt.signal))
  const asking = begin(askNewest(said))
  // An endpoint that invents blocks would be asked for their logs without an end.
  const far = (await known()) + BigInt(MAX_SEARCH_REQUESTS) * BLOCKS_PER_REQUEST
  const latest = said < far ? said : far
  const piece = await (latest === said ? asking : askNewest(latest))
  attempt.heard()
  const per = allowedBlocks(provider) || BLOCKS_WITH_RECEIPTS
  const count = Math.min(Number((latest - from) / per) + 1, MAX_SEARCH_REQUESTS)
  const first = mostOf(from, latest - BigInt(count) * per + 1n)
  const ask = async (index: number, signal: AbortSignal) => {
    const last = latest - BigInt(index) * per
    const blocks = { first: mostOf(first, last - per + 1n), last }
    const isAsked = index === 0 && piece?.first === blocks.first
    const all = isAsked
      ? readSent(provider, piece.logs, sender, newBudget())
      : await askSent(provider, sender, blocks, { ...attempt, signal }, wanted)
    return { ...blocks, all }
  }
  const areAll = wanted.every(topic => topic === null)
  for await (const blocks of inAdvance(count, LOGS_AT_ONCE, ask, attempt.signal)) {
    const found = blocks.all.filter(isIt)
    if (found.length > 0) return { sent: onlyOf(found, layer), beside: areAll ? blocks : null }
  }
  throw new EndpointError('MESSAGE_MISSING', { found: `none in the blocks ${first} to ${latest}`, layer })
}

const mostOf = (a: bigint, b: bigint): bigint => (a > b ? a : b)

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

export const isSameAs =
  ({ message }: SentMessage) =>
  (other: SentMessage): boolean =>
    bytesToHex(other.message.hash) === bytesToHex(message.hash)

export const isWanted = (message: DecodedMessage, { messageHash, from, to, number }: MessageSearch): boolean =>
  (messageHash === undefined || bytesToHex(message.hash) === messageHash) &&
  (from === undefined || bytesToHex(message.from) === from) &&
  (to === undefined || bytesToHex(message.to) === to) &&
  (number === undefined || message.number === number)
