import type { Hex } from '../bytes.ts'
import { encodeQuantity } from '../hex.ts'
import { readOwn } from '../json/known-fields.ts'
import { callProvider } from '../rpc/provider.ts'
import type { CallRequest } from './call-request.ts'
import { refusedFor } from './error.ts'
import { MAX_HINTED_CONTRACTS, MAX_HINTED_KEYS } from './limits.ts'
import type { VerifiedOptions } from './options.ts'
import type { Pace } from './pace.ts'
import { params } from './params.ts'
import type { ProvenState } from './proven-state.ts'
import type { StateReader } from './state-reader.ts'

/** Limits on reading, and the endpoint to ask for a hint. */
export interface Meter extends Pick<VerifiedOptions, 'l2' | 'maxRequests' | 'maxKeysPerRequest' | 'prefetch'> {
  readonly block: bigint
  /** Waited for before the first request. */
  readonly pace: Pick<Pace, 'beSlow'>
}

/**
 * Wraps a view's state for one call. It counts the requests to the endpoint, and asks the endpoint once what the call will
 * read, to fetch and prove all of it together. The hint decides nothing else: what it omits is fetched when it is read.
 *
 * @throws ProviderError `LIMIT_REACHED`, from the functions of the reader
 */
export function meterReads(state: ProvenState, call: CallRequest, meter: Meter): StateReader {
  const { count, load, loadCode } = countLoads(state, meter)
  let misses = 0
  // A single slot of a known contract costs one request without a hint, and two with one.
  const hintAt = call.to !== null && state.holds(call.to) ? 2 : 1
  let prefetching: Promise<unknown> | undefined

  async function prefetch(): Promise<void> {
    // Every call reads its sender. If a read fails here, it is repeated when the call needs it, and fails there.
    const sender = Promise.allSettled([load(call.from, [])])
    const hint = await fetchHint(call, meter)
    await Promise.allSettled([sender, ...[...hint].map(([address, keys]) => load(address, [...keys]))])
    await Promise.allSettled([...hint.keys()].map(loadCode))
  }

  const metered =
    <Place extends readonly Hex[], T>(isHeld: (...place: Place) => boolean, read: (...place: Place) => Promise<T>) =>
    async (...place: Place): Promise<T> => {
      if (isHeld(...place)) return read(...place)
      await meter.pace.beSlow()
      misses++
      if (meter.prefetch && misses === hintAt) {
        count(1)
        prefetching = prefetch()
      }
      await prefetching
      if (!isHeld(...place)) count(1)
      return read(...place)
    }

  return {
    getAccount: metered(address => state.holds(address), state.getAccount),
    getStorage: metered(state.holds, state.getStorage),
    getCode: metered(state.holdsCode, state.getCode),
  }
}

/** Loads what is not held yet, and counts the requests. */
function countLoads(state: ProvenState, { maxRequests, maxKeysPerRequest }: Meter) {
  let requests = 0
  function count(more: number): void {
    requests += more
    if (requests > maxRequests) throw refusedFor('LIMIT_REACHED', { found: `It is ${maxRequests}.` })
  }
  return {
    count,
    async load(address: Hex, keys: readonly Hex[]): Promise<void> {
      const missing = keys.filter(key => !state.holds(address, key))
      if (missing.length === 0 && state.holds(address)) return
      count(Math.max(1, Math.ceil(missing.length / maxKeysPerRequest)))
      await state.load(address, missing)
    },
    async loadCode(address: Hex): Promise<void> {
      if (state.holdsCode(address) || !state.holds(address)) return
      count(1)
      await state.getCode(address)
    },
  }
}

/** What the endpoint says that the call touches: slots by contract. Empty if it gives no usable answer. */
async function fetchHint({ from, to, data, value, gas }: CallRequest, { l2, block }: Meter) {
  const contracts = new Map<Hex, Set<Hex>>()
  const transaction = {
    from,
    ...(to !== null && { to }),
    data,
    ...(value > 0n && { value: encodeQuantity(value) }),
    ...(gas !== null && { gas: encodeQuantity(gas) }),
  }
  try {
    const asked = [transaction, encodeQuantity(block)]
    const answer = await l2.run((provider, { signal }) => callProvider(provider, 'eth_createAccessList', asked, signal))
    let left = MAX_HINTED_KEYS
    for (const entry of listIn(answer, 'accessList').slice(0, MAX_HINTED_CONTRACTS)) {
      const address = params.bytes('address', readOwn(Object(entry), 'address'), 20)
      const keys = contracts.get(address) ?? new Set()
      contracts.set(address, keys)
      const hinted = listIn(entry, 'storageKeys').slice(0, left)
      for (const key of hinted) keys.add(params.bytes('key', key, 32))
      left -= hinted.length
    }
    return contracts
  } catch {
    return new Map<Hex, Set<Hex>>()
  }
}

function listIn(source: unknown, name: string): readonly unknown[] {
  const list = readOwn(Object(source), name)
  return Array.isArray(list) ? list : []
}
