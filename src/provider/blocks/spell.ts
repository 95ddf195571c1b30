import { encodeQuantity } from '../../base/hex.ts'
import type { FetchedBlock } from '../../client/sources/blocks.ts'
import { type BlockReceipt, type BlockTransaction, deriveBody } from '../../verify/blocks/block.ts'

/** Proven blocks as JSON-RPC has them. What a block hash does not prove is left out. */

/** Quantities for all numbers. What is undefined is left out. */
export function spell(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return encodeQuantity(BigInt(value))
  if (Array.isArray(value)) return value.map(spell)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, spell(field)]))
}

/** As nodes have it, a legacy transaction has no parity, and no chain if it holds on every one. */
export function spellTransaction({ chainId, yParity, ...transaction }: BlockTransaction): object {
  const { type } = transaction
  return Object(spell({ ...transaction, ...(chainId !== null && { chainId }), ...(type > 0 && { yParity }) }))
}

/** As nodes have it, only a transaction with blobs has gas for them. */
export function spellReceipt({ blobGasUsed, ...receipt }: Omit<BlockReceipt, 'blockTimestamp'>): object {
  return Object(spell({ ...receipt, ...(blobGasUsed > 0n && { blobGasUsed }) }))
}

/** @param opened the transactions, or undefined for their hashes alone */
export function spellBlock({ header, rlp, transactions }: FetchedBlock, opened?: readonly BlockTransaction[]): object {
  const body = deriveBody(header, rlp, transactions)
  const listed = opened?.map(spellTransaction) ?? transactions.map(({ hash }) => hash)
  return { ...Object(spell({ ...header, ...body })), transactions: listed }
}
