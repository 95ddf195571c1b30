/**
 * State transitions, from the traces of the operator's state manager: every account and slot that was read or written between
 * two state roots, and nothing else. Pure and synchronous.
 *
 * @module rollup-state-proof/transition
 */
export type { AccountDiff, SlotDiff } from '../verify/transition/segment.ts'
export {
  type BlockDiff,
  type TransitionClaim,
  type VerifiedTransition,
  verifyTransition,
} from '../verify/transition/verify.ts'
