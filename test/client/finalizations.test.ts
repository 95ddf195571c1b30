import { expect, it } from 'vitest'
import { createLister } from '../../src/client/l1/finalizations.ts'
import { readFinalizedState } from '../../src/client/l1/log-ranges.ts'
import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { finalizedStateTopics } from '../../src/verify/anchor/finalized-state.ts'
import { readRollup } from '../../src/verify/anchor/rollup.ts'
import { ROLLUP, word } from './servers.ts'

/** The log of a finalization that ends with block 9. */
function logOfNine(): { topics: readonly Hex[] } {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  for (let count = 0; count < 9; count++) chain.addBlock()
  chain.finalize()
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: ROLLUP.address, topics: [finalizedStateTopics] }
  return [l1Methods(chain, 1n).get('eth_getLogs')?.([filter])].flat().at(-1) as { topics: readonly Hex[] }
}

const l1Block = { number: 22_000_000n, hash: word(1), stateRoot: word(2) }

function list(newest: bigint, request: RequestProvider['request']) {
  const source = { l1: openEndpoints('l1', [{ request }], 'L1'), rollup: readRollup(ROLLUP), signal: undefined }
  return createLister(source).list({ after: -1n, newest, l1After: null, l1Block } as never)
}

it('lists some 50,000 finalizations, and asks for no more', async () => {
  const log = logOfNine()
  const [event, , ...rest] = log.topics
  let below = 1_000_000
  let asked = 0
  const hints = await list(999_999n, async () => {
    if (++asked > 30) throw new Error('enough')
    below -= 2000
    return Array.from({ length: 2000 }, (_, index) => ({ ...log, topics: [event, word(below + index), ...rest] }))
  })
  expect([asked, hints.length]).toEqual([26, 52_000])
})

it('looks for the log of one finalization in ten answers', async () => {
  let asked = 0
  const provider = {
    async request() {
      asked++
      return []
    },
  }
  const source = { l1: openEndpoints('l1', [provider], 'L1'), rollup: readRollup(ROLLUP), signal: undefined }
  expect(await readFinalizedState(openProvider(provider), source, l1Block.number, 9n)).toBe(null)
  expect(asked).toBe(10)
})

it('takes 2,000 logs from one answer, and none of more', async () => {
  const log = logOfNine()
  for (const [count, code] of [
    [2000, 'UNREACHABLE'],
    [2001, 'ANSWER_MALFORMED'],
  ] as const) {
    let asked = 0
    const listed = list(999_999n, async () => {
      if (++asked > 1) throw new TypeError('enough')
      return new Array(count).fill(log)
    })
    await expect(listed).rejects.toMatchObject({ code })
    expect(asked).toBe(count === 2000 ? 2 : 1)
  }
})

it('does not read logs back to the first block', async () => {
  const log = logOfNine()
  for (const [name, first, requests] of [
    ['only the newest', [log], 101],
    ['none', [], 100],
  ] as const) {
    let asked = 0
    const listed = list(9n, async ({ method }) => {
      if (method === 'eth_getStorageAt') return word(0)
      return ++asked === 1 ? first : []
    }).catch(error => error.code)
    expect(await listed, name).toEqual(name === 'none' ? 'L1_CONTRADICTION' : [expect.anything()])
    expect(asked, name).toBe(requests)
  }
})

it('reads on where the contract still held more, however long nothing was finalized', async () => {
  const log = logOfNine()
  const older = { ...log, topics: [log.topics[0], word(4)] }
  let asked = 0
  const hints = await list(9n, async ({ method, params = [] }) => {
    if (method === 'eth_getStorageAt') return BigInt(String(Reflect.get(params, 2))) > 21_500_000n ? word(4) : word(0)
    asked++
    return asked === 1 ? [log] : asked === 250 ? [older] : []
  })
  expect(hints.map(({ l2BlockNumber }) => l2BlockNumber)).toEqual([4n, 9n])
  expect(asked).toBe(350)
})
