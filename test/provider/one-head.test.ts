import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError, type ProviderView, type VerifiedProvider } from '../../src/entry/provider.ts'
import { createBlockEndpoints } from './block-endpoints.ts'
import { at, createEndpoints, upgrade, word } from './endpoints.ts'

/** One number for state and for blocks: that of the finalization before the newest one. */

const USER = at('a1')
const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
const asking =
  (provider: VerifiedProvider) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  (method: string, ...params: unknown[]): Promise<any> =>
    provider.request({ method, params })
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    error => (isProviderError(error) ? `${error.reason}: ${error.message}` : String(error)),
  )

function setUp(ends: readonly bigint[], options: object = { oneHead: true }) {
  const { chain, l2, provider } = createBlockEndpoints()
  const finalize = (last: bigint) => {
    while (chain.latest() < last) chain.addBlock()
    chain.finalize()
  }
  for (const last of ends) finalize(last)
  const views: ProviderView[] = []
  const endpoint = l2()
  const verified = provider(endpoint, { onView: (view: ProviderView) => views.push(view), ...options })
  return { finalize, endpoint, verified, ask: asking(verified), views }
}

it('is good for state, blocks and calls alike, and moves with each finalization', async () => {
  const { ask, verified, finalize, views } = setUp([5n, 8n, 12n])
  for (const [last, head] of [
    [12n, 8n],
    [20n, 12n],
    [21n, 20n],
  ] as const) {
    if (last > 12n) {
      finalize(last)
      await verified.refresh()
    }
    const number = await ask('eth_blockNumber')
    expect([number, (await verified.view()).l2BlockNumber]).toEqual([quantity(head), head])
    const block = await ask('eth_getBlockByNumber', number, false)
    expect(block).toEqual(await ask('eth_getBlockByNumber', 'latest', false))
    // Its header is proven, so its values are.
    const read = (code: string) => ask('eth_call', { from: USER, data: `0x${code}5f5260205ff3` }, number)
    expect([await read('43'), await read('42'), await read('45')]).toEqual(
      [head, block.timestamp, block.gasLimit].map(value => word(BigInt(value))),
    )
    expect(await ask('eth_getBalance', USER, number)).toBe(await ask('eth_getBalance', USER, 'latest'))
    expect(await ask('eth_getLogs', { fromBlock: number, toBlock: 'latest' })).toEqual([])
    expect(await ask('eth_getBlockByNumber', quantity(head + 1n), false)).toBeNull()
    for (const wanted of [head + 1n, last])
      expect(await refusalOf(ask('eth_getBalance', USER, quantity(wanted)))).toMatch(/^BLOCK_UNPROVEN/)
  }
  expect(await ask('eth_getBalance', USER, '0x5')).toBe(await ask('eth_getBalance', USER, 'latest'))
  expect(views.map(({ l2BlockNumber }) => l2BlockNumber)).toEqual([8n, 12n, 20n])
})

it('asks nothing again if no finalization is new, and for a state of each of two if one is', async () => {
  const { ask, verified, endpoint, finalize } = setUp([5n, 8n, 12n])
  await ask('eth_getBalance', USER)
  endpoint.asked.length = 0
  await verified.refresh()
  expect(endpoint.asked).toEqual([])
  finalize(15n)
  await verified.refresh()
  expect(endpoint.counts()).toEqual({ rollup_getProof: 2 })
})

it('begins with the first block of all, which is final from the start', async () => {
  expect(await setUp([]).ask('eth_blockNumber')).toBe('0x0')
  const { ask } = setUp([3n])
  expect(await ask('eth_blockNumber')).toBe('0x0')
  expect(await ask('eth_getBalance', USER, '0x0')).toBe(await ask('eth_getBalance', USER, 'latest'))
})

it('is the newest block where L1 holds its hash', async () => {
  const endpoints = createEndpoints(new Map([[USER, { balance: 5n }]]))
  for (let count = 0; count < 3; count++) endpoints.chain.addBlock()
  upgrade(endpoints)
  const ask = asking(endpoints.provider({ oneHead: true }))
  expect([await ask('eth_blockNumber'), await ask('eth_getBalance', USER, '0x4')]).toEqual(['0x4', '0x5'])
})

it('is named where a program needs it', async () => {
  const { ask, finalize, verified } = setUp([5n, 8n, 12n], {})
  const hint = 'needs the option `oneHead` (of the proxy, --one-head)'
  const refusalsAt = (numbers: readonly bigint[]) =>
    Promise.all(numbers.map(number => refusalOf(ask('eth_getBalance', USER, quantity(number)))))
  expect(await ask('eth_blockNumber')).toBe('0xb')
  // The number of this head, of one before, and of another provider, which is ahead.
  const before = await refusalsAt([11n, 7n, 13n, 99n])
  finalize(20n)
  await verified.refresh()
  const after = await refusalsAt([19n, 11n, 21n])
  for (const refused of [...before, ...after]) {
    expect(refused).toMatch(/^BLOCK_UNPROVEN/)
    expect(refused).toContain(hint)
  }
  expect(() => setUp([5n], { oneHead: 'yes' })).toThrow('oneHead')
})

it('is not named where it changes nothing', async () => {
  const { ask } = setUp([5n, 8n, 12n])
  const endpoints = createEndpoints(new Map([[USER, { balance: 5n }]]))
  for (let count = 0; count < 3; count++) endpoints.chain.addBlock()
  upgrade(endpoints)
  const refused = await Promise.all([
    refusalOf(ask('eth_getBalance', USER, '0x7')),
    refusalOf(ask('eth_getBalance', USER, '0xc')),
    refusalOf(asking(endpoints.provider())('eth_getBalance', USER, '0x9')),
  ])
  for (const one of refused) {
    expect(one).toMatch(/^BLOCK_UNPROVEN.*State is proven after block \d, and after the last blocks/)
    expect(one).not.toContain('oneHead')
  }
})
