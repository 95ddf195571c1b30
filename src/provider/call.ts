import type { Hex } from '../base/bytes.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'
import { knownBlocksOf } from './blocks/known-blocks.ts'
import { type CallRequest, overrideState, readBlockOverrides, readCall, readStateOverrides } from './call-request.ts'
import { type Environment, environmentIn, onlyGiven } from './environment.ts'
import { executionFailed, isProviderError, ProviderError } from './error.ts'
import { loadEvm } from './evm-packages.ts'
import { type Execution, type ExecutionContext, execute, INSUFFICIENT_FUNDS, intrinsicGas } from './execute.ts'
import { meterReads } from './metered-reader.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { KnownState } from './proven-state.ts'
import { guessHash, type Rehearse } from './rehearsal.ts'
import { readHistory, type StateReader } from './state-reader.ts'
import { type CurrentView, type Held, newestIn } from './view.ts'

/** The highest gas limit of a transaction in Osaka (EIP-7825). */
const OSAKA_MAX_GAS = 1n << 24n
/** How far an estimate may exceed the least sufficient gas, in parts per thousand. */
const TOLERANCE = 15n

export interface CallSources extends Pick<CurrentView, 'heldAt' | 'current'> {
  readonly settings: VerifiedOptions
  readonly known: KnownState
}

export const runCall = (sources: CallSources, given: unknown, pace: Pace): Promise<string> =>
  withPlan(sources, given, pace, 2, async plan => requireSuccess(await plan.execute()).returnData)

/**
 * The least gas with which the call succeeds, or up to 1.5% more. The gas that a call uses is not always enough, because part
 * of it may be refunded at the end, and because a contract keeps a 64th when it calls another.
 */
export const estimateGas = (sources: CallSources, given: unknown, pace: Pace): Promise<bigint> =>
  withPlan(sources, given, pace, 2, leastGas, true)

async function leastGas({ call, reader, hardfork, gas, execute }: CallPlan): Promise<bigint> {
  let most = hardfork === 'osaka' && gas > OSAKA_MAX_GAS ? OSAKA_MAX_GAS : gas
  if (call.maxGasPrice > 0n) {
    const balance = (await reader.getAccount(call.from))?.balance ?? 0n
    const affordable = balance > call.value ? (balance - call.value) / call.maxGasPrice : 0n
    // Whoever blames the gas sends clients the wrong way.
    const costs = intrinsicGas(call, hardfork)
    if (affordable < costs.gas || affordable < costs.floor) throw executionFailed(INSUFFICIENT_FUNDS)
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
export const createAccessList = (sources: CallSources, given: unknown, pace: Pace): Promise<object> =>
  withPlan(sources, given, pace, 1, stableList)

async function stableList({ call: { accessList: declared }, execute }: CallPlan): Promise<object> {
  let before = declared
  for (let round = 0; ; round++) {
    const { accessList, gasUsed, failure } = await execute(undefined, before)
    if (round === 4 || isSameList(accessList, before)) {
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

const isSameList = (a: Execution['accessList'], b: Execution['accessList']): boolean => {
  const itemsOf = (list: Execution['accessList']) =>
    new Set(list.flatMap(({ address, storageKeys }) => [address, ...storageKeys.map(key => address + key)]))
  const [left, right] = [itemsOf(a), itemsOf(b)]
  return left.size === right.size && [...left].every(item => right.has(item))
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
 * needs no header. @param overrides how many parameters the method has for them
 */
async function withPlan<T>(
  sources: CallSources,
  given: unknown,
  pace: Pace,
  overrides: number,
  work: (plan: CallPlan) => Promise<T>,
  isEstimate = false,
): Promise<T> {
  const { settings, known, heldAt } = sources
  const { chainId, maxGas, hardfork } = settings
  const [transaction, block, state, values] = params.take(given, 1, 2 + overrides)
  const assumed = readStateOverrides(state)
  const stated = { ...settings.environment, ...readBlockOverrides(values) }
  // What does not fit is refused before anything is fetched.
  const callAt = readCall(transaction, chainId, isEstimate)
  callAt(stated.baseFee ?? 0n)
  const held = await heldAt(block, pace)
  const blockNumber = held.l2BlockNumber

  function plan(proven: Environment): CallPlan {
    // Without a prototype, as they are themselves.
    const environment: Environment = Object.assign(Object.create(null), proven, stated)
    const call = callAt(environment.baseFee)
    const gas = call.gas === null || call.gas > maxGas ? maxGas : call.gas
    const context = { chainId, hardfork, blockNumber, environment }
    const rehearse: Rehearse = async (guesses, pace) => {
      const hashAt = guessHash(guesses, blockNumber)
      return execute(await loadEvm(), overrideState(guesses, assumed), call, gas, { ...context, hashAt }, pace)
    }
    const hasAssumed = Object.keys(assumed).length > 0
    const meter = { ...settings, known, block: blockNumber, pace, rehearse, ...(hasAssumed && { assumed }) }
    const metered = meterReads(held.state, call, meter)
    const hashAt = (number: bigint) => ancestorHash(sources, held, metered, number, pace)
    const reader = overrideState(metered, assumed)
    return {
      ...{ call, reader, hardfork, gas },
      execute: async (limit = gas, accessList = call.accessList) =>
        execute(await loadEvm(), reader, { ...call, accessList }, limit, { ...context, hashAt }, pace),
    }
  }

  const { timestamp, header: own } = held
  try {
    return await work(plan(own === undefined ? onlyGiven<Environment>({ timestamp }) : environmentIn(own)))
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
    return work(plan(onlyGiven<Environment>({ timestamp, baseFee: last.baseFeePerGas })))
  }
}

const OF_HEADERS = ['TIMESTAMP', 'BASEFEE', 'COINBASE', 'PREVRANDAO', 'GASLIMIT']

/** The hash for BLOCKHASH: the state need not hold it if L1 holds that of the block, whose header leads to its parents. */
async function ancestorHash(
  { settings }: CallSources,
  held: Held,
  state: StateReader,
  number: bigint,
  pace: Pace,
): Promise<Hex> {
  const { header, l2BlockNumber: stateBlock } = held
  if (header !== undefined && number === stateBlock - 1n) return header.parentHash
  try {
    return await readHistory(state, { number, stateBlock })
  } catch (error) {
    const isUnproven = isProviderError(error) && error.reason === 'VALUE_UNPROVEN'
    if (header === undefined || !isUnproven) throw error
    return knownBlocksOf(settings).hashAt(held, number, pace)
  }
}

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
