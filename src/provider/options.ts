import { invalid, readItems } from '../base/arguments.ts'
import type { Hex } from '../base/bytes.ts'
import { atPath } from '../base/errors.ts'
import { readHex, readOptions, verifyFunction, verifyUint, verifyWhole } from '../base/options.ts'
import { verifyHashSource } from '../client/l1/l1-block-hash.ts'
import { type Network, readNetwork } from '../client/network/network.ts'
import { type Endpoint, type Endpoints, openEndpoints, type Work } from '../client/sources/endpoints.ts'
import { type RollupClientOptions, verifyClientOptions } from '../client/sources/fetch.ts'
import { EndpointError, isEndpointError } from '../client/transport/error.ts'
import { type OpenProvider, parseQuantity } from '../client/transport/provider.ts'
import { verifySignal, verifyTimeout } from '../client/transport/waiting.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import { readChainId, type readRollup } from '../verify/anchor/rollup.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS, DEFAULT_TIMEOUT } from './limits.ts'

/** The endpoints, the rollup and the limits of a verified provider. */
export interface VerifiedProviderOptions extends Pick<RollupClientOptions, 'maxKeysPerRequest'> {
  /** One or more L1 endpoints; if one fails, the next is asked. None is trusted: every answer is proven from `l1BlockHash`. */
  l1: Endpoint | readonly Endpoint[]
  /** One or more endpoints of the rollup. None is trusted: every answer is proven from a root or block hash that L1 holds. */
  l2: Endpoint | readonly Endpoint[]
  /**
   * The rollup and its L1, such as `lineaMainnet` of `rollup-state-proof/networks`. Its chain id is for `eth_chainId`
   * and the instruction CHAINID. No proof covers it: before the first answer, it is compared with what `l2` says. Another one is
   * refused with `CHAIN_MISMATCH`; an endpoint that does not say is used, because what it sends is proven.
   */
  network: Network
  /**
   * Returns the hash of a recent finalized L1 block. Every proof rests on it. See `finalizedBlockHash` and
   * `beaconBlockHash` in `rollup-state-proof/rpc`, or ask a light client. Called whenever the provider looks for a newer block.
   */
  l1BlockHash: () => Promise<Hex> | Hex
  /**
   * Methods to pass to `l2` unchanged, unproven. Default: none. Of those that are proven here, only `eth_getTransactionCount` can be
   * one, and is passed on with the block tag `pending`. `wallet` stands for it, `eth_sendRawTransaction` and `linea_estimateGas`.
   * The number of `eth_blockNumber` then also means the newest state: some wallets replace `latest` by it.
   */
  forward?: readonly string[] | undefined
  /**
   * Whether one number is good for state and for blocks, for programs that ask for state at the number of `eth_blockNumber`. The
   * answers are then as of the finalization before the newest one, whose block the newest state proves. Default: false.
   */
  oneHead?: boolean | undefined
  /**
   * Whether lists of logs are proven to be complete, which takes the headers of all blocks of a range. If not, each log of an answer
   * is proven, and has the field `completeness` with the value `unproven`: `l2` may have left out others. Default: true.
   */
  completeLogs?: boolean | undefined
  /** Block values that no proof covers, as you pass them. Default: none. */
  environment?: Environment | undefined
  /** Gas limit per call. Default: 50,000,000. */
  maxGas?: bigint | undefined
  /** Limit on the requests to endpoints per call. Default: 1000. */
  maxRequests?: number | undefined
  /**
   * Milliseconds for a request and everything it does, until it fails with `TIMEOUT`. What it began to find or fetch for everyone goes
   * on, so that asking again is quicker. Default: 10,000.
   */
  timeoutMs?: number | undefined
  /** Called with the first view, and whenever the view moves. */
  onView?: ((view: ProviderView) => void) | undefined
  /**
   * Ends the provider: requests in flight and all later ones fail with `ENDPOINT_FAILED`, and `ABORTED` in its data. With it, what a
   * request is still fetching when its time is over goes on, and is kept for the next request.
   */
  signal?: AbortSignal | undefined
}

/** The proven block from which a provider answers. */
export interface ProviderView {
  /** Number of the L2 block. */
  l2BlockNumber: bigint
  /** The newest finalized L2 block, if it is a later one, because no L2 endpoint has the proofs of that. Otherwise undefined. */
  newestL2BlockNumber: bigint | undefined
  /** The state root of the L2 block, 32 bytes, proven from L1. */
  stateRoot: Hex
  /** Its hash, 32 bytes, if L1 holds that in place of the state root: its state is then one of Ethereum. Otherwise undefined. */
  blockHash: Hex | undefined
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /**
   * Timestamp of the L2 block, in seconds since 1970. L1 proves it with the hash of a block, and otherwise for the newest
   * finalized block, if `l1` serves the contract's logs. Undefined if it is not proven.
   */
  timestamp: bigint | undefined
  /**
   * Seconds since that timestamp, by this machine's clock. If the timestamp is not proven, seconds since the L1 block; the
   * state is older than that.
   */
  ageSeconds: number
}

const WHAT = ['l1', 'l2', 'network', 'l1BlockHash', 'forward', 'oneHead', 'completeLogs', 'environment']
const HOW = ['maxGas', 'maxRequests', 'maxKeysPerRequest', 'timeoutMs', 'onView', 'signal']

/** The options of a provider, validated, with their defaults. */
export type VerifiedOptions = ReturnType<typeof readVerifiedOptions>

/** Validates all options before any request. @throws ArgumentError */
export function readVerifiedOptions(options: VerifiedProviderOptions) {
  const own = readOptions('', options, [...WHAT, ...HOW])
  const { l1BlockHash, onView, signal, oneHead = false, completeLogs = true, forward = [] } = own
  const { maxGas = CALL_GAS, maxRequests = DEFAULT_MAX_REQUESTS, timeoutMs = DEFAULT_TIMEOUT } = own
  const { rollup, scheme, hardfork } = readNetwork(own.network)
  verifyHashSource(l1BlockHash)
  verifyFunction('onView', onView)
  for (const [name, value] of Object.entries({ oneHead, completeLogs })) {
    if (typeof value !== 'boolean') throw invalid(name, 'true or false', value)
  }
  verifySignal(signal)
  const chainId = atPath('network', () => chainIdOf(rollup))
  return {
    l1: openEndpoints('l1', own.l1, 'L1', { signal }),
    l2: endpointsOf(chainId, openEndpoints('l2', own.l2, 'L2', { signal }), signal),
    rollup,
    chainId,
    scheme,
    hardfork,
    ...verifyClientOptions({ rollup, maxKeysPerRequest: own.maxKeysPerRequest }),
    maxGas: verifyUint('maxGas', maxGas, 64, 21_000n),
    maxRequests: verifyWhole('maxRequests', maxRequests, 1),
    timeoutMs: verifyTimeout(timeoutMs),
    environment: verifyEnvironment(own.environment),
    ...readForward(forward),
    l1BlockHash,
    onView,
    signal,
    oneHead,
    completeLogs,
  }
}

/** What a wallet needs to send, and nothing proves. */
const WALLET = ['eth_sendRawTransaction', 'eth_getTransactionCount', 'linea_estimateGas']

/** Returns a copy, so that later additions to the list have no effect. @throws ArgumentError */
export function readForward(forward: readonly string[]): { forward: readonly string[]; isForWallet: boolean } {
  const listed = readItems('forward', forward, (method: unknown) => {
    if (typeof method === 'string' && method !== '') return method
    throw invalid('', 'the name of a method, or wallet', method)
  })
  return {
    forward: [...new Set(listed.flatMap(method => (method === 'wallet' ? WALLET : [method])))],
    isForWallet: listed.includes('wallet'),
  }
}

/**
 * Endpoints of a chain. Before its first request, each is asked once which chain it serves. One that does not say is used all the
 * same: what it sends is proven. `signal` ends the wait for them.
 *
 * @throws EndpointError from `run` and `each`: `CHAIN_MISMATCH` if all endpoints that answer serve another chain, `ABORTED`
 */
export function endpointsOf(chainId: bigint, endpoints: Endpoints, signal: AbortSignal | undefined): Endpoints {
  const verified = new Map<OpenProvider, Promise<void>>()

  async function verify(provider: OpenProvider): Promise<void> {
    try {
      const found = parseQuantity(await provider.call('eth_chainId', [], signal), 256)
      if (found === chainId) return
      throw new EndpointError('CHAIN_MISMATCH', { found: `chain ${found} instead of ${chainId}` })
    } catch (error) {
      // It may serve the right chain, or say which, later.
      verified.delete(provider)
      // That it answers, but not this. It is not asked again for a while.
      const isAnswer = isEndpointError(error) && (error.said !== undefined || error.code === 'METHOD_UNKNOWN')
      if (!isAnswer || error.code === 'RATE_LIMITED') throw error
      provider.noteLack('eth_chainId', error)
    }
  }
  const onceVerified =
    <T>(work: Work<OpenProvider, T>): Work<OpenProvider, T> =>
    async (provider, attempt, index) => {
      const verifying = verified.get(provider) ?? verify(provider)
      verified.set(provider, verifying)
      await verifying
      attempt.heard()
      return work(provider, attempt, index)
    }

  return {
    ...endpoints,
    run: (work, over = signal) => endpoints.run(onceVerified(work), over),
    each: (work, options) => endpoints.each(onceVerified(work), options),
  }
}

/**
 * Values of the block around a call, as you pass them. They apply to every requested block, and go before what is proven. Without
 * yours, a provider proves those of an earlier block from its header, when a call reads one. Where L1 holds the hash of the block in
 * place of its state root, they are always proven. Otherwise, no proof covers them at the newest block, nor in a bundle: there, a
 * call that reads one fails. In a bundle, what is proven goes before yours.
 */
export interface Environment {
  /** Seconds since 1970. Default: as L1 proves it for the newest finalized block. */
  timestamp?: bigint | undefined
  /** In wei, for calls that name fees: for all others, it is 0, as nodes have it. On the Linea networks, it is 7. */
  baseFee?: bigint | undefined
  /** In wei. */
  blobBaseFee?: bigint | undefined
  /** 20 bytes. */
  coinbase?: Hex | undefined
  /** 32 bytes. */
  prevRandao?: Hex | undefined
  /** Gas limit of the block. */
  gasLimit?: bigint | undefined
}

export const ENVIRONMENT_FIELDS = ['timestamp', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao', 'gasLimit'] as const

/** @param quantity reads one of up to so many bits @param bytes reads so many. Both return undefined for what is not given */
export function readEnvironment(
  quantity: (name: keyof Environment, bits: number) => bigint | undefined,
  bytes: (name: keyof Environment, length: number) => Hex | undefined,
): Environment {
  return onlyGiven({
    timestamp: quantity('timestamp', 64),
    gasLimit: quantity('gasLimit', 64),
    baseFee: quantity('baseFee', 256),
    blobBaseFee: quantity('blobBaseFee', 256),
    coinbase: bytes('coinbase', 20),
    prevRandao: bytes('prevRandao', 32),
  })
}

/** The given values; the last ones go first. Without a prototype, because values on a polluted Object.prototype are not given. */
export const onlyGiven = (...values: Environment[]): Environment =>
  Object.assign(
    Object.create(null),
    ...values.map(one => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))),
  )

/** The values of a block that its header proves. The fee for blobs is none: it depends on the forks of the chain. */
export function environmentIn(header: BlockHeader): Environment {
  const { timestamp, baseFeePerGas: baseFee, miner: coinbase, mixHash: prevRandao, gasLimit } = header
  return { timestamp, baseFee, coinbase, prevRandao, gasLimit }
}

/** Returns a validated copy, so that the values cannot change during a call. @throws ArgumentError */
export function verifyEnvironment(environment: Environment = {}): Environment {
  const own = readOptions('environment', environment, ENVIRONMENT_FIELDS)
  return readEnvironment(
    (name, bits) => (own[name] === undefined ? undefined : verifyUint(`environment.${name}`, own[name], bits)),
    (name, length) => (own[name] === undefined ? undefined : readHex(`environment.${name}`, own[name], length)),
  )
}

/** @throws ArgumentError if neither the caller nor the rollup states the chain id, or both do and differ */
export function chainIdOf(rollup: ReturnType<typeof readRollup>, chainId?: number | bigint): bigint {
  const found = chainId === undefined ? rollup.chainId : readChainId('chainId', chainId)
  if (found === undefined) throw invalid('rollup.chainId', 'the chain id of the rollup', chainId)
  if (rollup.chainId === undefined || rollup.chainId === found) return found
  throw invalid('chainId', `${rollup.chainId}, as in rollup.chainId`, found)
}
