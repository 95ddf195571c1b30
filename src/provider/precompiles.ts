import type { Common } from '@ethereumjs/common'
import type { EVM, EVMError } from '@ethereumjs/evm'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToBigint, type Hex } from '../base/bytes.ts'
import { rollupDiffers } from './error.ts'
import type { EvmPackages } from './evm-packages.ts'
import { bytesOf, type EvmState } from './evm-state.ts'
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

/** What a block of the Linea networks cannot have, because it could not be proven: the name of the precompile, and how it is called. */
function refusalOf(number: number, data: Uint8Array): readonly [precompile?: string, how?: string] {
  if (number === 3) return ['RIPEMD-160', '']
  if (number === 9) return ['BLAKE2F', '']
  const [name, length] = PAIRS[number] ?? ['', Number.POSITIVE_INFINITY]
  if (data.length > MAX_PAIRS * length) return [name, ` with more than ${MAX_PAIRS} pairs`]
  const lengths = number === 5 ? [0, 32, 64].map(at => bytesToBigint(data.subarray(at, at + 32))) : []
  if (lengths.every(length => length <= MAX_MODEXP_BYTES)) return []
  return ['MODEXP', ` with an argument of more than ${MAX_MODEXP_BYTES} bytes`]
}

/** The second point in G2 of Ethereum's trusted setup, `g2_monomial[1]` in the consensus specification: the secret times the generator. */
const SECRET_G2 =
  'b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2'

/**
 * Whether the polynomial behind a commitment has the value `y` at `z`: `verify_kzg_proof` of EIP-4844.
 *
 * @throws Error if an argument is no point of the curve and of its subgroup, or no number of the field
 */
export function verifyPointEvaluation(commitment: Hex, z: Hex, y: Hex, proof: Hex): boolean {
  const { G1, G2, fields } = bls12_381
  const [at, value] = [BigInt(z), BigInt(y)]
  if (at >= fields.Fr.ORDER || value >= fields.Fr.ORDER) throw new Error('no number of the field')
  const committed = G1.Point.fromBytes(bytesOf(commitment))
  const secret = G2.Point.fromHex(SECRET_G2)
  // e(commitment - y, -1) * e(proof, secret - z) = 1
  const pairs = [
    { g1: committed.subtract(G1.Point.BASE.multiplyUnsafe(value)), g2: G2.Point.BASE.negate() },
    { g1: G1.Point.fromBytes(bytesOf(proof)), g2: secret.subtract(G2.Point.BASE.multiplyUnsafe(at)) },
  ]
  const product = bls12_381.pairingBatch(pairs.filter(({ g1, g2 }) => !g1.is0() && !g2.is0()))
  return fields.Fp12.eql(product, fields.Fp12.ONE)
}
