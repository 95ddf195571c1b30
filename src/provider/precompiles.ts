import type { Common } from '@ethereumjs/common'
import type { EVM, EVMError } from '@ethereumjs/evm'
import { bytesToBigint } from '../base/bytes.ts'
import { rollupDiffers } from './error.ts'
import type { EvmPackages } from './evm-packages.ts'
import type { EvmState } from './evm-state.ts'
import { MAX_MODEXP_BYTES, MAX_PAIRS } from './limits.ts'
import { GAS_A_STEP, type Pace } from './pace.ts'

type Precompile = NonNullable<ReturnType<EVM['precompiles']['get']>>
type Result = Awaited<ReturnType<Precompile>>

/** How a precompile ends that gets what it does not take. None ever reverts: it has no code that could. */
const FAILED = 'invalid input of a precompile' as ConstructorParameters<typeof EVMError>[0]

/** The precompiles of a hard fork: those of the EVM, except that what the rollup does not have ends the execution. */
export function createPrecompiles({ evm }: EvmPackages, rules: Common, state: EvmState, pace: Pace) {
  const failed = (gasLimit: bigint): Result => ({
    returnValue: new Uint8Array(0),
    executionGasUsed: gasLimit,
    exceptionError: new evm.EVMError(FAILED),
  })

  const wrap =
    (number: number, run: Precompile): Precompile =>
    async given => {
      const [refused, how] = refusalOf(number, given.data)
      if (refused !== undefined) {
        return state.fail(rollupDiffers(refused, `It calls the precompile ${refused}${how}.`))
      }
      // What costs more than a rehearsal may is not computed, and ends it.
      const most = pace.budget === undefined ? given.gasLimit : BigInt(pace.budget.left()) * GAS_A_STEP
      const gasLimit = given.gasLimit < most ? given.gasLimit : most
      try {
        const result = await run({ ...given, gasLimit })
        pace.budget?.spend(Number(result.executionGasUsed / GAS_A_STEP))
        const hasReverted = result.exceptionError?.error === evm.EVMError.errorMessages.REVERT
        return hasReverted ? failed(gasLimit) : result
      } catch {
        // A rehearsal that has come to its bounds ends at its next step.
        return failed(gasLimit)
      }
    }

  return [...evm.getActivePrecompiles(rules)].map(([address, original]) => ({
    address: `0x${address}` as const,
    function: wrap(Number(`0x${address}`), original),
  }))
}

/** Precompiles that take pairs of points, or of a point and a factor, with the bytes of a pair. */
const PAIRS: Readonly<Record<number, readonly [name: string, length: number]>> = {
  8: ['ECPAIRING', 192],
  12: ['BLS12_G1MSM', 160],
  14: ['BLS12_G2MSM', 288],
  15: ['BLS12_PAIRING_CHECK', 384],
}

/** What a block of the Linea networks cannot have, because it could not be proven; and what takes a trusted setup, for blobs, of which they have none. */
const REFUSED: Readonly<Record<number, string>> = { 3: 'RIPEMD-160', 9: 'BLAKE2F', 10: 'POINT_EVALUATION' }

/** The name of the precompile, and how it is called. */
function refusalOf(number: number, data: Uint8Array): readonly [precompile?: string, how?: string] {
  if (REFUSED[number] !== undefined) return [REFUSED[number], '']
  const [name, length] = PAIRS[number] ?? ['', Number.POSITIVE_INFINITY]
  if (data.length > MAX_PAIRS * length) return [name, ` with more than ${MAX_PAIRS} pairs`]
  const lengths = number === 5 ? [0, 32, 64].map(at => bytesToBigint(data.subarray(at, at + 32))) : []
  if (lengths.every(length => length <= MAX_MODEXP_BYTES)) return []
  return ['MODEXP', ` with an argument of more than ${MAX_MODEXP_BYTES} bytes`]
}
