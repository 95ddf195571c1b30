import { expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../../src/devnet/index.ts'
import type { FullChain } from '../../../src/devnet/service/chain.ts'
import { l2Methods } from '../../../src/devnet/service/methods/l2.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { MAX_FILTERS_A_CLIENT } from '../../../src/provider/limits.ts'
import { ROLLUP } from '../../client/servers.ts'

function setUp() {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  const methods = l2Methods(chain as FullChain, 1337n)
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  const ask = (method: string, ...params: unknown[]): any => methods.get(method)?.(params)
  const grow = (count: number) => addDemoBlocks(chain, { counts: [count] })
  return { ask, grow }
}
const numbersIn = (logs: { blockNumber: string }[]) => logs.map(log => Number(log.blockNumber))

it('gives the events and hashes of new blocks once, to each filter', () => {
  const { ask, grow } = setUp()
  grow(2)
  const token = `0x${'70'.repeat(20)}`
  const [logs, blocks, none] = [
    ask('eth_newFilter', { address: token }),
    ask('eth_newBlockFilter'),
    ask('eth_newFilter', { address: `0x${'71'.repeat(20)}` }),
  ]
  expect(ask('eth_getFilterChanges', logs)).toEqual([])
  grow(3)
  expect(numbersIn(ask('eth_getFilterChanges', logs))).toEqual([3, 4, 5])
  expect(ask('eth_getFilterChanges', blocks)).toEqual(
    ['0x3', '0x4', '0x5'].map(one => ask('eth_getBlockByNumber', one).hash),
  )
  expect([logs, blocks, none].map(id => ask('eth_getFilterChanges', id))).toEqual([[], [], []])
  expect(numbersIn(ask('eth_getFilterLogs', logs))).toEqual([1, 2, 3, 4, 5])
  expect([ask('eth_uninstallFilter', logs), ask('eth_uninstallFilter', logs)]).toEqual([true, false])
  expect(() => ask('eth_getFilterChanges', logs)).toThrow('filter not found')
  expect(() => ask('eth_getFilterLogs', blocks)).toThrow('about blocks')
  expect(() => ask('eth_newFilter', { address: '0x1' })).toThrow('address')
})

it('forgets the oldest of too many filters', () => {
  const { ask } = setUp()
  const ids = Array.from({ length: MAX_FILTERS_A_CLIENT + 1 }, () => ask('eth_newBlockFilter'))
  expect(() => ask('eth_getFilterChanges', ids[0])).toThrow('filter not found')
  expect(ask('eth_getFilterChanges', ids.at(-1))).toEqual([])
})
