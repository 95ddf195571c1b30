import type { Hasher } from '../hasher.ts'
import { kernelOr } from '../kernel.ts'
import { mimcKernel } from './kernel.ts'
import { mimcPlain } from './plain.ts'

/** MiMC over the BLS12-377 scalar field, as fast as the engine allows. Each call creates a hasher with its own memory. */
export function mimcHasher(): Hasher {
  return kernelOr(mimcKernel, mimcPlain)
}
