import type { Common } from '@ethereumjs/common'
import type { EVM, EVMError, EVMOpts } from '@ethereumjs/evm'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import type { Hex } from '../base/bytes.ts'
import { rollupDiffers } from './error.ts'
import type { EvmPackages } from './evm-packages.ts'
import { bytesOf, type EvmState } from './evm-state.ts'
import { MAX_MODEXP_BYTES, MAX_PAIRS } from './limits.ts'
import type { Pace } from './pace.ts'

type Precompile = NonNullable<ReturnType<EVM['precompiles']['get']>>
type Input = Parameters<Precompile>[0]
type Result = Awaited<ReturnType<Precompile>>

/** What of the gas of a precompile counts as one step. */
const GAS_A_STEP = 4n
/** How a precompile ends that gets what it does not take. None ever reverts: it has no code that could. */
const FAILED = 'invalid input of a precompile' as ConstructorParameters<typeof EVMError>[0]

/** The precompiles of a hard fork: those of the EVM, except that what the rollup does not have ends the execution. */
export function createPrecompiles({ evm, util }: EvmPackages, common: Common, state: EvmState, pace: Pace) {
  const failed = (gasLimit: bigint): Result => ({
    returnValue: new Uint8Array(0),
    executionGasUsed: gasLimit,
    exceptionError: new evm.EVMError(FAILED),
  })

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
        const hasReverted = result.exceptionError?.error === evm.EVMError.errorMessages.REVERT
        return hasReverted ? failed(input.gasLimit) : result
      } catch (error) {
        if (pace.signal.aborted) throw error
        // A rehearsal that has come to its bounds ends at its next step.
        return failed(input.gasLimit)
      }
    }

  const customPrecompiles = [...evm.getActivePrecompiles(common)].map(([address, original]) => ({
    address: `0x${address}` as const,
    function: wrap(Number(`0x${address}`), original),
  }))
  return { customPrecompiles } satisfies EVMOpts
}

/** Precompiles that take pairs of points, or of a point and a factor, with the bytes of a pair. */
const PAIRS: Readonly<Record<number, readonly [name: string, length: number]>> = {
  8: ['ECPAIRING', 192],
  12: ['BLS12_G1MSM', 160],
  14: ['BLS12_G2MSM', 288],
  15: ['BLS12_PAIRING_CHECK', 384],
}

/** What a block of the Linea networks cannot have, because it could not be proven. */
function refusalOf(
  number: number,
  { data }: Input,
  numberIn: (bytes: Uint8Array) => bigint,
): [precompile: string, found: string] | undefined {
  if (number === 3) return ['RIPEMD-160', 'It calls the precompile RIPEMD-160.']
  if (number === 9) return ['BLAKE2F', 'It calls the precompile BLAKE2F.']
  const [name, length] = PAIRS[number] ?? ['', Number.POSITIVE_INFINITY]
  if (data.length > MAX_PAIRS * length)
    return [name, `It calls the precompile ${name} with more than ${MAX_PAIRS} pairs.`]
  if (number !== 5) return undefined
  const lengths = [0, 32, 64].map(at => numberIn(data.subarray(at, at + 32)))
  if (lengths.every(length => length <= MAX_MODEXP_BYTES)) return undefined
  return ['MODEXP', `It calls the precompile MODEXP with an argument of more than ${MAX_MODEXP_BYTES} bytes.`]
}

/** The second point in G2 of Ethereum's trusted setup, `g2_monomial[1]` in the consensus specification: the secret times the generator. */
const SECRET_G2 =
  'b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2'

/**
 * Whether the polynomial behind a commitment has the value `y` at `z`: `verify_kzg_proof` of EIP-4844.
 *
 * @throws Error in the words that the EVM knows, if an argument is no point or no number of the field
 */
export function verifyPointEvaluation(commitment: Hex, z: Hex, y: Hex, proof: Hex): boolean {
  const { G1, G2, fields } = bls12_381
  const [at, value] = [decodeNumber(z), decodeNumber(y)]
  const [committed, quotient] = [decodePoint(commitment), decodePoint(proof)]
  const secret = G2.Point.fromHex(SECRET_G2)
  // e(commitment - y, -1) * e(proof, secret - z) = 1
  const pairs = [
    { g1: committed.subtract(G1.Point.BASE.multiplyUnsafe(value)), g2: G2.Point.BASE.negate() },
    { g1: quotient, g2: secret.subtract(G2.Point.BASE.multiplyUnsafe(at)) },
  ]
  const product = bls12_381.pairingBatch(pairs.filter(({ g1, g2 }) => !g1.is0() && !g2.is0()))
  return fields.Fp12.eql(product, fields.Fp12.ONE)
}

const refuse = (): never => {
  throw new Error('C_KZG_BADARGS')
}

function decodeNumber(hex: Hex): bigint {
  const number = BigInt(hex)
  return number < bls12_381.fields.Fr.ORDER ? number : refuse()
}

/** A point of the curve and of its subgroup. The point at infinity is one. */
function decodePoint(hex: Hex) {
  try {
    const point = bls12_381.G1.Point.fromBytes(bytesOf(hex))
    if (!point.is0()) point.assertValidity()
    return point
  } catch {
    return refuse()
  }
}
