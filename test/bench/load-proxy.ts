/**
 * `npm run bench:hostile -- load`, and a number of requests if not 30,000: the proxy in a separate process, under mixed requests of many clients, a tenth of them
 * hostile, while its L2 endpoint stalls for some seconds and returns. Prints each kind of answer, and the memory over time.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ProxyProcess } from '../cli/proxy-process.ts'

const REQUESTS = Number(process.argv[3] ?? 30_000)
const CLIENTS = 50
const JSON_TYPE = { 'Content-Type': 'application/json' }
const address = (byte: string) => `0x${byte.repeat(20)}`
const rpc = (method: string, params: unknown[] = []) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Answered from memory after the first time. */
const WARM = [
  rpc('eth_chainId'),
  rpc('eth_blockNumber'),
  rpc('eth_getBalance', [address('b2'), 'latest']),
  rpc('eth_getStorageAt', [address('c0'), '0x0', 'latest']),
  rpc('eth_call', [{ to: address('70'), data: `0x70a08231${'00'.repeat(12)}${'b2'.repeat(20)}` }, 'latest']),
]
/** Of an account that nobody has asked for. */
const cold = (index: number) => rpc('eth_getBalance', [`0x${index.toString(16).padStart(40, '0')}`, 'latest'])
const HOSTILE = [
  '',
  '['.repeat(100_000),
  '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","__proto__":{"method":1}}',
  '\ufeff{"jsonrpc":"2.0","id":1e400,"method":"\ud800"}',
  rpc('eth_getBalance', ['0x', 'latest']),
  rpc('eth_call', [{ data: '0x5b5f56', gas: '0xf4240' }, 'latest']),
  rpc('debug_traceCall', ['x'.repeat(100_000)]),
  `[${Array(200).fill(rpc('eth_chainId')).join()}]`,
]

/** Passes requests on to `target`, and holds them while it stalls. */
export async function startGate(target: string) {
  let open = Promise.resolve()
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', async () => {
      await open
      const asked = await fetch(target, { method: 'POST', headers: JSON_TYPE, body: Buffer.concat(chunks) })
      response.writeHead(asked.status, JSON_TYPE).end(await asked.text())
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${Object(server.address()).port}`,
    stall(milliseconds: number) {
      open = new Promise(resolve => setTimeout(resolve, milliseconds))
    },
    close: () => server.close(),
  }
}

/** What the answer is: a result, or the code of an error. An answer without a code is a fault. */
async function outcomeOf(url: string, body: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: JSON_TYPE, body }).catch(() => null)
  if (response === null) return 'no answer'
  const text = await response.text()
  if (response.status !== 200) return `status ${response.status}`
  const answer: unknown = JSON.parse(text)
  const error: unknown = Reflect.get(Object(answer), 'error')
  return error === undefined ? 'a result' : `error ${String(Reflect.get(Object(error), 'code'))}`
}

export async function loadProxy({ url, program }: ProxyProcess, stall: (milliseconds: number) => void): Promise<void> {
  const outcomes = new Map<string, number>()
  const warm: number[] = []
  const memory: string[] = []
  const residentOf = () => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]
  const timer = setInterval(() => memory.push((Number(residentOf()) / 1024).toFixed(0)), 5000)
  let asked = 0
  const begin = performance.now()
  const client = async () => {
    for (let index = asked++; index < REQUESTS; index = asked++) {
      if (index === Math.floor(REQUESTS / 3)) stall(5000)
      const kind = index % 10 === 0 ? 'hostile' : index % 10 === 1 ? 'cold' : 'warm'
      const turn = Math.floor(index / 10)
      const body =
        kind === 'hostile' ? HOSTILE[turn % HOSTILE.length] : kind === 'cold' ? cold(index) : WARM[index % WARM.length]
      const sent = performance.now()
      const name = `${kind}: ${await outcomeOf(url, body ?? '')}`
      if (kind === 'warm') warm.push(performance.now() - sent)
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  clearInterval(timer)
  warm.sort((a, b) => a - b)
  const at = (share: number) => warm[Math.floor(share * (warm.length - 1))]?.toFixed(1)
  console.log(`${REQUESTS} requests of ${CLIENTS} clients in ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  for (const [name, count] of [...outcomes].sort()) console.log(`  ${name}: ${count}`)
  console.log(`  warm answers: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`)
  console.log(`  resident memory every 5 s, MB: ${memory.join(' ')}`)
}
