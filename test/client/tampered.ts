import type { Methods } from '../../src/devnet/service/json-rpc.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'

/** What an endpoint that may lie sends in place of an answer. */
export type Tamper = (answer: unknown, method: string, params: readonly unknown[], turn: number) => unknown

/** An in-process endpoint that may lie, and the requests it received. */
export function providerOf(methods: Methods, tamper: Tamper = answer => answer) {
  const asked: { method: string; params: readonly unknown[] }[] = []
  const provider: RequestProvider = {
    async request({ method, params = [] }) {
      if (!Array.isArray(params)) throw new Error('no array')
      asked.push({ method, params })
      const answer = methods.get(method)?.(params)
      return tamper(JSON.parse(JSON.stringify(answer)), method, params, asked.length - 1)
    },
  }
  return { provider, asked }
}

/** Lies about one method. */
export const to =
  (lied: string, lie: (answer: object, params: readonly unknown[], turn: number) => unknown): Tamper =>
  (answer, method, params, turn) =>
    method === lied ? lie(Object(answer), params, turn) : answer

/** The `error` of an endpoint. */
export const fail = (code: number, message: string) => () => {
  throw Object.assign(new Error(message), { code })
}
