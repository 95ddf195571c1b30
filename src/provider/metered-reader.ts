import type { Hex } from '../base/bytes.ts'
import { encodeQuantity } from '../base/hex.ts'
import { readOwn } from '../base/json/known-fields.ts'
import { abortedBy } from '../client/transport/error.ts'
import { callProvider } from '../client/transport/provider.ts'
import type { CallRequest, StateOverrides } from './call-request.ts'
import { refusedFor } from './error.ts'
import { MAX_HINTED_CONTRACTS, MAX_HINTED_KEYS } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { KnownState, ProvenState } from './proven-state.ts'
import { type CallReads, collectReads, createRehearsals, type Rehearse } from './rehearsal.ts'
import type { StateReader } from './state-reader.ts'

export interface Meter extends Pick<VerifiedOptions, 'l2' | 'maxRequests' | 'maxKeysPerRequest' | 'prefetch'> {
  readonly block: bigint
  /** Waited for before the first request. */
  readonly pace: Pace
  readonly known: KnownState
  readonly rehearse: Rehearse
  readonly assumed?: StateOverrides | undefined
}

/**
 * Counts the requests that a call causes. When it reads what is not proven yet, what it will read besides is fetched and proven with it:
 * what a rehearsal reads, and what the endpoint says. Such a hint decides nothing else: what it omits is fetched when it is read.
 *
 * @throws ProviderError `LIMIT_REACHED`, from the functions of the reader
 */
export function meterReads(state: ProvenState, call: CallRequest, meter: Meter): StateReader {
  const { pace, prefetch } = meter
  const { use, used, next } = createRehearsals(state, meter.known, pace, meter.rehearse)
  const { count, spend, load } = countLoads(state, meter, used)
  let [misses, isAsked] = [0, !prefetch]

  /** If a read fails here, it is repeated when the call needs it, and fails there: so the order of answers does not matter. */
  const loadAll = (reads: CallReads) =>
    Promise.allSettled([...reads].flatMap(([address, one]) => load(address, [...one.keys], one.isCodeRead)))

  async function prepare(): Promise<void> {
    await pace.beSlow()
    misses++
    const { reads, isBlind } = await next()
    if (pace.signal.aborted) throw abortedBy(pace.signal)
    const loading = loadAll(reads)
    // A single slot of a known contract costs one request without the endpoint's hint, and two with it.
    if (!isAsked && (isBlind || misses === 2) && spend(1)) {
      isAsked = true
      await loadAll(await fetchHint(call, meter))
    }
    await loading
  }

  const metered =
    <Place extends readonly [address: Hex, key?: Hex], T>(
      isHeld: (...place: Place) => boolean,
      read: (...place: Place) => Promise<T>,
      part?: 'code',
    ) =>
    async (...place: Place): Promise<T> => {
      if (!isHeld(...place)) await prepare()
      const isMissed = !isHeld(...place)
      if (isMissed) count(1)
      use(place[0], part ?? place[1], isMissed)
      return read(...place)
    }
  return {
    getAccount: metered(address => state.holds(address), state.getAccount),
    getStorage: metered(state.holds, state.getStorage),
    getCode: metered(state.holdsCode, state.getCode, 'code'),
  }
}

function countLoads(state: ProvenState, { maxRequests, maxKeysPerRequest, known }: Meter, used: () => number) {
  let requests = 0
  const codes = new Set<Hex>()
  function spendUpTo(most: number, more: number): boolean {
    if (requests + more > most) return false
    requests += more
    return true
  }
  /** For hints. Half of the requests is left for what the call reads; more, as the call reads more. */
  const spend = (more: number) => spendUpTo(Math.min(maxRequests, maxRequests / 2 + used() / 16), more)

  async function loadCode(address: Hex): Promise<void> {
    if (state.holdsCode(address)) return
    const isHeld = state.holds(address)
    if (!isHeld && known.likelyCode(address) !== undefined) return
    // Accounts may share their code.
    const id = isHeld ? ((await state.getAccount(address))?.codeHash ?? address) : address
    if (codes.has(id) || !spend(1)) return
    codes.add(id)
    await state.loadCode(address)
  }
  async function loadState(address: Hex, keys: readonly Hex[]): Promise<void> {
    const missing = keys.filter(key => !state.holds(address, key))
    if (missing.length === 0 && state.holds(address)) return
    if (spend(Math.max(1, Math.ceil(missing.length / maxKeysPerRequest)))) await state.load(address, missing)
  }
  return {
    spend,
    count(more: number): void {
      if (!spendUpTo(maxRequests, more)) throw refusedFor('LIMIT_REACHED', { found: `It is ${maxRequests}.` })
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
  const { reads, of } = collectReads()
  const transaction = {
    from,
    ...(to !== null && { to }),
    data,
    ...(value > 0n && { value: encodeQuantity(value) }),
    ...(gas !== null && { gas: encodeQuantity(gas) }),
  }
  let left = MAX_HINTED_KEYS
  try {
    const asked = [transaction, encodeQuantity(block), ...(assumed === undefined ? [] : [assumed])]
    const answer = await l2.run((provider, { signal }) => callProvider(provider, 'eth_createAccessList', asked, signal))
    for (const entry of listIn(answer, 'accessList').slice(0, MAX_HINTED_CONTRACTS)) {
      const one = of(params.bytes('address', readOwn(Object(entry), 'address'), 20))
      one.isCodeRead = true
      const keys = listIn(entry, 'storageKeys').slice(0, left)
      left -= keys.length
      for (const key of keys) one.keys.add(params.bytes('key', key, 32))
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
