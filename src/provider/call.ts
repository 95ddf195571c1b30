import { type CallPlan, type CallSources, withPlan } from './call-plan.ts'
import { executionFailed, isProviderError, ProviderError } from './error.ts'
import { loadEvm } from './evm-packages.ts'
import { type Execution, execute, INSUFFICIENT_FUNDS, intrinsicGas } from './execute.ts'
import type { Pace } from './pace.ts'

/** The highest gas limit of a transaction in Osaka (EIP-7825). */
const OSAKA_MAX_GAS = 1n << 24n
/** How far an estimate may exceed the least sufficient gas, in parts per thousand. */
const TOLERANCE = 15n

/** The result of `eth_call`. @throws ProviderError `REVERTED`, `EXECUTION_FAILED` */
export const runCall = (sources: CallSources, given: unknown, pace: Pace): Promise<string> =>
  withPlan(sources, given, pace, 2, async plan => requireSuccess(await executePlan(plan)).returnData)

/**
 * The least gas with which the call succeeds, or up to 1.5% more. The gas that a call uses is not always enough, because part
 * of it may be refunded at the end, and because a contract keeps a 64th when it calls another.
 *
 * @throws ProviderError `REVERTED`, `EXECUTION_FAILED` if no amount of gas suffices
 */
export const estimateGas = (sources: CallSources, given: unknown, pace: Pace): Promise<bigint> =>
  withPlan(sources, given, pace, 2, leastGas, true)

async function leastGas(plan: CallPlan): Promise<bigint> {
  const { call, reader, context } = plan
  let most = plan.gas
  if (context.hardfork === 'osaka' && most > OSAKA_MAX_GAS) most = OSAKA_MAX_GAS
  if (call.maxGasPrice > 0n) {
    const balance = (await reader.getAccount(call.from))?.balance ?? 0n
    const affordable = balance > call.value ? (balance - call.value) / call.maxGasPrice : 0n
    // Whoever blames the gas sends clients the wrong way.
    const costs = intrinsicGas(call, context.hardfork)
    if (affordable < costs.gas || affordable < costs.floor) throw executionFailed(INSUFFICIENT_FUNDS)
    if (affordable < most) {
      most = affordable
      const { failure } = await executePlan(plan, most)
      const allowance = `gas required exceeds allowance (${affordable})`
      if (failure === 'out of gas') throw executionFailed(`${INSUFFICIENT_FUNDS}: ${allowance}`)
    }
  }
  let least = requireSuccess(await executePlan(plan, most)).gasUsed
  if (await succeeds(plan, least)) return least
  // From here on, `least` is not enough and `most` is.
  const likely = (least * 64n) / 63n + 2300n
  if (likely < most) {
    if (await succeeds(plan, likely)) most = likely
    else least = likely
  }
  while ((most - least) * 1000n > most * TOLERANCE) {
    const middle = (least + most) / 2n
    if (await succeeds(plan, middle)) most = middle
    else least = middle
  }
  return most
}

/** Declaring what a call touches changes its gas costs, and so perhaps what it does. Repeats until the list is stable. */
export const createAccessList = (sources: CallSources, given: unknown, pace: Pace): Promise<object> =>
  withPlan(sources, given, pace, 1, stableList)

async function stableList(plan: CallPlan): Promise<object> {
  let call = plan.call
  for (let round = 0; ; round++) {
    const { accessList, gasUsed, failure } = await executePlan({ ...plan, call })
    if (round === 4 || isSameList(accessList, call.accessList)) {
      return { accessList, gasUsed: `0x${gasUsed.toString(16)}`, ...(failure !== null && { error: failure }) }
    }
    call = { ...call, accessList }
  }
}

async function executePlan({ call, reader, context, pace, gas }: CallPlan, limit = gas): Promise<Execution> {
  return execute(await loadEvm(), reader, call, limit, context, pace)
}

async function succeeds(plan: CallPlan, gas: bigint): Promise<boolean> {
  try {
    return (await executePlan(plan, gas)).failure === null
  } catch (error) {
    if (isProviderError(error) && error.reason === 'EXECUTION_FAILED') return false
    throw error
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
