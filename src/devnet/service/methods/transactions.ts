import type { Hex } from '../../../base/bytes.ts'
import { encodeQuantity } from '../../../base/hex.ts'
import { readShares, tipsAt } from '../../../provider/blocks/methods.ts'
import { invalidParams } from '../../../provider/error.ts'
import { MAX_FEE_BLOCKS } from '../../../provider/limits.ts'
import { params as read } from '../../../provider/requests.ts'
import { BASE_FEE, GAS_LIMIT } from '../block.ts'
import type { FullChain, StoredBlock } from '../chain.ts'
import type { ChainLog } from '../content.ts'
import { type Method, MethodError } from '../json-rpc.ts'
import { MAX_TRANSACTION_LENGTH } from '../limits.ts'
import { filterMethods, getLogs } from './logs.ts'

/** Of a block in Prague (EIP-7691). */
const MAX_BLOB_GAS = 1_179_648
/** What the service suggests to pay beyond the base fee, in wei. */
const TIP = 1_000_000_000n

/** The methods about transactions, receipts, logs and fees. @param numberOf reads the number of a block */
export function transactionMethods(chain: FullChain, numberOf: (block: unknown) => bigint): Record<string, Method> {
  const { blocks } = chain
  /** Looks up what belongs to a transaction, by its hash; null if there is none. */
  const lookUp =
    (name: 'transactions' | 'receipts'): Method =>
    params => {
      const hash = read.bytes('transaction hash', read.take(params, 1, 1)[0], 32)
      const content = blocks.holding(hash)?.content
      const index = content?.transactions.findIndex(transaction => transaction.hash === hash) ?? -1
      return content?.[name][index] ?? null
    }

  function* logsOf(from: bigint, to: bigint): Iterable<ChainLog> {
    if (from < blocks.oldest()) throw new MethodError(PRUNED, 'pruned history unavailable')
    for (let number = from; number <= to && number <= blocks.newest(); number++) {
      for (const { logs } of blocks.at(number)?.content.receipts ?? []) yield* logs
    }
  }

  function feeHistory(params: readonly unknown[]): object {
    const [count, newest, percentiles] = read.take(params, 2, 3)
    const wanted =
      typeof count === 'number' && count >= 0 ? BigInt(Math.floor(count)) : read.quantity('block count', count, 64)
    if (wanted > MAX_FEE_BLOCKS) throw invalidParams(`block count: expected at most ${MAX_FEE_BLOCKS}`)
    const last = newest === 'pending' ? blocks.newest() : numberOf(newest)
    if (last > blocks.newest()) throw invalidParams('newest block: it does not exist yet')
    const rewards = percentiles === undefined ? null : readShares(percentiles)
    const first = last + 1n - wanted
    const kept: StoredBlock[] = []
    for (let number = first > blocks.oldest() ? first : blocks.oldest(); number <= last; number++) {
      const stored = blocks.at(number)
      if (stored) kept.push(stored)
    }
    return {
      oldestBlock: encodeQuantity(kept[0]?.block.number ?? last),
      baseFeePerGas: [...kept, null].map(() => encodeQuantity(BASE_FEE)),
      gasUsedRatio: kept.map(({ block }) => Number(block.content.gasUsed) / Number(GAS_LIMIT)),
      baseFeePerBlobGas: [...kept, null].map(() => '0x1'),
      blobGasUsedRatio: kept.map(({ block }) => Number(block.content.blobGasUsed) / MAX_BLOB_GAS),
      ...(rewards && { reward: kept.map(stored => rewardsOf(stored, rewards)) }),
    }
  }

  let sender: Promise<(raw: Hex) => Promise<Hex>> | undefined
  return {
    async eth_sendRawTransaction(params) {
      const raw = read.data('transaction', read.take(params, 1, 1)[0], MAX_TRANSACTION_LENGTH)
      // Imported on first use, because most services only read.
      sender ??= import('../send.ts').then(({ createSender }) => createSender(chain))
      return (await sender)(raw)
    },
    eth_getTransactionByHash: lookUp('transactions'),
    eth_getTransactionReceipt: lookUp('receipts'),
    eth_getBlockReceipts(params) {
      const [block] = read.take(params, 1, 1)
      const isHash = typeof block === 'string' && block.length === 66
      const number = isHash ? blocks.numberOf(read.bytes('block hash', block, 32)) : numberOf(block)
      return blocks.at(number ?? -1n)?.content.receipts ?? null
    },
    eth_getLogs: params => getLogs(read.take(params, 1, 1)[0], { logsOf, numberOf }),
    ...filterMethods(chain, { logsOf, numberOf }),
    eth_gasPrice: params => read.take(params, 0, 0) && encodeQuantity(BASE_FEE + TIP),
    eth_maxPriorityFeePerGas: params => read.take(params, 0, 0) && encodeQuantity(TIP),
    eth_feeHistory: feeHistory,
  }
}

/** As geth has it (EIP-4444). */
const PRUNED = 4444

/** What the transactions of a block paid beyond the base fee, at percentiles of the gas that they used. */
const rewardsOf = ({ block, content }: StoredBlock, shares: readonly number[]): string[] =>
  tipsAt(
    shares,
    content.receipts.map(({ effectiveGasPrice: price, gasUsed }) => ({
      tip: BigInt(String(price)) - BASE_FEE,
      gas: BigInt(String(gasUsed)),
    })),
    block.content.gasUsed,
  )
