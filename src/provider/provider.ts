import { ArgumentError } from '../base/errors.ts'
import { readOptions, verifyFunction } from '../base/options.ts'
import { verifySignal } from '../client/transport/waiting.ts'
import { invalidParams, refusedMethod, toProviderError } from './error.ts'
import { createMethods } from './methods.ts'
import { type ProviderView, readVerifiedOptions, type VerifiedProviderOptions } from './options.ts'
import { inPace, type Pace } from './pace.ts'
import { createKnownState } from './proven-state.ts'
import { isAnswered, isProven, whyRefused } from './requests.ts'
import { createCurrentView, createViews, describe } from './view.ts'

/**
 * How to answer one request.
 *
 * @example
 * ```ts
 * import type { RequestOptions, VerifiedProvider } from 'rollup-state-proof/provider'
 *
 * const options: RequestOptions = { signal: AbortSignal.timeout(2000) }
 * const ask = (provider: VerifiedProvider) => provider.request({ method: 'eth_blockNumber' }, options)
 * console.log(typeof ask) // function
 * ```
 */
export interface RequestOptions {
  /** Ends the request, with `ENDPOINT_FAILED` and `ABORTED` in its data. */
  signal?: AbortSignal | undefined
  /**
   * Called before the answer, with what is to be said besides. What it throws is ignored.
   *
   * - `unproven`: the request is passed to `l2`, because `forward` names its method.
   * - `incomplete`: logs are listed that may not be all, because `completeLogs` is false.
   * - `slow`: a search has taken a quarter of its time. `left` is what it has left to do, in words.
   */
  onNote?: ((about: 'unproven' | 'incomplete' | 'slow', left?: string) => void) | undefined
}

/** What the JSON-RPC server states besides. */
export interface Asking extends RequestOptions {
  /** Called once, before the request asks an endpoint or computes for long, and waited for. What it throws ends the request. */
  admit?: (() => Promise<void>) | undefined
  /** Takes room for what a filter gives only once, in characters. If there is none, the next request gets it. Default: 16 MiB. */
  reserve?: ((length: number) => boolean) | undefined
  /** Who asks: each client has a bounded number of filters. */
  client?: string | undefined
  /** Whether changes are pushed to who asks: then `eth_subscribe` makes a filter, whose changes the server asks for. */
  canPush?: boolean | undefined
}

const REQUEST_OPTIONS = ['signal', 'onNote', 'admit', 'reserve', 'client', 'canPush'] satisfies (keyof Asking)[]

/** An EIP-1193 provider whose answers are all proven. */
export interface VerifiedProvider {
  /**
   * Sends one request. Throws a {@link ProviderError} and nothing else.
   *
   * @param args the method's name, and its parameters in order
   * @param options how to end it early
   * @returns the result, proven unless its method is one of `forward`; state its type yourself, nothing checks it
   */
  request<Result = unknown>(args: { method: string; params?: unknown }, options?: RequestOptions): Promise<Result>
  /**
   * Does nothing, because no event ever occurs. It is here because clients call it. For a newer block, see `onView`.
   *
   * @param event the name of an event of EIP-1193
   * @param listener never called
   */
  on(event: string, listener: (...args: never[]) => void): void
  /**
   * Does nothing, as {@link VerifiedProvider.on} does.
   *
   * @param event the name of an event of EIP-1193
   * @param listener what was passed to `on`
   */
  removeListener(event: string, listener: (...args: never[]) => void): void
  /**
   * Looks for a newer block to answer from. Requests in flight keep their block. The view never goes back: it stays if
   * nothing newer is proven.
   *
   * @param options how to end the wait early. The search goes on for others
   * @throws ProviderError if the endpoints fail or lie; the view stays. `TIMEOUT` after `timeoutMs`, as requests do
   */
  refresh(options?: Pick<RequestOptions, 'signal'>): Promise<ProviderView>
  /**
   * The block from which the provider answers. Looks for one if there is none yet.
   *
   * @param options how to end the wait early
   * @throws ProviderError as {@link VerifiedProvider.refresh} does
   */
  view(options?: Pick<RequestOptions, 'signal'>): Promise<ProviderView>
}

/** What is pushed, to who can be pushed to. */
const PUSHED = ['eth_subscribe', 'eth_unsubscribe']
/** Proven, but wallets also need the nonce after their transactions that are still pending, which nothing proves. */
const NONCE = 'eth_getTransactionCount'
const LISTING = ['eth_getLogs', 'eth_getFilterChanges', 'eth_getFilterLogs']

/**
 * An EIP-1193 provider over endpoints of L1 and of the rollup, none of which it trusts. viem and ethers work with it unchanged,
 * and every value is proven from an L1 block hash. It refuses methods that are not in `docs/methods.md`, unless `forward` names them.
 *
 * Of state, `latest`, `safe` and `finalized` mean that after the block of its view: the newest finalized L2 block whose root is
 * on L1 and whose proofs `l2` has. The last blocks of earlier finalizations can be requested by number. The state holds the
 * hashes of the blocks before it, so for blocks, `latest` is the one before, which is what `eth_blockNumber` says. 8,191 blocks
 * are proven by these, and older ones by the hashes of parents, 65,536 together. Null says that no endpoint knows a hash, which no
 * proof shows.
 *
 * Where L1 holds the hash of a block in place of its state root, `eth_blockNumber` names this block, whose header is proven, and its
 * state is one of Ethereum. A provider that runs while the rollup changes to this goes on.
 *
 * It executes calls with `@ethereumjs/evm`, which you install next to this package, and proves whatever a call reads. Values of the
 * block are proven from its header. Of the newest block, there is one if L1 holds its hash; otherwise, a call that reads
 * `block.gaslimit` and the like fails unless `environment` has the value. The coinbase is warm only if `environment` states it, or
 * the header was needed.
 *
 * @param options the endpoints, the rollup, and the source of the L1 block hash
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createVerifiedProvider } from 'rollup-state-proof/provider'
 * import { finalizedBlockHash } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff', chainId: 1337 } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const l1BlockHash = finalizedBlockHash(l1Url) // in production: from a source that you trust
 * const network = { rollup, scheme: poseidon2 }
 * const provider = createVerifiedProvider({ l1: l1Url, l2: url, network, l1BlockHash })
 *
 * const address = `0x${'b2'.repeat(20)}`
 * console.log(await provider.request({ method: 'eth_getBalance', params: [address, 'latest'] })) // 0xd
 * console.log((await provider.view()).l2BlockNumber) // 8n
 * await service.close()
 * ```
 */
export function createVerifiedProvider(options: VerifiedProviderOptions): VerifiedProvider {
  const settings = readVerifiedOptions(options)
  const known = createKnownState()
  const views = createCurrentView(createViews({ ...settings, known }), settings)
  const answerHere = createMethods(settings, known, views)
  const { forward } = settings
  const proven = forward.find(method => isProven(method) && method !== NONCE)
  const expected = `methods other than ${proven}, which is proven here`
  if (proven !== undefined) throw new ArgumentError({ path: 'forward', expected })
  async function answer(args: unknown, pace: Pace, asking: Asking): Promise<unknown> {
    const { client = '', canPush, onNote } = asking
    const { method, params = [] } = Object(args)
    if (typeof method !== 'string') throw invalidParams('The request names no method.')
    const isHere = isAnswered(method) && (canPush || !PUSHED.includes(method))
    const isPendingNonce = method === NONCE && Array.isArray(params) && params[1] === 'pending'
    // Of an answer that states nothing, the endpoint may be preferred.
    const isPreferred = forward.includes(method) && (isPendingNonce || !isProven(method))
    if (isHere && !isPreferred) {
      if (!settings.completeLogs && LISTING.includes(method)) onNote?.('incomplete')
      return answerHere(method, params, pace, client)
    }
    if (!forward.includes(method)) throw refusedMethod(method, whyRefused(method))
    if (!Array.isArray(params)) throw invalidParams('They are not an array.')
    await pace.beSlow()
    onNote?.('unproven')
    const forwarding = settings.l2.run((one, { signal }) => one.call(method, params, signal), pace.signal)
    // A copy: requests at the same time may share the answer.
    return structuredClone(await forwarding)
  }

  /** An aborted provider does not answer from its memory either. */
  async function answering<T>(work: (pace: Pace, asking: Asking) => Promise<T>, options?: RequestOptions): Promise<T> {
    try {
      // Some clients pass the name of a chain here.
      const given: Asking = typeof options === 'object' && options !== null ? options : {}
      const asking = readOptions('options', given, REQUEST_OPTIONS)
      const { signal, onNote, admit, reserve } = asking
      verifySignal(signal)
      verifyFunction('options.onNote', onNote)
      // If it throws, that is as if nobody had asked to be told.
      const note: RequestOptions['onNote'] = (...told) => void (async () => onNote?.(...told))().catch(() => {})
      const onProgress = (left: string) => note('slow', left)
      const how = { timeoutMs: settings.timeoutMs, signals: [settings.signal, signal], admit, reserve, onProgress }
      return await inPace(how, pace => work(pace, { ...asking, onNote: note }))
    } catch (error) {
      throw toProviderError(error)
    }
  }

  return {
    // What the caller says of the result is not checked, as in every such client.
    request: <Result>(args: unknown, options?: RequestOptions) =>
      answering((pace, asking) => answer(args, pace, asking) as Promise<Result>, options),
    on: () => {},
    removeListener: () => {},
    refresh: options => answering(async () => describe(await views.refresh()), options),
    view: options => answering(async () => describe(await views.state()), options),
  }
}
