import { BLS12377_ORDER } from '../../field/bls12377.ts'
import { type Hasher, hasherOf } from '../hasher.ts'
import { type Global, hashOfKernel, instantiateKernel, type KernelExports, kernelOr } from '../kernel.ts'
import { mimcConstants } from './constants.ts'
import { mimcWasm } from './generated.ts'
import { mimcPlain } from './plain.ts'

const LIMBS = 9
const LIMB_BITS = 29
const R = 1n << BigInt(LIMBS * LIMB_BITS)

/** The WebAssembly kernel, compiled from `assembly/mimc.ts`. Throws if WebAssembly is unavailable. */
export function mimcKernel(): Hasher {
  const kernel = instantiateKernel<KernelExports & { readonly table: Global }>(mimcWasm)
  const inMontgomeryForm = mimcConstants.map(constant => (constant * R) % BLS12377_ORDER)
  const table = [(R * R) % BLS12377_ORDER, 1n, ...inMontgomeryForm].flatMap(limbs)
  new Int32Array(kernel.memory.buffer, kernel.table.value, table.length).set(table)
  return hasherOf(hashOfKernel(kernel))
}

function limbs(value: bigint): number[] {
  return Array.from({ length: LIMBS }, (_, index) =>
    Number(BigInt.asUintN(LIMB_BITS, value >> BigInt(index * LIMB_BITS))),
  )
}

/** MiMC over the BLS12-377 scalar field, as fast as the engine allows. Each call creates a hasher with its own memory. */
export const mimcHasher = (): Hasher => kernelOr(mimcKernel, mimcPlain)
