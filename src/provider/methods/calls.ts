import { encodeQuantity } from '../../hex.ts'
import type { CallPlan } from '../call.ts'
import { readCall, refuseOverrides } from '../call-request.ts'
import type { CurrentView } from '../current-view.ts'
import { meterReads } from '../metered-reader.ts'
import type { VerifiedOptions } from '../options.ts'
import { params } from '../params.ts'
import type { Methods } from './methods.ts'

/** Imported on first use: bundlers put it into a separate chunk, which programs that only read balances never load. */
const execution = () => import('../call.ts')

/** Calls, executed on proven state. */
export function callMethods(settings: VerifiedOptions, { heldAt }: CurrentView): Methods {
  const { chainId, maxGas, hardfork } = settings

  async function planCall(given: unknown, overrides: number): Promise<CallPlan> {
    const [transaction, block, ...rest] = params.take(given, 1, 2 + overrides)
    refuseOverrides(...rest)
    const call = readCall(transaction, chainId, settings.environment.baseFee)
    const { blockNumber, timestamp, state } = await heldAt(block)
    // Without a prototype, as they are themselves.
    const environment = Object.assign(Object.create(null), timestamp !== null && { timestamp }, settings.environment)
    const reader = meterReads(state, call, { ...settings, block: blockNumber })
    return { call, reader, maxGas, context: { chainId, hardfork, blockNumber, environment } }
  }

  return {
    eth_call: async given => (await execution()).runCall(await planCall(given, 2)),
    eth_estimateGas: async given => encodeQuantity(await (await execution()).estimateGas(await planCall(given, 2))),
    eth_createAccessList: async given => (await execution()).createAccessList(await planCall(given, 0)),
  }
}
