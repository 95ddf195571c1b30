import type { BlockHeader } from '../verify/blocks/header.ts'
import { knownBlocksOf } from './blocks/chain.ts'
import { type CallRequest, readCall } from './call-request.ts'
import type { CurrentView } from './current-view.ts'
import { type Environment, environmentIn, onlyGiven } from './environment.ts'
import { executionFailed, isProviderError, ProviderError } from './error.ts'
import { type Execution, type ExecutionContext, execute, INSUFFICIENT_FUNDS, intrinsicGas } from './execute.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import type { KnownState } from './proven-state.ts'
import { meterReads, rehearsalOf } from './rehearsal.ts'
import type { StateReader } from './state-reader.ts'
import { newestIn } from './view.ts'

/** The highest gas limit of a transaction in Osaka (EIP-7825). */
const OSAKA_MAX_GAS = 1n << 24n
/** How far an estimate may exceed the least sufficient gas, in parts per thousand. */
const TOLERANCE = 15n

export interface CallSources extends Pick<CurrentView, 'heldAt' | 'current'> {
  readonly settings: VerifiedOptions
  readonly known: KnownState
}

type Given = readonly unknown[]

export const runCall = (sources: CallSources, given: Given, pace: Pace): Promise<string> =>
  withPlan(sources, given, pace, async plan => requireSuccess(await plan.execute()).returnData)

/**
 * The least gas with which the call succeeds, or up to 1.5% more. The gas that a call uses is not always enough, because part
 * of it may be refunded at the end, and because a contract keeps a 64th when it calls another.
 */
export const estimateGas = (sources: CallSources, given: Given, pace: Pace): Promise<bigint> =>
  withPlan(sources, given, pace, leastGas, true)

async function leastGas({ call, reader, hardfork, gas, execute }: CallPlan): Promise<bigint> {
  let most = hardfork === 'osaka' && gas > OSAKA_MAX_GAS ? OSAKA_MAX_GAS : gas
  if (call.maxGasPrice > 0n) {
    const balance = (await reader.getAccount(call.from))?.balance ?? 0n
    const affordable = balance > call.value ? (balance - call.value) / call.maxGasPrice : 0n
    // Whoever blames the gas sends clients the wrong way.
    if (affordable < intrinsicGas(call, hardfork).least) throw executionFailed(INSUFFICIENT_FUNDS)
    if (affordable < most) {
      most = affordable
      const { failure } = await execute(most)
      const allowance = `gas required exceeds allowance (${affordable})`
      if (failure === 'out of gas') throw executionFailed(`${INSUFFICIENT_FUNDS}: ${allowance}`)
    }
  }
  async function succeeds(limit: bigint): Promise<boolean> {
    try {
      return (await execute(limit)).failure === null
    } catch (error) {
      if (isProviderError(error) && error.reason === 'EXECUTION_FAILED') return false
      throw error
    }
  }
  let least = requireSuccess(await execute(most)).gasUsed
  if (await succeeds(least)) return least
  // From here on, `least` is not enough and `most` is.
  const likely = (least * 64n) / 63n + 2300n
  if (likely < most) {
    if (await succeeds(likely)) most = likely
    else least = likely
  }
  while ((most - least) * 1000n > most * TOLERANCE) {
    const middle = (least + most) / 2n
    if (await succeeds(middle)) most = middle
    else least = middle
  }
  return most
}

/** Declaring what a call touches changes its gas costs, and so perhaps what it does. Repeats until the list is stable. */
export const createAccessList = (sources: CallSources, given: Given, pace: Pace): Promise<object> =>
  withPlan(sources, given, pace, stableList)

async function stableList({ call: { accessList: declared }, execute }: CallPlan): Promise<object> {
  let before = declared
  for (let round = 0; ; round++) {
    const { accessList, gasUsed, failure } = await execute(undefined, before)
    if (round === 4 || JSON.stringify(accessList) === JSON.stringify(before)) {
      return { accessList, gasUsed: `0x${gasUsed.toString(16)}`, ...(failure !== null && { error: failure }) }
    }
    before = accessList
  }
}

function requireSuccess(execution: Execution): Execution {
  const { failure, returnData } = execution
  if (failure === 'revert') throw new ProviderError('REVERTED', returnData, { found: 'execution reverted' })
  if (failure !== null) throw executionFailed(failure)
  return execution
}

interface CallPlan extends Pick<ExecutionContext, 'hardfork'> {
  readonly call: CallRequest
  readonly reader: StateReader
  readonly gas: bigint
  /** With less gas, or another list. */
  execute(gas?: bigint, accessList?: CallRequest['accessList']): Promise<Execution>
}

/**
 * If the work reads a value of an earlier block, its header is fetched and proven, and the work done again: so a call that reads none
 * needs no header.
 */
async function withPlan<T>(
  sources: CallSources,
  given: Given,
  pace: Pace,
  work: (plan: CallPlan) => Promise<T>,
  isEstimate = false,
): Promise<T> {
  const { settings, known, heldAt } = sources
  const { chainId, maxGas, hardfork, environment: stated } = settings
  const [transaction, block] = given
  // What does not fit is refused before anything is fetched.
  const callAt = readCall(transaction, chainId, isEstimate)
  callAt(stated.baseFee ?? 0n)
  const held = await heldAt(block, pace)
  const blockNumber = held.l2BlockNumber

  function plan(proven: Environment): CallPlan {
    const environment = onlyGiven(proven, stated)
    const call = callAt(environment.baseFee)
    const gas = call.gas === null || call.gas > maxGas ? maxGas : call.gas
    const context = { chainId, hardfork, blockNumber, environment }
    const rehearse = rehearsalOf(call, gas, context)
    const reader = meterReads(held.state, { ...settings, known, pace, rehearse })
    return {
      call,
      reader,
      hardfork,
      gas,
      execute: (limit = gas, accessList = call.accessList) =>
        execute(reader, { ...call, accessList }, limit, context, pace),
    }
  }

  const { timestamp, header: own } = held
  try {
    return await work(plan(own === undefined ? { timestamp } : environmentIn(own)))
  } catch (error) {
    if (!isProviderError(error) || error.reason !== 'VALUE_UNPROVEN') throw error
    if (!OF_HEADERS.includes(error.data.instruction)) throw error
    const header = await headerOf(sources, blockNumber, pace)
    if (header !== null) return work(plan(environmentIn(header)))
    // Of a call that names fees: they are compared with the newest base fee that is proven.
    const view = await sources.current()
    const isNewest = blockNumber === view.l2BlockNumber && error.data.instruction === 'BASEFEE'
    const last = isNewest ? await headerOf(sources, newestIn(view), pace) : null
    if (last === null) throw error
    return work(plan({ timestamp, baseFee: last.baseFeePerGas }))
  }
}

const OF_HEADERS = ['TIMESTAMP', 'BASEFEE', 'COINBASE', 'PREVRANDAO', 'GASLIMIT']

/** The header of an earlier block; null if nothing leads to it from the state of the view. */
async function headerOf(sources: CallSources, number: bigint, pace: Pace): Promise<BlockHeader | null> {
  const view = await sources.current()
  return knownBlocksOf(sources.settings)
    .headerAt(view, number, pace)
    .catch((error: unknown) => {
      if (isProviderError(error) && error.reason === 'BLOCK_UNPROVEN') return null
      throw error
    })
}
