/**
 * Messages of the bridge, in both directions: what L1 and L2 are proven to hold about them, and the claim of a message from L2.
 * Pure and synchronous.
 *
 * @module rollup-state-proof/messages
 */
export { messagesErrorMeanings } from '../base/error-meanings.ts'
export {
  createMessageBundle,
  type MessageBundle,
  type MessageBundleParts,
  type MessageEvidenceClaim,
  messageEvidence,
  type VerifiedMessage,
} from '../verify/evidence/kinds/message.ts'
export { encodeMessageClaim } from '../verify/messages/claim-call.ts'
export {
  type MessageClaim,
  type MessageFromL2,
  messageFromL2Keys,
  verifyMessageFromL2,
} from '../verify/messages/from-l2.ts'
export {
  lineaMessageLayout,
  lineaMessageService,
  lineaSepoliaMessageService,
  type MessageLayout,
} from '../verify/messages/layout.ts'
export { hashMessage, type Message } from '../verify/messages/message.ts'
export {
  type MessageArrival,
  type MessageToL2,
  messageArrivalKey,
  messageToL2Keys,
  readMessageArrival,
  verifyMessageToL2,
} from '../verify/messages/to-l2.ts'
export { type MessageProof, type MessageTree, messageTrees } from '../verify/messages/tree.ts'
