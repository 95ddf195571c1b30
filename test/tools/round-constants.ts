import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToBigint } from '../../src/base/bytes.ts'

/**
 * The chain from which both hashes draw their round constants: c <- keccak256(c), starting at the ASCII string `seed`.
 * The first constant is the SECOND digest. Each digest is a big-endian integer reduced modulo `order`.
 */
export function* roundConstants(seed: string, order: bigint): Generator<bigint, never> {
  let digest = keccak_256(new TextEncoder().encode(seed))
  for (;;) {
    digest = keccak_256(digest)
    yield bytesToBigint(digest) % order
  }
}
