import { keccak_256 } from '@noble/hashes/sha3.js'

/** Keccak-256 of a message of any length: 32 bytes, in an array of their own. */
export type Keccak = (message: Uint8Array) => Uint8Array

/** The library's: what the kernel is compared with, and the fallback. */
export const keccakPlain: Keccak = message => keccak_256(message)
