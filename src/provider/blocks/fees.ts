import type { Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { isGiven } from '../../base/json/known-fields.ts'
import type { FetchedBlock } from '../../client/l1/blocks.ts'
import { CONTENTS_AT_ONCE } from '../../client/transport/limits.ts'
import { inAdvance } from '../../client/transport/waiting.ts'
import { NO_CONTEXT, type OpenedBlockTransaction, openBlockReceipts } from '../../verify/blocks/block.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { invalidParams } from '../error.ts'
import { MAX_FEE_BLOCKS, MAX_PERCENTILES, MAX_REWARD_BLOCKS, TIP_BLOCKS, TIP_SAMPLES } from '../limits.ts'
import { params } from '../params.ts'
import type { Chain } from './chain.ts'
import { unprovenBlock } from './known-blocks.ts'
import { readNumber } from './logs.ts'

/** What was paid in proven blocks. What a later block will take is nobody's to prove. */

const tipOf = (header: BlockHeader, { gasPrice }: Pick<OpenedBlockTransaction, 'gasPrice'>): bigint =>
  gasPrice - (header.baseFeePerGas ?? 0n)

const ascending = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)
const least = (...numbers: bigint[]): bigint => numbers.reduce((least, one) => (one < least ? one : least))

/** A tip that was enough lately: the median of those in the newest proven blocks that have transactions; zero if none has any. */
export async function suggestTip({ newest, oldest, walk, withBlock }: Chain): Promise<bigint> {
  const samples: bigint[][] = []
  for await (const header of walk(newest - least(TIP_BLOCKS - 1n, newest - oldest), newest)) {
    if (header.gasUsed === 0n) continue
    samples.push(
      await withBlock(header.number, false, ({ transactions }) => transactions.map(one => tipOf(header, one))),
    )
    if (samples.length === TIP_SAMPLES) break
  }
  const tips = samples.flat().sort(ascending)
  return tips[tips.length >> 1] ?? 0n
}

/**
 * The result of `eth_feeHistory`. It ends one block before the newest proven one, because it also has the base fee of the block
 * after it. It has no fees for blobs if there are blobs: the rollup has none.
 */
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
  const reward: unknown[] = []
  const paid = shares.length === 0 ? [] : listed
  const read = (index: number, signal: AbortSignal) =>
    // The index is one of theirs.
    rewardsOf(chain, paid[index] as BlockHeader, shares, signal)
  for await (const row of inAdvance(paid.length, CONTENTS_AT_ONCE, read, pace.signal)) reward.push(row)
  const hasBlobs = headers.some(({ excessBlobGas = 0n, blobGasUsed = 0n }) => excessBlobGas + blobGasUsed > 0n)
  // The fees for blobs depend on the fork.
  const blobs = !hasBlobs && {
    baseFeePerBlobGas: headers.map(blobFeeOf),
    blobGasUsedRatio: listed.map(() => 0),
  }
  return {
    oldestBlock: encodeQuantity(first),
    baseFeePerGas: headers.map(({ baseFeePerGas = 0n }) => encodeQuantity(baseFeePerGas)),
    ...blobs,
    gasUsedRatio: listed.map(({ gasUsed, gasLimit }) => (gasLimit === 0n ? 0 : Number(gasUsed) / Number(gasLimit))),
    ...(shares.length > 0 && { reward }),
  }
}

/** In wei, for a unit of blob gas, without an excess. */
export const blobFeeOf = ({ excessBlobGas }: BlockHeader): Hex => (excessBlobGas === undefined ? '0x0' : '0x1')

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
export function tipsAt(
  shares: readonly number[],
  paid: readonly { readonly tip: bigint; readonly gas: bigint }[],
  gasUsed: bigint,
): string[] {
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

async function rewardsOf(
  { withBlock }: Chain,
  header: BlockHeader,
  shares: readonly number[],
  signal: AbortSignal,
): Promise<string[]> {
  if (header.gasUsed === 0n) return shares.map(() => '0x0')
  const read = ({ transactions, sentReceipts }: FetchedBlock) => {
    const receipts = openBlockReceipts(sentReceipts, header, transactions, () => NO_CONTEXT)
    const paid = transactions.map((one, index) => ({ tip: tipOf(header, one), gas: receipts[index]?.gasUsed ?? 0n }))
    return tipsAt(shares, paid, header.gasUsed)
  }
  return withBlock(header.number, true, read, signal)
}
