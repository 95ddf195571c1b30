import { expect, it } from 'vitest'
import { messageCosts } from './message-waves.ts'

it('follows and records messages in few waves', async () => {
  const costs = await messageCosts()
  // Waves and requests. Fewer are good news: change them here.
  expect(costs.map(({ name, waves }) => [name, waves.length, waves.flat().length])).toEqual([
    ['follow messages: the first finalization', 6, 6],
    ['a finalization with 15 messages', 6, 8],
    ['a finalization without any', 6, 7],
    ['a new L1 block, nothing finalized', 3, 3],
    ['the same L1 block', 1, 1],
    ['record a message', 7, 7],
    ['record the message of a transaction', 6, 6],
    ['record a message to L2', 5, 5],
  ])
  expect(costs[1]?.waves.slice(-2)).toEqual([
    ['eth_getProof', 'eth_getLogs'],
    ['rollup_getProof', 'eth_getProof'],
  ])
})
