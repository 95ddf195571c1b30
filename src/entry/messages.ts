/**
 * Messages of the bridge, in both directions: what L1 and L2 are proven to hold about them, and the claim of a message from L2.
 * Pure and synchronous.
 *
 * @module rollup-state-proof/messages
 */
import type { NamedEvidence } from '../verify/evidence/kind.ts'
import { messageEvidence as messageKind } from '../verify/evidence/kinds/message.ts'

export {
  createMessageBundle,
  type MessageBundle,
  type MessageBundleParts,
  type MessageEvidenceClaim,
  type VerifiedMessage,
} from '../verify/evidence/kinds/message.ts'
export {
  encodeMessageClaim,
  type MessageClaim,
  type MessageFromL2,
  messageFromL2Keys,
  verifyMessageFromL2,
} from '../verify/messages/from-l2.ts'
export {
  hashMessage,
  lineaMessageLayout,
  lineaMessageService,
  lineaSepoliaMessageService,
  type Message,
  type MessageLayout,
} from '../verify/messages/message.ts'
export {
  type MessageArrival,
  type MessageToL2,
  messageArrivalKey,
  messageToL2Keys,
  readMessageArrival,
  verifyMessageToL2,
} from '../verify/messages/to-l2.ts'
export { type MessageProof, type MessageTree, messageTrees } from '../verify/messages/tree.ts'

/**
 * Evidence of a message, in either direction: the `kind` of a claim for `verifyEvidence`.
 *
 * @example
 * ```ts
 * import { verifyEvidence } from 'rollup-state-proof/anchor'
 * import { createMessageBundle, messageEvidence, messageToL2Keys } from 'rollup-state-proof/messages'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { l1 } = createService({ genesis: demoWorld(poseidon2), rollup }).chain
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 9n, data: '0x' } as const
 * const [block, proof] = [l1.getBlock(0n), l1.getProof(rollup.address, messageToL2Keys({ message }), 0n)]
 * const bundle = createMessageBundle({ rollup, message, l1: { block, proof } })
 *
 * const trusted = { l1BlockHash: Object(block).hash } // in production: from a source that you trust
 * console.log(verifyEvidence(bundle, { kind: messageEvidence, rollup, trusted, message }).status) // notSent
 * ```
 */
export const messageEvidence: NamedEvidence<'message'> = messageKind
