import type { Hex } from '../base/bytes.ts'
import { isProofError } from '../base/errors.ts'
import { encodeQuantity } from '../base/hex.ts'
import { fetchState } from '../client/sources/fetch.ts'
import { abortedBy, EndpointError, isEndpointError, isMissing } from '../client/transport/error.ts'
import { begin, createFlights } from '../client/transport/waiting.ts'
import { EMPTY_CODE_HASH, verifyCode } from '../verify/anchor/contract.ts'
import { type HistoryClaim, historyContract, historySlot, readBlockHash } from '../verify/blocks/header.ts'
import { type AnyState, type StateScheme, type StateVerifier, stateKind } from '../verify/state/kind.ts'
import { createCache } from './cache.ts'
import { unprovenValue } from './error.ts'
import { MAX_CACHED_CODE_BYTES, MAX_CACHED_ENTRIES } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'

/** The default sender of a call, which most calls read. */
export const NOBODY: Hex = `0x${'0'.repeat(40)}`
/** The value of a slot that was never written. */
export const ZERO: Hex = `0x${'0'.repeat(64)}`

export interface ReadAccount {
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hex
  readonly hasStorage: boolean
}

/**
 * The state that an execution reads. Every result is proven; otherwise, the function throws. Unknown state never reads as
 * empty. Addresses are 20 bytes, keys and values 32, in lower case.
 */
export interface StateReader {
  /** null if the account is proven absent. */
  getAccount(address: Hex): Promise<ReadAccount | null>
  getCode(address: Hex): Promise<Uint8Array>
  getStorage(address: Hex, key: Hex): Promise<Hex>
}

/** What is proven about an account. A slot that is not among `slots` is unknown, unless the account has no storage. */
export interface HeldAccount {
  readonly account: ReadAccount | null
  readonly slots: ReadonlyMap<Hex, Hex>
}

export function toProvenAccount({ account, storage }: AnyState, scheme: StateScheme): HeldAccount {
  const slots = new Map(storage.map(({ key, value }) => [key, value]))
  if (account === null) return { account, slots }
  const { nonce, balance, codeHash, storageRoot } = account
  return { account: { nonce, balance, codeHash, hasStorage: storageRoot !== stateKind(scheme).emptyRoot }, slots }
}

interface ProvenSource {
  /** Throws if the account, or the slot of an account with storage, is not proven. */
  read(address: Hex, key?: Hex): Promise<HeldAccount>
  readCode(codeHash: Hex, address: Hex): Promise<Uint8Array>
}

/** Derives what follows from an account alone: without storage, every slot is proven to be zero. */
export const createStateReader = ({ read, readCode }: ProvenSource): StateReader => ({
  getAccount: async address => (await read(address)).account,
  async getStorage(address, key) {
    const { account, slots } = await read(address, key)
    const value = account?.hasStorage ? slots.get(key) : ZERO
    if (value === undefined) throw new Error('the slot that was read is not proven')
    return value
  },
  async getCode(address) {
    const codeHash = (await read(address)).account?.codeHash ?? EMPTY_CODE_HASH
    return codeHash === EMPTY_CODE_HASH ? new Uint8Array(0) : readCode(codeHash, address)
  },
})

/** Whether reading the account, or the slot, needs no further proof. */
export const isProven = (known: HeldAccount | undefined, key?: Hex): known is HeldAccount =>
  known !== undefined && (key === undefined || !known.account?.hasStorage || known.slots.has(key))

/**
 * The hash of an earlier block, from the contract that keeps them (EIP-2935). With `count`, those of the blocks after it
 * are proven along with it.
 *
 * @throws ProviderError `VALUE_UNPROVEN`, or what `refusedBy` makes of the reason
 */
export async function readHistory(
  state: StateReader,
  claim: HistoryClaim,
  count = 1,
  refusedBy: (cause: Error) => Error = cause => unprovenValue('BLOCKHASH', cause),
): Promise<Hex> {
  const numbers = Array.from({ length: count }, (_, index) => claim.number + BigInt(index))
  const keys = numbers.filter(one => one < claim.stateBlock).map(historySlot)
  // The slots come with their account, in one request.
  const storage = await Promise.all(
    keys.map(async key => ({ key, value: await state.getStorage(historyContract, key) })),
  )
  const account = await state.getAccount(historyContract)
  try {
    return readBlockHash({ account, storage }, claim)
  } catch (error) {
    throw isProofError(error) ? refusedBy(error) : error
  }
}

const NO_CODE = new Uint8Array(0)

/** A slot, or the code. */
export type Part = Hex | 'code'

export interface ProvenState extends StateReader {
  readonly scheme: StateScheme
  /** The same, for whoever ends the signal of `pace`: requests are his in the queue, shared with others, and end with the last of them. */
  by(pace: Asker): ProvenState
  /** Whether reading it, or the account, needs no further proof. */
  holds(address: Hex, part?: Part): boolean
  /** Proves the account with these slots, in one request per `maxKeysPerRequest` slots, all at once. */
  load(address: Hex, keys: readonly Hex[]): Promise<void>
  /** Fetches the code of the account while the account is proven, which then says whether it is the right one. */
  loadCode(address: Hex): Promise<void>
  /** The endpoint's own answer for the account and these slots, verified. */
  getProof(method: string, address: Hex, keys: readonly Hex[]): Promise<unknown>
}

type Asker = Pick<Pace, 'signal' | 'beSlow'>

interface StateSource extends Pick<VerifiedOptions, 'l2' | 'method' | 'maxKeysPerRequest'> {
  readonly block: bigint
  readonly stateRoot: Hex
  readonly scheme: StateScheme
  readonly verify: StateVerifier
  readonly known: KnownState
}

export function createProvenState(source: StateSource): ProvenState {
  const { l2, block, stateRoot, scheme, verify, method, maxKeysPerRequest, known } = source
  const accounts = createAccounts()

  function fetchProven(method: string, address: Hex, storageKeys: readonly Hex[], signal: AbortSignal | undefined) {
    const wanted = { scheme, stateRoot, address, storageKeys, l2BlockNumber: block }
    return fetchState(l2, wanted, { method, maxKeysPerRequest, verify, signal })
  }
  const readProven = createBatches(async (address, keys, signal) => {
    const count = Math.max(1, Math.ceil(keys.length / maxKeysPerRequest))
    const starts = Array.from({ length: count }, (_, part) => part * maxKeysPerRequest)
    const partAt = (start: number) => fetchProven(method, address, keys.slice(start, start + maxKeysPerRequest), signal)
    const proven = (await inOrder(starts.map(partAt))).map(({ state }) => toProvenAccount(state, scheme))
    const held = { account: proven[0]?.account ?? null, slots: new Map(proven.flatMap(({ slots }) => [...slots])) }
    known.note(address, held)
    return accounts.add(address, held)
  })

  const { fetchCode, isLoading } = createCodes(source)

  function readBy(pace: Asker | undefined): ProvenState {
    const signal = pace?.signal
    // Whether it fails counts when its turn comes.
    const start = <T>(work: () => Promise<T>): Promise<T> => begin(pace ? pace.beSlow().then(work) : work())
    const prove = (address: Hex, key: Hex | undefined) => start(() => readProven(address, key, signal))
    const codeOf = (address: Hex, codeHash: Hex | Promise<Hex>, id: Hex) =>
      start(() => fetchCode(address, codeHash, id, signal))
    const reader = createStateReader({
      async read(address, key) {
        const held = accounts.get(address)
        return isProven(held, key) ? held : prove(address, key)
      },
      async readCode(codeHash, address) {
        if (known.code(codeHash) === undefined && isLoading(address)) await codeOf(address, codeHash, address)
        return known.code(codeHash) ?? codeOf(address, codeHash, codeHash)
      },
    })
    return {
      ...reader,
      scheme,
      by: readBy,
      holds(address, part) {
        const held = accounts.get(address)
        return part === 'code' ? known.codeOf(held) !== undefined : isProven(held, part)
      },
      async loadCode(address) {
        if (accounts.get(address) !== undefined) return void (await reader.getCode(address))
        // If the account is not proven, the code is of no use, and that is no fault of who sends it.
        const none = () => EMPTY_CODE_HASH
        const codeHash = reader.getAccount(address).then(account => account?.codeHash ?? EMPTY_CODE_HASH, none)
        await codeOf(address, codeHash, address)
      },
      async load(address, keys) {
        const places = keys.length === 0 ? [undefined] : keys
        await inOrder(places.map(key => prove(address, key)))
      },
      async getProof(method, address, keys) {
        return (await start(() => fetchProven(method, address, keys, signal))).answer
      },
    }
  }
  return readBy(undefined)
}

/** Codes under way: by hash; by address where the hash is not proven yet. */
function createCodes({ l2, block, known }: StateSource) {
  const { has: isLoading, run: share } = createFlights<Hex>()
  const fetchCode = (address: Hex, codeHash: Hex | Promise<Hex>, id: Hex, by?: AbortSignal): Promise<Uint8Array> =>
    share(id, by, over =>
      l2.run(async (provider, { signal }) => {
        const ask = (at: string) => provider.call('eth_getCode', [address, at], signal)
        const [newest, expected] = await Promise.all([ask('latest').catch(orUnheld), codeHash])
        if (expected === EMPTY_CODE_HASH) return NO_CODE
        let code = tryCode(newest, expected)
        if (code === undefined) {
          const own = await ask(encodeQuantity(block))
          // Of a back end that lags behind the others at its URL.
          if (own === null) throw new EndpointError('BLOCK_MISSING', { found: 'null in place of code', layer: 'L2' })
          code = verifyCode(own, expected)
        }
        known.addCode(expected, code)
        return code
      }, over),
    )
  return { fetchCode, isLoading }
}

/**
 * Code is asked for in the newest block first: it rarely changes, its hash says whether it is the right one, and most nodes have
 * no longer the state of a block that L1 has finalized. Undefined: the account has other code now.
 */
function tryCode(answer: unknown, codeHash: Hex): Uint8Array | undefined {
  try {
    return verifyCode(answer, codeHash)
  } catch {
    return undefined
  }
}

/** For `catch`: no code, if the endpoint does not know the newest block, or not by this name. */
function orUnheld(error: unknown): null {
  if (isMissing(error) || (isEndpointError(error) && error.code === 'TAG_UNSUPPORTED')) return null
  throw error
}

/** Joins the reads of one account in the same tick into one request. Later reads share its answer until it arrives. */
function createBatches(fetch: (address: Hex, keys: readonly Hex[], signal: AbortSignal) => Promise<HeldAccount>) {
  type Batch = Set<Hex>
  const { run: share } = createFlights<Batch>()
  const [waiting, loading] = [new Map<Hex, Batch>(), new Map<string, Batch>()]

  function join(address: Hex, key: Hex | undefined): Batch {
    const batch: Batch = waiting.get(address) ?? new Set()
    waiting.set(address, batch)
    loading.set(address, batch)
    if (key !== undefined) loading.set(address + key, batch.add(key))
    return batch
  }

  return async (address: Hex, key: Hex | undefined, signal: AbortSignal | undefined): Promise<HeldAccount> => {
    if (signal?.aborted) throw abortedBy(signal)
    const batch = loading.get(address + (key ?? '')) ?? join(address, key)
    return share(batch, signal, async own => {
      try {
        await endOfTick()
        waiting.delete(address)
        return await fetch(address, [...batch], own)
      } finally {
        for (const id of [address, ...[...batch].map(key => address + key)])
          if (loading.get(id) === batch) loading.delete(id)
      }
    })
  }
}

/** What all of them resolve to. If some fail, all are waited for, so that always the same failure counts: that of the first. */
async function inOrder<T>(works: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}

const endOfTick = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))

/** What an entry takes besides its code, so that many short codes are bounded, too. */
const ENTRY_BYTES = 256

/** Keeps accounts, and adds slots to them. What is evicted is unknown again. */
function createAccounts() {
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
  return {
    code: codes.get,
    addCode(codeHash: Hex, code: Uint8Array): void {
      codes.set(codeHash, code, ENTRY_BYTES + code.length)
    },
    note: accounts.add,
    /** What was last proven of an account, and so likely still is; undefined if nothing was. */
    account: accounts.get,
    /** The code of such an account. Undefined, too, if it is not here. */
    codeOf(held: HeldAccount | undefined): Uint8Array | undefined {
      const codeHash = held?.account?.codeHash ?? EMPTY_CODE_HASH
      return codeHash === EMPTY_CODE_HASH ? held && NO_CODE : codes.get(codeHash)
    },
  }
}
