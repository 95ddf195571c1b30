/**
 * Blocks, from a block hash that the state holds: headers, transactions, receipts and logs. Pure and synchronous.
 *
 * @module rollup-state-proof/blocks
 */

export { blocksErrorMeanings } from '../base/error-meanings.ts'
export { encodeHeader } from '../verify/anchor/header.ts'
export {
  type BlockLog,
  type BlockReceipt,
  type BlockTransaction,
  type VerifiedBlock,
  verifyBlock,
} from '../verify/blocks/block.ts'
export { filterLogs, type LogFilter } from '../verify/blocks/filter.ts'
export { type BlockHeader, verifyBlockHeader } from '../verify/blocks/header.ts'
export { verifyHeaderChain } from '../verify/blocks/header-chain.ts'
export { historyContract, historySlot, readBlockHash } from '../verify/blocks/history.ts'
export { type Log, type Receipt, verifyReceipts } from '../verify/blocks/receipts.ts'
export { type Transaction, verifyTransactions } from '../verify/blocks/transactions.ts'
export { type LogsBundle, type LogsClaim, logsEvidence, type VerifiedLogs } from '../verify/evidence/kinds/logs.ts'
