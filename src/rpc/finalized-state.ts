import { decodeFinalizedStateLog, type FinalizedState, finalizedStateTopics } from '../anchor/finalized-state.ts'
import type { Rollup } from '../anchor/rollup.ts'
import { isFailure } from './error.ts'
import { callProvider, type Provider, type SendProvider, toQuantity } from './provider.ts'

/** Endpoints that limit `eth_getLogs` allow at least this many blocks. Mainnet has a finalization every few hours. */
export const BLOCKS_PER_REQUEST = 2_000n
/** About three days of L1 blocks. */
const MAX_REQUESTS = 10
/** Far more than the finalizations in that many blocks. */
const MAX_LOGS = 2_000

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
  const { rollup, l2BlockNumber, l1BlockNumber, signal } = query
  const topics = [finalizedStateTopics, `0x${l2BlockNumber.toString(16).padStart(64, '0')}`]
  let toBlock = l1BlockNumber
  for (let count = 0; count < MAX_REQUESTS && toBlock >= 0n; count++) {
    const fromBlock = toBlock >= BLOCKS_PER_REQUEST ? toBlock - BLOCKS_PER_REQUEST + 1n : 0n
    const filter = { address: rollup.address, topics, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
    const logs = await fetchLogs(l1, filter, signal)
    if (logs === null) return null
    const found = findState(logs, l2BlockNumber)
    if (found) return found
    toBlock = fromBlock - 1n
  }
  return null
}

/** null if the endpoint does not serve logs, whatever the reason: they are only hints. */
export async function fetchLogs(
  l1: Provider | SendProvider,
  filter: object,
  signal: AbortSignal | undefined,
): Promise<unknown[] | null> {
  try {
    const logs = await callProvider(l1, 'eth_getLogs', [filter], signal)
    return Array.isArray(logs) && logs.length <= MAX_LOGS ? logs : null
  } catch (error) {
    if (isFailure(error)) return null
    throw error
  }
}

/** If there are several, the newest counts. */
function findState(logs: readonly unknown[], l2BlockNumber: bigint): FinalizedState | null {
  for (let index = logs.length - 1; index >= 0; index--) {
    const log = decodeFinalizedStateLog(logs[index])
    if (log?.l2BlockNumber === l2BlockNumber) return log.finalizedState
  }
  return null
}
