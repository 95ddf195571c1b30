/**
 * Blocks, from a block hash that the state holds: headers, transactions, receipts and logs. Pure and synchronous.
 *
 * @module rollup-state-proof/blocks
 */

import type { NamedEvidence } from '../verify/evidence/kind.ts'
import { logsEvidence as logsKind } from '../verify/evidence/kinds/logs.ts'

export type { BlockLog, BlockReceipt, BlockTransaction, VerifiedBlock } from '../verify/blocks/block.ts'
export { verifyBlock } from '../verify/blocks/block.ts'
export type { LogFilter } from '../verify/blocks/filter.ts'
export type { BlockHeader } from '../verify/blocks/header.ts'
export { historyContract, historySlot, readBlockHash, verifyBlockHeader } from '../verify/blocks/header.ts'
export { type Log, type Receipt, verifyReceipts } from '../verify/blocks/receipts.ts'
export { type Transaction, verifyTransactions } from '../verify/blocks/transactions.ts'
export type { LogsBundle, LogsClaim, VerifiedLogs } from '../verify/evidence/kinds/logs.ts'

/**
 * Evidence of logs: the `kind` of a claim for `verifyEvidence`. The result is complete: no log of the range that the filter selects
 * is missing. The hash of the newest block comes from the state (EIP-2935), or from L1 if that holds hashes of blocks. The other
 * blocks follow by their parent hashes. Of each block that the bloom filter in its header does not rule out, all receipts are
 * verified.
 *
 * @example
 * ```ts
 * import { encodeHeader, verifyEvidence } from 'rollup-state-proof/anchor'
 * import { historyContract, historySlot, logsEvidence } from 'rollup-state-proof/blocks'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, createWorld } from 'rollup-state-proof-devnet'
 *
 * // A block without logs, and a state that holds its hash.
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const world = createWorld(poseidon2)
 * const block = Object(createService({ genesis: world, rollup }).chain.l1.getBlock(0n))
 * world.setAccount(historyContract, { nonce: 1n })
 * world.setStorage(historyContract, { key: historySlot(0n), value: block.hash })
 * const answer = world.getProof(historyContract, [historySlot(0n)])
 *
 * const head = { format: 'rollup-state-proof/evidence', version: 1, kind: 'logs', scheme: 'poseidon2', rollup }
 * const range = { fromBlock: '0x0', toBlock: '0x0', filter: { address: [], topics: [] } }
 * const blocks = [{ header: encodeHeader(block) }]
 * const bundle = { ...head, l2BlockNumber: '0x1', answer, ...range, blocks }
 * const trusted = { l2StateRoot: world.stateRoot() }
 * const known = { kind: logsEvidence, scheme: poseidon2, rollup, trusted, l2BlockNumber: 1n }
 * const { logs, blockCount } = verifyEvidence(bundle, { ...known, fromBlock: 0n, toBlock: 0n, filter: {} })
 * console.log(logs.length, blockCount) // 0 1
 * ```
 */
export const logsEvidence: NamedEvidence<'logs'> = logsKind
