import { atPath } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { type Admission, isGiven, pickKnown, readOwn, type Shape, scalars } from '../../base/json/known-fields.ts'
import {
  type OpenedBlockTransaction,
  openBlockLogs,
  openBlockTransactions,
  type SearchedBlock,
  searchBlocks,
} from '../../verify/blocks/block.ts'
import { decodeType } from '../../verify/blocks/fields.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { LAYOUTS } from '../../verify/blocks/transactions.ts'
import type { LogsBundle } from '../../verify/evidence/kinds/logs.ts'
import { CONTENTS_AT_ONCE } from '../transport/limits.ts'
import { eachInAdvance } from '../transport/waiting.ts'
import type { Attempt } from './endpoints.ts'
import { askBlock, askForBlock, type BlockSource, type FetchedHeader, openBlock, walkHeaders } from './headers.ts'

/** Whole blocks, proven from trusted hashes. They are apart from their headers, because transactions take the curve of signatures. */

export interface FetchedBlock extends FetchedHeader {
  /** Each is opened when it is needed: recovering a sender takes about a millisecond. */
  readonly transactions: readonly OpenedBlockTransaction[]
  /** As the endpoint sent them: `verifyTransactions` takes them. */
  readonly sentTransactions: unknown
  /** As the endpoint sent them, if they were asked for: for `openBlockReceipts`. */
  readonly sentReceipts: unknown
}

/** A block with its transactions, and what `use` makes of it, from the first endpoint for which it does not throw. */
export const fetchBlock = <T>(
  { l2, signal }: BlockSource,
  claim: BlockClaim,
  withReceipts: boolean,
  use: (block: FetchedBlock, attempt: Attempt) => T | Promise<T>,
): Promise<T> =>
  l2.run(async (provider, attempt) => {
    const params = [encodeQuantity(claim.number)] as const
    const [block, sentReceipts] = await Promise.all([
      askBlock(provider, claim.number, true, attempt.signal),
      withReceipts ? askForBlock(provider, 'eth_getBlockReceipts', params, attempt.signal) : undefined,
    ])
    attempt.heard()
    const opened = openBlock(block, claim)
    const sentTransactions = readOwn(Object(block), 'transactions')
    const transactions = atPath('transactions', () => openBlockTransactions(sentTransactions, opened.header))
    return use({ ...opened, transactions, sentTransactions, sentReceipts }, attempt)
  }, signal)

export interface LogsSearch {
  readonly filter: DecodedFilter
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

export interface FoundBlock extends SearchedBlock {
  readonly parts: LogsBundle['blocks'][number]
}

/** @param newest the block to begin with, whose hash is proven: that of `newestFor`, or a later one's ancestor */
export function searchLogs(source: BlockSource, newest: BlockClaim, { filter, fromBlock, toBlock }: LogsSearch) {
  const search = searchBlocks(filter, toBlock)
  const read = async ({ header, rlp }: FetchedHeader, signal: AbortSignal): Promise<FoundBlock> => {
    const verified = (parts: FoundBlock['parts']) => ({ parts, ...search.verify(parts, header) })
    if (!search.isSearched(header)) return verified({ header: rlp })
    return fetchBlock({ ...source, signal }, header, true, ({ sentReceipts, sentTransactions }) => {
      const receipts = pickReceipts(sentReceipts)
      const isHere = openBlockLogs(receipts, header).flat().some(search.isSelected)
      // They were opened, so it is a list.
      const transactions = isHere && (sentTransactions as readonly unknown[]).map(pickTransaction)
      return verified({ header: rlp, receipts, ...(transactions && { transactions }) })
    })
  }
  const walk = (signal: AbortSignal) => walkHeaders({ ...source, signal }, newest, fromBlock)
  return eachInAdvance(walk, CONTENTS_AT_ONCE, read, source.signal)
}

/** The response has its own limit. What is no hexadecimal is none of these fields. */
const ADMISSION: Admission = { charge: () => {}, admitText: text => (/^0x[0-9a-f]*$/i.test(text) ? text : null) }

const TEXTS: Shape = { items: 'scalar' }
const LISTS: Readonly<Record<string, Shape>> = {
  accessList: { items: { fields: { address: 'scalar', storageKeys: TEXTS } } },
  authorizationList: { items: /* @__PURE__ */ scalars(['chainId', 'address', 'nonce', 'yParity', 'r', 's']) },
  blobVersionedHashes: TEXTS,
  logs: { items: { fields: { address: 'scalar', data: 'scalar', topics: TEXTS } } },
}

const fields = (names: readonly string[]): Shape => ({
  fields: Object.fromEntries(names.map(name => [name, LISTS[name] ?? 'scalar'])),
})

/** What is hashed of each. The rest is derived, and endpoints differ in it. Whoever verifies them refuses what is no list. */
function pickReceipts(sent: unknown): object[] {
  const receipt = fields(['type', 'status', 'cumulativeGasUsed', 'logsBloom', 'logs'])
  const picked = pickKnown(sent, { items: receipt }, ADMISSION)
  return Array.isArray(picked) ? picked : []
}

/** The fields of the transaction's type alone. Of `v` and `yParity`, which say the same, only one is read. @throws ProofError */
function pickTransaction(sent: unknown): object {
  const [type, yParity] = ['type', 'yParity'].map(name => readOwn(Object(sent), name))
  const kind = decodeType(type ?? undefined)
  const parity = kind === 0 || !isGiven(yParity) ? 'v' : 'yParity'
  return Object(pickKnown(sent, fields(['type', ...LAYOUTS[kind], 'r', 's', parity]), ADMISSION))
}
