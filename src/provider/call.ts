import { isGiven } from '../base/json/known-fields.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'
import { knownBlocksOf } from './blocks/chain.ts'
import { executionFailed, invalidParams, isProviderError, ProviderError, unprovenValue } from './error.ts'
import type { ExecutionContext } from './evm.ts'
import {
  type AccessList,
  type CallRequest,
  type Execution,
  execute,
  INSUFFICIENT_FUNDS,
  intrinsicGas,
} from './execute.ts'
import { MAX_DATA_BYTES, MAX_LISTED } from './limits.ts'
import { type Environment, environmentIn, onlyGiven, type VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { type KnownState, NOBODY, type StateReader } from './proven-state.ts'
import { meterReads, rehearsalOf } from './rehearsal.ts'
import { params } from './requests.ts'
import { type CurrentView, newestIn } from './view.ts'

interface CallSources extends Pick<CurrentView, 'heldAt' | 'current'> {
  readonly settings: VerifiedOptions
  readonly known: KnownState
}

export const runCall = /* @__PURE__ */ withPlan(async plan => requireSuccess(await plan.execute()).returnData)
export const estimateGas = /* @__PURE__ */ withPlan(leastGas, true)
export const createAccessList = /* @__PURE__ */ withPlan(stableList)

/** The highest gas limit of a transaction in Osaka (EIP-7825). */
const OSAKA_MAX_GAS = 1n << 24n
/** How far an estimate may exceed the least sufficient gas, in parts per thousand. */
const TOLERANCE = 15n

/**
 * The least gas with which the call succeeds, or up to 1.5% more. The gas that a call uses is not always enough, because part
 * of it may be refunded at the end, and because a contract keeps a 64th when it calls another.
 */
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
function withPlan<T>(work: (plan: CallPlan) => Promise<T>, isEstimate = false) {
  return async (sources: CallSources, [transaction, block]: readonly unknown[], pace: Pace): Promise<T> => {
    const { settings, known, heldAt, current } = sources
    const { chainId, maxGas, hardfork, environment: stated } = settings
    // What does not fit is refused before anything is fetched.
    const callAt = readCall(transaction, chainId, isEstimate)
    callAt(stated.baseFee ?? 0n)
    const { l2BlockNumber: blockNumber, state, timestamp, header: own } = await heldAt(block, pace)

    function plan(proven: Environment): CallPlan {
      const environment = onlyGiven(proven, stated)
      const call = callAt(environment.baseFee)
      const gas = call.gas === null || call.gas > maxGas ? maxGas : call.gas
      const context = { chainId, hardfork, blockNumber, environment }
      const reader = meterReads(state, { ...settings, known, pace, rehearse: rehearsalOf(call, gas, context) })
      return {
        call,
        reader,
        hardfork,
        gas,
        execute: (limit = gas, accessList = call.accessList) =>
          execute(reader, { ...call, accessList }, limit, context, pace),
      }
    }
    /** Of an earlier block; null if nothing leads to it from the state of the view. */
    async function headerAt(number: bigint): Promise<BlockHeader | null> {
      try {
        return await knownBlocksOf(settings).headerAt(await current(), number, pace)
      } catch (error) {
        if (isProviderError(error) && error.reason === 'BLOCK_UNPROVEN') return null
        throw error
      }
    }

    try {
      return await work(plan(own === undefined ? { timestamp } : environmentIn(own)))
    } catch (error) {
      if (!isProviderError(error) || error.reason !== 'VALUE_UNPROVEN') throw error
      if (!OF_HEADERS.includes(error.data.instruction)) throw error
      const header = await headerAt(blockNumber)
      if (header !== null) return work(plan(environmentIn(header)))
      // Of a call that names fees: they are compared with the newest base fee that is proven.
      const view = await current()
      const isNewest = blockNumber === view.l2BlockNumber && error.data.instruction === 'BASEFEE'
      const last = isNewest ? await headerAt(newestIn(view)) : null
      if (last === null) throw error
      return work(plan({ timestamp, baseFee: last.baseFeePerGas }))
    }
  }
}

const OF_HEADERS = ['TIMESTAMP', 'BASEFEE', 'COINBASE', 'PREVRANDAO', 'GASLIMIT']

const QUANTITIES = ['value', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'chainId'] as const
const OTHERS = ['from', 'to', 'data', 'input', 'accessList'] as const
/** Fields that nodes read, and that are not supported here, unless they are empty. Nodes ignore all others, as is done here. */
const UNSUPPORTED = ['authorizationList', 'blobVersionedHashes', 'blobs', 'maxFeePerBlobGas'] as const

/**
 * Reads a call once, for a block whose base fee may only be known later: what is returned throws `VALUE_UNPROVEN` if a fee depends on
 * an unknown one. An estimate is for a later block, and then pays the most that it offers.
 */
export function readCall(call: unknown, chainId: bigint, isEstimate = false) {
  const fields = params.fields('call', call, [...QUANTITIES, ...OTHERS, ...UNSUPPORTED])
  // What would change the result cannot be ignored.
  const unsupported = UNSUPPORTED.find(name => !isEmpty(fields[name]))
  if (unsupported !== undefined) {
    const why = unsupported === 'authorizationList' ? 'delegations are not applied' : 'the rollup has no blobs'
    throw invalidParams(`The call has a field that is not supported here: ${unsupported}. In calls, ${why}.`)
  }
  const optional = <T>(name: keyof typeof fields, read: (place: string, value: unknown) => T): T | undefined =>
    fields[name] === undefined ? undefined : read(name, fields[name])
  const quantity = (name: (typeof QUANTITIES)[number]) =>
    optional(name, (place, value) => params.quantity(place, value, 256))
  const bytes = (place: string, value: unknown) => params.data(place, value, MAX_DATA_BYTES)

  const [data, input] = [optional('data', bytes), optional('input', bytes)]
  if (data !== undefined && input !== undefined && data !== input) throw invalidParams('data and input differ.')
  const stated = quantity('chainId')
  if (stated !== undefined && stated !== chainId) throw invalidParams('chainId is that of another chain.')
  const address = (place: string, value: unknown) => params.bytes(place, value, 20)
  const read = {
    from: optional('from', address) ?? NOBODY,
    to: optional('to', address) ?? null,
    data: data ?? input ?? '0x',
    value: quantity('value') ?? 0n,
    gas: quantity('gas') ?? null,
    accessList: optional('accessList', readAccessList) ?? [],
  } as const
  const fees = (['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const).map(quantity)
  return (baseFee: bigint | undefined): CallRequest => ({ ...read, ...feesAt(baseFee, fees, isEstimate) })
}

function feesAt(
  baseFee: bigint | undefined,
  [gasPrice, maxFee, tip]: readonly (bigint | undefined)[],
  isEstimate: boolean,
): Pick<CallRequest, 'gasPrice' | 'maxGasPrice'> {
  if (gasPrice !== undefined) {
    if (maxFee !== undefined || tip !== undefined) throw invalidParams('gasPrice excludes maxFeePerGas and its tip.')
    // It does not depend on the base fee, so that is compared only where it is known: a call that reads it makes it known.
    return { gasPrice: verifyCovers(gasPrice, baseFee ?? 0n), maxGasPrice: gasPrice }
  }
  const [maxGasPrice, priority] = [maxFee ?? 0n, tip ?? 0n]
  if (priority > maxGasPrice) throw invalidParams('maxPriorityFeePerGas is above maxFeePerGas.')
  if (maxGasPrice === 0n || (baseFee === undefined && isEstimate)) return { gasPrice: maxGasPrice, maxGasPrice }
  if (baseFee === undefined) throw unprovenValue('BASEFEE')
  verifyCovers(maxGasPrice, baseFee)
  return { gasPrice: maxGasPrice < baseFee + priority ? maxGasPrice : baseFee + priority, maxGasPrice }
}

const isEmpty = (value: unknown): boolean =>
  !isGiven(value) || value === '0x0' || (Array.isArray(value) && value.length === 0)

/** In the words of nodes, by which clients know the reason. A call that pays nothing is not compared. */
function verifyCovers(price: bigint, baseFee: bigint): bigint {
  if (price === 0n || price >= baseFee) return price
  throw invalidParams(`max fee per gas less than block base fee: ${price} of ${baseFee}.`)
}

const readAccessList = (place: string, value: unknown): AccessList =>
  params.list(place, value, MAX_LISTED, (at, item) => {
    const { address, storageKeys = [] } = params.fields(at, item, ['address', 'storageKeys'])
    return {
      address: params.bytes(`${at}.address`, address, 20),
      storageKeys: params.list(`${at}.storageKeys`, storageKeys, MAX_LISTED, params.slot),
    }
  })
