import type { ProofError } from '../errors.ts'
import { type EndpointError, isFailure, isMissing, isPassing, type Layer } from './error.ts'
import type { RequestProvider, SendProvider } from './provider.ts'

export type Endpoints = ReturnType<typeof createEndpoints>

const hopeOf = (error: unknown): number => (isMissing(error) ? 1 : isPassing(error) ? 2 : 0)

/**
 * Several endpoints for the same data. One is used until it fails, then the next.
 *
 * @param onFailure called with every failure, and the index of the endpoint
 */
export function createEndpoints(
  layer: Layer,
  providers: readonly (RequestProvider | SendProvider)[],
  onFailure: (layer: Layer, index: number, error: EndpointError | ProofError) => void,
) {
  let current = 0
  return {
    providers,
    /**
     * Runs `work` with the current endpoint. If that fails, tries each of the others.
     *
     * @throws if all fail: the failure that is most likely to pass with time
     */
    async run<T>(work: (provider: RequestProvider | SendProvider) => Promise<T>): Promise<T> {
      const failures: unknown[] = []
      for (const _ of providers) {
        const index = current
        const provider = providers[index]
        if (provider === undefined) break
        try {
          return await work(provider)
        } catch (error) {
          if (!isFailure(error)) throw error
          onFailure(layer, index, error)
          failures.push(error)
          current = (index + 1) % providers.length
        }
      }
      throw failures.reduce((best, error) => (hopeOf(error) > hopeOf(best) ? error : best))
    },
  }
}
