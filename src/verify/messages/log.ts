import { bytesToBigint, bytesToHex, concatBytes, type Hex, hexLength, hexToBytes } from '../../base/bytes.ts'
import { decodeLog } from '../blocks/receipts.ts'
import { safely } from '../verifier/safe.ts'
import { type DecodedMessage, toTail, toWord, withHash } from './message.ts'

/**
 * The first topic of the log with which either layer sends a message: MessageSent(address indexed from, address indexed to,
 * uint256 fee, uint256 value, uint256 number, bytes data, bytes32 indexed messageHash)
 */
export const MESSAGE_SENT: Hex = '0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c'

const WORD = 32
/** Fee, value, number, the offset of the data, its length. */
const HEAD = 5 * WORD

/** Reads a log `MessageSent`. Null if it is none, or does not state the hash of its message: whoever sent it is a liar. */
export function readMessageLog(source: unknown): { readonly address: Hex; readonly message: DecodedMessage } | null {
  const decoded = safely(() => decodeLog(source).fields)
  if (!decoded.ok) return null
  const { address, topics, data } = decoded.value
  const [topic, from, to, hash] = topics
  if (topic !== MESSAGE_SENT || from === undefined || to === undefined || hash === undefined) return null
  const bytes = hexToBytes(data, hexLength(data))
  const wordAt = (index: number) => bytesToBigint(bytes.subarray(index * WORD, (index + 1) * WORD))
  const end = HEAD + (bytes.length < HEAD ? 0 : Number(wordAt(4)))
  if (end > bytes.length) return null
  const [fee, value, number] = [wordAt(0), wordAt(1), wordAt(2)]
  const sent = { from: addressIn(from), to: addressIn(to), fee, value, number }
  const message = withHash({ ...sent, data: bytes.slice(HEAD, end) })
  return number > 0n && bytesToHex(message.hash) === hash ? { address, message } : null
}

const addressIn = (topic: Hex): Uint8Array => hexToBytes(topic, WORD).subarray(WORD - 20)

/** What a contract writes when it sends the message: the topics, and the data. */
export const encodeMessageLog = ({ from, to, fee, value, number, data, hash }: DecodedMessage) => ({
  topics: [MESSAGE_SENT, ...[from, to, hash].map(bytes => bytesToHex(toWord(bytes)))] as Hex[],
  data: bytesToHex(concatBytes(...[fee, value, number, HEAD - WORD].map(toWord), toTail(data))),
})
