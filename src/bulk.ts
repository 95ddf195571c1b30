/**
 * Verifies any number of records, with one verdict each. Also runs in browsers; the command `audit` does the same on all cores.
 *
 * @module rollup-state-proof/bulk
 */
export { type ByteStream, type ReadLinesOptions, readLines } from './bulk/audit/read-lines.ts'
export {
  type ClaimSource,
  type ProvenVerdict,
  type RefusedVerdict,
  type UnreadableVerdict,
  type Verdict,
  type VerdictOn,
  verifyRecords,
} from './bulk/audit/record.ts'
export type { RecordClaim } from './bulk/audit/record-claim.ts'
