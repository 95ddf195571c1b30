import type { Hex } from '../base/bytes.ts'
import { encodeQuantity } from '../base/hex.ts'
import { readOwn } from '../base/json/known-fields.ts'
import { abortedBy } from '../client/transport/error.ts'
import { callProvider } from '../client/transport/provider.ts'
import type { CallRequest } from './call-request.ts'
import { refusedFor } from './error.ts'
import { MAX_HINTED_CONTRACTS, MAX_HINTED_KEYS } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { KnownState, ProvenState } from './proven-state.ts'
import { type CallReads, createRehearsals, type Part, partsOf, type Rehearse } from './rehearsal.ts'
import type { StateReader } from './state-reader.ts'

export interface Meter extends Pick<VerifiedOptions, 'l2' | 'maxRequests' | 'maxKeysPerRequest' | 'prefetch'> {
  readonly block: bigint
  /** Waited for before the first request. */
  readonly pace: Pace
  readonly known: KnownState
  readonly rehearse: Rehearse
}

/**
 * Counts the requests that a call causes. When it reads what is not proven yet, what it will read besides is fetched and proven with it:
 * what a rehearsal reads, and what the endpoint says. Such a hint decides nothing else: what it omits is fetched when it is read.
 *
 * @throws ProviderError `LIMIT_REACHED`, from the functions of the reader
 */
export function meterReads(state: ProvenState, call: CallRequest, meter: Meter): StateReader {
  const { pace, prefetch, maxRequests, maxKeysPerRequest, known } = meter
  const { use, used, next } = createRehearsals(state, known, pace, meter.rehearse)
  let [requests, misses, isAsked] = [0, 0, !prefetch]

  function spend(more: number, most: number): boolean {
    if (requests + more > most) return false
    requests += more
    return true
  }
  /** For hints. Half of the requests is left for what the call reads; more, as the call reads more. */
  const spare = (more: number) => spend(more, Math.min(maxRequests, maxRequests / 2 + used() / 16))

  function load(address: Hex, parts: ReadonlySet<Part>): Promise<void>[] {
    const keys = [...parts].filter((part): part is Hex => part !== 'code' && !state.holds(address, part))
    const isHeld = state.holds(address)
    const isLacking = keys.length > 0 || !isHeld
    const isCodeLacking = !state.holdsCode(address) && (isHeld || known.likelyCode(address) === undefined)
    return [
      ...(isLacking && spare(Math.ceil(keys.length / maxKeysPerRequest) || 1) ? [state.load(address, keys)] : []),
      ...(parts.has('code') && isCodeLacking && spare(1) ? [state.loadCode(address)] : []),
    ]
  }
  /** If a read fails here, it is repeated when the call needs it, and fails there: so the order of answers does not matter. */
  const loadAll = (reads: CallReads) =>
    Promise.allSettled([...reads].flatMap(([address, parts]) => load(address, parts)))

  async function prepare(): Promise<void> {
    await pace.beSlow()
    misses++
    const { reads, isBlind } = await next()
    if (pace.signal.aborted) throw abortedBy(pace.signal)
    const loading = loadAll(reads)
    // A single slot of a known contract costs one request without the endpoint's hint, and two with it.
    if (!isAsked && (isBlind || misses === 2) && spare(1)) {
      isAsked = true
      await loadAll(await fetchHint(call, meter))
    }
    await loading
  }

  async function metered<T>(address: Hex, part: Part | undefined, read: () => Promise<T>): Promise<T> {
    const isHeld = () => (part === 'code' ? state.holdsCode(address) : state.holds(address, part))
    if (!isHeld()) await prepare()
    const isMissed = !isHeld()
    if (isMissed && !spend(1, maxRequests)) throw refusedFor('LIMIT_REACHED', { found: `It is ${maxRequests}.` })
    use(address, part, isMissed)
    return read()
  }
  return {
    getAccount: address => metered(address, undefined, () => state.getAccount(address)),
    getStorage: (address, key) => metered(address, key, () => state.getStorage(address, key)),
    getCode: address => metered(address, 'code', () => state.getCode(address)),
  }
}

/** What the endpoint says that the call touches. Empty if it gives no usable answer. */
async function fetchHint({ from, to, data, value, gas }: CallRequest, { l2, block, pace }: Meter): Promise<CallReads> {
  const transaction = {
    from,
    ...(to !== null && { to }),
    data,
    ...(value > 0n && { value: encodeQuantity(value) }),
    ...(gas !== null && { gas: encodeQuantity(gas) }),
  }
  const reads: CallReads = new Map()
  let left = MAX_HINTED_KEYS
  try {
    const asked = [transaction, encodeQuantity(block)]
    const answer = await l2.run(
      (provider, { signal }) => callProvider(provider, 'eth_createAccessList', asked, signal),
      pace.signal,
    )
    for (const entry of listIn(answer, 'accessList').slice(0, MAX_HINTED_CONTRACTS)) {
      const parts = partsOf(reads, params.bytes('address', readOwn(Object(entry), 'address'), 20)).add('code')
      const keys = listIn(entry, 'storageKeys').slice(0, left)
      left -= keys.length
      for (const key of keys) parts.add(params.bytes('key', key, 32))
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
