import {
  decodeFinalizedStateLog,
  type FinalizedState,
  type FinalizedStateLog,
  finalizedStateTopics,
} from '../anchor/finalized-state.ts'
import type { Rollup } from '../anchor/rollup.ts'
import { encodeQuantity } from '../hex.ts'
import { isFailure } from './error.ts'
import { BLOCKS_PER_REQUEST, MAX_LOG_REQUESTS, MAX_LOGS } from './limits.ts'
import { callProvider, type Provider, type SendProvider } from './provider.ts'

/** Where to look for the log of a finalization. */
export interface FinalizedStateQuery {
  readonly rollup: Rollup
  /** The last block of the finalization. */
  readonly l2BlockNumber: bigint
  /** The L1 block at which everything is proven. The log is not above it. */
  readonly l1BlockNumber: bigint
  readonly signal?: AbortSignal | undefined
}

/**
 * What the contract's log says about the finalization that ended with this L2 block: a hint, which `verifyAnchor` proves.
 * Requests the newest logs first, in ranges that endpoints allow.
 *
 * @returns null if the endpoint serves no logs, or none of this finalization: no timestamp is proven then
 * @throws RpcError `ABORTED` and nothing else
 */
export async function fetchFinalizedState(
  l1: Provider | SendProvider,
  query: FinalizedStateQuery,
): Promise<FinalizedState | null> {
  const { l2BlockNumber, l1BlockNumber } = query
  const topics = [finalizedStateTopics, `0x${l2BlockNumber.toString(16).padStart(64, '0')}`]
  const oldest = l1BlockNumber - MAX_LOG_REQUESTS * BLOCKS_PER_REQUEST + 1n
  const range = { ...query, topics, newest: l1BlockNumber, oldest: oldest > 0n ? oldest : 0n }
  for await (const logs of walkLogs(l1, range)) {
    // If there are several, the newest counts.
    const log = logs?.find(log => log.l2BlockNumber === l2BlockNumber)
    if (log) return log.finalizedState
  }
  return null
}

/** Logs of the rollup contract between two L1 blocks. */
interface LogRange extends Pick<FinalizedStateQuery, 'rollup' | 'signal'> {
  readonly topics: readonly unknown[]
  readonly newest: bigint
  readonly oldest: bigint
}

/**
 * The contract's logs of finalizations, newest first, one list per request. Ends with null if the endpoint does not serve them,
 * whatever the reason: they are only hints.
 *
 * @throws RpcError `ABORTED` and nothing else
 */
export async function* walkLogs(
  l1: Provider | SendProvider,
  { rollup, topics, newest, oldest, signal }: LogRange,
): AsyncGenerator<FinalizedStateLog[] | null, void> {
  for (let toBlock = newest; toBlock >= oldest; toBlock -= BLOCKS_PER_REQUEST) {
    const begin = toBlock - BLOCKS_PER_REQUEST + 1n
    const blocks = { fromBlock: encodeQuantity(begin > oldest ? begin : oldest), toBlock: encodeQuantity(toBlock) }
    const filter = { address: rollup.address, topics, ...blocks }
    const logs = await callProvider(l1, 'eth_getLogs', [filter], signal).catch((error: unknown) => {
      if (isFailure(error)) return null
      throw error
    })
    if (!Array.isArray(logs) || logs.length > MAX_LOGS) return yield null
    yield logs
      .map(decodeFinalizedStateLog)
      .filter(log => log !== null)
      .reverse()
  }
}
