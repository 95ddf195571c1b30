import type { Hex } from '../bytes.ts'
import { encodeQuantity } from '../hex.ts'
import { readOwn } from '../json/known-fields.ts'
import { callProvider, type Provider, type SendProvider } from '../rpc/provider.ts'
import type { AccessList, CallRequest } from './call-request.ts'
import { ProviderError } from './error.ts'
import { MAX_HINTED_CONTRACTS, MAX_HINTED_KEYS } from './limits.ts'
import { params } from './params.ts'
import type { ProvenState } from './proven-state.ts'
import type { StateReader } from './state-reader.ts'

/** Limits on reading, and the endpoint to ask for a hint. */
export interface Meter {
  readonly l2: Provider | SendProvider
  readonly block: bigint
  readonly maxRequests: number
  readonly maxKeysPerRequest: number
  readonly prefetch: boolean
}

/**
 * Wraps a view's state for one call. It counts the requests to the endpoint, and asks the endpoint once what the call will
 * read, to fetch and prove all of it together. The hint decides nothing else: what it omits is fetched when it is read.
 *
 * @throws ProviderError `LIMIT_REACHED`, from the functions of the reader
 */
export function meterReads(state: ProvenState, call: CallRequest, meter: Meter): StateReader {
  const { l2, block, maxRequests, maxKeysPerRequest } = meter
  let requests = 0
  let misses = 0
  // A single slot of a known contract costs one request without a hint, and two with one.
  const hintAt = call.to !== null && state.holds(call.to) ? 2 : 1
  let prefetching: Promise<unknown> | undefined

  function count(more: number): void {
    requests += more
    if (requests > maxRequests) {
      throw new ProviderError('LIMIT_REACHED', { found: `It is ${maxRequests}.` })
    }
  }

  async function prefetch(): Promise<void> {
    const hint = fetchHint(l2, call, block)
    // Every call reads its sender.
    const sender = state.holds(call.from) ? undefined : load(call.from, [])
    const contracts = limitHint(await hint)
    // If a read fails here, it is repeated when the call needs it, and fails there.
    await Promise.allSettled([sender, ...contracts.map(([address, keys]) => load(address, keys))])
    await Promise.allSettled(contracts.map(([address]) => state.holdsCode(address) || loadCode(address)))
  }

  async function load(address: Hex, keys: readonly Hex[]): Promise<void> {
    const missing = keys.filter(key => !state.holds(address, key))
    if (missing.length === 0 && state.holds(address)) return
    count(Math.max(1, Math.ceil(missing.length / maxKeysPerRequest)))
    await state.load(address, missing)
  }

  async function loadCode(address: Hex): Promise<void> {
    if (!state.holds(address)) return
    count(1)
    await state.getCode(address)
  }

  async function prepare(isHeld: () => boolean): Promise<void> {
    if (isHeld()) return
    misses++
    if (meter.prefetch && misses === hintAt) {
      count(1)
      prefetching = prefetch()
    }
    await prefetching
    if (!isHeld()) count(1)
  }

  return {
    async getAccount(address) {
      await prepare(() => state.holds(address))
      return state.getAccount(address)
    },
    async getStorage(address, key) {
      await prepare(() => state.holds(address, key))
      return state.getStorage(address, key)
    },
    async getCode(address) {
      await prepare(() => state.holdsCode(address))
      return state.getCode(address)
    },
  }
}

/** What the endpoint says that the call touches; empty if it gives no usable answer. */
async function fetchHint(l2: Provider | SendProvider, call: CallRequest, block: bigint): Promise<AccessList> {
  const { from, to, data, value, gas } = call
  const transaction = {
    from,
    ...(to !== null && { to }),
    data,
    ...(value > 0n && { value: encodeQuantity(value) }),
    ...(gas !== null && { gas: encodeQuantity(gas) }),
  }
  try {
    const answer = await callProvider(l2, 'eth_createAccessList', [transaction, encodeQuantity(block)])
    return firstOf(readOwn(Object(answer), 'accessList'), MAX_HINTED_CONTRACTS).map(entry => ({
      address: params.bytes('address', readOwn(Object(entry), 'address'), 20),
      storageKeys: firstOf(readOwn(Object(entry), 'storageKeys'), MAX_HINTED_KEYS).map(key =>
        params.bytes('key', key, 32),
      ),
    }))
  } catch {
    return []
  }
}

const firstOf = (list: unknown, most: number): unknown[] => (Array.isArray(list) ? list.slice(0, most) : [])

function limitHint(hint: AccessList): [Hex, Hex[]][] {
  const contracts = new Map<Hex, Set<Hex>>()
  let keyCount = 0
  for (const { address, storageKeys } of hint) {
    const keys = contracts.get(address) ?? new Set()
    if (contracts.size >= MAX_HINTED_CONTRACTS && !contracts.has(address)) break
    contracts.set(address, keys)
    for (const key of storageKeys.slice(0, MAX_HINTED_KEYS - keyCount)) {
      if (!keys.has(key)) keyCount++
      keys.add(key)
    }
  }
  return [...contracts].map(([address, keys]) => [address, [...keys]])
}
