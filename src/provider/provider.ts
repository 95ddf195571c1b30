import type { Rollup } from '../anchor/rollup.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import { decodeArgument, verifyScheme } from '../proof/claim.ts'
import { verifyProof } from '../proof/verify.ts'
import { atEndpoint, RpcError } from '../rpc/error.ts'
import { type ClientOptions, fetchAnswer, verifyClientOptions } from '../rpc/fetch.ts'
import { argumentInvalid, verifyFunction, verifyWhole } from '../rpc/options.ts'
import { callProvider, type Provider, type SendProvider, toQuantity, verifyProvider } from '../rpc/provider.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { copyAnswer } from './answer.ts'
import type { CallPlan } from './call.ts'
import { readCall, refuseOverrides } from './call-request.ts'
import {
  DEFAULT_HARDFORK,
  type Environment,
  type Hardfork,
  verifyBigint,
  verifyEnvironment,
  verifyHardfork,
} from './environment.ts'
import { invalidOption, invalidParams, ProviderError, withProviderErrors } from './error.ts'
import { CALL_GAS, DEFAULT_MAX_REQUESTS, MAX_LISTED, MAX_OTHER_VIEWS } from './limits.ts'
import { meterReads } from './metered-reader.ts'
import { params as read, readBlock } from './params.ts'
import { createViews, type Held, type View } from './view.ts'

/** The endpoints, the rollup and the limits of a verified provider. */
export interface VerifiedProviderOptions extends ClientOptions {
  /** The L1 endpoint. It is not trusted: every answer is proven from `l1BlockHash`. */
  l1: Provider | SendProvider
  /** The rollup's endpoint. It is not trusted: every answer is proven from a state root that L1 holds. */
  l2: Provider | SendProvider
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

/** An EIP-1193 provider whose answers are all proven. */
export interface VerifiedProvider extends Provider {
  /**
   * Sends one request. Throws a {@link ProviderError} and nothing else.
   *
   * @param args the method's name, and its parameters in order
   * @returns the result, proven unless its method is one of `forward`
   */
  request(args: { method: string; params?: readonly unknown[] | object | undefined }): Promise<unknown>
  /**
   * Looks for a newer block to answer from. Requests in flight keep their block. The view never goes back: it stays if
   * nothing newer is proven.
   *
   * @throws ProviderError if the endpoints fail or lie; the view stays
   */
  refresh(): Promise<View>
  /**
   * The block from which the provider answers. Looks for one if there is none yet.
   *
   * @throws ProviderError as {@link VerifiedProvider.refresh} does
   */
  view(): Promise<View>
}

const PROOF_METHODS = ['rollup_getProof', 'linea_getProof'] as const

/**
 * An EIP-1193 provider over two endpoints, neither of which it trusts. viem and ethers work with it unchanged, and every value
 * is proven from an L1 block hash.
 *
 * It answers `eth_chainId`, `net_version`, `eth_blockNumber`, `eth_getBalance`, `eth_getTransactionCount`,
 * `eth_getStorageAt`, `eth_getCode`, `eth_call`, `eth_estimateGas`, `eth_createAccessList`, and `rollup_getProof` or
 * `linea_getProof`, and refuses all other methods unless `forward` names them. `latest`, `safe` and `finalized` mean the
 * block of its view: the newest finalized L2 block whose root is on L1 and whose proofs `l2` has. The last blocks of earlier
 * finalizations can be requested by number.
 *
 * It executes calls locally with `@ethereumjs/evm`, which you install next to this package. It fetches and proves whatever a
 * call reads. A call that reads a value which no proof covers, such as `block.basefee`, fails unless `environment` has the
 * value. A call without a gas limit gets `maxGas`. The coinbase is warm only if `environment` states it.
 *
 * @param options the endpoints, the rollup, and the source of the L1 block hash
 * @throws ProofError `CLAIM_INVALID`; RpcError `ARGUMENT_INVALID`
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createVerifiedProvider } from 'rollup-state-proof/provider'
 * import { createHttpProvider, finalizedBlockHash } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
 * const l1BlockHash = finalizedBlockHash(l1) // in production: from a source that you trust
 * const provider = createVerifiedProvider({ l1, l2, rollup, scheme: poseidon2, chainId: 1337n, l1BlockHash })
 *
 * const address = `0x${'b2'.repeat(20)}`
 * console.log(await provider.request({ method: 'eth_getBalance', params: [address, 'latest'] })) // 0xd
 * console.log((await provider.view()).blockNumber) // 8n
 * await service.close()
 * ```
 */
export function createVerifiedProvider(options: VerifiedProviderOptions): VerifiedProvider {
  const settings = readVerifiedOptions(options)
  const { l2, chainId, forward, environment, maxGas, maxRequests, prefetch, hardfork, onView } = settings
  const { maxKeysPerRequest } = settings
  const views = createViews(settings)
  const otherViews = new Map<bigint, Promise<Held>>()
  let current: Held | null = null
  let finding: Promise<Held> | null = null

  async function find(): Promise<Held> {
    const before = current
    const found = await views.find(before)
    current = found
    // Deferred, because what it throws is not an error of the provider.
    if (before?.blockNumber !== found.blockNumber && onView) queueMicrotask(() => onView(describe(found)))
    return found
  }

  /** One search at a time, so that an older one never ends after a newer one. */
  function refresh(): Promise<Held> {
    finding ??= find().finally(() => {
      finding = null
    })
    return finding
  }

  /** The block from which a request is answered. It stays the same until the request ends. */
  async function heldAt(block: unknown): Promise<Held> {
    const wanted = readBlock(block)
    const view = current ?? (await refresh())
    if (wanted === 'latest' || wanted === view.blockNumber) return view
    if (wanted > view.blockNumber) throw new ProviderError('BLOCK_UNPROVEN')
    const known = otherViews.get(wanted)
    if (known !== undefined) return known
    const found = views.findAt(view, wanted)
    otherViews.set(wanted, found)
    for (const [number] of [...otherViews].slice(0, -MAX_OTHER_VIEWS)) otherViews.delete(number)
    return found.catch(error => {
      otherViews.delete(wanted)
      throw error
    })
  }

  const readAddress = (value: unknown): Hex => read.bytes('address', value, 20)

  /** The call, and the state that it is executed on. */
  async function planCall(params: unknown, overrides: number): Promise<CallPlan> {
    const [transaction, block, ...rest] = read.take(params, 1, 2 + overrides)
    refuseOverrides(...rest)
    const call = readCall(transaction, chainId, environment.baseFee)
    const { blockNumber, timestamp, state } = await heldAt(block)
    const stated = environment.timestamp ?? timestamp ?? undefined
    const reader = meterReads(state, call, { l2, block: blockNumber, maxRequests, maxKeysPerRequest, prefetch })
    // Like `environment`, without a prototype.
    const around = Object.assign(Object.create(null), environment, stated !== undefined && { timestamp: stated })
    return { call, reader, maxGas, context: { chainId, hardfork, blockNumber, environment: around } }
  }

  async function passProof(method: string, params: unknown): Promise<unknown> {
    const [address, keys, block] = read.take(params, 3, 3)
    const claim = { address: readAddress(address), storageKeys: read.list('storage keys', keys, MAX_LISTED, read.slot) }
    const { blockNumber, stateRoot } = await heldAt(block)
    const how = { method, maxKeysPerRequest }
    const answer = await atEndpoint('L2', () => fetchAnswer(l2, { ...claim, block: blockNumber }, how))
    const copy = copyAnswer(answer)
    const scheme = settings.schemeAt(blockNumber)
    atPath('answer', () => verifyProof(copy, { scheme, stateRoot, ...claim }))
    return copy
  }

  const methods = new Map<string, (params: unknown) => unknown>([
    ['eth_chainId', params => read.take(params, 0, 0) && toQuantity(chainId)],
    ['net_version', params => read.take(params, 0, 0) && chainId.toString()],
    [
      'eth_blockNumber',
      async params => {
        read.take(params, 0, 0)
        return toQuantity((await heldAt('latest')).blockNumber)
      },
    ],
    [
      'eth_getBalance',
      async params => {
        const [address, block] = read.take(params, 1, 2)
        const account = readAddress(address)
        const { state } = await heldAt(block)
        return toQuantity((await state.getAccount(account))?.balance ?? 0n)
      },
    ],
    [
      'eth_getTransactionCount',
      async params => {
        const [address, block] = read.take(params, 1, 2)
        const account = readAddress(address)
        const { state } = await heldAt(block)
        return toQuantity((await state.getAccount(account))?.nonce ?? 0n)
      },
    ],
    [
      'eth_getStorageAt',
      async params => {
        const [address, slot, block] = read.take(params, 2, 3)
        const [account, key] = [readAddress(address), read.slot('slot', slot)]
        const { state } = await heldAt(block)
        return state.getStorage(account, key)
      },
    ],
    [
      'eth_getCode',
      async params => {
        const [address, block] = read.take(params, 1, 2)
        const account = readAddress(address)
        const { state } = await heldAt(block)
        return bytesToHex(await state.getCode(account))
      },
    ],
    ['eth_call', async params => (await execution()).runCall(await planCall(params, 2))],
    ['eth_estimateGas', async params => toQuantity(await (await execution()).estimateGas(await planCall(params, 2)))],
    ['eth_createAccessList', async params => (await execution()).createAccessList(await planCall(params, 0))],
    ...PROOF_METHODS.map(method => [method, (params: unknown) => passProof(method, params)] as const),
  ])

  const forwarded = new Set(forward)
  for (const method of forwarded) {
    if (methods.has(method)) throw invalidOption(`forward names ${method}, which is proven here`)
  }

  return {
    request: args =>
      withProviderErrors(async () => {
        const { method, params } = args
        if (typeof method !== 'string') throw invalidParams('The method is not a string.')
        const answer = methods.get(method)
        if (answer !== undefined) return answer(params)
        if (!forwarded.has(method)) throw new ProviderError('METHOD_REFUSED')
        return atEndpoint('L2', () => callProvider(l2, method, Array.isArray(params) ? params : []))
      }),
    refresh: () => withProviderErrors(async () => describe(await refresh())),
    view: () => withProviderErrors(async () => describe(current ?? (await refresh()))),
  }
}

function describe({ blockNumber, stateRoot, l1Block, timestamp }: Held): View {
  const since = timestamp ?? l1Block.timestamp
  const age = Math.max(0, Math.floor(Date.now() / 1000) - Number(since))
  return { blockNumber, stateRoot, l1Block: { ...l1Block }, timestamp, age }
}

const OPTIONS = [
  ...['l1', 'l2', 'rollup', 'scheme', 'chainId', 'l1BlockHash', 'forward', 'environment', 'maxGas', 'maxRequests'],
  ...['maxFinalizations', 'prefetch', 'hardfork', 'onView', 'method', 'maxKeysPerRequest'],
]

/** Validates all options before any request. An error that a getter or proxy throws is an invalid argument, too. */
function readVerifiedOptions(options: VerifiedProviderOptions) {
  try {
    return verifyOptions(options)
  } catch (error) {
    if (error instanceof ProofError || error instanceof RpcError) throw error
    throw invalidOption('an option that cannot be read')
  }
}

function verifyOptions(options: VerifiedProviderOptions) {
  const own = verifyClientOptions(options, OPTIONS)
  const { l1, l2, rollup, scheme, chainId, l1BlockHash, onView, method, maxKeysPerRequest } = own
  const { forward = [], maxGas = CALL_GAS, hardfork = DEFAULT_HARDFORK, prefetch = true } = own
  const { maxRequests = DEFAULT_MAX_REQUESTS, maxFinalizations = 8 } = own
  verifyProvider(l1, 'l1')
  verifyProvider(l2, 'l2')
  const schemeAt = typeof scheme === 'function' ? scheme : () => scheme
  if (typeof scheme !== 'function') verifyScheme(scheme)
  decodeArgument('rollup.address', rollup?.address, 20)
  if (typeof l1BlockHash !== 'function') throw argumentInvalid('l1BlockHash', 'a function', l1BlockHash)
  verifyFunction('onView', onView)
  if (typeof prefetch !== 'boolean') throw argumentInvalid('prefetch', 'true or false', prefetch)
  verifyBigint('chainId', chainId, 1n, 256)
  verifyBigint('maxGas', maxGas, 21_000n, 64)
  verifyHardfork(hardfork)
  verifyWhole('maxRequests', maxRequests, 1)
  verifyWhole('maxFinalizations', maxFinalizations, 1)
  return {
    ...{ l1, l2, rollup, schemeAt, chainId, l1BlockHash, onView, maxGas, hardfork, prefetch },
    ...{ maxRequests, maxFinalizations, method, maxKeysPerRequest },
    forward: verifyForward(forward),
    environment: verifyEnvironment(own.environment),
  }
}

/** Returns a copy, so that later additions to the list have no effect. */
function verifyForward(forward: readonly string[]): readonly string[] {
  if (!Array.isArray(forward)) throw argumentInvalid('forward', 'an array', forward)
  const methods: readonly unknown[] = Array.from(forward)
  for (const method of methods) {
    if (typeof method !== 'string' || method === '') throw argumentInvalid('forward', 'names of methods', method)
  }
  return methods as readonly string[]
}

/** Imported on first use: bundlers put it into a separate chunk, which programs that only read balances never load. */
const execution = () => import('./call.ts')
