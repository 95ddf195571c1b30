import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { isGiven } from '../../base/json/known-fields.ts'
import type { FetchedBlock } from '../../client/sources/blocks.ts'
import { CONTENTS_AT_ONCE } from '../../client/transport/limits.ts'
import { inAdvance } from '../../client/transport/waiting.ts'
import { type BlockReceipt, contextOf, NO_CONTEXT, NO_UNCLES, openBlockReceipts } from '../../verify/blocks/block.ts'
import { listOf } from '../../verify/blocks/fields.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { type Context, decodeReceipt, encodeReceipt } from '../../verify/blocks/receipts.ts'
import { invalidParams, refusedFor } from '../error.ts'
import { MAX_FEE_BLOCKS, MAX_PERCENTILES, MAX_REWARD_BLOCKS, TIP_BLOCKS, TIP_SAMPLES } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { type BlockMethod, type Method, params } from '../requests.ts'
import type { CurrentView } from '../view.ts'
import { type Chain, createChain, knownBlocksOf, openAll, unprovenBlock } from './chain.ts'
import { createFilters } from './filters.ts'
import { createLogSearch, getLogs, readNumber } from './logs.ts'
import { spellBlock, spellReceipt, spellTransaction } from './spell.ts'

/** What was paid in proven blocks. What a later block will take is nobody's to prove. */

const tipOf = ({ baseFeePerGas = 0n }: BlockHeader, { gasPrice }: { readonly gasPrice: bigint }): bigint =>
  gasPrice - baseFeePerGas

const ascending = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)
const least = (...numbers: bigint[]): bigint => numbers.reduce((least, one) => (one < least ? one : least))

/** A tip that was enough lately: the median of those in the newest proven blocks that have transactions; zero if none has any. */
async function suggestTip({ newest, oldest, walk, withBlock }: Chain): Promise<bigint> {
  const samples: bigint[][] = []
  for await (const header of walk(newest - least(TIP_BLOCKS - 1n, newest - oldest), newest)) {
    if (header.gasUsed === 0n) continue
    const tipsIn = ({ transactions }: FetchedBlock) => transactions.map(one => tipOf(header, one))
    samples.push(await withBlock(header.number, false, tipsIn))
    if (samples.length === TIP_SAMPLES) break
  }
  const tips = samples.flat().sort(ascending)
  return tips[tips.length >> 1] ?? 0n
}

/** It ends one block before the newest proven one, because it also has the base fee of the block after its last one. */
export async function feeHistory(chain: Chain, [count, end, percentiles]: readonly unknown[]): Promise<object> {
  const { newest, oldest, pace, view } = chain
  const shares = isGiven(percentiles) ? readShares(percentiles) : []
  const most = shares.length === 0 ? MAX_FEE_BLOCKS : MAX_REWARD_BLOCKS
  // Some clients send a number.
  const asked = params.quantity('block count', typeof count === 'number' ? `0x${count.toString(16)}` : count, 64)
  const last = readNumber(end, chain)
  if (last > newest) throw unprovenBlock(view, last)
  const next = last === newest ? last : last + 1n
  const first = next - least(asked, most, next - oldest)
  const headers: BlockHeader[] = []
  for await (const header of chain.walk(first, next)) headers.unshift(header)
  const listed = headers.slice(0, -1)
  const reward: string[][] = []
  const paid = shares.length === 0 ? [] : listed
  // The index is one of theirs.
  const read = (index: number, signal: AbortSignal) => rewardsOf(chain, paid[index] as BlockHeader, shares, signal)
  for await (const row of inAdvance(paid.length, CONTENTS_AT_ONCE, read, pace.signal)) reward.push(row)
  const hasBlobs = headers.some(({ excessBlobGas = 0n, blobGasUsed = 0n }) => excessBlobGas + blobGasUsed > 0n)
  // The fees for blobs depend on the fork, and the rollup has no blobs.
  const blobs = !hasBlobs && { baseFeePerBlobGas: headers.map(blobFeeOf), blobGasUsedRatio: listed.map(() => 0) }
  return {
    oldestBlock: encodeQuantity(first),
    baseFeePerGas: headers.map(({ baseFeePerGas = 0n }) => encodeQuantity(baseFeePerGas)),
    ...blobs,
    gasUsedRatio: listed.map(({ gasUsed, gasLimit }) => (gasLimit === 0n ? 0 : Number(gasUsed) / Number(gasLimit))),
    ...(shares.length > 0 && { reward }),
  }
}

/** In wei, for a unit of blob gas, without an excess. */
const blobFeeOf = ({ excessBlobGas }: BlockHeader): Hex => (excessBlobGas === undefined ? '0x0' : '0x1')

/** Percentiles, which rise. @throws ProviderError `PARAMS_INVALID` */
export function readShares(percentiles: unknown): number[] {
  const shares = params.list('percentiles', percentiles, MAX_PERCENTILES, (place, value) => {
    if (typeof value === 'number' && value >= 0 && value <= 100) return value
    throw invalidParams(`${place}: expected a number from 0 to 100.`)
  })
  if (shares.some((share, index) => share < (shares[index - 1] ?? 0))) throw invalidParams('The percentiles fall.')
  return shares
}

/** Of the transactions of a block by their tips, that at each share of the gas used. */
export function tipsAt(shares: readonly number[], paid: readonly { tip: bigint; gas: bigint }[], gasUsed: bigint) {
  const sorted = paid.toSorted((one, other) => ascending(one.tip, other.tip))
  return shares.map(share => {
    let sum = 0
    for (const { tip, gas } of sorted) {
      sum += Number(gas)
      if (sum >= (Number(gasUsed) * share) / 100) return encodeQuantity(tip)
    }
    return encodeQuantity(sorted.at(-1)?.tip ?? 0n)
  })
}

async function rewardsOf({ withBlock }: Chain, header: BlockHeader, shares: readonly number[], signal: AbortSignal) {
  if (header.gasUsed === 0n) return shares.map(() => '0x0')
  const read = ({ transactions, sentReceipts }: FetchedBlock) => {
    const receipts = openBlockReceipts(sentReceipts, header, transactions, () => NO_CONTEXT)
    const paid = transactions.map((one, index) => ({ tip: tipOf(header, one), gas: receipts[index]?.gasUsed ?? 0n }))
    return tipsAt(shares, paid, header.gasUsed)
  }
  return withBlock(header.number, true, read, signal)
}

const hashIn = (value: unknown): Hex => params.bytes('hash', value, 32)
const isHash = (value: unknown): boolean => typeof value === 'string' && value.length === 66

/** The blocks that a request at this pace is answered from. */
type ChainNow = (pace: Pace) => Promise<Chain>

/** What they answer is proven from the view's state, but null is not: a hash that is unknown, or a block that is too new. */
export function createBlockMethods(settings: VerifiedOptions, current: CurrentView['current']) {
  const chainAt = createChain(settings, knownBlocksOf(settings))
  const chainNow: ChainNow = async pace => chainAt(await current(), pace)
  const search = createLogSearch(settings)
  return {
    ...ofBlocks(chainNow),
    ...ofTransactions(chainNow),
    eth_getLogs: async ([query], pace) => getLogs(search, await chainNow(pace), query),
    eth_feeHistory: async (given, pace) => feeHistory(await chainNow(pace), given),
    async eth_blobBaseFee(_, pace) {
      const { headerAt, newest } = await chainNow(pace)
      const header = await headerAt(newest)
      if ((header.excessBlobGas ?? 0n) === 0n) return blobFeeOf(header)
      throw refusedFor('BLOCK_UNPROVEN', { found: 'The block has blobs, whose fee depends on its fork.' })
    },
    eth_maxPriorityFeePerGas: async (_, pace) => encodeQuantity(await suggestTip(await chainNow(pace))),
    async eth_gasPrice(_, pace) {
      const chain = await chainNow(pace)
      const tip = await suggestTip(chain)
      const { baseFeePerGas = 0n } = await chain.headerAt(chain.newest)
      return encodeQuantity(baseFeePerGas + tip)
    },
    ...createFilters({ search, chainNow, timeoutMs: settings.timeoutMs }),
  } satisfies Record<BlockMethod, Method>
}

/** The number of the block that a client names; null if it is none that is proven. */
type Find = (chain: Chain, value: unknown) => Promise<bigint | null>
type Answer = (chain: Chain, number: bigint, more: unknown) => Promise<unknown>

function ofBlocks(chainNow: ChainNow) {
  const byNumber: Find = async (chain, value) => {
    const number = readNumber(value, chain)
    return number > chain.newest ? null : number
  }
  const byHash: Find = ({ numberOf }, value) => numberOf(hashIn(value))
  const byEither: Find = (chain, value) => (isHash(value) ? byHash : byNumber)(chain, value)

  /** Null if nothing is proven of the block that the first parameter names. */
  const about =
    (find: Find, answer: Answer): Method =>
    async ([block, more], pace) => {
      const chain = await chainNow(pace)
      const number = await find(chain, block)
      return number === null ? null : answer(chain, number, more)
    }

  return {
    eth_getBlockByNumber: about(byNumber, getBlock),
    eth_getBlockByHash: about(byHash, getBlock),
    eth_getBlockTransactionCountByNumber: about(byNumber, countTransactions),
    eth_getBlockTransactionCountByHash: about(byHash, countTransactions),
    eth_getUncleCountByBlockNumber: about(byNumber, countUncles),
    eth_getUncleCountByBlockHash: about(byHash, countUncles),
    eth_getUncleByBlockNumberAndIndex: about(byNumber, getUncle),
    eth_getUncleByBlockHashAndIndex: about(byHash, getUncle),
    eth_getTransactionByBlockNumberAndIndex: about(byNumber, getTransaction),
    eth_getTransactionByBlockHashAndIndex: about(byHash, getTransaction),
    eth_getRawTransactionByBlockNumberAndIndex: about(byNumber, getRawTransaction),
    eth_getRawTransactionByBlockHashAndIndex: about(byHash, getRawTransaction),
    eth_getBlockReceipts: about(byEither, getReceipts),
    debug_getRawReceipts: about(byEither, getRawReceipts),
    debug_getRawHeader: about(byEither, ({ withBlock }, number) => withBlock(number, false, ({ rlp }) => rlp)),
  }
}

const getBlock: Answer = ({ withBlock, pace }, number, isFull) =>
  withBlock(number, false, async (block, attempt) =>
    spellBlock(block, isFull === true ? await openAll(block, pace, attempt) : undefined),
  )

const countTransactions: Answer = ({ withBlock }, number) =>
  withBlock(number, false, ({ transactions }) => encodeQuantity(BigInt(transactions.length)))

const countUncles: Answer = async ({ headerAt }, number) => {
  const { sha3Uncles } = await headerAt(number)
  if (sha3Uncles === NO_UNCLES) return '0x0'
  throw refusedFor('BLOCK_UNPROVEN', { found: `Block ${number} has uncles.` })
}

/** The header says that there are none. */
const getUncle: Answer = async (chain, number, more) => {
  params.quantity('index', more, 64)
  await countUncles(chain, number, undefined)
  return null
}

const transactionAt =
  (spell: (transaction: FetchedBlock['transactions'][number]) => unknown): Answer =>
  ({ withBlock }, number, more) => {
    const index = Number(params.quantity('index', more, 64))
    return withBlock(number, false, ({ transactions }) => {
      const found = transactions[index]
      return found === undefined ? null : spell(found)
    })
  }
const getTransaction = transactionAt(found => spellTransaction(found.open()))
const getRawTransaction = transactionAt(({ rlp }) => bytesToHex(rlp))

const getReceipts: Answer = ({ withBlock, pace }, number) =>
  withBlock(number, true, async (block, attempt) => {
    const { header, sentReceipts } = block
    const transactions = await openAll(block, pace, attempt)
    return openBlockReceipts(sentReceipts, header, transactions, one => contextOf(one, header)).map(spellReceipt)
  })

const getRawReceipts: Answer = ({ withBlock }, number) =>
  withBlock(number, true, ({ sentReceipts, header, transactions }) => {
    openBlockReceipts(sentReceipts, header, transactions, () => NO_CONTEXT)
    return listOf(decodeReceipt)(sentReceipts).map(receipt => bytesToHex(encodeReceipt(receipt)))
  })

function ofTransactions(chainNow: ChainNow) {
  const byHash =
    (withReceipts: boolean, use: Parameters<Chain['withTransaction']>[2]): Method =>
    async ([given], pace) => {
      const hash = hashIn(given)
      return (await chainNow(pace)).withTransaction(hash, withReceipts, use)
    }
  const getRaw = byHash(false, (_, { rlp }) => bytesToHex(rlp))
  return {
    eth_getRawTransactionByHash: getRaw,
    debug_getRawTransaction: getRaw,
    eth_getTransactionByHash: byHash(false, (_, transaction) => spellTransaction(transaction.open())),
    eth_getTransactionReceipt: byHash(true, ({ header, transactions, sentReceipts }, transaction, index) => {
      // Only the sender of this one is recovered.
      const wanted: Context = contextOf(transaction.open(), header)
      const contextFor = (one: object) => (one === transaction ? wanted : NO_CONTEXT)
      const receipts = openBlockReceipts(sentReceipts, header, transactions, contextFor)
      // It has its context, and there are as many as transactions.
      return spellReceipt(receipts[index] as BlockReceipt)
    }),
  }
}
