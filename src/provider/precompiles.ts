import type { Common } from '@ethereumjs/common'
import type { EVM, EVMError, EVMOpts } from '@ethereumjs/evm'
import { rollupDiffers } from './error.ts'
import type { EvmPackages } from './evm-packages.ts'
import type { EvmState } from './evm-state.ts'
import { MAX_MODEXP_BYTES, PAIRS_A_SLICE } from './limits.ts'
import type { Pace } from './pace.ts'
import { checkPairings } from './pairing.ts'

type Precompile = NonNullable<ReturnType<EVM['precompiles']['get']>>
type Input = Parameters<Precompile>[0]
type Result = Awaited<ReturnType<Precompile>>
/** A work that takes too long to be done without a pause. */
type Work = () => Promise<Uint8Array>

/** What of the gas of a precompile counts as one step. */
const GAS_A_STEP = 4n

const G1_BYTES = 128
const G2_BYTES = 256
const SCALAR_BYTES = 32
const BN254_PAIR_BYTES = 192
/** How a precompile ends that gets what it does not take. None ever reverts: it has no code that could. */
const FAILED = 'invalid input of a precompile' as ConstructorParameters<typeof EVMError>[0]

/**
 * The precompiles of a hard fork, as options of the EVM. They compute what the EVM's own do; but those that can take seconds
 * pause, and those that the rollup does not have end the execution.
 */
export function createPrecompiles(packages: EvmPackages, common: Common, state: EvmState, pace: Pace) {
  const { evm, util } = packages
  const { bls, takeNoted } = noteSums(packages, pace)

  const failed = (gasLimit: bigint, error = FAILED): Result => ({
    returnValue: new Uint8Array(0),
    executionGasUsed: gasLimit,
    exceptionError: new evm.EVMError(error),
  })

  /** EIP-197, at the prices of EIP-1108. The EVM's own takes no other curve. */
  async function pairBn254({ data, gasLimit }: Input): Promise<Result> {
    if (data.length % BN254_PAIR_BYTES !== 0) return failed(gasLimit)
    const pairs = BigInt(data.length / BN254_PAIR_BYTES)
    const gas = common.param('bn254PairingGas') + pairs * common.param('bn254PairingWordGas')
    if (gas > gasLimit) return failed(gasLimit, evm.EVMError.errorMessages.OUT_OF_GAS)
    return { executionGasUsed: gas, returnValue: truth(await checkPairings('bn254', data, pace)) }
  }

  /** What costs more than a rehearsal may is not computed, and ends it. */
  function affordable(gas: bigint): bigint {
    const most = pace.budget === undefined ? gas : BigInt(pace.budget.left()) * GAS_A_STEP
    return gas < most ? gas : most
  }

  const wrap =
    (number: number, run: Precompile): Precompile =>
    async given => {
      const refusal = refusalOf(number, given, util.bytesToBigInt)
      if (refusal !== undefined) return state.fail(rollupDiffers(...refusal))
      const input = { ...given, gasLimit: affordable(given.gasLimit) }
      try {
        const result = await run(input)
        pace.budget?.spend(Number(result.executionGasUsed / GAS_A_STEP))
        const work = takeNoted()
        if (work !== undefined) return { ...result, returnValue: await work() }
        const hasReverted = result.exceptionError?.error === evm.EVMError.errorMessages.REVERT
        return hasReverted ? failed(input.gasLimit) : result
      } catch (error) {
        if (pace.signal.aborted) throw error
        // A point that is none.
        return failed(input.gasLimit)
      }
    }

  const customPrecompiles = [...evm.getActivePrecompiles(common)].map(([address, original]) => {
    const number = Number(`0x${address}`)
    return { address: `0x${address}` as const, function: wrap(number, number === 8 ? pairBn254 : original) }
  })
  return { customPrecompiles, bls } satisfies EVMOpts
}

/** What the documents of the Linea networks name as unsupported: a block with such a call cannot be proven. */
function refusalOf(
  number: number,
  { data }: Input,
  numberIn: (bytes: Uint8Array) => bigint,
): [precompile: string, found: string] | undefined {
  if (number === 3) return ['RIPEMD-160', 'It calls the precompile RIPEMD-160.']
  if (number === 9) return ['BLAKE2F', 'It calls the precompile BLAKE2F.']
  if (number !== 5) return undefined
  const lengths = [0, 32, 64].map(at => numberIn(data.subarray(at, at + 32)))
  if (lengths.every(length => length <= MAX_MODEXP_BYTES)) return undefined
  return ['MODEXP', `It calls the precompile MODEXP with an argument of more than ${MAX_MODEXP_BYTES} bytes.`]
}

/**
 * The curve BLS12-381 of the EVM. The EVM does not wait for it, so what takes long is noted instead of done, and done
 * afterwards.
 */
function noteSums({ evm, util }: EvmPackages, pace: Pace) {
  const own = new evm.NobleBLS()
  let noted: Work | undefined
  const note = (length: number, work: (input: Uint8Array) => Promise<Uint8Array>) => (input: Uint8Array) => {
    noted = () => work(input)
    return new Uint8Array(length)
  }

  const sum = (name: 'G1' | 'G2', length: number) =>
    note(length, async input => {
      let total = new Uint8Array(length)
      const slice = PAIRS_A_SLICE * (length + SCALAR_BYTES)
      for (let at = 0; at < input.length; at += slice) {
        await pace.pause()
        const part = own[`msm${name}`](input.subarray(at, at + slice))
        total = Uint8Array.from(own[`add${name}`](util.concatBytes(total, part)))
      }
      return total
    })
  return {
    bls: Object.assign(new evm.NobleBLS(), {
      msmG1: sum('G1', G1_BYTES),
      msmG2: sum('G2', G2_BYTES),
      pairingCheck: note(32, async input => truth(await checkPairings('bls12_381', input, pace))),
    }),
    takeNoted(): Work | undefined {
      const work = noted
      noted = undefined
      return work
    },
  }
}

const truth = (value: boolean): Uint8Array => new Uint8Array(32).fill(value ? 1 : 0, 31)
