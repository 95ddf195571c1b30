import { expect, it } from 'vitest'
import type { Hex } from '../../src/index.ts'
import { sized } from '../size.ts'
import { createEndpoints } from './endpoints.ts'
import { paramsOf, SHAPES, shapesState } from './shapes.ts'
import { countWaves, finalize } from './waves.ts'

/** Requests, and the waves in which they are sent. */
type Cost = readonly [requests: number, waves: number]

/**
 * What each call costs at first, with the endpoint's access list and without it, and with other arguments at a newer block,
 * where the access list is not asked for. Fewer are good news: change them here.
 */
const COSTS: Readonly<Record<string, readonly [hinted: Cost, cold: Cost, next: Cost]>> = {
  '1 balance by multicall': [
    [6, 2],
    [6, 3],
    [3, 1],
  ],
  '50 balances by multicall': [
    [6, 2],
    [6, 3],
    [3, 1],
  ],
  '500 balances by multicall': [
    [10, 2],
    [10, 4],
    [7, 1],
  ],
  '1 balance, deployless': [
    [8, 2],
    [6, 2],
    [3, 1],
  ],
  '50 balances, deployless': [
    [8, 2],
    [6, 2],
    [3, 1],
  ],
  '500 balances, deployless': [
    [12, 2],
    [11, 3],
    [7, 1],
  ],
  '500 balances of a proxied token': [
    [13, 2],
    [14, 6],
    [9, 1],
  ],
  '20 proxies, 5 balances each': [
    [46, 2],
    [66, 5],
    [23, 2],
  ],
  '500 balances of ether': [
    [536, 10],
    [503, 10],
    [502, 9],
  ],
  'a quote through two pools': [
    [8, 2],
    [12, 5],
    [4, 1],
  ],
  'an array of 50': [
    [5, 2],
    [5, 3],
    [2, 1],
  ],
  'a linked list of 40': [
    [5, 2],
    [43, 41],
    [2, 1],
  ],
}
/** These take seconds of proving. */
const isQuick = (name: string) => !/^500 balances (of|by)|^500 balances,/.test(name)

const endpoints = createEndpoints(shapesState, true, true)

/** Without an access list: that of the endpoint, or its use. */
async function costsOf(name: string, prefetch: boolean) {
  const waves = countWaves(endpoints)
  const provider = endpoints.provider({ ...waves.options, prefetch })
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
    const [hinted, laterHinted] = await costsOf(name, true)
    const [cold, later] = await costsOf(name, false)
    expect([hinted.cost, cold.cost, later.cost]).toEqual(costs)
    expect([hinted.result, laterHinted.result]).toEqual([cold.result, later.result])
    expect(hinted.result).not.toBe(later.result)
  },
)

it('asks for 500 balances in four waves, whether the endpoint gives an access list or not', async () => {
  const waves = countWaves(endpoints)
  const provider = endpoints.provider({ ...waves.options, prefetch: false })
  await provider.view()
  waves.take()
  const asked = SHAPES['500 balances by multicall']?.(0) ?? expect.fail()
  await provider.request({ method: 'eth_call', params: paramsOf(asked) })
  const taken = waves.take()
  expect([taken.flat().length, taken.length]).toEqual(COSTS['500 balances by multicall']?.[1])
})
