import { expect, it, vi } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { createBlockEndpoints } from './block-endpoints.ts'

// Room for the logs of three blocks, or of fifteen that hold none; and for one block as it was sent.
vi.mock('../../src/provider/limits.ts', async original => ({
  ...(await original<object>()),
  ...{ MAX_CACHED_LOGS: 4000, MAX_CACHED_CONTENTS: 4000 },
}))

it('forgets what a block holds when there is more than a provider keeps', async () => {
  const { chain, l2, provider } = createBlockEndpoints()
  addDemoBlocks(chain, { counts: [11], l1Blocks: 1 })
  const endpoint = l2()
  const verified = provider(endpoint)
  const ask = (method: string, ...params: unknown[]) => verified.request<object[]>({ method, params })
  const logsOf = (number: number) =>
    ask('eth_getLogs', { fromBlock: `0x${number.toString(16)}`, toBlock: `0x${number.toString(16)}` })
  for (let number = 1; number <= 10; number++) expect(await logsOf(number)).toHaveLength(1)
  endpoint.counts()
  for (const number of [10, 9]) await logsOf(number)
  expect(endpoint.counts()).toEqual({})
  await logsOf(1)
  expect(endpoint.counts()).toEqual({ eth_getBlockByNumber: 1, eth_getBlockReceipts: 1 })
  const read = async (number: string) => {
    await ask('eth_getBlockReceipts', number)
    return endpoint.counts()
  }
  const once = { eth_getBlockByNumber: 1, eth_getBlockReceipts: 1 }
  expect([await read('0x2'), await read('0x2'), await read('0x3'), await read('0x2')]).toEqual([once, {}, once, once])
})
