/** The script of a wallet page, which calls the proxy with viem and with plain `fetch`. */
import { createPublicClient, http, parseAbi } from 'viem'

const abi = parseAbi(['function balanceOf(address) view returns (uint256)'])
type Address = `0x${string}`

/** A result as text, because bigints cannot leave the page, or the name and code of an error. */
type Outcome = { readonly result: string } | { readonly failure: string; readonly code: unknown }

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    return { result: String(await work) }
  } catch (error) {
    const { name, code, cause } = Object(error)
    return { failure: String(name), code: code ?? Object(cause).code }
  }
}

/** The status and text of the response. Rejects if the browser withholds it from the page. */
async function send(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, init)
  return `${response.status} ${await response.text()}`
}

const wallet = {
  viem: (url: string, token: Address, owner: Address) => {
    const client = createPublicClient({ transport: http(url, { batch: true, retryCount: 0 }) })
    return Promise.all([
      outcomeOf(client.getBlockNumber()),
      outcomeOf(client.getBalance({ address: owner })),
      outcomeOf(client.readContract({ abi, address: token, functionName: 'balanceOf', args: [owner] })),
      outcomeOf(client.request({ method: 'eth_subscribe', params: ['newHeads'] } as never)),
    ])
  },
  post: (url: string, method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return outcomeOf(send(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }))
  },
  /** Sends a request that needs no preflight, because the page does not read the response. */
  sendBlindly: (url: string, method: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method })
    return outcomeOf(fetch(url, { method: 'POST', mode: 'no-cors', body }).then(({ type }) => type))
  },
  get: (url: string) => outcomeOf(send(url, {})),
}

export type Wallet = typeof wallet
Reflect.set(globalThis, 'wallet', wallet)
