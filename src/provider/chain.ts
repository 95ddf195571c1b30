import type { Endpoints } from '../rpc/endpoints.ts'
import { EndpointError } from '../rpc/error.ts'
import { type AnyProvider, callProvider, orAbort, parseQuantity } from '../rpc/provider.ts'

/**
 * Endpoints of a chain. Before its first request, each is asked once which chain it serves. `signal` ends the wait for them.
 *
 * @throws EndpointError from `run`: `CHAIN_MISMATCH` if all endpoints that answer serve another chain, `ABORTED`
 */
export function endpointsOf(chainId: bigint, endpoints: Endpoints, signal: AbortSignal | undefined): Endpoints {
  const verified = new Map<AnyProvider, Promise<void>>()

  async function verify(provider: AnyProvider): Promise<void> {
    const found = parseQuantity(await callProvider(provider, 'eth_chainId', [], signal), 256)
    if (found !== chainId) throw new EndpointError('CHAIN_MISMATCH', { found: `chain ${found} instead of ${chainId}` })
  }

  function verifyOnce(provider: AnyProvider): Promise<void> {
    const known = verified.get(provider)
    if (known !== undefined) return known
    const verifying = verify(provider)
    verified.set(provider, verifying)
    // It may serve the right chain, or answer, later.
    verifying.catch(() => verified.delete(provider))
    return verifying
  }

  return {
    ...endpoints,
    run: (work, over) =>
      orAbort(
        () =>
          endpoints.run(async (provider, attempt) => {
            await verifyOnce(provider)
            attempt.heard()
            return work(provider, attempt)
          }, over),
        signal,
      ),
  }
}
