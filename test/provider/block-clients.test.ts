import { BrowserProvider, Contract, Interface, type Log } from 'ethers'
import { createPublicClient, custom, defineChain, parseAbi } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { stopListening } from '../ethers.ts'
import { createBlockEndpoints } from './block-endpoints.ts'

// Both clients as their users write them: they fall back to polling where filters are refused.

const TOKEN: Hex = `0x${'70'.repeat(20)}`
const abi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const chain = defineChain({
  ...{ id: 1337, name: 'devnet', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 } },
  rpcUrls: { default: { http: [] } },
})

async function setUp() {
  const endpoints = createBlockEndpoints()
  addDemoBlocks(endpoints.chain, { counts: [3], l1Blocks: 1 })
  const l2 = endpoints.l2()
  const provider = endpoints.provider(l2)
  await provider.view()
  const advance = async (count: number) => {
    addDemoBlocks(endpoints.chain, { counts: [count], l1Blocks: 1 })
    await provider.refresh()
  }
  const asked: string[] = []
  const counting = {
    ...provider,
    request(args: { method: string; params?: unknown }) {
      const answer = provider.request(args)
      answer.finally(() => asked.push(args.method)).catch(() => {})
      return answer
    },
  }
  /** A client has its filter once it was told of changes. ethers then waits for the next block, which it may do a moment later. */
  const untilPolled = (then?: string) =>
    until(() => {
      const begin = asked.lastIndexOf('eth_getFilterChanges')
      return begin >= 0 && (then === undefined || asked.slice(begin).filter(method => method === then).length >= 3)
    })
  const viem = createPublicClient({ chain, transport: custom(counting), pollingInterval: 10 })
  return { l2, provider: counting, viem, advance, untilPolled }
}
const until = async (isDone: () => boolean) => {
  while (!isDone()) await new Promise(resolve => setTimeout(resolve, 5))
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

it('serves viem: blocks, transactions, receipts, logs and fees', async () => {
  const { viem } = await setUp()
  const block = await viem.getBlock({ includeTransactions: true })
  expect([block.number, block.transactions.length, block.size > 600n, block.uncles]).toEqual([2n, 1, true, []])
  const [{ hash, from, nonce } = expect.fail()] = block.transactions
  expect(block.number).toBe(await viem.getBlockNumber())
  const transaction = await viem.getTransaction({ hash })
  expect(transaction).toMatchObject({ type: 'eip1559', from, nonce, blockNumber: 2n, chainId: 1337 })
  const receipt = await viem.getTransactionReceipt({ hash })
  expect(receipt).toMatchObject({ status: 'success', gasUsed: 34_229n, blockHash: block.hash, from })
  expect(await viem.waitForTransactionReceipt({ hash })).toEqual(receipt)
  const [log = expect.fail()] = await viem.getContractEvents({ abi, address: TOKEN, fromBlock: 1n, toBlock: 'latest' })
  expect(log).toMatchObject({ eventName: 'Transfer', args: { value: 10n ** 18n }, blockNumber: 1n })
  expect(await viem.estimateFeesPerGas()).toEqual({ maxFeePerGas: 8n, maxPriorityFeePerGas: 0n })
  expect(await viem.getGasPrice()).toBe(7n)
  const history = await viem.getFeeHistory({ blockCount: 1, rewardPercentiles: [50] })
  expect(history).toEqual({
    oldestBlock: 1n,
    baseFeePerGas: [7n, 7n],
    gasUsedRatio: [expect.any(Number)],
    reward: [[0n]],
  })
  await expect(viem.getTransactionReceipt({ hash: `0x${'12'.repeat(32)}` })).rejects.toThrow('could not be found')
})

it('lets viem watch events and blocks, and wait for a receipt', async () => {
  const { viem, advance, l2, untilPolled } = await setUp()
  const [logs, blocks, errors]: [bigint[], bigint[], unknown[]] = [[], [], []]
  const onError = (error: unknown) => errors.push(error)
  const ends = [
    viem.watchContractEvent({
      abi,
      address: TOKEN,
      onLogs: seen => logs.push(...seen.map(log => log.blockNumber)),
      onError,
    }),
    viem.watchBlocks({ emitMissed: true, onBlock: block => blocks.push(block.number), onError }),
  ]
  onTestFinished(() => {
    for (const end of ends) end()
  })
  await until(() => blocks.length > 0)
  await untilPolled()
  const receipts = (await l2.request({ method: 'eth_getBlockByNumber', params: ['0x3', false] })) as {
    transactions: [Hex]
  }
  const waiting = viem.waitForTransactionReceipt({ hash: receipts.transactions[0] })
  for (const count of [1, 4]) await advance(count)
  await until(() => logs.length >= 5 && blocks.length >= 6)
  expect([logs, blocks].map(list => list.map(Number))).toEqual([range(3, 7), range(2, 7)])
  expect((await waiting).blockNumber).toBe(3n)
  expect(errors).toEqual([])
})

it('serves ethers, and lets it listen to events and wait for a receipt', async () => {
  const { provider, advance, l2, untilPolled } = await setUp()
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const client = new BrowserProvider(provider as never)
  onTestFinished(async () => {
    await stopListening(client)
    process.off('unhandledRejection', note)
    client.destroy()
  })
  client.pollingInterval = 10
  const block = (await client.getBlock('latest', true)) ?? expect.fail()
  expect([block.number, block.prefetchedTransactions.length]).toEqual([2, 1])
  const [{ hash, from } = expect.fail()] = block.prefetchedTransactions
  const receipt = (await client.getTransactionReceipt(hash)) ?? expect.fail()
  expect([receipt.from, receipt.status, receipt.gasUsed, receipt.logs.length]).toEqual([from, 1, 34_229n, 1])
  expect((await client.getTransaction(hash))?.blockHash).toBe(block.hash)
  expect((await client.getFeeData()).maxFeePerGas).toBe(14n)
  expect((await client.getLogs({ address: TOKEN, fromBlock: 1, toBlock: 'latest' })).length).toBe(2)

  const events = Interface.from(abi.map(({ name }) => `event ${name}(address indexed, address indexed, uint256)`))
  const contract = new Contract(TOKEN, events, client)
  const heard: number[] = []
  const listener = (...args: unknown[]) => heard.push((args.at(-1) as { log: Log }).log.blockNumber)
  await contract.on('Transfer', listener)
  const next = (await l2.request({ method: 'eth_getBlockByNumber', params: ['0x3', false] })) as { transactions: [Hex] }
  const waiting = client.waitForTransaction(next.transactions[0])
  for (const count of [1, 4]) {
    await untilPolled('eth_blockNumber')
    await advance(count)
    await until(() => heard.includes(count + 2))
  }
  await until(() => new Set(heard).size === 5)
  await contract.off('Transfer', listener)
  expect([...new Set(heard)].sort()).toEqual(range(3, 7))
  expect((await waiting)?.blockNumber).toBe(3)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(unhandled).toEqual([])
})
