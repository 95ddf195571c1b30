import type { Hex } from '../../base/bytes.ts'
import { readSlots } from '../anchor/rollup.ts'

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
