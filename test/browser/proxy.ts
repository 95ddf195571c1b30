/**
 * `rollup-state-proof proxy` and browser pages: a page of an allowed origin, through a finalization, a kill and a restart,
 * an application that lists the transfers of a token, and pages of other origins, including one whose host name is rebound to
 * this machine.
 */
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { createPublicClient, http, parseAbiItem } from 'viem'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { networkOf } from '../cli/network-file.ts'
import { type ProxyProcess, startProxyProcess } from '../cli/proxy-process.ts'
import { launch } from './launch.ts'
import type { Wallet } from './wallet.ts'

const ROLLUP = '0x00000000000000000000000000000000000011ff'
const TOKEN = `0x${'70'.repeat(20)}` as const
const OWNER = `0x${'b2'.repeat(20)}` as const
const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
/** In ms, on the slowest machine. */
const WAIT = 120_000
/** A host name that an attacker points at this machine. */
const REBOUND = 'rebound.example'

const bundled = await build({
  ...{ entryPoints: ['test/browser/wallet.ts', 'test/browser/transfers.ts'], outdir: '/' },
  ...{ bundle: true, format: 'esm', write: false },
})
const scripts = new Map(bundled.outputFiles.map(({ path, text }) => [path, text]))

const pageOf = (script: string, body = '') =>
  `<!doctype html><link rel="icon" href="data:,"><script type="module" src="${script}"></script>${body}`

/** Serves the pages under any host name. */
async function servePage(): Promise<{ server: Server; port: number }> {
  const server = createServer(({ url = '/' }, response) => {
    const script = scripts.get(url)
    response.setHeader('Content-Type', script === undefined ? 'text/html; charset=utf-8' : 'text/javascript')
    const isTransfers = url.startsWith('/transfers?')
    const page = isTransfers
      ? pageOf('/transfers.js', '<ol id="viem"></ol><ol id="ethers"></ol>')
      : pageOf('/wallet.js')
    response.end(script ?? page)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

const service = createService({ genesis: demoWorld(poseidon2), rollup: { address: ROLLUP } })
addDemoBlocks(service.chain)
const { url: l2, l1Url: l1 } = await service.listen()
const site = await servePage()
const wallet = `http://127.0.0.1:${site.port}`

const running: ProxyProcess['program'][] = []
const startProxy = (port: number, ...more: string[]) => {
  const network = ['--l1', l1, '--l2', l2, ...networkOf(ROLLUP)]
  const source = ['--import', 'tsx', 'src/cli/start.ts']
  return startProxyProcess(source, [...network, '--port', `${port}`, ...more], program => running.push(program))
}

const browser = await launch(`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`)
async function openPage(url: string): Promise<Page> {
  const page = await browser.newPage()
  page.setDefaultTimeout(WAIT)
  await page.goto(url)
  await page.waitForFunction(() => Reflect.has(globalThis, 'wallet'))
  return page
}

/** Calls a function of the wallet in its page. */
const ask = <Name extends keyof Wallet>(page: Page, name: Name, ...args: Parameters<Wallet[Name]>) =>
  page.evaluate(
    ([name, args]) => {
      const wallet: unknown = Reflect.get(globalThis, 'wallet')
      return (Reflect.get(Object(wallet), name) as (...args: unknown[]) => unknown)(...args)
    },
    [name, args] as const,
  ) as ReturnType<Wallet[Name]>

const KEPT_OUT = { failure: 'TypeError', code: undefined }

/** A page of an allowed origin gets proven values and refusals, as any program does. */
async function checkAdmitted(): Promise<string> {
  const proxy = await startProxy(0, '--allow-origin', wallet)
  const page = await openPage(wallet)
  const [block, balance, tokens, refused] = await ask(page, 'viem', proxy.url, TOKEN, OWNER)
  assert.deepEqual([block, balance], [{ result: '7' }, { result: '13' }])
  assert.deepEqual(tokens, { result: `${250n * 10n ** 18n}` })
  assert.equal(Reflect.get(refused ?? {}, 'code'), 4200)
  const balanceText = '{"jsonrpc":"2.0","id":1,"result":"0xd"}'
  assert.deepEqual(await ask(page, 'post', proxy.url, 'eth_getBalance', [OWNER, 'latest']), {
    result: `200 ${balanceText}`,
  })
  assert.match(JSON.stringify(await ask(page, 'post', proxy.url, 'eth_subscribe', ['newHeads'])), /METHOD_REFUSED/)

  // A finalization while the page sends requests: every answer is of one block or the other, and none fails.
  const askAll = async (...blocks: readonly string[]) => {
    const outcomes = await ask(page, 'viem', proxy.url, TOKEN, OWNER)
    const results = outcomes.slice(0, 3).map(outcome => String(Reflect.get(outcome, 'result')))
    assert.ok(blocks.includes(results[0] ?? '') && !results.includes('undefined'), JSON.stringify(outcomes))
  }
  await askAll('7')
  addDemoBlocks(service.chain, { counts: [2] })
  let isOver = false
  const askOn = async () => {
    while (!isOver) await askAll('7', '9')
  }
  const isNext = proxy.until(({ l2BlockNumber }) => l2BlockNumber === '10').finally(() => (isOver = true))
  await Promise.all([isNext, askOn()])
  await askAll('9')

  const { port } = new URL(proxy.url)
  await proxy.end('SIGKILL')
  assert.deepEqual(await ask(page, 'post', proxy.url, 'eth_blockNumber', []), KEPT_OUT)
  const again = await startProxy(Number(port), '--allow-origin', wallet)
  const now = { result: `${service.chain.at(10n)?.getAccount(OWNER)?.balance}` }
  assert.deepEqual((await ask(page, 'viem', proxy.url, TOKEN, OWNER)).slice(0, 2), [{ result: '9' }, now])
  await again.end('SIGTERM')
  await page.close()
  return 'a page that may ask is answered, over a finalization, a kill and a restart'
}

/** As the service knows them: one in each block. */
async function transfersOf(from: bigint, to: bigint): Promise<string[]> {
  const transport = createPublicClient({ transport: http(l2) })
  const logs = await transport.getLogs({ fromBlock: from, toBlock: to, address: TOKEN, event: TRANSFER })
  return logs.map(({ args, transactionHash }) =>
    [transactionHash, args.from, args.to, args.value].join(' ').toLowerCase(),
  )
}

/** An application shows each transfer once it is finalized, in order, whether it uses viem or ethers, and asks no one else. */
async function checkTransfers(): Promise<string> {
  const proxy = await startProxy(0, '--allow-origin', wallet)
  await proxy.until(({ event }) => event === 'view')
  const page = await browser.newPage()
  page.setDefaultTimeout(WAIT)
  const others: string[] = []
  page.on('request', request => {
    const known = [wallet, proxy.url, 'data:']
    if (!known.some(url => request.url().startsWith(url))) others.push(request.url())
  })
  await page.goto(`${wallet}/transfers?${new URLSearchParams({ url: proxy.url, token: TOKEN })}`)
  await page.waitForFunction(() => Reflect.has(globalThis, 'ready'))
  // Both begin with the block after the newest that they have seen, which is the one before that of the state.
  await page.waitForFunction(() => Object.values(Reflect.get(globalThis, 'looks')).every(count => Number(count) > 4))
  const first = service.chain.finalized()
  for (let count = 0; count < 3; count++) {
    addDemoBlocks(service.chain, { counts: [2] })
    const newest = service.chain.finalized() - 1n
    const expected = await transfersOf(first, newest)
    assert.equal(expected.length, Number(newest - first) + 1)
    for (const library of ['viem', 'ethers']) {
      const shown = `#${library} li`
      await page.waitForFunction(([shown, count]) => document.querySelectorAll(shown).length >= count, [
        shown,
        expected.length,
      ] as const)
      assert.deepEqual(await page.locator(shown).allTextContents(), expected, library)
    }
  }
  assert.deepEqual(others, [])
  await proxy.end('SIGTERM')
  await page.close()
  return 'an application shows each transfer once it is finalized, with viem and with ethers'
}

/** A page of another origin learns nothing, and its requests have no effect, even those sent without a preflight. */
async function checkKeptOut(): Promise<string> {
  const forwarded = ['--forward', 'eth_syncing']
  const proxy = await startProxy(0, '--allow-origin', 'https://wallet.example', ...forwarded)
  await proxy.until(({ event }) => event === 'view')
  // The same machine under another host name is another origin.
  for (const origin of [wallet, `http://localhost:${site.port}`, `http://${REBOUND}:${site.port}`]) {
    const page = await openPage(origin)
    for (const outcome of await ask(page, 'viem', proxy.url, TOKEN, OWNER)) {
      assert.equal(Reflect.get(outcome, 'result'), undefined, `${origin}: ${JSON.stringify(outcome)}`)
    }
    assert.deepEqual(await ask(page, 'post', proxy.url, 'eth_blockNumber', []), KEPT_OUT)
    assert.deepEqual(await ask(page, 'get', proxy.url), KEPT_OUT)
    // The browser sends the request, but the proxy refuses it without calling an endpoint.
    const status = page.waitForResponse(
      response => response.url().startsWith(proxy.url) && response.request().method() === 'POST',
    )
    assert.deepEqual(await ask(page, 'sendBlindly', proxy.url, 'eth_syncing'), { result: 'opaque' })
    assert.equal((await status).status(), 403)
    await page.close()
  }
  await proxy.end('SIGTERM')
  return 'pages of other origins are kept out'
}

/** DNS rebinding: the page stays open, and its host name is pointed at the proxy's machine. */
async function checkRebinding(): Promise<string> {
  const bait = await servePage()
  const page = await openPage(`http://${REBOUND}:${bait.port}`)
  bait.server.close()
  bait.server.closeAllConnections()
  // Even if any origin is allowed.
  const proxy = await startProxy(bait.port, '--allow-origin', '*')
  await proxy.until(({ event }) => event === 'view')
  for (const outcome of [await ask(page, 'post', '/', 'eth_blockNumber', []), await ask(page, 'get', '/')]) {
    assert.match(Reflect.get(outcome, 'result') ?? '', /^403 This Host is not known/)
  }
  // The same page with the proxy's own address: a cross-origin request, which `*` allows.
  const newest = `200 {"jsonrpc":"2.0","id":1,"result":"0x${(service.chain.finalized() - 1n).toString(16)}"}`
  assert.deepEqual(await ask(page, 'post', proxy.url, 'eth_blockNumber', []), { result: newest })
  await proxy.end('SIGTERM')
  await page.close()
  return 'a site that is pointed at this machine is kept out'
}

try {
  for (const check of [checkAdmitted, checkTransfers, checkKeptOut, checkRebinding]) console.log(await check())
} finally {
  await browser.close()
  for (const program of running) program.kill('SIGKILL')
  site.server.close()
  await service.close({ graceMs: 0 })
}
