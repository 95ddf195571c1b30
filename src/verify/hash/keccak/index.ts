import { keccak_256 } from '@noble/hashes/sha3.js'
import { hashOfKernel, instantiateKernel, type KernelExports, kernelOr } from '../kernel.ts'
import { keccakWasm } from './generated.ts'

/** Keccak-256 of a message of any length: 32 bytes, in an array of their own. */
type Keccak = (message: Uint8Array) => Uint8Array

/** The library's: what the kernel is compared with, and the fallback. */
export const keccakPlain: Keccak = message => keccak_256(message)

/** The WebAssembly kernel, compiled from `assembly/keccak.ts`. Throws if WebAssembly is unavailable. */
export const keccakKernel = (): Keccak => hashOfKernel(instantiateKernel<KernelExports>(keccakWasm))

/** Made at the first call: an import has no side effects. Between two calls it holds nothing. */
let keccak: Keccak | undefined

/** Keccak-256, as fast as the engine allows. */
export function keccak256(message: Uint8Array): Uint8Array {
  keccak ??= kernelOr(keccakKernel, () => keccakPlain)
  return keccak(message)
}
