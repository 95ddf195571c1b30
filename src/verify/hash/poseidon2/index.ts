import type { Hasher } from '../hasher.ts'
import { kernelOr } from '../kernel.ts'
import { poseidon2Kernel } from './kernel.ts'
import { poseidon2Plain } from './plain.ts'

/** Poseidon2 over KoalaBear, as fast as the engine allows. Each call creates a hasher with its own memory. */
export function poseidon2Hasher(): Hasher {
  return kernelOr(poseidon2Kernel, poseidon2Plain)
}
