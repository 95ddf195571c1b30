import { type Admission, isGiven, pickKnown, type Shape } from '../../base/json/known-fields.ts'
import { openBlockLogs } from '../../verify/blocks/block.ts'
import { decodeType } from '../../verify/blocks/fields.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { type SearchedBlock, searchBlocks } from '../../verify/blocks/logs.ts'
import { LAYOUTS } from '../../verify/blocks/transactions.ts'
import type { LogsBundle } from '../../verify/evidence/kinds/logs.ts'
import { fetchBlock, readBlocks } from './blocks.ts'
import type { BlockSource } from './headers.ts'

export interface LogsSearch {
  readonly filter: DecodedFilter
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

export interface FoundBlock extends SearchedBlock {
  readonly parts: LogsBundle['blocks'][number]
}

/** @param newest the block to begin with, whose hash is proven: that of `newestFor`, or a later one's ancestor */
export function searchLogs(
  source: BlockSource,
  newest: BlockClaim,
  { filter, fromBlock, toBlock }: LogsSearch,
): AsyncGenerator<FoundBlock, void> {
  const search = searchBlocks(filter, toBlock)
  return readBlocks(source, newest, fromBlock, ({ header, rlp }, own): Promise<FoundBlock> => {
    const verified = (parts: FoundBlock['parts']) => ({ parts, ...search.verify(parts, header) })
    if (!search.isSearched(header)) return Promise.resolve(verified({ header: rlp }))
    return fetchBlock(own, header, true, ({ sentReceipts, sentTransactions }) => {
      const receipts = pickList(sentReceipts, RECEIPT)
      const isHere = openBlockLogs(receipts, header).flat().some(search.isSelected)
      const transactions = isHere && { transactions: pickList(sentTransactions, TRANSACTION).map(withoutDerived) }
      return verified({ header: rlp, receipts, ...transactions })
    })
  })
}

const fields = (names: readonly string[], more: Readonly<Record<string, Shape>> = {}): Shape => ({
  fields: { ...Object.fromEntries(names.map(name => [name, 'scalar'] as const)), ...more },
})
const TEXTS: Shape = { items: 'scalar' }

/** What is hashed of a receipt and of a transaction. The rest is derived, and endpoints differ in it. */
const RECEIPT = /* @__PURE__ */ fields(['type', 'status', 'cumulativeGasUsed', 'logsBloom'], {
  logs: { items: /* @__PURE__ */ fields(['address', 'data'], { topics: TEXTS }) },
})
const TRANSACTION = /* @__PURE__ */ fields(
  [
    ...['type', 'chainId', 'nonce', 'gasPrice', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input'],
    ...['maxFeePerBlobGas', 'v', 'yParity', 'r', 's'],
  ],
  {
    accessList: { items: /* @__PURE__ */ fields(['address'], { storageKeys: TEXTS }) },
    blobVersionedHashes: TEXTS,
    authorizationList: { items: /* @__PURE__ */ fields(['chainId', 'address', 'nonce', 'yParity', 'r', 's']) },
  },
)

/** The response has its own limit. What is no hexadecimal is none of these fields. */
const ADMISSION: Admission = { charge: () => {}, admitText: text => (/^0x[0-9a-f]*$/i.test(text) ? text : null) }

const pickList = (sent: unknown, items: Shape): object[] => {
  const picked = pickKnown(sent, { items }, ADMISSION)
  // Whatever it is, the verifier refuses what is no list of objects.
  return Array.isArray(picked) ? picked : []
}

/** The fields of the transaction's type alone. Of `v` and `yParity`, which say the same, only one is read. @throws ProofError */
function withoutDerived(sent: object): object {
  const { type, yParity, v, ...fields } = sent as Record<string, unknown>
  const kind = decodeType(type ?? undefined)
  const parity = kind === 0 || !isGiven(yParity) ? { v } : { yParity }
  const signed = [...LAYOUTS[kind], 'r', 's'].map(name => [name, fields[name]])
  return { type, ...Object.fromEntries(signed), ...parity }
}
