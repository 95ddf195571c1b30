import type { Endpoints } from '../client/sources/endpoints.ts'
import { EndpointError, isEndpointError } from '../client/transport/error.ts'
import { lackOf, noteLack } from '../client/transport/lacking.ts'
import { type AnyProvider, callProvider, parseQuantity } from '../client/transport/provider.ts'
import { orAbort } from '../client/transport/waiting.ts'

/**
 * Endpoints of a chain. Before its first request, each is asked once which chain it serves. One that does not say is used all the
 * same: what it sends is proven. `signal` ends the wait for them.
 *
 * @throws EndpointError from `run` and `each`: `CHAIN_MISMATCH` if all endpoints that answer serve another chain, `ABORTED`
 */
export function endpointsOf(chainId: bigint, endpoints: Endpoints, signal: AbortSignal | undefined): Endpoints {
  const verified = new Map<AnyProvider, Promise<boolean>>()

  /** Whether the endpoint serves this chain; false if it does not say. */
  async function verify(provider: AnyProvider): Promise<boolean> {
    const said = await callProvider(provider, 'eth_chainId', [], signal).catch(error => orSilence(provider, error))
    if (said === SILENCE) return false
    const found = parseQuantity(said, 256)
    if (found === chainId) return true
    throw new EndpointError('CHAIN_MISMATCH', { found: `chain ${found} instead of ${chainId}` })
  }

  async function verifyOnce(provider: AnyProvider): Promise<void> {
    const verifying = verified.get(provider) ?? verify(provider)
    verified.set(provider, verifying)
    let isKnown = false
    try {
      isKnown = await verifying
    } finally {
      // It may serve the right chain, or answer, later.
      if (!isKnown && verified.get(provider) === verifying) verified.delete(provider)
    }
  }

  return {
    ...endpoints,
    run: (work, over, isBlamed) =>
      orAbort(
        () =>
          endpoints.run(
            async (provider, attempt, index) => {
              await verifyOnce(provider)
              attempt.heard()
              return work(provider, attempt, index)
            },
            over,
            isBlamed,
          ),
        signal,
      ),
    each: (work, options) =>
      endpoints.each(async (provider, attempt, index) => {
        await verifyOnce(provider)
        return work(provider, attempt, index)
      }, options),
  }
}

const SILENCE = Symbol()

/** For `catch`: that the endpoint answers, but not this. It is not asked again for a while. Anything else is thrown again. */
function orSilence(provider: AnyProvider, error: unknown): typeof SILENCE {
  const isAnswer = isEndpointError(error) && (error.report !== undefined || error.code === 'METHOD_UNKNOWN')
  if (!isAnswer || error.code === 'RATE_LIMITED') throw error
  if (lackOf(provider, 'eth_chainId') === undefined) noteLack(provider, 'eth_chainId', error)
  return SILENCE
}
