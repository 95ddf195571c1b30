import { BrowserProvider, Contract, isError, JsonRpcProvider } from 'ethers'
import { ContractFunctionRevertedError, createPublicClient, custom, defineChain, encodeFunctionData } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import { PROXY_LIMITS } from '../../src/cli/limits.ts'
import { isProviderError } from '../../src/entry/provider.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { ALICE, BOB, demoState, MANY, MULTICALL, manyAbi, PROXY, TOKEN, tokenAbi } from './contracts.ts'
import { at, createEndpoints, word } from './endpoints.ts'

// Both clients as their users write them: no code here deals with proofs.

const chain = defineChain({
  id: 1337,
  name: 'devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
  contracts: { multicall3: { address: MULTICALL } },
})
const NAME_SLOT = `0x44656d6f${'00'.repeat(27)}08`

function setUp() {
  const endpoints = createEndpoints(demoState)
  const provider = endpoints.provider()
  return { ...endpoints, provider, client: createPublicClient({ chain, transport: custom(provider) }) }
}

it('serves viem: account, code and storage', async () => {
  const { client } = setUp()
  expect(await client.getChainId()).toBe(1337)
  expect(await client.getBlockNumber()).toBe(0n)
  expect(await client.getBalance({ address: ALICE })).toBe(10n ** 18n)
  expect(await client.getTransactionCount({ address: ALICE })).toBe(5)
  expect(await client.getCode({ address: TOKEN })).toBe(demoState.get(TOKEN)?.code)
  expect(await client.getCode({ address: ALICE })).toBeUndefined()
  expect(await client.getStorageAt({ address: TOKEN, slot: '0x3' })).toBe(NAME_SLOT)
  expect(await client.getStorageAt({ address: TOKEN, slot: '0x99' })).toBe(word(0))
  expect(await client.getBalance({ address: ALICE, blockNumber: 0n })).toBe(10n ** 18n)
})

it('serves viem: contracts, plain, behind a proxy, and several at once', async () => {
  const { client } = setUp()
  const balanceOf = { abi: tokenAbi, functionName: 'balanceOf', args: [ALICE] } as const
  expect(await client.readContract({ ...balanceOf, address: TOKEN })).toBe(100n)
  expect(await client.readContract({ ...balanceOf, address: PROXY })).toBe(1000n)
  const contracts = [
    { ...balanceOf, address: TOKEN },
    { ...balanceOf, address: PROXY, args: [BOB] },
    { abi: tokenAbi, address: TOKEN, functionName: 'name' },
    { abi: tokenAbi, address: TOKEN, functionName: 'transfer', args: [BOB, 1n] },
  ] as const
  const results = await client.multicall({ contracts })
  expect(results.map(({ result, status }) => result ?? status)).toEqual([100n, 70n, 'Demo', 'failure'])
  const { result } = await client.simulateContract({
    ...{ abi: tokenAbi, address: PROXY, functionName: 'transfer', args: [BOB, 1000n], account: ALICE },
  })
  expect(result).toBe(true)
})

it('serves viem: calls without a deployed contract, but none on a state that is assumed', async () => {
  const { client } = setUp()
  const balanceOf = { abi: tokenAbi, address: TOKEN, functionName: 'balanceOf', args: [ALICE] } as const
  // With creation code: a creation that calls what it deploys, which returns 9.
  const code = '0x6760095f5260205ff35f5260086018f3'
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'name' })
  expect((await client.call({ code, data })).data).toBe(word(9))
  const results = await client.multicall({ contracts: [balanceOf, { ...balanceOf, args: [BOB] }], deployless: true })
  expect(results.map(({ result }) => result)).toEqual([100n, 7n])
  const assumed = [{ stateOverride: [{ address: TOKEN, balance: 1n }] }, { blockOverrides: { time: 77n } }]
  for (const overrides of assumed) {
    const error = await client.call({ to: TOKEN, data, ...overrides }).catch(error => error)
    expect(error.walk(isProviderError)).toMatchObject({ reason: 'PARAMS_INVALID' })
  }
})

it('serves viem: custom errors, decoded', async () => {
  const { client } = setUp()
  const asked = { abi: tokenAbi, address: PROXY, functionName: 'transfer', args: [BOB, 1001n], account: ALICE } as const
  const error = await client.simulateContract(asked).catch(error => error)
  const reverted = error.walk((inner: unknown) => inner instanceof ContractFunctionRevertedError)
  expect(reverted.data.errorName).toBe('InsufficientBalance')
  expect(reverted.data.args.slice(1)).toEqual([1000n, 1001n])
})

it('serves viem: estimates and access lists', async () => {
  const { client } = setUp()
  expect(await client.estimateGas({ account: ALICE, to: BOB, value: 1n })).toBe(21_000n)
  const call = { abi: tokenAbi, address: TOKEN, functionName: 'transfer', args: [BOB, 1n], account: ALICE } as const
  const gas = await client.estimateContractGas(call)
  expect(gas).toBeGreaterThan(30_000n)
  expect(gas).toBeLessThan(40_000n)
  const { accessList } = await client.createAccessList({ account: ALICE, to: MANY, data: '0x853255cc' })
  expect(accessList.map(({ address, storageKeys }) => [address, storageKeys.length])).toEqual([[MANY, 200]])
})

it('serves ethers', async () => {
  const { provider } = setUp()
  const client = new BrowserProvider(provider)
  expect((await client.getNetwork()).chainId).toBe(1337n)
  expect(await client.getBlockNumber()).toBe(0)
  expect(await client.getBalance(ALICE)).toBe(10n ** 18n)
  expect(await client.getTransactionCount(ALICE)).toBe(5)
  expect(await client.getCode(TOKEN)).toBe(demoState.get(TOKEN)?.code)
  expect(await client.getStorage(TOKEN, 3)).toBe(NAME_SLOT)
  expect(await client.estimateGas({ from: ALICE, to: BOB, value: 1n })).toBe(21_000n)
  const abi = JSON.stringify(tokenAbi)
  expect(await new Contract(TOKEN, abi, client).getFunction('balanceOf')(ALICE)).toBe(100n)
  const proxied = new Contract(PROXY, abi, client)
  expect(await proxied.getFunction('balanceOf')(BOB)).toBe(70n)
  const error = await proxied
    .getFunction('transfer')
    .staticCall(BOB, 1001n, { from: ALICE })
    .catch(error => error)
  expect(isError(error, 'CALL_EXCEPTION') && error.revert?.name).toBe('InsufficientBalance')
  client.destroy()
})

it('lets users of ethers tell a revert from an endpoint that fails', async () => {
  // Reverts without data.
  const BARE = at('fe')
  const endpoints = createEndpoints(new Map(demoState).set(BARE, { nonce: 1n, code: '0x5f5ffd' }))
  const provider = endpoints.provider()
  await provider.view()
  const rpc = createJsonRpcServer(provider, { ...PROXY_LIMITS, timeout: 10_000, concurrency: 4 })
  const server = await serveProxy(rpc, { origins: [], hosts: [] }, 0, '127.0.0.1')
  const clients = [new BrowserProvider(provider), new JsonRpcProvider(server.url)]
  onTestFinished(async () => {
    for (const client of clients) client.destroy()
    await server.close(0)
  })
  for (const [index, client] of clients.entries()) {
    endpoints.lie.l2 = null
    await client.getNetwork()
    // biome-ignore lint/suspicious/noExplicitAny: the errors of ethers
    const thrown = (work: Promise<unknown>): Promise<any> => work.catch(error => error)
    const { code, data } = await thrown(client.call({ to: BARE }))
    expect([code, data]).toEqual(['CALL_EXCEPTION', '0x'])
    // It says so of a call that could not be made, too.
    endpoints.lie.l2 = () => Promise.reject(new Error('down'))
    const to = at(`d${index}`)
    const reason = { reason: 'ENDPOINT_FAILED', error: 'UNREACHABLE', layer: 'L2' }
    for (const failed of [await thrown(client.call({ to })), await thrown(client.estimateGas({ to }))]) {
      expect([failed.code, failed.data, failed.shortMessage]).toEqual(['CALL_EXCEPTION', null, 'missing revert data'])
      expect([failed.info.error.code, failed.info.error.data]).toEqual([-32012, reason])
    }
    const other = await thrown(client.getBalance(to))
    expect([other.code, other.error.code, other.error.data]).toEqual(['UNKNOWN_ERROR', -32012, reason])
  }
  expect(clients.length).toBe(2)
})

it('lets users of viem find the error of the provider', async () => {
  const { client, lie } = setUp()
  lie.l2 = () => Promise.reject(new Error('down'))
  const calls = [client.call({ to: TOKEN, data: '0x' }), client.getBalance({ address: ALICE })]
  for (const error of await Promise.all(calls.map(call => call.catch(error => error)))) {
    expect(error.walk(isProviderError)).toMatchObject({ reason: 'ENDPOINT_FAILED', action: 'wait' })
  }
  expect(calls.length).toBe(2)
})

it('reads 200 slots in six requests, and again in none', async () => {
  const sum = { abi: manyAbi, address: MANY, functionName: 'sum' } as const
  const { provider, client, asked } = setUp()
  await provider.view()
  asked.length = 0
  expect(await client.readContract(sum)).toBe(20_100n)
  expect(asked.length).toBeLessThanOrEqual(6)
  asked.length = 0
  expect(await client.readContract(sum)).toBe(20_100n)
  expect(asked).toEqual([])
})

it('batches the reads of one tick', async () => {
  const { client, provider, asked } = setUp()
  await provider.view()
  asked.length = 0
  const slots = Array.from({ length: 50 }, (_, slot) => client.getStorageAt({ address: MANY, slot: word(slot) }))
  const values = await Promise.all([...slots, client.getTransactionCount({ address: MANY })])
  expect(values.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, slot) => word(slot + 1)))
  expect(asked).toEqual(['rollup_getProof'])
})
