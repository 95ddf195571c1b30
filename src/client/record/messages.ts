import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atMost } from '../../base/json/decoders.ts'
import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import { type DecodedMessage, encodeMessageLog, MESSAGE_SENT, readMessageLog } from '../../verify/messages/message.ts'
import { askLogs, type BlockRange, inOrder, oldestWithin } from '../l1/log-ranges.ts'
import type { Attempt } from '../sources/endpoints.ts'
import { EndpointError, type EndpointErrorCode, type Layer } from '../transport/error.ts'
import { MAX_MESSAGE_DATA, MAX_MESSAGES, MAX_SEARCH_REQUESTS, MESSAGE_FIELDS } from '../transport/limits.ts'
import { type OpenProvider, parseQuantity } from '../transport/provider.ts'
import type { Redact } from '../transport/redact.ts'

/** Messages from logs of endpoints that may lie. `record-message.ts` has L1 decide which of them were sent. */

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
const listIn = (logs: unknown) => reader.items(logs, atMost('MALFORMED_RESPONSE', MAX_MESSAGES), log => log)
const failed = (code: EndpointErrorCode, layer: Layer, found: string) => new EndpointError(code, { found, layer })

/** The messages in an endpoint's logs, in order. @param budget what more may hold @throws ProofError, EndpointError */
export function readSent(
  logs: unknown,
  { layer, address }: Sender,
  redact: Redact,
  budget = { bytes: MAX_MESSAGE_DATA },
): SentMessage[] {
  return inOrder(listIn(logs)).map(({ log: source, block }) => {
    const data = readOwn(Object(source), 'data')
    // Before it is hashed.
    budget.bytes -= MESSAGE_FIELDS + (typeof data === 'string' ? data.length / 2 : 0)
    if (budget.bytes < 0) throw failed('RESPONSE_TOO_LARGE', layer, `more than ${MAX_MESSAGE_DATA} bytes of messages`)
    const log = readMessageLog(source)
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
  const logs = listIn(readOwn(Object(receipt), 'logs')).filter(log => readMessageLog(log)?.address === address)
  const all = readSent(logs, sender, provider.redact)
  const [sent] = all
  if (sent && all.length === 1) return sent
  const hashes = all.slice(0, 4).map(({ message }) => bytesToHex(message.hash))
  const some = `there are ${all.length} in the transaction: state the hash of one, such as ${hashes.join(', ')}`
  throw failed('MESSAGE_MISSING', layer, sent ? some : 'there is none in the transaction')
}
