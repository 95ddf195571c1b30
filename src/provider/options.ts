import type { L1Block } from '../anchor/header.ts'
import type { Rollup } from '../anchor/rollup.ts'
import { decodeArgument, invalid } from '../arguments.ts'
import type { Hex } from '../bytes.ts'
import { isProofError } from '../errors.ts'
import { type Endpoint, openEndpoints } from '../rpc/endpoints.ts'
import { isEndpointError } from '../rpc/error.ts'
import { type RollupClientOptions, verifyClientOptions } from '../rpc/fetch.ts'
import { verifyFunction, verifyWhole } from '../rpc/options.ts'
import { hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import {
  DEFAULT_HARDFORK,
  type Environment,
  type Hardfork,
  verifyBigint,
  verifyEnvironment,
  verifyHardfork,
} from './environment.ts'
import { invalidOption } from './error.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS } from './limits.ts'

/** The endpoints, the rollup and the limits of a verified provider. */
export interface VerifiedProviderOptions extends RollupClientOptions {
  /** The L1 endpoint. It is not trusted: every answer is proven from `l1BlockHash`. */
  l1: Endpoint | readonly Endpoint[]
  /** The rollup's endpoint. It is not trusted: every answer is proven from a state root that L1 holds. */
  l2: Endpoint | readonly Endpoint[]
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The hash scheme of the rollup, or a function that returns it for an L2 block: the Linea networks changed theirs. */
  scheme: Scheme | ((l2BlockNumber: bigint) => Scheme)
  /** The chain id of the rollup. */
  chainId: bigint
  /**
   * Returns the hash of a recent finalized L1 block. Every proof rests on it. See `finalizedBlockHash`, `agreeingBlockHash` and
   * `followBeacon` in `rollup-state-proof/rpc`, or ask a light client. Called whenever the provider looks for a newer block.
   */
  l1BlockHash: () => Promise<Hex> | Hex
  /** Methods to pass to `l2` unchanged. Their results are not proven. Default: none. */
  forward?: readonly string[]
  /** Block values that no proof covers, as you state them. Default: none. */
  environment?: Environment
  /** Gas limit per call. Default: 50,000,000. */
  maxGas?: bigint
  /** Limit on the requests to endpoints per call. Default: 1000. */
  maxRequests?: number
  /** How many finalizations to try, from the newest back, until `l2` has the proofs of one. Default: 8. */
  maxFinalizations?: number
  /** Whether to ask `l2` first what a call will read, to fetch it all at once. This shows the call to `l2`. Default: true. */
  prefetch?: boolean
  /**
   * The hard fork of the rollup: its instructions and their gas costs. Default: `prague`, on Linea since 28 October 2025. State
   * a later one as soon as the rollup runs it.
   */
  hardfork?: Hardfork
  /** Called with the first view, and whenever the view moves. */
  onView?: (view: View) => void
}

/** The proven block from which a provider answers. */
export interface View {
  /** Number of the L2 block. */
  l2BlockNumber: bigint
  /** Its state root, 32 bytes, proven from L1. */
  stateRoot: Hex
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /**
   * Timestamp of the L2 block, in seconds since 1970. L1 proves it for the newest finalized block, if `l1` serves the
   * contract's logs; null otherwise.
   */
  timestamp: bigint | null
  /**
   * Seconds since that timestamp, by this machine's clock. If the timestamp is not proven, seconds since the L1 block; the
   * state is older than that.
   */
  ageSeconds: number
}

const OPTIONS = [
  ...['l1', 'l2', 'rollup', 'scheme', 'chainId', 'l1BlockHash', 'forward', 'environment', 'maxGas', 'maxRequests'],
  ...['maxFinalizations', 'prefetch', 'hardfork', 'onView'],
]

/** The options of a provider, validated, with their defaults. */
export type VerifiedOptions = ReturnType<typeof verifyOptions>

/** Validates all options before any request. An error that a getter or proxy throws is an invalid argument, too. */
export function readVerifiedOptions(options: VerifiedProviderOptions): VerifiedOptions {
  try {
    return verifyOptions(options)
  } catch (error) {
    if (isProofError(error) || isEndpointError(error)) throw error
    throw invalidOption('an option that cannot be read')
  }
}

function verifyOptions(options: VerifiedProviderOptions) {
  const own = verifyClientOptions(options, OPTIONS)
  const { scheme, rollup, l1BlockHash, onView, forward = [], maxGas = CALL_GAS, hardfork = DEFAULT_HARDFORK } = own
  const { prefetch = true, maxRequests = DEFAULT_MAX_REQUESTS, maxFinalizations = 8 } = own
  const endpoints = { l1: openEndpoints('l1', own.l1, 'L1'), l2: openEndpoints('l2', own.l2, 'L2') }
  const schemeAt = typeof scheme === 'function' ? scheme : () => scheme
  if (typeof scheme !== 'function') hashSchemeOf(scheme)
  decodeArgument('rollup.address', rollup?.address, 20)
  if (typeof l1BlockHash !== 'function') throw invalid('l1BlockHash', 'a function', l1BlockHash)
  verifyFunction('onView', onView)
  if (typeof prefetch !== 'boolean') throw invalid('prefetch', 'true or false', prefetch)
  verifyBigint('chainId', own.chainId, 1n, 256)
  verifyBigint('maxGas', maxGas, 21_000n, 64)
  verifyHardfork(hardfork)
  verifyWhole('maxRequests', maxRequests, 1)
  verifyWhole('maxFinalizations', maxFinalizations, 1)
  const lists = { forward: verifyForward(forward), environment: verifyEnvironment(own.environment) }
  const { l1: _, l2: __, ...rest } = own
  return Object.assign(rest, endpoints, {
    schemeAt,
    maxGas,
    hardfork,
    prefetch,
    maxRequests,
    maxFinalizations,
    ...lists,
  })
}

/** Returns a copy, so that later additions to the list have no effect. */
function verifyForward(forward: readonly string[]): readonly string[] {
  if (!Array.isArray(forward)) throw invalid('forward', 'an array', forward)
  return Array.from(forward, (method: unknown) => {
    if (typeof method === 'string' && method !== '') return method
    throw invalid('forward', 'names of methods', method)
  })
}
