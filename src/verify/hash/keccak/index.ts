import { kernelOr } from '../kernel.ts'
import { keccakKernel } from './kernel.ts'
import { type Keccak, keccakPlain } from './plain.ts'

/** Made at the first call: an import has no side effects. Between two calls it holds nothing. */
let keccak: Keccak | undefined

/** Keccak-256 of a message of any length, as fast as the engine allows: 32 bytes, in an array of their own. */
export function keccak256(message: Uint8Array): Uint8Array {
  keccak ??= kernelOr(keccakKernel, () => keccakPlain)
  return keccak(message)
}
