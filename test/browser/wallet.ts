/** What a wallet's page does: asks the proxy by viem, and by nothing but `fetch`. */
import { createPublicClient, http, parseAbi } from 'viem'

const abi = parseAbi(['function balanceOf(address) view returns (uint256)'])
type Address = `0x${string}`

/** What the page has got, as text: bigints do not leave it. An error is its name and code. */
type Outcome = { readonly result: string } | { readonly failure: string; readonly code: unknown }

async function outcomeOf(work: Promise<unknown>): Promise<Outcome> {
  try {
    return { result: String(await work) }
  } catch (error) {
    const { name, code, cause } = Object(error)
    return { failure: String(name), code: code ?? Object(cause).code }
  }
}

/** The text of the answer; rejects where the browser keeps it from the page. */
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
      outcomeOf(client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })),
    ])
  },
  post: (url: string, method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return outcomeOf(send(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }))
  },
  /** What a page may send to anybody, without a preflight, if it does not want to read the answer. */
  sendBlindly: (url: string, method: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method })
    return outcomeOf(fetch(url, { method: 'POST', mode: 'no-cors', body }).then(({ type }) => type))
  },
  get: (url: string) => outcomeOf(send(url, {})),
}

export type Wallet = typeof wallet
Reflect.set(globalThis, 'wallet', wallet)
