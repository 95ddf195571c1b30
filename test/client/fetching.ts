import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { fetchState, type WantedState } from '../../src/client/sources/fetch.ts'
import { parseQuantity } from '../../src/client/transport/provider.ts'
import type { Endpoint } from '../../src/entry/rpc.ts'

type Options = Partial<Parameters<typeof fetchState>[2]>

/** What recordings, followers, the provider and snapshots fetch from the same endpoints, with the defaults of the library. */
export function fetcherOf(l2: Endpoint | readonly Endpoint[]) {
  const endpoints = openEndpoints('l2', l2)
  return {
    blockNumber: (signal?: AbortSignal): Promise<bigint> =>
      endpoints.run(
        async (provider, attempt) => parseQuantity(await provider.call('eth_blockNumber', [], attempt.signal)),
        signal,
      ),
    async answer(wanted: WantedState, options: Options = {}): Promise<unknown> {
      const how = { method: 'rollup_getProof', maxKeysPerRequest: 100, signal: undefined }
      return (await fetchState(endpoints, wanted, { ...how, ...options })).answer
    },
  }
}

export const fetchAnswer = (l2: Endpoint | readonly Endpoint[], wanted: WantedState, options?: Options) =>
  fetcherOf(l2).answer(wanted, options)
