import { setTimeout } from 'node:timers/promises'
import { MethodError, rpcCodes } from './json-rpc.ts'

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
