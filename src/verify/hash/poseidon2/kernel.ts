import { KOALABEAR_ORDER } from '../../field/koalabear.ts'
import type { Hasher } from '../hasher.ts'
import { type BatchExports, type Global, hasherOfKernel, instantiateKernel, kernelOr } from '../kernel.ts'
import { poseidon2Constants } from './constants.ts'
import { diagonal } from './diagonal.ts'
import { poseidon2Wasm } from './generated.ts'
import { poseidon2Plain } from './plain.ts'

const P = BigInt(KOALABEAR_ORDER)
const WIDTH = 16
/** Where the keys of the partial rounds start and end: those of three full rounds come before, and of three more after. */
const PARTIAL_START = 3 * WIDTH
const PARTIAL_END = PARTIAL_START + 21

/** The WebAssembly kernel, compiled from `assembly/poseidon2.ts`. Throws if WebAssembly SIMD is unavailable. */
export function poseidon2Kernel(): Hasher {
  const kernel = instantiateKernel<BatchExports & Record<'keys' | 'diagonal' | 'diagonalQuotients', Global>>(
    poseidon2Wasm,
  )
  const { buffer } = kernel.memory

  const keys = poseidon2Constants.map(inMontgomeryForm).map(key => key - KOALABEAR_ORDER)
  new Int32Array(buffer, kernel.keys.value, keys.length).set([
    ...transposed(keys.slice(0, PARTIAL_START)),
    ...keys.slice(PARTIAL_START, PARTIAL_END),
    ...transposed(keys.slice(PARTIAL_END)),
  ])

  // The kernel multiplies the first element by -2 separately.
  const entries = transposed(diagonal().with(0, 0))
  new Uint32Array(buffer, kernel.diagonal.value, WIDTH).set(entries)
  const quotients = entries.map(entry => Number((BigInt(entry) << 32n) / P))
  new Uint32Array(buffer, kernel.diagonalQuotients.value, WIDTH).set(quotients)
  return hasherOfKernel(kernel)
}

const inMontgomeryForm = (x: number): number => Number((BigInt(x) << 32n) % P)

/** From groups of four to vectors: in every 16, element 4g + c goes to place 4c + g. */
function transposed(elements: readonly number[]): number[] {
  return elements.map((_, place) => {
    const start = place - (place % WIDTH)
    return elements[start + 4 * (place % 4) + ((place - start) >> 2)] ?? 0
  })
}

/** Poseidon2 over KoalaBear, as fast as the engine allows. Each call creates a hasher with its own memory. */
export const poseidon2Hasher = (): Hasher => kernelOr(poseidon2Kernel, poseidon2Plain)
