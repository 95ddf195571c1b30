/**
 * Blocks, from a block hash that the state holds: headers, transactions, receipts and logs. Pure and synchronous.
 *
 * @module rollup-state-proof/blocks
 */
export { encodeHeader } from './anchor/header.ts'
export {
  type BlockLog,
  type BlockPlace,
  type BlockReceipt,
  type BlockTransaction,
  type VerifiedBlock,
  verifyBlock,
} from './blocks/block.ts'
export type { TransactionType } from './blocks/fields.ts'
export { filterLogs, type LogFilter } from './blocks/filter.ts'
export { type BlockClaim, type BlockHeader, verifyBlockHeader } from './blocks/header.ts'
export { verifyHeaderChain } from './blocks/header-chain.ts'
export { type HistoryClaim, historyContract, historySlot, type ProvenHistory, readBlockHash } from './blocks/history.ts'
export { type Log, type Receipt, verifyReceipts } from './blocks/receipts.ts'
export {
  type AccessListEntry,
  type Authorization,
  type Transaction,
  verifyTransactions,
} from './blocks/transactions.ts'
export { blocksErrorMeanings } from './error-meanings.ts'
export { type LogsBundle, type LogsClaim, type VerifiedLogs, verifyLogs } from './evidence/logs.ts'
