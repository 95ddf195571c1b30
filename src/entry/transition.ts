/**
 * State transitions, from the traces of the operator's state manager: every account and slot that differs between two state roots,
 * and what else was read. Pure and synchronous.
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
