import type { Hex } from '../bytes.ts'
import { encodeQuantity } from '../hex.ts'
import { readOwn } from '../json/known-fields.ts'
import { callProvider } from '../rpc/provider.ts'
import type { CallRequest } from './call-request.ts'
import { refusedFor } from './error.ts'
import type { KnownCodes } from './known-codes.ts'
import { type AccountReads, type CallReads, collectReads, type KnownReads } from './known-reads.ts'
import { MAX_HINTED_CONTRACTS, MAX_HINTED_KEYS } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { StateOverrides } from './overrides.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { ProvenState } from './proven-state.ts'
import type { StateReader } from './state-reader.ts'

/** Limits on reading, the endpoint to ask for a hint, and what earlier calls have read. */
export interface Meter extends Pick<VerifiedOptions, 'l2' | 'maxRequests' | 'maxKeysPerRequest' | 'prefetch'> {
  readonly block: bigint
  /** Waited for before the first request. */
  readonly pace: Pick<Pace, 'beSlow'>
  readonly codes: KnownCodes
  readonly reads: KnownReads
  /** What the client assumes about the state. */
  readonly assumed?: StateOverrides | undefined
}

/** Reads for one call, and counts. */
export interface MeteredReader extends StateReader {
  /** Keeps what was read as the hint for the next call of the same kind: to be called when an execution has ended. */
  remember(): void
}

/**
 * Wraps a view's state for one call, and counts the requests to the endpoint. What the call will read is fetched and proven in
 * advance, all at once: what the same call read before, and otherwise its sender, what it calls, and what the endpoint says.
 * Such a hint decides nothing else: what it omits is fetched when it is read.
 *
 * @throws ProviderError `LIMIT_REACHED`, from the functions of the reader
 */
export function meterReads(state: ProvenState, call: CallRequest, meter: Meter): MeteredReader {
  const { from, to } = call
  const { count, spend, load } = countLoads(state, meter)
  const known = meter.reads.get(call)
  const noted = collectReads()
  // A single slot of a known contract costs one request without a hint, and two with one.
  const askAt = known !== undefined || (to !== null && state.holds(to) && state.holds(from)) ? 2 : 1
  let [isKnownLoaded, misses] = [known === undefined, 0]
  let prefetching: Promise<unknown> | undefined

  /** If a read fails here, it is repeated when the call needs it, and fails there: so the order of answers does not matter. */
  const loadAll = (reads: CallReads) =>
    Promise.allSettled([...reads].flatMap(([address, one]) => load(address, [...one.keys], one.isCodeRead)))

  async function prefetch(): Promise<void> {
    const certain = new Map<Hex, AccountReads>([[from, { keys: new Set(), isCodeRead: false }]])
    if (to !== null) certain.set(to, { keys: new Set(), isCodeRead: true })
    const loading = loadAll(certain)
    if (meter.prefetch && spend(1)) await loadAll(await fetchHint(call, meter))
    await loading
  }

  async function prepare(): Promise<void> {
    await meter.pace.beSlow()
    if (!isKnownLoaded) prefetching = loadAll(known ?? new Map())
    else if (++misses === askAt) prefetching = prefetch()
    isKnownLoaded = true
    await prefetching
  }

  const metered =
    <Place extends readonly Hex[], T>(isHeld: (...place: Place) => boolean, read: (...place: Place) => Promise<T>) =>
    async (...place: Place): Promise<T> => {
      if (isHeld(...place)) return read(...place)
      await prepare()
      if (!isHeld(...place)) count(1)
      return read(...place)
    }
  const getAccount = metered(address => state.holds(address), state.getAccount)
  const getStorage = metered(state.holds, state.getStorage)
  const getCode = metered(state.holdsCode, state.getCode)

  return {
    getAccount(address) {
      noted.account(address)
      return getAccount(address)
    },
    getStorage(address, key) {
      noted.slot(address, key)
      return getStorage(address, key)
    },
    getCode(address) {
      noted.code(address)
      return getCode(address)
    },
    remember: () => meter.reads.set(call, noted.reads),
  }
}

/** Loads what is not held yet, and counts the requests. */
function countLoads(state: ProvenState, { maxRequests, maxKeysPerRequest, codes }: Meter) {
  let requests = 0
  function spend(more: number): boolean {
    if (requests + more > maxRequests) return false
    requests += more
    return true
  }
  async function loadCode(address: Hex): Promise<void> {
    if (!state.holdsCode(address) && !codes.isLikely(address) && spend(1)) await state.loadCode(address)
  }
  async function loadState(address: Hex, keys: readonly Hex[]): Promise<void> {
    const missing = keys.filter(key => !state.holds(address, key))
    if (missing.length === 0 && state.holds(address)) return
    if (spend(Math.max(1, Math.ceil(missing.length / maxKeysPerRequest)))) await state.load(address, missing)
  }
  return {
    spend,
    count(more: number): void {
      if (!spend(more)) throw refusedFor('LIMIT_REACHED', { found: `It is ${maxRequests}.` })
    },
    load: (address: Hex, keys: readonly Hex[], withCode: boolean): Promise<void>[] => [
      loadState(address, keys),
      ...(withCode ? [loadCode(address)] : []),
    ],
  }
}

/** What the endpoint says that the call touches: slots by contract. Empty if it gives no usable answer. */
async function fetchHint(
  { from, to, data, value, gas }: CallRequest,
  { l2, block, assumed }: Meter,
): Promise<CallReads> {
  const { reads, slot, code } = collectReads()
  const transaction = {
    from,
    ...(to !== null && { to }),
    data,
    ...(value > 0n && { value: encodeQuantity(value) }),
    ...(gas !== null && { gas: encodeQuantity(gas) }),
  }
  try {
    const asked = [transaction, encodeQuantity(block), ...(assumed === undefined ? [] : [assumed])]
    const answer = await l2.run((provider, { signal }) => callProvider(provider, 'eth_createAccessList', asked, signal))
    for (const entry of listIn(answer, 'accessList').slice(0, MAX_HINTED_CONTRACTS)) {
      const address = params.bytes('address', readOwn(Object(entry), 'address'), 20)
      code(address)
      for (const key of listIn(entry, 'storageKeys').slice(0, MAX_HINTED_KEYS))
        slot(address, params.bytes('key', key, 32))
    }
    return reads
  } catch {
    return new Map()
  }
}

function listIn(source: unknown, name: string): readonly unknown[] {
  const list = readOwn(Object(source), name)
  return Array.isArray(list) ? list : []
}
