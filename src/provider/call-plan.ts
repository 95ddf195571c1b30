import { type CallRequest, readCall, refuseOverrides } from './call-request.ts'
import type { CurrentView } from './current-view.ts'
import type { ExecutionContext } from './execute.ts'
import type { KnownCodes } from './known-codes.ts'
import type { KnownReads } from './known-reads.ts'
import { type MeteredReader, meterReads } from './metered-reader.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'

/** A call, where it is executed, and how much gas it may use. */
export interface CallPlan {
  readonly call: CallRequest
  readonly reader: MeteredReader
  readonly context: ExecutionContext
  readonly maxGas: bigint
  readonly pace: Pace
}

/** What the calls of a provider have in common. */
export interface CallSources {
  readonly settings: VerifiedOptions
  readonly codes: KnownCodes
  readonly reads: KnownReads
  readonly heldAt: CurrentView['heldAt']
}

/**
 * Reads what a client wants executed, and prepares it.
 *
 * @param overrides how many parameters the method has for them
 */
export async function planCall(
  { settings, codes, reads, heldAt }: CallSources,
  given: unknown,
  pace: Pace,
  overrides: number,
): Promise<CallPlan> {
  const { chainId, maxGas, hardfork } = settings
  const [transaction, block, ...rest] = params.take(given, 1, 2 + overrides)
  refuseOverrides(...rest)
  const call = readCall(transaction, chainId, settings.environment.baseFee)
  const { l2BlockNumber: blockNumber, timestamp, state } = await heldAt(block, pace)
  // Without a prototype, as they are themselves.
  const environment = Object.assign(Object.create(null), timestamp !== undefined && { timestamp }, settings.environment)
  const reader = meterReads(state, call, { ...settings, codes, reads, block: blockNumber, pace })
  return { call, reader, maxGas, pace, context: { chainId, hardfork, blockNumber, environment } }
}
