/**
 * Verifies any number of records, with one verdict each. Also runs in browsers; the command `audit` does the same on all cores.
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
} from './bulk/audit/record.ts'
