import { hashOfKernel, instantiateKernel, type KernelExports } from '../kernel.ts'
import { keccakWasm } from './generated.ts'
import type { Keccak } from './plain.ts'

/** The WebAssembly kernel, compiled from `assembly/keccak.ts`. Throws if WebAssembly is unavailable. */
export const keccakKernel = (): Keccak => hashOfKernel(instantiateKernel<KernelExports>(keccakWasm))
