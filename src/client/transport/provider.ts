import { decodeQuantity } from '../../base/hex.ts'
import { hasMethod } from '../../base/options.ts'
import { diagnoseWith, type RpcRequest } from './diagnose.ts'
import { abortedBy, EndpointError, type Failure, isEndpointError, withMethod } from './error.ts'
import { LACKING_MS, MAX_LACKING, MAX_RETRIES, REQUEST_TIMEOUT_MS } from './limits.ts'
import { createQueue, type Queue } from './queue.ts'
import { type Redact, redactUrls } from './redact.ts'
import { createFlights, inTime, orAbort } from './waiting.ts'

/** An EIP-1193 provider. viem's clients and transports, browser wallets and light clients are such providers. */
export interface RequestProvider {
  /**
   * Sends one request.
   *
   * @param args the method's name, and its parameters in order
   * @returns the result
   */
  request(args: { method: string; params?: readonly unknown[] | object | undefined }): Promise<unknown>
}

/** A `JsonRpcProvider` of ethers, which works wherever a {@link RequestProvider} does. */
export interface SendProvider {
  /**
   * Sends one request.
   *
   * @param method the method's name
   * @param params its parameters in order
   * @returns the result
   */
  send(method: string, params: unknown[]): Promise<unknown>
}

export type AnyProvider = RequestProvider | SendProvider

export const isProvider = (value: unknown): value is AnyProvider =>
  hasMethod(value, 'request') || hasMethod(value, 'send')

/** What is known of an endpoint that this library opened at a URL: of its provider, or its beacon API. */
export interface Origin {
  readonly redact: Redact
  /** What is asked, the same for every spelling of it. */
  readonly href: string
  /** That of all requests of the process to this URL. */
  readonly queue: Queue
}

const ORIGINS = new WeakMap<object, Origin>()

export const setOrigin = (provider: object, origin: Origin): void => void ORIGINS.set(provider, origin)

/** Undefined for the caller's own providers. */
export const originOf = (provider: object): Origin | undefined => ORIGINS.get(provider)

/** Removes the URL of this provider or beacon API if it is known, and anything that looks like a URL in any case. */
export const redactorFor = (provider: object): Redact => originOf(provider)?.redact ?? redactUrls

/** Methods that read, so that one answer is as good for all who ask at the same time. */
const SHARED =
  /^(?:eth_(?:chainId|blockNumber|getBlockBy(?:Hash|Number)|getBlockReceipts|getCode|getLogs|getStorageAt|getTransactionByHash|getTransactionReceipt)|[a-z]+_getProof)$/

/** What an endpoint does not serve: learnt once, and forgotten after a while, because it may have been switched on by then. */
interface Lack {
  readonly error: EndpointError
  readonly until: number
  isTold: boolean
}

/** A provider, with what is known of its endpoint. */
export type OpenProvider = ReturnType<typeof createOpenProvider>

const OPENED = new WeakMap<object, OpenProvider>()

/** However often a provider is opened, what is learnt of its endpoint is shared. */
export function openProvider(provider: AnyProvider): OpenProvider {
  const opened = OPENED.get(provider) ?? createOpenProvider(provider)
  OPENED.set(provider, opened)
  return opened
}

function createOpenProvider(provider: AnyProvider) {
  const [origin, redact] = [originOf(provider), redactorFor(provider)]
  const queue = createQueue()
  const flights = createFlights<string>()
  const lacks = new Map<string, Lack>()

  function sendInTurn(asked: Pick<RpcRequest, 'method' | 'params'>, signal?: AbortSignal): Promise<unknown> {
    const { method, params } = asked
    // One of this library has its queue inside, and takes a signal. Others may take a second argument for something else.
    const send = async () =>
      'request' in provider && typeof provider.request === 'function'
        ? Reflect.apply(provider.request, provider, [{ method, params }, ...(origin ? [signal] : [])])
        : (provider as SendProvider).send(method, [...params])
    if (origin) return orAbort(send, signal)
    const sendOnce = () =>
      inTime(REQUEST_TIMEOUT_MS, send, signal).catch(error => {
        throw diagnoseWith(redact, error, asked)
      })
    return queue.run(sendOnce, { signal, timeoutMs: REQUEST_TIMEOUT_MS, maxRetries: MAX_RETRIES })
  }

  /** The error with which the endpoint has refused this method; undefined if it may serve it. */
  function lackOf(method: string): EndpointError | undefined {
    const lack = lacks.get(method)
    return lack && performance.now() < lack.until ? lack.error : undefined
  }

  function noteLack(method: string, error: EndpointError): void {
    // Requests that were under way together fail one after the other. The first has been told of.
    if (lackOf(method) !== undefined) return
    if (lacks.size >= MAX_LACKING) lacks.clear()
    lacks.set(method, { error, until: performance.now() + LACKING_MS, isTold: false })
  }

  return {
    given: provider,
    origin,
    redact,
    /**
     * Sends one request, in the queue of its endpoint. One that is like a request under way shares its answer, and nobody may change
     * that. `METHOD_UNKNOWN` without a request while the endpoint is known not to serve the method. A provider of the caller has as
     * much time as a URL.
     */
    async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
      if (signal?.aborted) throw abortedBy(signal)
      const lack = lackOf(method)
      if (lack !== undefined) throw lack
      const asked = { method, params }
      try {
        if (!SHARED.test(method)) return await sendInTurn(asked, signal)
        return await flights.run(`${method} ${JSON.stringify(params)}`, signal, own => sendInTurn(asked, own))
      } catch (error) {
        const failure = withMethod(diagnoseWith(redact, error, asked), method)
        if (isLack(failure)) noteLack(method, failure)
        throw failure
      }
    },
    noteLack,
    /** Whether this failure has to be told: that the endpoint does not serve a method, once. */
    isNews(error: Failure): boolean {
      const lack = isLack(error) ? lacks.get(error.method ?? '') : undefined
      if (lack?.isTold) return false
      if (lack !== undefined) lack.isTold = true
      return true
    },
    /** For when no endpoint serves a method: each attempt is to find out anew. */
    forgetLack: (method: string): void => void lacks.delete(method),
  }
}

/** A JSON-RPC quantity of at most `bits` bits. @throws EndpointError `ANSWER_MALFORMED` */
export function parseQuantity(value: unknown, bits = 64): bigint {
  const quantity = decodeQuantity(value, bits)
  if (quantity !== null) return quantity
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not a quantity' })
}

export const isLack = (error: unknown): error is EndpointError =>
  isEndpointError(error) && error.code === 'METHOD_UNKNOWN'
