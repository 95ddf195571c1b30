import type { RpcRequest } from '../../src/client/transport/diagnose.ts'
import { startServer } from '../client/servers.ts'

/** What an endpoint does instead of passing a request on. */
export type Refusal = { readonly code: number; readonly message: string } | undefined

/** An endpoint in front of a service. */
export interface Front {
  readonly url: string
  /** The methods that it was asked for, and that it served. */
  readonly asked: string[]
  readonly served: Set<string>
}

/** Starts an endpoint that passes on what it does not refuse. Its answers may be changed. */
export async function startFront(
  behind: string,
  refuse: (method: string, params: readonly unknown[]) => Refusal,
  change: (result: unknown, method: string) => unknown = result => result,
): Promise<Front> {
  const [asked, served]: [string[], Set<string>] = [[], new Set()]
  const { url } = await startServer(async (response, id, _, body) => {
    const { method, params }: RpcRequest = JSON.parse(body)
    asked.push(method)
    const error = refuse(method, params)
    const envelope = { jsonrpc: '2.0', id, ...(error && { error }) }
    response.setHeader('Content-Type', 'application/json')
    if (error) return response.end(JSON.stringify(envelope))
    served.add(method)
    const headers = { 'Content-Type': 'application/json' }
    const answer = Object(await (await fetch(behind, { method: 'POST', headers, body })).json())
    const result = Object.hasOwn(answer, 'result') ? { result: change(answer.result, method) } : {}
    return response.end(JSON.stringify({ ...answer, ...result }))
  })
  return { url, asked, served }
}

const unknown = (method: string) => ({ code: -32601, message: `the method ${method} does not exist/is not available` })

/** A full node: it proves nothing, and has the states of the newest blocks only. ethereum/go-ethereum, rpc/errors.go, core/state */
export const startNode = (behind: string) =>
  startFront(behind, (method, [, at]) => {
    if (/_getProof$/.test(method)) return unknown(method)
    const isOld = method === 'eth_getCode' && at !== 'latest'
    return isOld ? { code: -32000, message: 'missing trie node 0ab1 (path ) state 0x0ab1 is not available' } : undefined
  })

/** A prover's state manager: it serves proofs, and nothing else. Consensys/shomei, rpc/server/JsonRpcService.java */
export const startStateManager = (behind: string, change?: (result: unknown, method: string) => unknown) =>
  startFront(
    behind,
    method => (/^(?:rollup|linea)_getProof$/.test(method) ? undefined : { code: -32601, message: 'Method not found' }),
    change,
  )
