import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { DEFAULT_RESPONSE_LENGTH, MAX_TIMEOUT } from '../../client/transport/limits.ts'
import { type Answering, createJsonRpcServer, failure } from '../../provider/json-rpc.ts'
import { isJson, readBody, send, targetOf } from '../http/server.ts'
import type { SimulatedBeacon } from './beacon.ts'
import { answerRequest, failureOf, MethodError, type Methods, rpcCodes } from './json-rpc.ts'
import { MAX_BATCH, MAX_BODY_LENGTH } from './limits.ts'

/** A request to one of the endpoints, before it is answered. Those of a batch come one by one, in order. */
export interface FaultRequest {
  /** The endpoint. */
  readonly endpoint: 'l2' | 'l1' | 'beacon'
  /** The JSON-RPC method, or the path for the beacon API. */
  readonly method: string
  /** The JSON-RPC parameters; empty for the beacon API. */
  readonly params: readonly unknown[]
  /** The number of earlier requests to any of the endpoints. */
  readonly turn: number
}

/**
 * A fault to inject into the answer to a request. An HTTP status, a reset and a cut are of the whole response: if the request is
 * in a batch, they affect the others too.
 */
export type Fault =
  | {
      /** An HTTP status instead of an answer. */
      readonly kind: 'status'
      /** Such as 429 or 503. */
      readonly status: number
      /** The `Retry-After` header, in seconds. Default: no such header. */
      readonly retryAfterSeconds?: number | undefined
    }
  | {
      /** A JSON-RPC error instead of a result. The beacon API answers with status 500. */
      readonly kind: 'error'
      /** The JSON-RPC code, such as -32000. */
      readonly code: number
      /** The error message. */
      readonly message: string
    }
  | {
      /** The connection is closed without an answer. */
      readonly kind: 'reset'
    }
  | {
      /** The connection is closed in the middle of the answer. */
      readonly kind: 'cut'
    }
  | {
      /** The answer is delayed. */
      readonly kind: 'delay'
      /** The length of the delay. */
      readonly milliseconds: number
    }
  | {
      /** The answer is false. */
      readonly kind: 'lie'
      /** Changes a copy of the true result into the false one. */
      readonly change: (result: unknown) => unknown
    }

/** Chooses the fault for a request; undefined for none. */
export type FaultFunction = (request: FaultRequest) => Fault | undefined

/** Returns how to distort the answer to a request, if there is a fault for it. @param closing ends all delays */
export function createFaultInjector(faults: FaultFunction | undefined, closing: AbortSignal) {
  let turn = 0
  return async (request: Omit<FaultRequest, 'turn'>) => {
    const fault = faults?.({ ...request, turn: turn++ })
    switch (fault?.kind) {
      case undefined:
        return {}
      case 'status': {
        const headers = fault.retryAfterSeconds === undefined ? {} : { 'Retry-After': `${fault.retryAfterSeconds}` }
        throw new MethodError(rpcCodes.serverError, 'an injected fault', fault.status, headers)
      }
      case 'error':
        // Takes the place of the answer.
        return { error: new MethodError(fault.code, fault.message) }
      case 'reset':
        // The server closes the connection, as it does after any unexpected error.
        throw new Error('an injected reset')
      case 'cut':
        // Only the first half is sent.
        return { isCut: true }
      case 'delay':
        await setTimeout(fault.milliseconds, undefined, { signal: closing, ref: false }).catch(() => {})
        return {}
      case 'lie':
        return { change: (result: unknown) => fault.change(structuredClone(result)) }
    }
  }
}

export const BEACON_PATH = '/beacon'
const CORS = new Map([
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Allow-Methods', 'GET, POST, OPTIONS'],
  ['Access-Control-Allow-Headers', 'Content-Type'],
  ['Access-Control-Max-Age', '86400'],
])

interface Endpoints {
  readonly rpc: ReadonlyMap<string, { readonly endpoint: 'l2' | 'l1'; readonly methods: Methods }>
  readonly beacon: SimulatedBeacon
  readonly apiKeys: ReadonlySet<string>
  readonly inject: ReturnType<typeof createFaultInjector>
}

interface Answer {
  readonly status: number
  /** JSON; null for none. */
  readonly text: string | null
  readonly isCut?: boolean | undefined
}

const refusal = (status: number, message: string, code: number = rpcCodes.invalidRequest, headers = {}) =>
  new MethodError(code, message, status, headers)

/** No method of the service waits for a slot. */
const LIMITS = {
  maxBatch: MAX_BATCH,
  maxResponseLength: DEFAULT_RESPONSE_LENGTH,
  timeout: MAX_TIMEOUT,
  concurrency: 1,
  maxWaiting: 1,
}

/** Answers the requests of a message one after another. What has no room in the response, or no response, is not worked on. */
function inTurn(
  answer: (method: string, params: readonly unknown[]) => Promise<unknown>,
  isOver: () => boolean,
): Answering['request'] {
  let last: Promise<unknown> = Promise.resolve()
  return ({ method, params = [] }, { reserve }) => {
    // The answer before takes its room first.
    const own = last
      .then(() => setImmediate())
      .then(() => {
        if (!isOver() && reserve?.(0) !== false) return answer(method, params)
        throw new MethodError(rpcCodes.limited, `the response has more than ${DEFAULT_RESPONSE_LENGTH} characters`)
      })
    last = own.catch(() => {})
    return own
  }
}

/** Answers the requests to all endpoints of a service. Rejects if the connection is to be closed. */
export function createHandler({ rpc: endpoints, beacon, apiKeys, inject }: Endpoints) {
  function admit(request: IncomingMessage, method: 'GET' | 'POST', key?: string): void {
    if (request.method !== method) throw refusal(405, `use ${method}`, undefined, { Allow: method })
    if (key !== undefined && !apiKeys.has(key)) throw refusal(401, 'invalid API key', rpcCodes.serverError)
  }

  async function answerRpc(request: IncomingMessage, path: string): Promise<Answer> {
    const [, base = '', key] = /^(.*?)(?:\/v3\/([^/]*))?\/?$/.exec(path) ?? []
    const served = endpoints.get(base)
    if (served === undefined) throw refusal(404, 'no such endpoint')
    admit(request, 'POST', key)
    if (!isJson(request)) throw refusal(415, 'Content-Type must be application/json')
    const body = await readBody(request, MAX_BODY_LENGTH)
    if (body === null) throw refusal(413, 'the request is too large')
    /** What befalls the response as a whole. */
    const whole: { isCut?: boolean; failure?: { readonly error: unknown } } = {}
    const { endpoint, methods } = served
    async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
      const asked = { endpoint, method, params }
      const fault = await inject(asked).catch(error => {
        whole.failure = { error }
        throw error
      })
      whole.isCut ||= fault.isCut === true
      if (fault.error) throw fault.error
      const result = await answerRequest(methods, method, params)
      return fault.change ? fault.change(result) : result
    }
    const rpc = createJsonRpcServer({ request: inTurn(answer, () => whole.failure !== undefined) }, LIMITS, failureOf)
    const text = await rpc.answer(body)
    if (whole.failure) throw whole.failure.error
    const { isCut } = whole
    return { status: text === null ? 204 : 200, text, isCut }
  }

  async function answerBeacon(request: IncomingMessage, target: string): Promise<Answer> {
    admit(request, 'GET')
    const [path = '', query = ''] = target.split('?', 2)
    const { error, change, isCut } = await inject({ endpoint: 'beacon', method: path, params: [] })
    if (error) throw error
    const { status, body } = await beacon.answer(path, new URLSearchParams(query))
    return { status, text: JSON.stringify(change && status === 200 ? change(body) : body), isCut }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sendJson = ({ status, text, isCut }: Answer, headers?: Readonly<Record<string, string>>) => {
      if (text === null) response.writeHead(status).end()
      else send(response, status, 'application/json', text, headers, isCut)
    }
    response.setHeaders(CORS)
    const { method } = request
    const { path: url } = targetOf(request)
    if (method === 'OPTIONS') return void response.writeHead(204).end()
    const isBeacon = url.startsWith(BEACON_PATH)
    try {
      sendJson(await (isBeacon ? answerBeacon(request, url.slice(BEACON_PATH.length)) : answerRpc(request, url)))
    } catch (error) {
      if (!(error instanceof MethodError)) throw error
      const { status, headers } = error
      const { code, message } = error
      const text = isBeacon ? JSON.stringify({ code: status, message }) : failure(null, code, message)
      sendJson({ status, text }, { ...headers, Connection: 'close' })
    }
  }
}
