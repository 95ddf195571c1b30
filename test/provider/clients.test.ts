import { BrowserProvider, Contract, isError } from 'ethers'
import { ContractFunctionRevertedError, createPublicClient, custom, defineChain } from 'viem'
import { expect, it } from 'vitest'
import { ALICE, BOB, demoState, MANY, MULTICALL, manyAbi, PROXY, TOKEN, tokenAbi } from './contracts.ts'
import { createEndpoints, word } from './endpoints.ts'

// Both clients as their users write them: no code here deals with proofs.

const chain = defineChain({
  id: 1337,
  name: 'devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
  contracts: { multicall3: { address: MULTICALL } },
})
const NAME_SLOT = `0x44656d6f${'00'.repeat(27)}08`

function setUp(hint = true) {
  const endpoints = createEndpoints(demoState, hint)
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

it('reads 200 slots in five requests with an honest hint, and correctly without one', async () => {
  const sum = { abi: manyAbi, address: MANY, functionName: 'sum' } as const
  const hinted = setUp()
  await hinted.provider.view()
  hinted.asked.length = 0
  expect(await hinted.client.readContract(sum)).toBe(20_100n)
  expect(hinted.asked.length).toBeLessThanOrEqual(5)
  hinted.asked.length = 0
  expect(await hinted.client.readContract(sum)).toBe(20_100n)
  expect(hinted.asked).toEqual([])

  const alone = setUp(false)
  await alone.provider.view()
  alone.asked.length = 0
  expect(await alone.client.readContract(sum)).toBe(20_100n)
  expect(alone.asked.length).toBeGreaterThan(200)
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
