import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { recordCall } from '../../src/entry/provider.ts'
import { withNetwork } from '../network.ts'
import { sized } from '../size.ts'
import { ALICE, TOKEN } from './contracts.ts'
import { createEndpoints, ROLLUP } from './endpoints.ts'
import { CHAIN_ID } from './full-state.ts'
import { balancesOf, paramsOf, SHAPES, shapesState } from './shapes.ts'
import { countWaves, finalize } from './waves.ts'

/** Requests, and the waves in which they are sent. */
type Cost = readonly [requests: number, waves: number]

/** What each call costs at first, and with other arguments at a newer block. Fewer are good news: change them here. */
const COSTS: Readonly<Record<string, readonly [cold: Cost, next: Cost]>> = {
  '1 balance by multicall': [
    [6, 3],
    [3, 1],
  ],
  '50 balances by multicall': [
    [6, 3],
    [3, 1],
  ],
  '500 balances by multicall': [
    [10, 4],
    [7, 1],
  ],
  '1 balance, deployless': [
    [6, 2],
    [3, 1],
  ],
  '50 balances, deployless': [
    [6, 2],
    [3, 1],
  ],
  '500 balances, deployless': [
    [11, 3],
    [7, 1],
  ],
  '500 balances of a proxied token': [
    [14, 6],
    [9, 1],
  ],
  '20 proxies, 5 balances each': [
    [66, 5],
    [23, 2],
  ],
  '500 balances of ether': [
    [503, 10],
    [502, 9],
  ],
  'a quote through two pools': [
    [12, 5],
    [4, 1],
  ],
  'an array of 50': [
    [5, 3],
    [2, 1],
  ],
  'a linked list of 40': [
    [43, 41],
    [2, 1],
  ],
}
/** These take seconds of proving. */
const isQuick = (name: string) => !/^500 balances (of|by)|^500 balances,/.test(name)

const endpoints = createEndpoints(shapesState, true)

async function costsOf(name: string) {
  const waves = countWaves(endpoints)
  const provider = endpoints.provider(waves.options)
  const ask = async (from: number) => {
    await provider.refresh()
    waves.take()
    const asked = SHAPES[name]?.(from) ?? expect.fail()
    const result = await provider.request<Hex>({ method: 'eth_call', params: paramsOf(asked) })
    const taken = waves.take()
    return { result, cost: [taken.flat().length, taken.length] }
  }
  const first = await ask(0)
  finalize(endpoints)
  return [first, await ask(5)] as const
}

it('knows what each kind of call costs', () => expect(Object.keys(COSTS)).toEqual(Object.keys(SHAPES)))

it.each(Object.entries(COSTS).filter(([name]) => sized(1) > 1 || isQuick(name)))(
  'asks for %s in few waves',
  async (name, costs) => {
    const [cold, later] = await costsOf(name)
    expect([cold.cost, later.cost]).toEqual(costs)
    expect(cold.result).not.toBe(later.result)
  },
)

it('asks for 500 balances in four waves', async () => {
  const waves = countWaves(endpoints)
  const provider = endpoints.provider(waves.options)
  await provider.view()
  waves.take()
  const asked = SHAPES['500 balances by multicall']?.(0) ?? expect.fail()
  await provider.request({ method: 'eth_call', params: paramsOf(asked) })
  const taken = waves.take()
  expect([taken.flat().length, taken.length]).toEqual(COSTS['500 balances by multicall']?.[0])
})

it('estimates 50 balances, and finds their access list, in the waves of the call', async () => {
  const asked = SHAPES['50 balances by multicall']?.(0) ?? expect.fail()
  const found: unknown[] = []
  for (const [method, more] of [
    ['eth_estimateGas', {}],
    ['eth_estimateGas', { maxFeePerGas: '0x7' }],
    ['eth_createAccessList', {}],
  ] as const) {
    const waves = countWaves(endpoints)
    const provider = endpoints.provider(waves.options)
    await provider.view()
    waves.take()
    await provider.request({ method, params: [{ from: ALICE, ...asked, ...more }, 'latest'] })
    const taken = waves.take()
    found.push([taken.flat().length, taken.length])
  }
  expect(found).toEqual([COSTS['50 balances by multicall']?.[0], [6, 3], [6, 3]])
})

it('records evidence of 60 balances with few requests', async () => {
  const { to = '0x', data } = balancesOf(60, TOKEN)(0)
  const waves = countWaves(endpoints)
  const { l1, l2 } = waves.options
  const about = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID, l2BlockNumber: 0n }
  const { bundle } = await recordCall(withNetwork({ l1, l2, ...about, call: { from: ALICE, to, data } }))
  const taken = waves.take()
  expect([taken.flat().length, taken.length]).toEqual([14, 9])
  // What the call reads, and no more: the sender, the contract, the token and its slots.
  expect(bundle.answers.map(({ storageKeys }) => storageKeys.length)).toEqual([0, 0, 60])
})
