import { BrowserProvider, Contract, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, custom, defineChain, parseAbi, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { estimateGas } from 'viem/linea'
import { expect, it, onTestFinished } from 'vitest'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import { PROXY_LIMITS } from '../../src/cli/limits.ts'
import { DEMO_SIGNERS } from '../../src/devnet/service/demo-transfer.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import { createHttpProvider, finalizedBlockHash, type RequestProvider } from '../../src/entry/rpc.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { ROLLUP, startService } from '../client/servers.ts'
import { stopListening } from '../ethers.ts'
import { withNetwork } from '../network.ts'

// A wallet and an application as their users write them: no code of theirs deals with proofs.

const TOKEN = `0x${'70'.repeat(20)}` as const
const PAYEE = `0x${'b2'.repeat(20)}` as const
const abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
const chain = defineChain({
  id: 1337,
  name: 'devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})
const [ALICE, BOB] = DEMO_SIGNERS

/** The service, and what answers wallets in front of it. Whatever is sent is finalized, and so is a block after it. */
async function setUp() {
  const { service, url, l1Url } = await startService()
  const unproven: string[] = []
  const options = {
    ...{ l1: l1Url, l2: url, rollup: { ...ROLLUP, chainId: 1337 }, scheme: poseidon2 },
    ...{ l1BlockHash: finalizedBlockHash(l1Url), timeoutMs: 600_000 },
  }
  const provider = createVerifiedProvider(withNetwork({ ...options, forward: ['wallet'] }))
  /** As time goes by. */
  async function finalize() {
    for (let count = 0; count < 2; count++) service.chain.addBlock()
    service.chain.finalize()
    await provider.refresh()
  }
  await finalize()
  let requests = 0
  const asked = {
    ...provider,
    async request(args: { method: string; params?: unknown }) {
      requests++
      try {
        return await provider.request(args, { onNote: () => unproven.push(args.method) })
      } finally {
        requests--
      }
    },
  }
  return { provider: asked, verified: provider, finalize, unproven, running: () => requests, options }
}

/** Finalizes again and again until the work is done. */
async function meanwhile<T>(work: Promise<T>, finalize: () => Promise<void>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => {})
  while (!isDone) await Promise.race([done.catch(() => {}), finalize()])
  return done
}

it('serves viem as a wallet: estimate, fees, sending, the receipt, the event', async () => {
  const { provider, finalize, unproven } = await setUp()
  const transport = custom(provider, { retryCount: 0 })
  const account = privateKeyToAccount(ALICE.key)
  const wallet = createWalletClient({ account, chain, transport })
  const client = createPublicClient({ chain, transport, pollingInterval: 20 })
  const before = await client.readContract({ abi, address: TOKEN, functionName: 'balanceOf', args: [PAYEE] })

  const transfer = { abi, address: TOKEN, functionName: 'transfer', args: [PAYEE, 5n] } as const
  const { request } = await client.simulateContract({ ...transfer, account })
  const { maxFeePerGas } = await client.estimateFeesPerGas()
  expect(maxFeePerGas).toBeGreaterThanOrEqual(7n)
  expect(unproven).toEqual([])
  expect(await client.estimateContractGas({ ...transfer, account })).toBeGreaterThan(21_000n)

  const events: unknown[] = []
  const unwatch = client.watchContractEvent({
    ...{ abi, address: TOKEN, eventName: 'Transfer', args: { to: PAYEE } },
    onLogs: logs => events.push(...logs.map(({ args, transactionHash }) => ({ ...args, transactionHash }))),
    onError: error => events.push(error),
  })
  onTestFinished(unwatch)
  const hash = await wallet.writeContract(request)
  const receipt = await meanwhile(client.waitForTransactionReceipt({ hash }), finalize)
  expect(receipt).toMatchObject({ status: 'success', transactionHash: hash, logs: [{ address: TOKEN, logIndex: 0 }] })
  expect(await client.readContract({ ...transfer, functionName: 'balanceOf', args: [PAYEE] })).toBe(before + 5n)
  await meanwhile(expect.poll(() => events.length, { timeout: 600_000, interval: 10 }).toBeGreaterThan(0), finalize)
  expect(events).toEqual([{ from: account.address, to: expect.any(String), value: 5n, transactionHash: hash }])

  const sent = await wallet.sendTransaction({ to: PAYEE, value: parseEther('0.5') })
  const paid = await meanwhile(client.waitForTransactionReceipt({ hash: sent }), finalize)
  expect(paid).toMatchObject({ status: 'success', gasUsed: 21_000n })
  expect([...new Set(unproven)].sort()).toEqual(['eth_getTransactionCount', 'eth_sendRawTransaction'])
})

it("passes on the network's own estimate for wallets, and says so", async () => {
  const { options } = await setUp()
  const estimate = { gasLimit: '0x5208', baseFeePerGas: '0x7', priorityFeePerGas: '0x9' }
  const asked: unknown[] = []
  const l2 = createHttpProvider(options.l2)
  const network: RequestProvider = {
    async request(args) {
      if (args.method !== 'linea_estimateGas') return l2.request(args)
      asked.push(args.params)
      return estimate
    },
  }
  const unproven: string[] = []
  const clientOf = (forward: string[]) => {
    const provider = createVerifiedProvider(withNetwork({ ...options, l2: network, forward }))
    const request = (args: { method: string; params?: unknown }) =>
      provider.request(args, { onNote: () => unproven.push(args.method) })
    return createPublicClient({ chain, transport: custom({ request }, { retryCount: 0 }) })
  }
  const call = { account: ALICE.address, to: PAYEE, value: 1n } as const
  expect(await estimateGas(clientOf(['wallet']), call)).toEqual({
    ...{ gasLimit: 21_000n, baseFeePerGas: 7n, priorityFeePerGas: 9n },
  })
  expect([unproven, asked]).toMatchObject([['linea_estimateGas'], [[{ from: ALICE.address, to: PAYEE, value: '0x1' }]]])
  await expect(estimateGas(clientOf([]), call)).rejects.toThrow('list it in `forward`')
  expect(unproven.length).toBe(1)
})

it('serves ethers as a wallet: estimate, fees, sending, the receipt, the event', async () => {
  const { provider, finalize, unproven, running } = await setUp()
  const browser = new BrowserProvider(provider, 1337, { polling: true, pollingInterval: 20, cacheTimeout: -1 })
  onTestFinished(async () => {
    await stopListening(browser)
    await expect.poll(running, { timeout: 600_000 }).toBe(0)
    browser.destroy()
  })
  const wallet = new Wallet(BOB.key, browser)
  const token = new Contract(
    TOKEN,
    abi.map(item => item),
    wallet,
  )
  // Where several blocks come at once, ethers may report an event again.
  const events = new Map<string, unknown>()
  await token.on('Transfer', (from, to, value, { log }) => events.set(log.transactionHash, [from, to, value]))
  const { maxFeePerGas } = await browser.getFeeData()
  expect(maxFeePerGas).toBeGreaterThanOrEqual(7n)
  const before = await token.getFunction('balanceOf').staticCall(PAYEE)
  const sent = await token.getFunction('transfer').send(PAYEE, 3n)
  const receipt = await meanwhile(sent.wait(), finalize)
  expect(receipt).toMatchObject({ status: 1, hash: sent.hash })
  expect(await token.getFunction('balanceOf').staticCall(PAYEE)).toBe(before + 3n)
  await meanwhile(expect.poll(() => events.size, { timeout: 600_000, interval: 10 }).toBeGreaterThan(0), finalize)
  expect([...events]).toEqual([[sent.hash, [wallet.address, expect.stringMatching(/^0xb2/i), 3n]]])
  expect([...new Set(unproven)].sort()).toEqual(['eth_getTransactionCount', 'eth_sendRawTransaction'])
})

/** As some wallets do: they replace `latest` by the last number that they were told, which may be some seconds old. */
function replacingLatest<T extends { request(args: { method: string; params?: unknown }): Promise<unknown> }>(
  provider: T,
) {
  let head: unknown
  const places: Readonly<Record<string, number>> = {
    ...{ eth_getBlockByNumber: 0, eth_getBalance: 1, eth_getCode: 1, eth_getTransactionCount: 1, eth_call: 1 },
    ...{ eth_estimateGas: 1, eth_getStorageAt: 2, eth_feeHistory: 1 },
  }
  return {
    ...provider,
    /** What happens every twenty seconds. */
    async look() {
      head = await provider.request({ method: 'eth_blockNumber' })
    },
    request({ method, params }: { method: string; params?: unknown }) {
      const at = places[method]
      if (!Array.isArray(params) || at === undefined) return provider.request({ method, params })
      return provider.request({
        method,
        params: params.map((one, place) => (place === at && one === 'latest' ? head : one)),
      })
    },
  }
}

it('serves wallets that replace latest by a number, also while a finalization comes', async () => {
  const { provider, finalize, options } = await setUp()
  const wallet = replacingLatest(provider)
  await wallet.look()
  const client = createPublicClient({ chain, transport: custom(wallet, { retryCount: 0 }) })
  const balanceOf = { abi, address: TOKEN, functionName: 'balanceOf', args: [PAYEE] } as const
  const all = async () => [
    await client.getBalance({ address: ALICE.address }),
    await client.getTransactionCount({ address: ALICE.address }),
    await client.readContract(balanceOf),
    (await client.getBlock()).number,
    (await client.estimateFeesPerGas()).maxFeePerGas >= 7n,
    await client.estimateGas({ account: ALICE.address, to: PAYEE, value: 1n }),
  ]
  const before = await all()
  expect(before.slice(3)).toEqual([2n, true, 21_000n])
  await finalize()
  expect(await all()).toEqual(before)
  await wallet.look()
  expect((await all())[3]).toBe(4n)
  // Who needs the state after exactly this block is told that no root of it is proven.
  const strict = createVerifiedProvider(withNetwork(options))
  const asked = strict.request({ method: 'eth_getBalance', params: [PAYEE, '0x4'] })
  await expect(asked).rejects.toMatchObject({ reason: 'BLOCK_UNPROVEN' })
})

it('marks over HTTP what is not proven', async () => {
  const { verified } = await setUp()
  const rpc = createJsonRpcServer(verified, { ...PROXY_LIMITS, concurrency: 4, timeout: 60_000 })
  const { url, close } = await serveProxy(rpc, { origins: ['https://wallet.example'], hosts: [] }, 0, '127.0.0.1')
  onTestFinished(() => close(0))
  const request = (id: number, tag: string) => ({
    ...{ jsonrpc: '2.0', id, method: 'eth_getTransactionCount', params: [ALICE.address, tag] },
  })
  const ask = async (message: unknown) => {
    const headers = { 'Content-Type': 'application/json', Origin: 'https://wallet.example' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })
    expect(response.headers.get('Access-Control-Expose-Headers')).toBe('X-Unproven')
    return [response.headers.get('X-Unproven'), JSON.stringify(await response.json()).includes('"error"')]
  }
  expect(await ask(request(1, 'latest'))).toEqual([null, false])
  expect(await ask(request(1, 'pending'))).toEqual(['eth_getTransactionCount', false])
  expect(await ask([request(1, 'latest'), request(2, 'pending')])).toEqual(['eth_getTransactionCount', false])
})
