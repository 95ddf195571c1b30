import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError } from '../../src/entry/provider.ts'
import { keccakOf } from '../../vectors/blocks/truth.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { createMixedEndpoints, type Endpoint, type Lie } from './block-endpoints.ts'

/** Endpoints that lie about one block (4), which has three transactions: a creation, a call, and one with a list of slots. */
const BLOCK = '0x4'
const OTHER = named('another contract', 20)
/** What a single endpoint can hide. */
const HIDEABLE = ['eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getTransactionReceipt']
const NEVER = new Promise(() => {})

type Item = Readonly<Record<'logs' | 'hash' | 'parentHash' | 'transactions', unknown>>
let endpoints: Awaited<ReturnType<typeof createMixedEndpoints>>
let questions: (readonly [method: string, ...params: unknown[]])[]
let truth: unknown[]
let neighbour: { block: Item; receipts: unknown[] }

const ask = async (...l2: Endpoint[]): Promise<unknown[]> => {
  const provider = endpoints.provider(l2)
  return Promise.all(
    questions.map(([method, ...params]) =>
      provider.request({ method, params }).catch((error: unknown) => {
        if (isProviderError(error)) return `refused: ${error.reason}`
        throw error
      }),
    ),
  )
}

beforeAll(async () => {
  endpoints = await createMixedEndpoints(place => [1, 2, 3].includes(place))
  const honest = endpoints.l2()
  const get = (method: string, ...params: unknown[]) => honest.request({ method, params })
  const { hash, transactions } = (await get('eth_getBlockByNumber', BLOCK, false)) as { hash: Hex; transactions: Hex[] }
  neighbour = {
    block: (await get('eth_getBlockByNumber', '0x3', true)) as Item,
    receipts: (await get('eth_getBlockReceipts', '0x3')) as unknown[],
  }
  const range = { fromBlock: '0x2', toBlock: '0x6' }
  questions = [
    ['eth_getBlockByNumber', BLOCK, true],
    ['eth_getBlockByHash', hash, false],
    ['eth_getBlockReceipts', BLOCK],
    ['eth_getTransactionByHash', transactions[1]],
    ['eth_getTransactionReceipt', transactions[0]],
    ['eth_getLogs', range],
    ['eth_getLogs', { ...range, address: OTHER }],
    ['eth_getLogs', { blockHash: hash, address: OTHER }],
    ['eth_feeHistory', '0x3', '0x5', [20, 80]],
    ['eth_maxPriorityFeePerGas'],
    ['eth_gasPrice'],
  ]
  truth = await ask(honest)
  expect(truth.every(answer => answer !== null && !String(answer).startsWith('refused'))).toBe(true)
})

/** Changes the answers of some methods about the block. */
const about =
  (methods: readonly string[], change: (answer: Item & unknown[], params: readonly unknown[]) => unknown): Lie =>
  (answer, method, params) => {
    const isAbout = methods.includes(method) && (!/ByNumber|Receipts/.test(method) || params[0] === BLOCK)
    return isAbout ? change(answer as Item & unknown[], params) : answer
  }
const receipts = (change: (receipts: Item[]) => unknown) =>
  about(['eth_getBlockReceipts'], list => change(list as never))
const logs = (change: (logs: unknown[]) => unknown) =>
  receipts(list => list.map(one => ({ ...one, logs: change(one.logs as unknown[]) })))
const BLOCKS = ['eth_getBlockByNumber', 'eth_getBlockByHash']
const block = (change: (block: Item) => unknown) => about(BLOCKS, change)
const transactions = (change: (list: unknown[]) => unknown) =>
  block(sent => ({ ...sent, transactions: change(sent.transactions as unknown[]) }))
const hint = (change: object | ((sent: object) => unknown)) =>
  about(['eth_getTransactionByHash'], sent => (typeof change === 'function' ? change(sent) : { ...sent, ...change }))

it.each<[string, Lie]>([
  ['logs are left out', logs(list => list.slice(1))],
  ['logs are added', logs(list => [...list, ...list])],
  ['logs are changed', logs(list => list.map(log => ({ ...Object(log), data: '0x01' })))],
  ['logs are reordered', logs(list => list.toReversed())],
  ['logs are another type', logs(() => ({ length: 3 }))],
  ['receipts are of another block', receipts(() => neighbour.receipts)],
  ['receipts are left out', receipts(list => list.slice(0, -1))],
  ['receipts are doubled', receipts(list => [...list, ...list])],
  ['receipts are reordered', receipts(list => list.toReversed())],
  ['receipts are none', receipts(() => [])],
  ['receipts are null', receipts(() => null)],
  ['receipts are 100,000', receipts(([first]) => Array(100_000).fill(first))],
  [
    'receipts have a log of 100,000 topics',
    logs(list => list.map(log => ({ ...Object(log), topics: Array(1e5).fill('') }))),
  ],
  ['receipts never come', receipts(() => NEVER)],
  ['the filter hides the logs', block(sent => ({ ...sent, logsBloom: `0x${'00'.repeat(256)}` }))],
  ['the filter admits everything', block(sent => ({ ...sent, logsBloom: `0x${'ff'.repeat(256)}` }))],
  ['the header is of another branch', block(sent => ({ ...sent, parentHash: sent.hash }))],
  ['the number is of another block', block(() => neighbour.block)],
  ['the block is cut out', block(() => null)],
  ['the block is a text', block(() => 'block')],
  ['the block never comes', block(() => NEVER)],
  ['the time is another one', block(sent => ({ ...sent, timestamp: '0x1' }))],
  ['transactions are left out', transactions(list => list.slice(1))],
  ['transactions are reordered', transactions(list => list.toReversed())],
  ['transactions are 100,000', transactions(([first]) => Array(100_000).fill(first))],
  [
    'transactions have another sender',
    transactions(list => list.map(one => (typeof one === 'string' ? one : { ...Object(one), from: OTHER }))),
  ],
  [
    'hashes of blocks are of another slot',
    (answer, method) => (method === 'rollup_getProof' ? swapSlots(answer) : answer),
  ],
  ['the hint leads to another block', hint({ blockNumber: '0x3' })],
  ['the hint leads to a block without transactions', hint({ blockNumber: '0x5' })],
  ['the hint leads beyond the newest block', hint({ blockNumber: '0xffff' })],
  ['the hint is no number', hint({ blockNumber: 'here' })],
  ['the hint is that nobody knows it', hint(() => null)],
  ['the hint is that it is pending', hint({ blockNumber: null })],
  ['the hint is a text', hint(() => 'unknown')],
  ['the block with a hash is another one', about(['eth_getBlockByHash'], () => neighbour.block)],
  ['the block with a hash has another number', about(['eth_getBlockByHash'], sent => ({ ...sent, number: '0x3' }))],
  ['the block with a hash is unknown', about(['eth_getBlockByHash'], () => null)],
])('tells the truth or nothing: %s', async (name, lie) => {
  // With an honest endpoint beside the liar, the truth.
  expect(await ask(endpoints.l2(lie), endpoints.l2())).toEqual(truth)
  if (name.endsWith('never come') || name.endsWith('never comes')) return
  const alone = await ask(endpoints.l2(lie))
  const lies = alone.filter((answer, index) => {
    const isHidden = answer === null && HIDEABLE.includes(questions[index]?.[0] ?? '')
    return !isHidden && !/^refused/.test(String(answer)) && !isDeepStrictEqual(answer, truth[index])
  })
  expect(lies).toEqual([])
  // The lie is about something that was asked.
  expect(alone).not.toEqual(truth)
})

it('knows no block of another branch by its hash', async () => {
  const sent = (await endpoints.l2().request({ method: 'eth_getBlockByNumber', params: [BLOCK, false] })) as object
  const orphan = { ...sent, extraData: '0x01' }
  const hash = keccakOf(encodeHeader(orphan))
  const provider = endpoints.provider(endpoints.l2(about(['eth_getBlockByHash'], () => orphan)))
  expect(await provider.request({ method: 'eth_getBlockByHash', params: [hash, false] })).toBeNull()
  expect(await provider.request({ method: 'eth_getBlockReceipts', params: [hash] })).toBeNull()
  const logs = provider.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] })
  await expect(logs).rejects.toMatchObject({ reason: 'BLOCK_UNPROVEN' })
})

it('says null only if an endpoint knows nothing, and not if all fail', async () => {
  const failing = about(HIDEABLE, () => Promise.reject(new Error('down')))
  const ignorant = about(HIDEABLE, () => null)
  const ask = async (lies: readonly Lie[], [method, ...params]: (typeof questions)[number]) =>
    endpoints
      .provider(lies.map(lie => endpoints.l2(lie)))
      .request({ method, params })
      .catch((error: unknown) => isProviderError(error) && error.reason)
  const asked = questions.filter(([method]) => HIDEABLE.includes(method))
  expect(asked.length).toBe(3)
  for (const question of asked) {
    expect(await ask([failing], question)).toBe('ENDPOINT_FAILED')
    expect(await ask([failing, ignorant], question)).toBeNull()
    expect(await ask([ignorant, failing], question)).toBeNull()
  }
})

function swapSlots(answer: unknown): unknown {
  const { storageProofs, ...rest } = Object(answer)
  return { ...rest, storageProofs: Array.isArray(storageProofs) ? storageProofs.toReversed() : storageProofs }
}

it('asks again for a block that it keeps, if a field of it is false that nothing has read before', async () => {
  const lie: Lie = (answer, method) => {
    if (method !== 'eth_getBlockByNumber') return answer
    const [first, ...others] = Object(answer).transactions
    return { ...Object(answer), transactions: [{ ...Object(first), from: OTHER }, ...others] }
  }
  const [lying, honest] = [endpoints.l2(lie), endpoints.l2()]
  const provider = endpoints.provider([lying, honest])
  const get = (method: string, ...params: unknown[]) => provider.request({ method, params })
  expect(await get('eth_getBlockTransactionCountByNumber', BLOCK)).toBe('0x3')
  expect(honest.counts()).toEqual({})
  for (const _ of [1, 2]) expect(await get('eth_getBlockByNumber', BLOCK, true)).toEqual(truth[0])
  expect(honest.counts()).toEqual({ eth_getBlockByNumber: 1 })
})
