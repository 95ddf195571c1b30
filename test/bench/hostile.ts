/**
 * `npm run bench:hostile`: the proxy in a separate process with a heap of 256 MB, against one hostile and one honest endpoint of
 * each kind, and then under calls that compute for as long as they may. Prints what its honest clients notice.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { networkOf } from '../cli/network-file.ts'
import { type ProxyProcess, startProxyProcess } from '../cli/proxy-process.ts'
import { bn1, bn2, digits, g1, g2 } from '../provider/precompile-inputs.ts'
import { loadProxy, startGate } from './load-proxy.ts'
import { header, row } from './page.ts'

const ROLLUP = '0x00000000000000000000000000000000000011ff'
const BALANCE = { method: 'eth_getBalance', params: [`0x${'b2'.repeat(20)}`, 'latest'] }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const MIB = 2 ** 20

const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
const service = createService({ genesis: demoWorld(poseidon2), rollup: { address: ROLLUP } })
addDemoBlocks(service.chain)
const honest = await service.listen()
writeFileSync(join(folder, 'network.json'), JSON.stringify({ network: service.beacon.network }))
const checkpoint = (await service.beacon.blockRoot(60n)) ?? ''

/** What a hostile endpoint does with a request. */
type Hostile = (response: ServerResponse, body: string, target: string) => void

/** Sends this text for ever, waiting for the client to read it. */
function pour(response: ServerResponse, text: string): void {
  const more = () => {
    while (!response.destroyed && response.write(text));
  }
  response.on('drain', more)
  more()
}

// Made once, because the honest endpoints are in this process as well.
const bomb = gzipSync(Buffer.alloc(512 * MIB, ' '))
const brackets = Buffer.from(`[${'[],'.repeat(5_592_000)}0]`)
const nested = Buffer.alloc(16 * MIB - 1, '[')
const spaces = Buffer.alloc(15 * MIB, ' ')
const characters = Buffer.from('\u4e00'.repeat(5 * MIB))
const fields = Array.from({ length: 900_000 }, (_, index) => `{"${index.toString(36).padStart(9, 'k')}":1}`)
const differentKeys = Buffer.from(`[${fields.join()}]`)
const pieces = Buffer.from('1\r\n \r\n'.repeat(10_000))

/** The long text within a response to the request. */
function wrap(response: ServerResponse, body: string, before: string, text: Buffer, after: string): void {
  const id = body === '' ? 1 : JSON.parse(body).id
  response.write(`{"jsonrpc":"2.0","id":${id},${before}"`)
  response.write(text)
  response.end(`"${after}}`)
}

const inventedLogs = (address: string) => {
  const [topic, data] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(500)}`]
  return Array.from({ length: 1990 }, (_, index) => ({
    ...{ address, data, blockHash: topic, transactionHash: topic, transactionIndex: '0x0', logIndex: '0x0' },
    ...{ blockNumber: '0x10', topics: [topic, `0x${index.toString(16).padStart(64, '0')}`, topic, topic] },
  }))
}
/** Asks the honest endpoint, but invents the logs. */
async function inventLogs(response: ServerResponse, body: string, target: string): Promise<void> {
  const request = body === '' ? {} : JSON.parse(body)
  if (request.method === 'eth_getLogs') {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: inventedLogs(ROLLUP) }))
    return
  }
  await passOn(response, body, target)
}
async function passOn(response: ServerResponse, body: string, target: string): Promise<void> {
  const { url, l1Url, beaconUrl } = honest
  const to = target.startsWith('/l1') ? l1Url : target.startsWith('/l2') ? url : `${beaconUrl}${target.slice(7)}`
  const asked = await fetch(to, body === '' ? {} : { method: 'POST', headers: JSON_TYPE, body })
  response.writeHead(asked.status, JSON_TYPE).end(await asked.text())
}

const KINDS: Readonly<Record<string, Hostile>> = {
  'none: both are honest': (response, body, target) =>
    void passOn(response, body, target).catch(() => response.destroy()),
  silence: () => {},
  '16 MB of brackets': response => response.end(brackets),
  '16 MB of brackets, nested': response => response.end(nested),
  'a gzip bomb': response => response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }).end(bomb),
  'six codings': response =>
    response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': Array(6).fill('gzip').join() }).write(bomb),
  'a body that never ends': response => pour(response, ' '.repeat(2 ** 16)),
  'a body in pieces of one byte': response => {
    response.socket?.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
    const more = () => {
      while (response.socket?.writable && response.socket.write(pieces));
    }
    response.socket?.on('drain', more)
    more()
  },
  'a slow drip': response => {
    const timer = setInterval(() => response.write(' '), 100)
    response.on('close', () => clearInterval(timer))
  },
  '15 MB and then silence': response => response.write(spaces),
  'megabytes of text': (response, body) => wrap(response, body, '"result":', characters, ''),
  'an error of megabytes': (response, body) => wrap(response, body, '"error":{"code":1,"message":', spaces, '}'),
  'a million different keys': response => response.end(differentKeys),
  'invented logs': (response, body, target) => void inventLogs(response, body, target).catch(() => response.destroy()),
}

async function startHostile(answer: Hostile) {
  const server = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () =>
      answer(
        response.on('error', () => {}),
        body,
        request.url ?? '/',
      ),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const programs: ChildProcess[] = []
process.on('exit', () => {
  for (const program of programs) program.kill('SIGKILL')
})

async function startProxy(more: readonly string[], heap: number, l2 = honest.url): Promise<ProxyProcess> {
  const network = ['--l1', honest.l1Url, '--l2', l2, ...networkOf(ROLLUP)]
  const args = [...more, ...network, '--port', '0']
  const node = [`--max-old-space-size=${heap}`, 'src/cli/main.js']
  return startProxyProcess(node, args, program => programs.push(program))
}

async function ask(url: string, request: object): Promise<{ result?: unknown; error?: { message: string } }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request })
  const response = await fetch(url, { method: 'POST', headers: JSON_TYPE, body })
  return Object(await response.json())
}

/** The most memory that the process has had, in MB. */
const peakOf = ({ program }: ProxyProcess): string =>
  (Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) / 1024).toFixed(0)

/** Milliseconds until an honest answer; asks again if there is an error. */
async function timeToAnswer({ url }: ProxyProcess, begin: number): Promise<string> {
  let said = ''
  while (performance.now() - begin < 60_000) {
    const { result, error } = await ask(url, BALANCE)
    if (result === '0xd') return `${(performance.now() - begin).toFixed(0)}${said}`
    said = ` after ${error?.message.slice(0, 60)}`
  }
  return `none${said}`
}

async function tellOfEndpoints(): Promise<void> {
  const lines = header('one endpoint of each kind', 'first answer, ms', 'peak of memory, MB', 'exit')
  for (const [name, answer] of Object.entries(KINDS)) {
    const { url, close } = await startHostile(answer)
    const ages = ['--beacon-max-age', '9999999999', '--checkpoint-max-age', '9999999999']
    const proxy = await startProxy(
      [
        ...['--l1', `${url}/l1`, '--l2', `${url}/l2`, '--beacon', `${url}/beacon`, '--beacon', honest.beaconUrl],
        ...['--checkpoint', checkpoint, '--network', join(folder, 'network.json'), ...ages],
      ],
      256,
    )
    const time = await timeToAnswer(proxy, performance.now())
    // What has lost the race must not go on.
    await new Promise(resolve => setTimeout(resolve, 3000))
    const peak = proxy.program.exitCode === null ? peakOf(proxy) : 'ended'
    lines.push(row(name, time, peak, String(await proxy.end('SIGTERM'))))
    console.log(lines.at(-1))
    close()
  }
  console.log(`\n${lines.join('\n')}\n`)
}

/** Code of a creation that calls a precompile with this input for ever. */
function loop(number: number, input: string): string {
  const length = digits(input.length / 2, 2)
  return `0x61${length}60175f395b5f5f61${length}5f61${digits(number, 2)}5afa50600756${input}`
}
const CALLS: readonly (readonly [string, object])[] = [
  ['ECRECOVER', { data: loop(1, '01'.repeat(128)) }],
  ['SHA-256', { data: loop(2, '00'.repeat(8192)) }],
  ['RIPEMD-160', { data: loop(3, '00') }],
  ['identity', { data: loop(4, '00'.repeat(8192)) }],
  ['MODEXP', { data: loop(5, `${[512, 512, 512].map(each => digits(each, 32)).join('')}${'ff'.repeat(1536)}`) }],
  ['addition, BN254', { data: loop(6, bn1(2n) + bn1(3n)) }],
  ['product, BN254', { data: loop(7, bn1(2n) + 'ff'.repeat(32)) }],
  ['pairing, BN254', { data: loop(8, (bn1(1n) + bn2(1n)).repeat(64)) }],
  ['BLAKE2F', { to: `0x${digits(9, 20)}`, data: `0x02faf080${'00'.repeat(209)}` }],
  ['addition in G1', { data: loop(11, g1(2n) + g1(3n)) }],
  ['sum of products in G1', { data: loop(12, (g1(2n) + 'ff'.repeat(32)).repeat(64)) }],
  ['addition in G2', { data: loop(13, g2(2n) + g2(3n)) }],
  ['sum of products in G2', { data: loop(14, (g2(2n) + 'ff'.repeat(32)).repeat(64)) }],
  ['pairing, BLS12-381', { data: loop(15, (g1(1n) + g2(1n)).repeat(64)) }],
  ['map to G1', { data: loop(16, '00'.repeat(16) + '0f'.repeat(48)) }],
  ['map to G2', { data: loop(17, ('00'.repeat(16) + '0f'.repeat(48)).repeat(2)) }],
]

async function tellOfCalls(): Promise<void> {
  const lines = header('one call of', 'ends after, ms', 'longest wait of another, ms', 'SIGTERM to exit, ms')
  for (const [name, call] of CALLS) {
    const proxy = await startProxy(['--l1-agree', honest.l1Url], 1024)
    while ((await ask(proxy.url, BALANCE)).result !== '0xd');
    const begin = performance.now()
    let end = 0
    const called = ask(proxy.url, { method: 'eth_call', params: [call, 'latest'] }).then(({ error, result }) => {
      end = performance.now()
      return `${error?.message ?? result}`.slice(0, 40)
    })
    let longest = 0
    while (end === 0) {
      const asked = performance.now()
      await ask(proxy.url, BALANCE)
      longest = Math.max(longest, performance.now() - asked)
    }
    const again = ask(proxy.url, { method: 'eth_call', params: [call, 'latest'] }).catch(() => 'cut')
    await new Promise(resolve => setTimeout(resolve, 300))
    const told = performance.now()
    await proxy.end('SIGTERM')
    const stop = (performance.now() - told).toFixed(0)
    await again
    lines.push(row(`${name}: ${await called}`, (end - begin).toFixed(0), longest.toFixed(0), stop))
    console.log(lines.at(-1))
  }
  console.log(`\n${lines.join('\n')}\n`)
}

async function tellOfLoad(): Promise<void> {
  const gate = await startGate(honest.url)
  const proxy = await startProxy(['--l1-agree', honest.l1Url], 1024, gate.url)
  await loadProxy(proxy, gate.stall)
  await proxy.end('SIGTERM')
  gate.close()
}

const [what] = process.argv.slice(2)
if (what === undefined || what === 'endpoints') await tellOfEndpoints()
if (what === undefined || what === 'calls') await tellOfCalls()
if (what === undefined || what === 'load') await tellOfLoad()
rmSync(folder, { recursive: true })
await service.close({ graceMs: 0 })
process.exit()
