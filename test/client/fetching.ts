import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { type FetchOptions, fetchAnswer as fetchFrom } from '../../src/client/sources/fetch.ts'
import type { Endpoint, ProofRequest } from '../../src/entry/rpc.ts'

/** The function under `fetch`, recordings and followers, with the defaults of the library. */
export const fetchAnswer = async (
  l2: Endpoint | readonly Endpoint[],
  request: ProofRequest,
  options: Partial<FetchOptions> = {},
): Promise<unknown> =>
  fetchFrom(openEndpoints('l2', l2), request, { method: 'rollup_getProof', maxKeysPerRequest: 100, ...options })
