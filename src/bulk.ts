/**
 * Verifies any number of records, with a verdict for each. Runs in browsers; the command `audit` does the same on all cores.
 *
 * @module rollup-state-proof/bulk
 */
export {
  type ClaimSource,
  type ProvenVerdict,
  type RecordClaim,
  type RefusedVerdict,
  type UnreadableVerdict,
  type Verdict,
  verifyRecords,
} from './bulk/record.ts'
