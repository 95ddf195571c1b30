import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { atPath, plural, refusal } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import { mappingSlot } from '../anchor/contract.ts'
import { IMPLEMENTATION_KEY, type Rollup, readRollup } from '../anchor/rollup.ts'
import { type DecodedContract, decodeContract, openContract } from '../anchor/verify.ts'
import {
  type DecodedMessage,
  type Message,
  type MessageLayout,
  readLayout,
  readMessage,
  toTail,
  toWord,
} from './message.ts'
import { type MessageProof, openMessageProof, reader } from './tree.ts'

/** Which message, in which layout. */
export interface MessageRequest {
  /** The message. */
  message: Message
  /** Where the contracts keep messages. Default: `lineaMessageLayout`. */
  layout?: MessageLayout | undefined
}

/** What to verify about a message, in an L1 state that you trust. */
export interface MessageClaim extends MessageRequest {
  /** Root of the L1 state, 32 bytes. */
  l1StateRoot: Hex
  /** The contract that you trust. */
  rollup: Rollup
}

/** What L1 holds about a message from L2, at the proven state. */
export interface MessageFromL2 {
  /**
   * - `claimable`: its tree is anchored on L1, and nobody has claimed it yet
   * - `claimed`: its tree is anchored on L1, and somebody has claimed it
   * - `notAnchored`: L1 does not know the root of its tree. Either the finalization has not reached this L1 state, or these are
   *   not all messages of the tree
   */
  status: 'claimable' | 'claimed' | 'notAnchored'
  /** The hash of the message, 32 bytes. */
  messageHash: Hex
  /** The code behind the contract's proxy, 20 bytes, lower case (EIP-1967). Undefined if the proof does not cover it. */
  implementation: Hex | undefined
}

/** Bits in a word of the bitmap. */
const BITS = 256n

/**
 * The storage keys to request with `eth_getProof` for the rollup contract, to prove the status of a message from L2. They are the
 * depth of its tree, the word of the bitmap that says whether it is claimed, and the code behind the proxy.
 *
 * @param request the message, and the root of its tree, as `messageTrees` returns it
 * @returns 32 bytes each
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { messageFromL2Keys } from 'rollup-state-proof/messages'
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 300n, data: '0x' } as const
 * console.log(messageFromL2Keys({ message, root: `0x${'cd'.repeat(32)}` }).length) // 3
 * ```
 */
export function messageFromL2Keys(request: MessageRequest & { root: Hex }): [Hex, Hex, Hex] {
  const { message, root, layout } = readOptions('', request, ['message', 'root', 'layout'])
  return [...keysOf(readMessage('message', message), root, readLayout(layout)), IMPLEMENTATION_KEY]
}

const keysOf = ({ number }: DecodedMessage, root: Hex, { treeDepths, claimedMessages }: MessageLayout): [Hex, Hex] => [
  atPath('root', () => mappingSlot({ slot: treeDepths, keys: [root] })),
  mappingSlot({ slot: claimedMessages, keys: [number / BITS] }),
]

/**
 * Verifies whether a message from L2 can be claimed on L1, from its place in a tree and an `eth_getProof` result for
 * {@link messageFromL2Keys}. Messages that L1 took before it kept trees are never anchored here.
 *
 * @param parts `messageProof`: one of those that `messageTrees` returns. `l1Proof`: what the L1 endpoint sent as the result
 * @param claim the L1 state root that you trust, the rollup, and the message
 * @throws ProofError `MESSAGE_ROOT_MISMATCH` if the message is not in the tree, `MESSAGE_DEPTH_MISMATCH`,
 * `MESSAGE_NUMBER_CLAIMED`, `MESSAGE_INDEX`, `MESSAGE_MALFORMED`, `ANCHOR_NO_CONTRACT`, `ANCHOR_IMPLEMENTATION_MISMATCH`, and what
 * `verifyEthProof` throws; ArgumentError
 *
 * @example
 * ```ts
 * import { hashMessage, messageFromL2Keys, messageTrees, verifyMessageFromL2 } from 'rollup-state-proof/messages'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { l1 } = createService({ genesis: demoWorld(poseidon2), rollup }).chain
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 1n, data: '0x' } as const
 * const [tree] = messageTrees([hashMessage(message)]) // in production: of all messages of the finalization
 * const root = tree?.root ?? '0x'
 * const l1Proof = l1.getProof(rollup.address, messageFromL2Keys({ message, root }), 0n)
 * const l1StateRoot = Reflect.get(l1.getBlock(0n) ?? {}, 'stateRoot') // in production: from verifyHeader
 * const parts = { messageProof: tree?.proofs[0], l1Proof }
 * console.log(verifyMessageFromL2(parts, { l1StateRoot, rollup, message }).status) // notAnchored
 * ```
 */
export function verifyMessageFromL2(parts: unknown, claim: MessageClaim): MessageFromL2 {
  const decoded = readClaim(claim)
  const field = reader.fieldsOf(parts, ['messageProof', 'l1Proof'])
  const messageProof = field('messageProof', source => openMessageProof(source, decoded.message))
  return field('l1Proof', proof => verifyInL1(proof, messageProof, decoded))
}

/** The status of a message whose place in a tree is verified. */
export function verifyInL1(l1Proof: unknown, messageProof: MessageProof, claim: DecodedMessageClaim): MessageFromL2 {
  const { message, layout, contract } = claim
  const { values, implementation } = readSlots(l1Proof, keysOf(message, messageProof.root, layout), contract)
  const [depth, word] = values
  const isClaimed = (word >> (message.number % BITS)) % 2n === 1n
  return { status: statusOf(messageProof, depth, isClaimed), messageHash: bytesToHex(message.hash), implementation }
}

function statusOf({ proof }: MessageProof, depth: bigint, isClaimed: boolean): MessageFromL2['status'] {
  if (depth === 0n && !isClaimed) return 'notAnchored'
  // Another tree holds the message that was claimed. To wait for this one would be in vain.
  if (depth === 0n) throw refusal('MESSAGE_NUMBER_CLAIMED', 'an anchored root', 'none, but the number is claimed')
  if (depth !== BigInt(proof.length)) throw refusal('MESSAGE_DEPTH_MISMATCH', plural(depth, 'node'), proof.length)
  return isClaimed ? 'claimed' : 'claimable'
}

export type DecodedMessageClaim = ReturnType<typeof readClaim>

export function readClaim(claim: MessageClaim) {
  const own = readOptions('', claim, ['l1StateRoot', 'rollup', 'message', 'layout'])
  return {
    contract: decodeContract(own.l1StateRoot, readRollup(own.rollup)),
    message: readMessage('message', own.message),
    layout: readLayout(own.layout),
  }
}

/** The values of these slots of the rollup contract, as numbers, and the code behind the proxy. */
export function readSlots<Keys extends readonly Hex[]>(proof: unknown, keys: Keys, contract: DecodedContract) {
  const { storage, implementation } = openContract(proof, contract, keys)
  // A proof of fewer slots was refused: what is not proven has no value, not even zero.
  const values = storage.map(({ value }) => BigInt(value)) as { -readonly [Index in keyof Keys]: bigint }
  return { values, implementation }
}

/** What a claim on L1 sends. */
interface MessageClaimCall {
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
const SELECTOR = /* @__PURE__ */ Uint8Array.of(0x64, 0x63, 0xfb, 0x2a)
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
