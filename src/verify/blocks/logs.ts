import { refusal } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import { type BlockLog, openBlockLogs, openBlockTransactions, withTransactions } from './block.ts'
import { mapAt, reader } from './fields.ts'
import { bloomTest, type DecodedFilter, selectedBy } from './filter.ts'
import { type BlockClaim, type BlockHeader, openHeader } from './header.ts'

/** What one block of a range proves about the logs that are searched for. */
export interface SearchedBlock {
  readonly header: BlockHeader
  readonly logs: readonly BlockLog[]
  /** How many receipts were verified; null if none needed to be. */
  readonly receiptCount: number | null
}

const PARTS = ['header', 'transactions', 'receipts'] as const

/** Searches blocks, newest first. Those after `toBlock`, the last of the range, only lead there. */
export function searchBlocks(filter: DecodedFilter, toBlock: bigint) {
  const [isSelected, mayBeIn] = [selectedBy(filter), bloomTest(filter)]
  const isSearched = ({ number, logsBloom }: BlockHeader) => number <= toBlock && mayBeIn(logsBloom)
  return {
    /** Whether a log is selected. */
    isSelected,
    /** Whether the receipts of a block are needed, whose header is proven. */
    isSearched,
    /**
     * Verifies a block against the hash and number that the block after it proves. A block consists of what proves its logs, and
     * no more: its header, its receipts unless the bloom filter in the header rules out such logs, and its transactions if there is
     * such a log.
     */
    verify(parts: unknown, claim: BlockClaim): SearchedBlock {
      const field = reader.fieldsOf(parts, PARTS)
      const header = field('header', value => openHeader(value, claim))
      const sent = field('receipts', onlyIf(isSearched(header)))
      const openAll = (list: unknown) => {
        const all = openBlockTransactions(list, header)
        mapAt(all, one => one.compare())
        return all
      }
      const transactions = sent === undefined ? undefined : field('transactions', optional(openAll))
      const byReceipt = sent === undefined ? undefined : openBlockLogs(sent, header, transactions)
      const logs = byReceipt?.flat().filter(isSelected) ?? []
      field('transactions', onlyIf(logs.length > 0))
      return { header, logs: withTransactions(logs, transactions ?? []), receiptCount: byReceipt?.length ?? null }
    },
  }
}

const onlyIf =
  (isNeeded: boolean) =>
  (list: unknown): unknown => {
    if (isNeeded && list === undefined) throw refusal('LOGS_CONTENT_MISSING', 'those of the block', 'none')
    if (!isNeeded && list !== undefined) throw refusal('LOGS_CONTENT_UNUSED', 'none', 'some')
    return list
  }
