import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import { type Message, readMessage, toTail, toWord } from './message.ts'
import { type MessageProof, openMessageProof } from './tree.ts'

/** What a claim on L1 sends. */
export interface MessageClaimCall {
  /** The message from L2. */
  message: Message
  /** Its place in a tree that is anchored on L1. */
  messageProof: MessageProof
  /** Whom L1 pays the fee, 20 bytes. Default: whoever sends the transaction. */
  feeRecipient?: Hex | undefined
}

/**
 * claimMessageWithProof((bytes32[] proof, uint256 messageNumber, uint32 leafIndex, address from, address to, uint256 fee,
 * uint256 value, address feeRecipient, bytes32 merkleRoot, bytes data))
 */
const SELECTOR = Uint8Array.of(0x64, 0x63, 0xfb, 0x2a)
const WORD = 32
/** The fields of the struct, of which two are offsets. */
const HEAD = 10 * WORD

/**
 * The data of the transaction to the rollup contract on L1 that claims a message from L2. Send it if {@link
 * verifyMessageFromL2} returns `claimable`; the contract refuses every other. A deposit is not needed: the value comes from the
 * contract.
 *
 * @param call the message, its place in the tree, and whom L1 pays the fee
 * @returns the calldata
 * @throws ProofError `MESSAGE_ROOT_MISMATCH` if the message is not in the tree, `MESSAGE_INDEX`, `MESSAGE_MALFORMED`;
 * ArgumentError
 *
 * @example
 * ```ts
 * import { encodeMessageClaim, hashMessage, messageTrees } from 'rollup-state-proof/messages'
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 1n, data: '0x' } as const
 * for (const { proofs } of messageTrees([hashMessage(message)])) {
 *   for (const messageProof of proofs) console.log(encodeMessageClaim({ message, messageProof }).slice(0, 10)) // 0x6463fb2a
 * }
 * ```
 */
export function encodeMessageClaim(call: MessageClaimCall): Hex {
  const own = readOptions('', call, ['message', 'messageProof', 'feeRecipient'])
  const message = readMessage('message', own.message)
  const feeRecipient = own.feeRecipient === undefined ? 0n : decodeArgument('feeRecipient', own.feeRecipient, 20)
  const { root, leafIndex, proof } = atPath('messageProof', () => openMessageProof(own.messageProof, message))
  const { from, to, fee, value, number, data } = message
  const nodes = proof.map(node => hexToBytes(node, WORD))
  const dataOffset = HEAD + WORD * (1 + nodes.length)
  const head = [HEAD, number, leafIndex, from, to, fee, value, feeRecipient, hexToBytes(root, WORD), dataOffset]
  const words = [WORD, ...head, nodes.length, ...nodes]
  return bytesToHex(concatBytes(SELECTOR, ...words.map(toWord), toTail(data)))
}
