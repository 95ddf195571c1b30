/** A small application, as its author writes it for any endpoint: it lists the transfers of a token, with viem and with ethers. */
import { Contract, JsonRpcProvider } from 'ethers'
import { createPublicClient, http, parseAbi } from 'viem'

const abi = ['event Transfer(address indexed from, address indexed to, uint256 value)'] as const
const query = new URLSearchParams(location.search)
const [url, token] = [query.get('url') ?? '', (query.get('token') ?? '0x') as `0x${string}`]
const interval = 200

/** With any endpoint, ethers reports an event again if several blocks come at once. */
const shown = new Set<string>()

function show(library: string, ...words: unknown[]): void {
  const text = words.join(' ').toLowerCase()
  if (shown.has(library + text)) return
  shown.add(library + text)
  const item = document.createElement('li')
  item.textContent = text
  document.getElementById(library)?.append(item)
}

/** How often each has asked whether there is anything new: whoever asks again has heard the answer before. */
const looks = { viem: 0, ethers: 0 }
Reflect.set(globalThis, 'looks', looks)

const onFetchRequest = (_: Request, { body }: RequestInit) => {
  if (`${body}`.includes('eth_getFilterChanges')) looks.viem++
}
const client = createPublicClient({ transport: http(url, { onFetchRequest }), pollingInterval: interval })
client.watchContractEvent({
  ...{ abi: parseAbi(abi), address: token, eventName: 'Transfer' },
  onLogs: logs => {
    for (const { args, transactionHash } of logs) show('viem', transactionHash, args.from, args.to, args.value)
  },
  onError: error => show('viem', 'error', error.message),
})

const provider = new JsonRpcProvider(url, undefined, { polling: true, pollingInterval: interval, cacheTimeout: -1 })
await provider.on('debug', ({ action, payload }) => {
  if (action === 'sendRpcPayload' && JSON.stringify(payload).includes('eth_blockNumber')) looks.ethers++
})
const contract = new Contract(token, abi, provider)
await contract.on('Transfer', (from, to, value, { log }) => show('ethers', log.transactionHash, from, to, value))
// It has asked itself for the newest block before.
await provider.getBlockNumber()
Reflect.set(globalThis, 'ready', true)
