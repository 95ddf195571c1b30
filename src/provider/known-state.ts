import type { Hex } from '../base/bytes.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/code.ts'
import { createCache } from './cache.ts'
import { MAX_CACHED_CODE_BYTES, MAX_CACHED_ENTRIES } from './limits.ts'
import type { HeldAccount, ReadAccount } from './state-reader.ts'

/** What an entry takes besides its code, so that many short codes are bounded, too. */
const ENTRY_BYTES = 256

/** Keeps accounts, and adds slots to them. What is evicted is unknown again. */
export function createAccounts() {
  const accounts = createCache<Hex, HeldAccount & { readonly slots: Map<Hex, Hex> }>(MAX_CACHED_ENTRIES)
  return {
    get: (address: Hex): HeldAccount | undefined => accounts.get(address),
    /** Takes the account as it is now, and keeps the slots that it had, unless they are stated again. */
    add(address: Hex, { account, slots: more }: HeldAccount): HeldAccount {
      const slots = accounts.get(address)?.slots ?? new Map<Hex, Hex>()
      for (const [key, value] of more) slots.set(key, value)
      const held = { account, slots }
      accounts.set(address, held, 1 + slots.size)
      return held
    },
  }
}

/** What a provider has proven, in any block: code by its hash holds in every block; anything else may have changed since. */
export type KnownState = ReturnType<typeof createKnownState>

export function createKnownState() {
  const codes = createCache<Hex, Uint8Array>(MAX_CACHED_CODE_BYTES)
  const accounts = createAccounts()
  const codeOf = (account: ReadAccount | null): Uint8Array | undefined =>
    account === null || account.codeHash === EMPTY_CODE_HASH ? new Uint8Array(0) : codes.get(account.codeHash)
  return {
    code: codes.get,
    addCode(codeHash: Hex, code: Uint8Array): void {
      codes.set(codeHash, code, ENTRY_BYTES + code.length)
    },
    /** Notes what was proven in some block. */
    note: accounts.add,
    /** What was last proven of an account, and so likely still is; undefined if nothing was. */
    likelyAccount: (address: Hex): ReadAccount | null | undefined => accounts.get(address)?.account,
    likelySlot: (address: Hex, key: Hex): Hex | undefined => accounts.get(address)?.slots.get(key),
    /** Undefined, too, if the code is not here. */
    likelyCode(address: Hex): Uint8Array | undefined {
      const known = accounts.get(address)
      return known && codeOf(known.account)
    },
  }
}
