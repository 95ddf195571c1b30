import type { Hex } from '../bytes.ts'
import { createCache } from './cache.ts'
import { MAX_CACHED_CODE_BYTES, MAX_CACHED_ENTRIES } from './limits.ts'

/** What an entry takes besides its code, so that many short codes are bounded, too. */
const ENTRY_BYTES = 256

/** Codes by their hash, which holds in every block. */
export type KnownCodes = ReturnType<typeof createKnownCodes>

export function createKnownCodes() {
  const codes = createCache<Hex, Uint8Array>(MAX_CACHED_CODE_BYTES)
  /** The last code hash of an account: in another block, it may have another one. */
  const hashes = createCache<Hex, Hex>(MAX_CACHED_ENTRIES)
  return {
    get: codes.get,
    set(codeHash: Hex, code: Uint8Array): void {
      codes.set(codeHash, code, ENTRY_BYTES + code.length)
    },
    /** Notes what an account was proven to have. */
    note: (address: Hex, codeHash: Hex): void => hashes.set(address, codeHash, 1),
    /** Whether it is likely that the code of this account is here. */
    isLikely(address: Hex): boolean {
      const codeHash = hashes.get(address)
      return codeHash !== undefined && codes.get(codeHash) !== undefined
    },
  }
}
