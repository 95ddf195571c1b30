import type { Common } from '@ethereumjs/common'
import type { EVMOpts } from '@ethereumjs/evm'
import type { EvmPackages } from './evm-packages.ts'
import type { Budget } from './pace.ts'

type Metered = NonNullable<EVMOpts['customOpcodes']>

/** What of their gas counts as one step: powers take long, copies do not. */
const [EXP, GAS_A_STEP, GAS_OF_EXP] = [0x0a, 8n, 2n]
/** Instructions that read or write the state and do nothing else: what is read is bounded otherwise. */
const OF_STATE = [0x31, 0x3b, 0x3f, 0x54, 0x55]
/** Instructions that do so, too: EXTCODECOPY and calls. Touching an account is up to so much of their price (EIP-2929). */
const [TOUCHING, TOUCH] = [[0x3c, 0xf1, 0xf2, 0xf4, 0xfa], 2600n]

/**
 * The instructions whose price depends on their operands, for a rehearsal: what they are charged for powers, hashes, copies, memory,
 * logs and creations counts as steps, which take about as long. Every other instruction is one step.
 */
export function meterOpcodes({ getOpcodesForHF }: EvmPackages['evm'], rules: Common, budget: Budget): Metered {
  const { opcodes, handlers, dynamicGasHandlers } = getOpcodesForHF(rules)
  const metered: Metered = []
  for (const [opcode, gasOf] of dynamicGasHandlers) {
    const [info, logicFunction] = [opcodes.get(opcode), handlers.get(opcode)]
    if (info === undefined || logicFunction === undefined || OF_STATE.includes(opcode)) continue
    const [free, gasAStep] = [TOUCHING.includes(opcode) ? TOUCH : 0n, opcode === EXP ? GAS_OF_EXP : GAS_A_STEP]
    const gasFunction: typeof gasOf = async (...given) => {
      const gas = await gasOf(...given)
      if (gas > free) budget.spend(Number((gas - free) / gasAStep))
      return gas
    }
    metered.push({ opcode, opcodeName: info.name, baseFee: info.fee, gasFunction, logicFunction })
  }
  return metered
}
