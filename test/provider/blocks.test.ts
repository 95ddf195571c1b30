import { RLP } from '@ethereumjs/rlp'
import { beforeAll, describe, expect, it } from 'vitest'
import { CONTENTS_AT_ONCE, MAX_WALK } from '../../src/client/transport/limits.ts'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { type BlockView, createChain } from '../../src/provider/blocks/chain.ts'
import { collectLogs, createLogSearch } from '../../src/provider/blocks/logs.ts'
import { feeHistory } from '../../src/provider/blocks/methods.ts'
import { MAX_LOGS, MAX_LOGS_LENGTH } from '../../src/provider/limits.ts'
import { inPace } from '../../src/provider/pace.ts'
import { encodeTransaction, type Sent } from '../../vectors/blocks/truth.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { DEADLINE, endingAfter, holdDeadlines } from '../deadlines.ts'
import { createBlockEndpoints, createMixedEndpoints, type Endpoint, type Lie } from './block-endpoints.ts'
import { UNHURRIED } from './endpoints.ts'

/** Blocks, receipts, logs and fees over endpoints of the simulated service. */

type Json = Readonly<
  Record<'hash' | 'size' | 'transactionHash' | 'toBlock' | 'reward' | 'baseFeePerBlobGas' | 'blobGasUsedRatio', unknown>
>
const TOKEN: Hex = `0x${'70'.repeat(20)}`
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const [OTHER, NOBODY] = [named('another contract', 20), named('nobody', 20)]
const NEVER = new Promise(() => {})
const hex = (number: number): Hex => `0x${number.toString(16)}`
const word = (byte: string): Hex => `0x${byte.repeat(32)}`

const NEWEST = 11
let endpoints: Awaited<ReturnType<typeof createMixedEndpoints>>
let truth: Endpoint
beforeAll(async () => {
  endpoints = await createMixedEndpoints()
  truth = endpoints.l2()
})

type Ask = (method: string, ...params: unknown[]) => Promise<unknown>
const asking = (...l2: Endpoint[]): Ask => {
  const provider = endpoints.provider(l2)
  return (method, ...params) => provider.request({ method, params })
}
const honestly: Ask = (method, ...params) => truth.request({ method, params })
/** What the service says beyond what is proven. */
const LEFT_OUT = ['totalDifficulty', 'blobGasPrice']
function proven(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(proven)
  if (typeof answer !== 'object' || answer === null) return answer
  const fields = Object.entries(answer).filter(([name]) => !LEFT_OUT.includes(name))
  return Object.fromEntries(fields.map(([name, value]) => [name, proven(value)]))
}
/** The service states no time in a receipt itself. */
const untimed = (receipt: unknown): unknown => {
  const { blockTimestamp, ...rest } = Object(receipt)
  return rest
}
const reasonOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    const { reason, data } = error as { reason: string; data: { error?: string; proof?: string } }
    return [reason, data.error].filter(Boolean).join(' ')
  }
  return 'answered'
}

/** The bytes of a block, as `@ethereumjs/rlp` encodes it. */
async function sizeOf(number: number): Promise<Hex> {
  const block = (await honestly('eth_getBlockByNumber', hex(number), true)) as { transactions: Sent[] }
  const transactions = block.transactions.map(sent => {
    const encoded = encodeTransaction(sent)
    return sent.type === '0x0' ? RLP.decode(encoded) : encoded
  })
  return hex(RLP.encode([RLP.decode(encodeHeader(block)), transactions, [], []]).length)
}

describe('what the provider answers', () => {
  it('is what the service says of each block, as far as it is proven', async () => {
    const ask = asking(endpoints.l2())
    for (let number = 0; number <= NEWEST; number++) {
      for (const isFull of [false, true]) {
        const block = (await ask('eth_getBlockByNumber', hex(number), isFull)) as Json
        expect(block).toEqual(proven(await honestly('eth_getBlockByNumber', hex(number), isFull)))
        expect(block.size).toBe(await sizeOf(number))
        expect(await ask('eth_getBlockByHash', block.hash, isFull)).toEqual(block)
      }
      const receipts = (await ask('eth_getBlockReceipts', hex(number))) as Json[]
      expect(receipts.map(untimed)).toEqual(proven(await honestly('eth_getBlockReceipts', hex(number))))
      for (const receipt of receipts) {
        const hash = receipt.transactionHash
        expect(await ask('eth_getTransactionReceipt', hash)).toEqual(receipt)
        expect(await ask('eth_getTransactionByHash', hash)).toEqual(
          proven(await honestly('eth_getTransactionByHash', hash)),
        )
      }
    }
  })

  it.each<[string, object, number]>([
    ['all', {}, 14],
    ['of a contract', { address: TOKEN }, 8],
    ['of several contracts', { address: [TOKEN, OTHER] }, 12],
    ['with a topic', { topics: [TRANSFER] }, 10],
    ['with one of several topics', { topics: [[TRANSFER, named('topic 1')]] }, 13],
    ['with a topic in another place', { topics: [null, named('from')] }, 2],
    ['of a contract that has others', { address: OTHER, topics: [TRANSFER] }, 0],
    ['of nobody', { address: NOBODY }, 0],
    ['of no block with logs', { fromBlock: '0x5', toBlock: '0x6' }, 0],
    ['of the end of the range', { fromBlock: '0x4', toBlock: 'latest' }, 11],
    ['of one block', { fromBlock: '0x4', toBlock: '0x4' }, 6],
  ])('has all logs %s, complete and in order', async (_, filter, count) => {
    const asked = { fromBlock: '0x1', toBlock: hex(NEWEST), ...filter }
    const logs = (await asking(endpoints.l2())('eth_getLogs', asked)) as unknown[]
    const latest = (filter as Partial<Json>).toBlock === 'latest' ? { toBlock: hex(NEWEST) } : {}
    expect(logs).toEqual(await honestly('eth_getLogs', { ...asked, ...latest }))
    expect(logs.length).toBe(count)
  })

  it('has the logs of a block named by its hash, and of the newest one by default', async () => {
    const ask = asking(endpoints.l2())
    const { hash } = (await honestly('eth_getBlockByNumber', '0x4', false)) as { hash: Hex }
    expect(await ask('eth_getLogs', { blockHash: hash })).toEqual(await honestly('eth_getLogs', { blockHash: hash }))
    expect(await ask('eth_getLogs', {})).toEqual(
      await honestly('eth_getLogs', { fromBlock: hex(NEWEST), toBlock: hex(NEWEST) }),
    )
    expect(await reasonOf(ask('eth_getLogs', { blockHash: word('1f') }))).toBe('BLOCK_UNPROVEN')
    expect(await reasonOf(ask('eth_getLogs', { addres: NOBODY }))).toBe('PARAMS_INVALID')
  })

  it('has what was paid, up to the block before the newest one', async () => {
    const ask = asking(endpoints.l2())
    const expected = (await honestly('eth_feeHistory', '0x8', hex(NEWEST - 1), [0, 25, 50, 100])) as Json
    // One of them has blobs, whose share of a block depends on the fork.
    const { baseFeePerBlobGas, blobGasUsedRatio, ...fees } = expected
    expect([baseFeePerBlobGas, blobGasUsedRatio].map(list => (list as unknown[]).length)).toEqual([9, 8])
    expect(await ask('eth_feeHistory', '0x8', 'latest', [0, 25, 50, 100])).toEqual(fees)
    expect(await ask('eth_feeHistory', 8, hex(NEWEST - 1), [0, 25, 50, 100])).toEqual(fees)
    const { reward, ...plain } = fees as Json
    expect(reward).toHaveLength(8)
    expect(await ask('eth_feeHistory', '0x8', 'latest')).toEqual(plain)
    const { reward: _, ...newest } = (await honestly('eth_feeHistory', '0x2', hex(NEWEST - 1), [0])) as Json
    expect(await ask('eth_feeHistory', '0x2', 'latest')).toEqual(newest)
    expect(await ask('eth_feeHistory', '0xffff', 'latest')).toMatchObject({ oldestBlock: '0x0' })
    expect(await ask('eth_maxPriorityFeePerGas')).toBe('0x0')
    expect(await ask('eth_gasPrice')).toBe('0x7')
  })
})

describe('requests', () => {
  it('are one for the hashes, one a header, and two for each block that has the logs', async () => {
    const l2 = endpoints.l2()
    const ask = asking(l2)
    await ask('eth_blockNumber')
    l2.counts()
    const search = { fromBlock: '0x1', toBlock: hex(NEWEST), address: OTHER }
    expect(await ask('eth_getLogs', search)).toHaveLength(4)
    expect(l2.counts()).toEqual({ rollup_getProof: 1, eth_getBlockByNumber: 11 + 1, eth_getBlockReceipts: 1 })
    await ask('eth_getLogs', { ...search, address: NOBODY })
    expect(l2.counts()).toEqual({})
    await ask('eth_getBlockByNumber', 'latest', false)
    await ask('eth_feeHistory', '0x5', 'latest')
    expect(l2.counts()).toEqual({ eth_getBlockByNumber: 1 })
    await Promise.all(['0x0', '0x5', '0xb'].map(number => ask('eth_getBlockByNumber', number, true)))
    // One of them was read before.
    expect(l2.counts()).toEqual({ eth_getBlockByNumber: 2 })
    // Blocks here and there: all their hashes in one request.
    const fresh = endpoints.l2()
    const askFresh = asking(fresh)
    await Promise.all(['0x1', '0x5', '0xb'].map(number => askFresh('eth_getBlockByNumber', number, false)))
    expect(fresh.counts()).toEqual({ rollup_getProof: 2, eth_getBlockByNumber: 3 })
  })

  it('are bounded', async () => {
    const ask = asking(endpoints.l2())
    const view = { l2BlockNumber: 100_000n } as BlockView
    const chainAt = createChain({} as never, {} as never)
    const range = (first: bigint, last: bigint) =>
      inPace(UNHURRIED, pace => createLogSearch({} as never)(chainAt(view, pace), {}, { first, last }))
    expect(await reasonOf(range(100_000n - MAX_WALK - 1n, 99_999n))).toBe('BLOCK_UNPROVEN')
    // What is to come is left out of a range.
    expect(await ask('eth_getLogs', { fromBlock: '0x0', toBlock: '0xffffff' })).toEqual(
      await ask('eth_getLogs', { fromBlock: '0x0', toBlock: hex(NEWEST) }),
    )
    // An empty list would say that they have none.
    for (const toBlock of [undefined, hex(NEWEST + 9)]) {
      const toCome = { fromBlock: hex(NEWEST + 1), ...(toBlock && { toBlock }) }
      expect(await reasonOf(ask('eth_getLogs', toCome))).toBe('BLOCK_UNPROVEN')
    }
    for (const [fromBlock, toBlock] of [
      [hex(NEWEST + 2), hex(NEWEST + 1)],
      ['latest', '0x1'],
      ['0x2', '0x1'],
    ]) {
      expect(await reasonOf(ask('eth_getLogs', { fromBlock, toBlock }))).toBe('PARAMS_INVALID')
    }
    const addresses = (length: number) => ask('eth_getLogs', { address: Array(length).fill(NOBODY) })
    expect(await reasonOf(addresses(1025))).toBe('PARAMS_INVALID')
    expect(await addresses(1024)).toEqual([])
    const topics = (length: number) => ask('eth_getLogs', { topics: Array(length).fill(word('11')) })
    expect(await reasonOf(topics(5))).toBe('PARAMS_INVALID')
    expect(await topics(4)).toEqual([])
    const shares = (length: number) => ask('eth_feeHistory', '0x0', 'latest', Array(length).fill(50))
    expect(await reasonOf(shares(101))).toBe('PARAMS_INVALID')
    expect(await shares(100)).toMatchObject({ reward: [] })
  })

  it('answer with a bounded number of logs, and of characters', async () => {
    const { signal } = new AbortController()
    const collect = (count: number, data: string) => collectLogs([0], async () => Array(count).fill({ data }), signal)
    const long = '0'.repeat(MAX_LOGS_LENGTH / 8 - 900)
    const outcomes: string[] = []
    for (const [count, data] of [
      ...([
        [MAX_LOGS, '0x'],
        [MAX_LOGS + 1, '0x'],
      ] as const),
      ...([
        [8, long],
        [9, long],
      ] as const),
    ]) {
      outcomes.push(await reasonOf(collect(count, data)))
    }
    expect(outcomes).toEqual(['answered', 'LIMIT_REACHED', 'answered', 'LIMIT_REACHED'])
  })

  it('read the receipts of a bounded number of blocks, for logs, rewards and tips', async () => {
    const own = createBlockEndpoints()
    addDemoBlocks(own.chain, { counts: [40], l1Blocks: 1 })
    let [open, most] = [0, 0]
    let release = () => {}
    const full = new Promise<void>(resolve => {
      // More would follow at once.
      release = () => setTimeout(resolve, 1)
    })
    const l2 = own.l2()
    const slow: Endpoint = {
      ...l2,
      async request(args) {
        if (args.method !== 'eth_getBlockReceipts') return l2.request(args)
        most = Math.max(most, ++open)
        // Nobody has an answer until as many wait as may.
        if (open === CONTENTS_AT_ONCE) release()
        await full
        open--
        return l2.request(args)
      },
    }
    const provider = own.provider(slow)
    const ask: Ask = (method, ...params) => provider.request({ method, params })
    expect(await ask('eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' })).toHaveLength(39)
    expect(most).toBe(CONTENTS_AT_ONCE)
    l2.counts()
    const history = (await ask('eth_feeHistory', '0xff', 'latest', [50])) as Json
    expect(history.reward).toHaveLength(32)
    expect(l2.counts()).toMatchObject({ eth_getBlockReceipts: 32 })
    expect(await ask('eth_gasPrice')).toBe('0x7')
    // Two of the three were read for their rewards.
    expect(l2.counts()).toEqual({ eth_getBlockByNumber: 1 })
  })

  it('look for a tip in the newest 20 blocks, and no further', async () => {
    const own = createBlockEndpoints()
    addDemoBlocks(own.chain, { counts: [1], l1Blocks: 1 })
    for (let added = 0; added < 21; added++) own.chain.addBlock()
    own.chain.finalize()
    const l2 = own.l2()
    const provider = own.provider(l2)
    await provider.view()
    l2.counts()
    expect(await provider.request({ method: 'eth_maxPriorityFeePerGas' })).toBe('0x0')
    expect(l2.counts()).toEqual({ rollup_getProof: 1, eth_getBlockByNumber: 20 })
  })

  it('have a history of at most 1,024 blocks', async () => {
    const asked: bigint[][] = []
    const blocks = {
      async *walk(_: unknown, oldest: bigint, newest: bigint) {
        asked.push([oldest, newest])
        yield* []
      },
    }
    const view = { l2BlockNumber: 5000n } as BlockView
    await inPace(UNHURRIED, pace =>
      feeHistory(createChain({} as never, blocks as never)(view, pace), ['0xffff', 'latest']),
    )
    expect(asked).toEqual([[4999n - 1024n, 4999n]])
  })

  it('end at the deadline, and when they are aborted', async () => {
    const silence: Lie = (answer, method) => (method === 'eth_chainId' || method === 'rollup_getProof' ? answer : NEVER)
    const calls: [string, ...unknown[]][] = [
      ['eth_getBlockByNumber', '0x1', false],
      ['eth_getBlockByHash', word('12'), false],
      ['eth_getBlockReceipts', '0x1'],
      ['eth_getTransactionByHash', word('12')],
      ['eth_getTransactionReceipt', word('12')],
      ['eth_getLogs', { fromBlock: '0x1' }],
      ['eth_feeHistory', '0x2', 'latest'],
      ['eth_gasPrice'],
      ['eth_maxPriorityFeePerGas'],
    ]
    const elapse = holdDeadlines()
    const provider = endpoints.provider(endpoints.l2(silence), { timeoutMs: DEADLINE })
    await provider.view()
    const askAll = () => Promise.all(calls.map(([method, ...params]) => reasonOf(provider.request({ method, params }))))
    expect(await endingAfter(20, elapse, askAll)).toEqual(calls.map(() => 'TIMEOUT'))
    const controller = new AbortController()
    const patient = endpoints.provider(endpoints.l2(silence))
    await patient.view()
    const aborted = calls.map(([method, ...params]) =>
      reasonOf(patient.request({ method, params }, { signal: controller.signal })),
    )
    setTimeout(() => controller.abort(), 20)
    expect(await Promise.all(aborted)).toEqual(calls.map(() => 'ENDPOINT_FAILED ABORTED'))
  })
})

describe('the newest block', () => {
  it('is the one before that of the state, and the next finalization proves that one', async () => {
    const own = await createMixedEndpoints()
    const provider = own.provider(own.l2())
    const ask: Ask = (method, ...params) => provider.request({ method, params })
    const newest = (await honestly('eth_getBlockByNumber', hex(NEWEST), false)) as { hash: Hex }
    expect(await ask('eth_blockNumber')).toBe(hex(NEWEST))
    for (const tag of ['latest', 'safe', 'finalized']) {
      expect(await ask('eth_getBlockByNumber', tag, false)).toMatchObject({ number: hex(NEWEST), hash: newest.hash })
    }
    // Null, as a node that has no later block answers; logs that nobody knows yet are refused.
    const next = (await honestly('eth_getBlockReceipts', hex(NEWEST + 1))) as [{ transactionHash: Hex; blockHash: Hex }]
    const later = async () => [
      await ask('eth_getBlockByNumber', hex(NEWEST + 1), true),
      await ask('eth_getBlockByHash', next[0].blockHash, false),
      await ask('eth_getBlockReceipts', hex(NEWEST + 1)),
      await ask('eth_getTransactionByHash', next[0].transactionHash),
      await ask('eth_getTransactionReceipt', next[0].transactionHash),
    ]
    expect(await later()).toEqual([null, null, null, null, null])
    expect(await reasonOf(ask('eth_feeHistory', '0x1', hex(NEWEST + 1)))).toBe('BLOCK_UNPROVEN')
    addDemoBlocks(own.chain, { counts: [1] })
    await provider.refresh()
    expect(await ask('eth_blockNumber')).toBe(hex(NEWEST + 1))
    expect((await later()).filter(answer => answer === null)).toEqual([])
  })

  it('is refused at the start of a chain, and without the contract that keeps the hashes', async () => {
    const own = createBlockEndpoints()
    const first = own.provider(own.l2())
    expect(await first.request({ method: 'eth_blockNumber' })).toBe('0x0')
    expect(await reasonOf(first.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }))).toBe(
      'BLOCK_UNPROVEN',
    )
  })
})
