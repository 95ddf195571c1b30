import type { Hex } from '../base/bytes.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'
import { knownBlocksOf } from './blocks/known-blocks.ts'
import { type CallRequest, readCall } from './call-request.ts'
import type { CurrentView } from './current-view.ts'
import { type Environment, environmentIn, onlyGiven } from './environment.ts'
import { isProviderError } from './error.ts'
import { loadEvm } from './evm-packages.ts'
import { type ExecutionContext, execute } from './execute.ts'
import { readHistory } from './history.ts'
import type { KnownState } from './known-state.ts'
import { meterReads } from './metered-reader.ts'
import type { VerifiedOptions } from './options.ts'
import { overrideState, readBlockOverrides, readStateOverrides } from './overrides.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import { guessHash, type Rehearse } from './rehearsal.ts'
import type { StateReader } from './state-reader.ts'
import { type Held, newestIn } from './view.ts'

/** A call, where it is executed, and how much gas it may use. */
export interface CallPlan {
  readonly call: CallRequest
  readonly reader: StateReader
  readonly context: ExecutionContext
  /** What it may use at most. */
  readonly gas: bigint
  readonly pace: Pace
}

/** What the calls of a provider have in common. */
export interface CallSources extends Pick<CurrentView, 'heldAt' | 'current'> {
  readonly settings: VerifiedOptions
  readonly known: KnownState
}

/**
 * Reads what a client wants executed, prepares it, and does the work. If that reads a value of an earlier block, its header is
 * fetched and proven, and the work done again: so a call that reads none needs no header.
 *
 * @param overrides how many parameters the method has for them
 */
export async function withPlan<T>(
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
    return { call, reader: overrideState(metered, assumed), gas, pace, context: { ...context, hashAt } }
  }

  const { timestamp, header: own } = held
  try {
    return await work(plan(own === undefined ? onlyGiven<Environment>({ timestamp }) : environmentIn(own)))
  } catch (error) {
    if (!isProviderError(error) || error.reason !== 'VALUE_UNPROVEN') throw error
    if (!OF_HEADERS.includes(error.data.instruction)) throw error
    const header = await headerOf(sources, held.l2BlockNumber, pace)
    if (header !== null) return work(plan(environmentIn(header)))
    // Of a call that names fees: they are compared with the newest base fee that is proven.
    const view = await sources.current()
    const isNewest = held.l2BlockNumber === view.l2BlockNumber && error.data.instruction === 'BASEFEE'
    const last = isNewest ? await headerOf(sources, newestIn(view), pace) : null
    if (last === null) throw error
    return work(plan(onlyGiven<Environment>({ timestamp, baseFee: last.baseFeePerGas })))
  }
}

/** The hash for BLOCKHASH: the state need not hold it if L1 holds that of the block, whose header leads to its parents. */
async function ancestorHash(
  { settings }: CallSources,
  held: Held,
  state: StateReader,
  number: bigint,
  pace: Pace,
): Promise<Hex> {
  try {
    return await readHistory(state, { number, stateBlock: held.l2BlockNumber })
  } catch (error) {
    const isUnproven = isProviderError(error) && error.reason === 'VALUE_UNPROVEN'
    if (held.header === undefined || !isUnproven) throw error
    return knownBlocksOf(settings).hashAt(held, number, pace)
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
