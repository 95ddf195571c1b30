import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A rollup in this process, and proxies of the built package in front of it, as users start them. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const { poseidon2 } = await import(`${root}/dist/entry/poseidon2.js`)
const { addDemoBlocks, createService, demoWorld } = await import(`${root}/src/devnet/dist/index.js`)

export const ROLLUP = '0x00000000000000000000000000000000000011ff'
export const CHAIN_ID = 1337
export const TOKEN = `0x${'70'.repeat(20)}`
export const PAYEE = `0x${'b2'.repeat(20)}`
/** The first accounts of development nodes, whose keys everybody knows. */
export const ALICE = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  key: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
}
export const ABI = [
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]
/**
 * How long programs and proxies may wait, in seconds: a slow machine must not decide what is heard. A program that gives up an answer
 * that is on its way has lost it, with every node.
 */
export const PATIENCE = 600
/** Returns the tip that a call pays, and reverts if it pays less than the base fee. */
export const TIP = '0x483a03483a10600f575f5260205ff35b5f80fd'

const PROXY = ['--port', '0', '--refresh', '1', '--json', '--timeout', `${PATIENCE / 3}`]

export async function startRollup() {
  const folder = mkdtempSync(join(tmpdir(), 'clients-'))
  const network = join(folder, 'network.json')
  writeFileSync(network, JSON.stringify({ scheme: 'poseidon2', rollup: { address: ROLLUP, chainId: CHAIN_ID } }))
  const service = createService({
    genesis: demoWorld(poseidon2),
    rollup: { address: ROLLUP, chainId: CHAIN_ID },
    chainId: 1337n,
  })
  addDemoBlocks(service.chain)
  const { url, l1Url } = await service.listen()
  const ended = []
  const rig = {
    url,
    chain: service.chain,
    /** Finalizes blocks, each of which has a transfer of the token. */
    finalize: count => addDemoBlocks(service.chain, { counts: [count], l1Blocks: 1 }),
    /**
     * Finalizes blocks, and waits until a proxy answers from these, whose last ones have transactions. Nothing moves afterwards.
     *
     * @param isPinned whether it has one head: the end of the finalization before
     */
    async settle(url, isPinned = false) {
      const before = service.chain.latest()
      if (service.chain.finalized() < before) service.chain.finalize()
      addDemoBlocks(service.chain, { counts: [3], l1Blocks: 1 })
      const head = isPinned ? before : service.chain.latest() - 1n
      await until(async () => BigInt(await rpc(url, 'eth_blockNumber')) === head)
    },
    /** As time goes by: finalizes what was sent with a block after it, and another block from time to time, until the work is done. */
    async meanwhile(work) {
      let ticks = 0
      const timer = setInterval(() => {
        if (service.chain.latest() === service.chain.finalized() && ++ticks % 40 !== 0) return
        service.chain.addBlock()
        service.chain.finalize()
      }, 250)
      try {
        return await work
      } finally {
        clearInterval(timer)
      }
    },
    /** Starts a proxy. @returns its URL */
    async proxy(...options) {
      const args = ['proxy', '--network', network]
      const child = spawn(process.execPath, [`${root}/src/cli/main.js`, ...args, ...PROXY, ...options], {
        env: { ...process.env, L1_URL: l1Url, L2_URL: url },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      ended.push(async () => {
        child.kill('SIGTERM')
        await once(child, 'close')
      })
      for await (const line of createInterface({ input: child.stdout })) {
        const { event, url: listening } = JSON.parse(line)
        if (event !== 'listening') continue
        child.stdout.resume()
        return listening
      }
      throw new Error('the proxy has ended')
    },
    async close() {
      for (const end of ended) await end()
      rmSync(folder, { recursive: true })
      await service.close({ graceMs: 0 })
    },
  }
  return rig
}

/** One JSON-RPC request, without a library. */
export async function rpc(url, method, ...params) {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const { result, error } = await (await fetch(url, { method: 'POST', headers, body })).json()
  if (error) throw Object.assign(new Error(error.message), error)
  return result
}

export async function until(isDone) {
  while (!(await isDone())) await pause(50)
}

let isOver = false
/** Ends what still waits when a flow has run out of time. */
export const endPauses = () => {
  isOver = true
}

export async function pause(ms) {
  await new Promise(resolve => setTimeout(resolve, ms))
  if (isOver) throw new Error('the tests are over')
}

/** The program of a package of Foundry. @param from where the package is installed */
export function programOf(name, from = import.meta.url) {
  const { resolve } = createRequire(createRequire(from).resolve(`@foundry-rs/${name}/const.mjs`))
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  return resolve(
    `@foundry-rs/${name}-${process.platform}-${arch}/bin/${name}${process.platform === 'win32' ? '.exe' : ''}`,
  )
}
