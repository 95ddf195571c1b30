/**
 * Verifies any number of records, with one verdict each. Also runs in browsers; the command `audit` does the same on all cores.
 *
 * @module rollup-state-proof/bulk
 */
export { type ByteStream, type ReadLinesOptions, readLines } from '../cli/audit/read-lines.ts'
export {
  type ClaimSource,
  type ProvenVerdict,
  type RefusedVerdict,
  type UnreadableVerdict,
  type Verdict,
  type VerdictOn,
  verifyRecords,
} from '../cli/audit/record.ts'
export type { RecordClaim } from '../cli/audit/record-claim.ts'
