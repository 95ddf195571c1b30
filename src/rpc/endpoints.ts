import { ProofError } from '../errors.ts'
import { type Layer, RpcError, type RpcErrorCode } from './error.ts'
import type { Provider, SendProvider } from './provider.ts'

/** Several endpoints for the same data. One is used until it fails, then the next. */
export interface Endpoints {
  readonly providers: readonly (Provider | SendProvider)[]
  /**
   * Runs `work` with the current endpoint. If that fails, tries each of the others.
   *
   * @throws if all fail: the failure that is most likely to pass with time, see {@link isPassing}
   */
  run<T>(work: (provider: Provider | SendProvider) => Promise<T>): Promise<T>
}

/** These pass with time. Any other failure means that an endpoint lies, or cannot serve the request. */
const PASSING: readonly RpcErrorCode[] = [
  ...(['UNREACHABLE', 'TIMEOUT', 'HTTP_ERROR', 'RATE_LIMITED', 'NOT_JSON', 'ENDPOINT_ERROR'] as const),
  ...(['BLOCK_MISSING', 'BLOCK_NOT_FINALIZED', 'L1_UNCONFIRMED', 'BEACON_UNAVAILABLE', 'BEACON_STALE'] as const),
]
/** These are not the fault of the endpoint, so another one would not help. */
const FINAL: readonly string[] = [
  ...['ABORTED', 'ARGUMENT_INVALID', 'CLAIM_INVALID', 'L1_DISAGREEMENT', 'BEACON_CHECKPOINT_OLD'],
]

/** Whether the same request may succeed later. */
export const isPassing = (error: unknown): boolean => error instanceof RpcError && PASSING.includes(error.code)

/** Whether an endpoint caused the error. */
export const isFailure = (error: unknown): error is RpcError | ProofError =>
  (error instanceof RpcError || error instanceof ProofError) && !FINAL.includes(error.code)

/** Whether the endpoint does not hold the block: not yet, or no longer. */
export const isMissing = (error: unknown): boolean =>
  error instanceof RpcError && (error.code === 'BLOCK_MISSING' || error.code === 'BLOCK_NOT_FINALIZED')

const hopeOf = (error: unknown): number => (isMissing(error) ? 1 : isPassing(error) ? 2 : 0)

/** @param onFailure called with every failure, and the index of the endpoint */
export function createEndpoints(
  layer: Layer,
  providers: readonly (Provider | SendProvider)[],
  onFailure: (layer: Layer, index: number, error: RpcError | ProofError) => void,
): Endpoints {
  let current = 0
  return {
    providers,
    async run(work) {
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
