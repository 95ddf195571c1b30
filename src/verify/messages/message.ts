import { decodeArgument } from '../../base/arguments.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, concatBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { readSlots } from '../anchor/rollup.ts'
import { decodeLog } from '../blocks/receipts.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { safely } from '../verifier/safe.ts'

/** A message from one layer to the other, as its log `MessageSent` states it. */
export interface Message {
  /** Who sent it, 20 bytes. */
  from: Hex
  /** Who receives it, 20 bytes. */
  to: Hex
  /** What whoever claims it is paid, in wei: the `_fee` of the log. */
  fee: bigint
  /** What the recipient gets, in wei. */
  value: bigint
  /** The `_nonce` of the log. Each direction counts from 1. */
  number: bigint
  /** What the recipient is called with. */
  data: Hex
}

export interface DecodedMessage extends Pick<Message, 'fee' | 'value' | 'number'> {
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly data: Uint8Array
  /** The hash of the message, 32 bytes. */
  readonly hash: Uint8Array
}

const FIELDS = ['from', 'to', 'fee', 'value', 'number', 'data']

/** @param path empty for the argument itself. @throws ArgumentError */
export const readMessage = (path: string, message: Message): DecodedMessage =>
  atPath(path, () => {
    const { from, to, fee, value, number, data } = readOptions('', message, FIELDS)
    return withHash({
      from: decodeArgument('from', from, 20),
      to: decodeArgument('to', to, 20),
      fee: verifyUint('fee', fee, 256),
      value: verifyUint('value', value, 256),
      number: verifyUint('number', number, 256, 1n),
      data: decodeArgument('data', data),
    })
  })

/** The message as a result has it, hexadecimal in lower case. */
export function toMessage({ from, to, fee, value, number, data }: DecodedMessage): Message {
  return { from: bytesToHex(from), to: bytesToHex(to), fee, value, number, data: bytesToHex(data) }
}

const WORD = 32

/** A number, or bytes that are not longer, as the ABI encodes a value of fixed length: 32 bytes, the zeros in front. */
export const toWord = (value: bigint | number | Uint8Array): Uint8Array =>
  value instanceof Uint8Array
    ? concatBytes(new Uint8Array(WORD - value.length), value)
    : bigintToBytes(BigInt(value), WORD)

/** Bytes as the ABI encodes them: the length, and the bytes with zeros up to the next word. */
export const toTail = (bytes: Uint8Array): Uint8Array =>
  concatBytes(toWord(bytes.length), bytes, new Uint8Array(-bytes.length & (WORD - 1)))

/** The hash is over the ABI encoding. That is longer than what is hashed to a node of a tree: neither passes for the other. */
export function withHash(message: Omit<DecodedMessage, 'hash'>): DecodedMessage {
  const { from, to, fee, value, number, data } = message
  const words = [from, to, fee, value, number]
  const hash = keccak256(concatBytes(...[...words, WORD * (words.length + 1)].map(toWord), toTail(data)))
  return { ...message, hash }
}

/**
 * The hash under which both layers know a message, 32 bytes: keccak256(abi.encode(from, to, fee, value, number, data)).
 *
 * @param message its fields, from the log `MessageSent` of either layer
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { hashMessage } from 'rollup-state-proof/messages'
 *
 * // A message from Sepolia to Linea Sepolia. Its log states the hash as the last topic.
 * const [from, to] = ['0x17e764ba16c95815ca06fb5d174f08d842e340df', '0x7a98052d4be677df72ede5a3f2829c893d10388d'] as const
 * const data = '0x54686973206973206a75737420666f7220796f7520676f6f6420736972'
 * const hash = hashMessage({ from, to, fee: 10n ** 16n, value: 10n ** 18n, number: 81987n, data })
 * console.log(hash) // 0x6011e7f01aae0e2cd2650cbe229a330f93821d5ed8a2e8830d1e64ba3c76cc3f
 * ```
 */
export const hashMessage = (message: Message): Hex => bytesToHex(readMessage('', message).hash)

/**
 * The first topic of the log with which either layer sends a message: MessageSent(address indexed from, address indexed to,
 * uint256 fee, uint256 value, uint256 number, bytes data, bytes32 indexed messageHash)
 */
export const MESSAGE_SENT: Hex = '0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c'

/** Fee, value, number, the offset of the data, its length. */
const LOG_HEAD = 5 * WORD

/** Reads a log `MessageSent`. Null if it is none, or does not state the hash of its message: whoever sent it is a liar. */
export function readMessageLog(source: unknown): { readonly address: Hex; readonly message: DecodedMessage } | null {
  const decoded = safely(() => decodeLog(source).fields)
  if (!decoded.ok) return null
  const { address, topics, data } = decoded.value
  const [topic, from, to, hash] = topics
  if (topic !== MESSAGE_SENT || from === undefined || to === undefined || hash === undefined) return null
  const bytes = decodeArgument('data', data)
  const wordAt = (index: number) => bytesToBigint(bytes.subarray(index * WORD, (index + 1) * WORD))
  const end = LOG_HEAD + (bytes.length < LOG_HEAD ? 0 : Number(wordAt(4)))
  if (end > bytes.length) return null
  const [fee, value, number] = [wordAt(0), wordAt(1), wordAt(2)]
  const sent = { from: addressIn(from), to: addressIn(to), fee, value, number }
  const message = withHash({ ...sent, data: bytes.slice(LOG_HEAD, end) })
  return number > 0n && bytesToHex(message.hash) === hash ? { address, message } : null
}

const addressIn = (topic: Hex): Uint8Array => hexToBytes(topic, WORD).subarray(WORD - 20)

/** What a contract writes when it sends the message: the topics, and the data. */
export const encodeMessageLog = ({ from, to, fee, value, number, data, hash }: DecodedMessage) => ({
  topics: [MESSAGE_SENT, ...[from, to, hash].map(bytes => bytesToHex(toWord(bytes)))] as Hex[],
  data: bytesToHex(concatBytes(...[fee, value, number, LOG_HEAD - WORD].map(toWord), toTail(data))),
})

/** Where the contracts keep messages: four slots of the rollup contract on L1, and two of the message service on L2. */
export interface MessageLayout {
  /** On L1: slot of `uint256 nextMessageNumber`. */
  nextMessageNumber: bigint
  /** On L1: slot of `mapping(uint256 messageNumber => bytes32) rollingHashes`. */
  rollingHashes: bigint
  /** On L1: slot of the bitmap of the messages from L2 that are claimed. */
  claimedMessages: bigint
  /** On L1: slot of `mapping(bytes32 root => uint256 depth) l2MerkleRootsDepths`. */
  treeDepths: bigint
  /** On L2: slot of `mapping(bytes32 messageHash => uint256 status) inboxL1L2MessageStatus`. */
  inbox: bigint
  /** On L2: slot of `uint256 nextMessageNumber`. */
  nextNumberOnL2: bigint
}

/**
 * The layout of the Linea deployments. Forks of the contracts may have another.
 *
 * @example
 * ```ts
 * import { lineaMessageLayout } from 'rollup-state-proof/messages'
 *
 * console.log(lineaMessageLayout.treeDepths, lineaMessageLayout.inbox) // 336n 176n
 * ```
 */
export const lineaMessageLayout: MessageLayout = {
  nextMessageNumber: 228n,
  rollingHashes: 334n,
  claimedMessages: 335n,
  treeDepths: 336n,
  inbox: 176n,
  nextNumberOnL2: 278n,
}

/** @throws ArgumentError */
export const readLayout = (layout: MessageLayout = lineaMessageLayout): MessageLayout =>
  // The keys are those of the type.
  readSlots('layout', layout, Object.keys(lineaMessageLayout) as (keyof MessageLayout)[])

/**
 * The message service of Linea, a contract on L2, 20 bytes.
 *
 * @example
 * ```ts
 * import { lineaMessageService } from 'rollup-state-proof/messages'
 *
 * console.log(lineaMessageService) // 0x508Ca82Df566dCD1B0DE8296e70a96332cD644ec
 * ```
 */
export const lineaMessageService: Hex = '0x508Ca82Df566dCD1B0DE8296e70a96332cD644ec'

/**
 * The message service of Linea Sepolia, a contract on L2, 20 bytes.
 *
 * @example
 * ```ts
 * import { lineaSepoliaMessageService } from 'rollup-state-proof/messages'
 *
 * console.log(lineaSepoliaMessageService) // 0x971e727e956690b9957be6d51Ec16E73AcAC83A7
 * ```
 */
export const lineaSepoliaMessageService: Hex = '0x971e727e956690b9957be6d51Ec16E73AcAC83A7'
