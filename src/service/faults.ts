/** A request to one of the endpoints, before it is answered. */
export interface FaultRequest {
  /** Whom it is for. */
  readonly endpoint: 'l2' | 'l1' | 'beacon'
  /** The method of JSON-RPC, or the path for the beacon API. */
  readonly method: string
  /** Of JSON-RPC; none for the beacon API. */
  readonly params: readonly unknown[]
  /** How many requests came before this one, to any of the endpoints. */
  readonly turn: number
}

/** What goes wrong with a request. */
export type Fault =
  | {
      /** An HTTP status instead of an answer. */
      readonly kind: 'status'
      /** 429 or 503, for instance. */
      readonly status: number
      /** Seconds, for the header `Retry-After`. Default: no such header. */
      readonly retryAfter?: number
    }
  | {
      /** An error of JSON-RPC instead of a result. The beacon API answers it with the status 500. */
      readonly kind: 'error'
      /** Of JSON-RPC, such as -32000. */
      readonly code: number
      /** What the endpoint says. */
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
      /** The answer comes late. */
      readonly kind: 'delay'
      /** How long. */
      readonly milliseconds: number
    }
  | {
      /** The answer is another one. */
      readonly kind: 'lie'
      /** Makes the lie of a copy of the true result. */
      readonly change: (result: unknown) => unknown
    }

/** Decides what goes wrong with a request; undefined lets it pass. */
export type FaultFunction = (request: FaultRequest) => Fault | undefined
