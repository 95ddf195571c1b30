import type { Hex } from '../bytes.ts'
import { createCache } from './cache.ts'
import type { CallRequest } from './call-request.ts'
import { MAX_HINTED_CONTRACTS, MAX_HINTED_KEYS, MAX_KNOWN_READS } from './limits.ts'

/** What a call reads of an account. */
export interface AccountReads {
  readonly keys: ReadonlySet<Hex>
  readonly isCodeRead: boolean
}

/** What a call reads, or is said to read: a hint of what to fetch, and nothing else. */
export type CallReads = ReadonlyMap<Hex, AccountReads>

/** Collects what is read, up to the bounds of a hint. */
export function collectReads() {
  const reads = new Map<Hex, { keys: Set<Hex>; isCodeRead: boolean }>()
  let left = MAX_HINTED_KEYS
  function account(address: Hex) {
    const known = reads.get(address)
    if (known !== undefined || reads.size === MAX_HINTED_CONTRACTS) return known
    const added = { keys: new Set<Hex>(), isCodeRead: false }
    reads.set(address, added)
    return added
  }
  return {
    reads: reads as CallReads,
    account,
    slot(address: Hex, key: Hex): void {
      const keys = account(address)?.keys
      if (keys === undefined || keys.has(key) || left === 0) return
      left--
      keys.add(key)
    },
    code(address: Hex): void {
      const known = account(address)
      if (known) known.isCodeRead = true
    },
  }
}

/** What calls have read, in any block. */
export type KnownReads = ReturnType<typeof createKnownReads>

export function createKnownReads() {
  const calls = createCache<string, CallReads>(MAX_KNOWN_READS)
  const nameOf = ({ from, to, value, data }: CallRequest) => [from, to, value, data].join()
  return {
    get: (call: CallRequest): CallReads | undefined => calls.get(nameOf(call)),
    set(call: CallRequest, reads: CallReads): void {
      const words = Math.ceil(call.data.length / 64)
      if (words > MAX_HINTED_KEYS) return
      const size = [...reads.values()].reduce((sum, { keys }) => sum + 1 + keys.size, words)
      calls.set(nameOf(call), reads, size)
    },
  }
}
