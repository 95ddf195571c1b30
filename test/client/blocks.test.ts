import { beforeAll, describe, expect, it } from 'vitest'
import { fetchBlock } from '../../src/client/sources/blocks.ts'
import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { type FetchedHeader, walkHeaders } from '../../src/client/sources/headers.ts'
import { HEADERS_AT_ONCE } from '../../src/client/transport/limits.ts'
import type { Hex } from '../../src/entry/index.ts'
import { type BlockView, createChain } from '../../src/provider/blocks/chain.ts'
import { createLogSearch } from '../../src/provider/blocks/logs.ts'
import { inPace } from '../../src/provider/pace.ts'
import { encodeHeader } from '../../src/verify/anchor/header.ts'
import { bloomTest, type LogFilter } from '../../src/verify/blocks/filter.ts'
import type { BlockHeader } from '../../src/verify/blocks/header.ts'
import { kinds, quantity, type Sent, type SentBlock } from '../../vectors/blocks/truth.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { blockEndpoint, type Change, claimOf, logsOf, makeChain, numberIn } from '../verify/blocks/chain.ts'
import { spell } from '../verify/blocks/helpers.ts'

const COUNT = 160
const [TOKEN, OTHER] = [named('token', 20), named('another contract', 20)]
/** Every tenth block has transactions. */
const FULL = 10

let blocks: SentBlock[]
let branch: SentBlock[]
beforeAll(async () => {
  const contents = await kinds()
  const contentsOf = (number: number) => (number % FULL === 0 ? contents.slice(0, 1 + ((number / FULL) % 7)) : [])
  blocks = await makeChain(COUNT, contentsOf)
  branch = await makeChain(COUNT, number => contentsOf(number === 10 ? 20 : number))
})

const sourceOf = (...endpoints: ReturnType<typeof blockEndpoint>[]) => ({ l2: openEndpoints('l2', endpoints, 'L2') })
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    const { code, path = '' } = error as { code: string; path?: string }
    return `${code} ${path}`.trim()
  }
  return 'accepted'
}

/** The logs of a block whose header is proven. */
function fetchLogs({ l2 }: ReturnType<typeof sourceOf>, header: BlockHeader, filter: LogFilter) {
  const known = {
    countMissing: () => 0,
    async *walk() {
      yield header
    },
  }
  const search = createLogSearch({ l2, signal: undefined, completeLogs: true })
  const chainAt = createChain({ l2, isForWallet: false }, known as never)
  const { number } = header
  const view = { l2BlockNumber: number + 1n } as BlockView
  return inPace({ timeoutMs: 100_000, signals: [] }, pace =>
    search(chainAt(view, pace), filter, { first: number, last: number }),
  )
}

/** As JSON-RPC spells them. */
const inQuantities = (log: Sent) =>
  Object.fromEntries(
    Object.entries(log).map(([name, value]) => [name, typeof value === 'number' ? quantity(value) : value]),
  )

async function collect(walk: AsyncGenerator<FetchedHeader>) {
  const headers: BlockHeader[] = []
  for await (const { header } of walk) headers.push(header)
  return headers
}
const down = (newest: number, oldest = 1) =>
  blocks
    .slice(oldest - 1, newest)
    .map(({ block }) => block.hash)
    .reverse()

const at =
  (number: number, changed: (block: Sent) => unknown, of = 'eth_getBlockByNumber'): Change =>
  (answer, method, params) =>
    method === of && numberIn(params) === number ? changed(Object(answer)) : answer

describe('headers', () => {
  it('walks from a trusted hash down to the block asked for', async () => {
    const endpoint = blockEndpoint(blocks)
    const headers = await collect(walkHeaders(sourceOf(endpoint), claimOf(blocks, COUNT), 1n))
    expect(headers.map(({ hash }) => hash)).toEqual(down(COUNT))
    expect(endpoint.total()).toBe(COUNT)
  })

  it('hands on each header as soon as it is proven, in whatever order they arrive', async () => {
    const held = new Map<number, () => void>()
    const endpoint = blockEndpoint(blocks)
    const holding = {
      ...endpoint,
      async request(args: Parameters<typeof endpoint.request>[0]) {
        await new Promise<void>(resolve => held.set(numberIn(args.params as readonly unknown[]), resolve))
        return endpoint.request(args)
      },
    }
    const walk = walkHeaders(sourceOf(holding), claimOf(blocks, 10), 7n)
    const found: number[] = []
    const walking = (async () => {
      for await (const { header } of walk) found.push(Number(header.number))
    })()
    const settle = () => new Promise(resolve => setTimeout(resolve, 5))
    const steps: number[][] = []
    await settle()
    for (const number of [8, 10, 9, 7]) {
      held.get(number)?.()
      await settle()
      steps.push([...found])
    }
    expect(steps).toEqual([[], [10], [10, 9, 8], [10, 9, 8, 7]])
    await walking
  })

  it('takes what has arrived for others, and proves it', async () => {
    const sent = new Map(blocks.map(({ block }, index) => [BigInt(index + 1), encodeHeader(block)]))
    const endpoint = blockEndpoint(blocks)
    const arrived = Object.assign(sent, {
      run: <T>(_: bigint, signal: AbortSignal, fetch: (own: AbortSignal) => T) => fetch(signal),
    })
    const take = async () =>
      (await collect(walkHeaders(sourceOf(endpoint), claimOf(blocks, COUNT), 1n, arrived))).length
    expect([await take(), endpoint.total()]).toEqual([COUNT, 0])
    // One of them is of another chain: those that may have come with it are asked for again, and nothing else.
    sent.set(100n, encodeHeader(branch[99]?.block))
    expect([await take(), endpoint.total()]).toEqual([COUNT, HEADERS_AT_ONCE])
    expect([await take(), endpoint.total()]).toEqual([COUNT, HEADERS_AT_ONCE])
  })

  it('cuts a long chain that does not link off early', async () => {
    // It links with itself, but not with the trusted hash.
    const liar = blockEndpoint(branch)
    expect(await codeOf(collect(walkHeaders(sourceOf(liar), claimOf(blocks, COUNT), 1n)))).toBe(
      'HEADER_HASH_MISMATCH header',
    )
    expect(liar.total()).toBeLessThanOrEqual(HEADERS_AT_ONCE + 1)
    const honest = blockEndpoint(blocks)
    const headers = await collect(walkHeaders(sourceOf(liar, honest), claimOf(blocks, COUNT), 1n))
    expect(headers.map(({ hash }) => hash)).toEqual(down(COUNT))
    expect(liar.total()).toBeLessThanOrEqual(2 * (HEADERS_AT_ONCE + 1))
    expect(honest.total()).toBeLessThanOrEqual(COUNT)
  })

  it('asks for a bounded number at once', async () => {
    let [open, most] = [0, 0]
    const endpoint = blockEndpoint(blocks)
    const slow = {
      ...endpoint,
      async request(args: { method: string; params?: readonly unknown[] | object | undefined }) {
        most = Math.max(most, ++open)
        await new Promise(resolve => setTimeout(resolve, 1))
        open--
        return endpoint.request(args)
      },
    }
    await collect(walkHeaders(sourceOf(slow), claimOf(blocks, COUNT), 50n))
    expect(most).toBe(HEADERS_AT_ONCE)
  })

  it.each<[string, Change, string]>([
    ['of another branch', at(20, () => branch[19]?.block), 'HEADER_HASH_MISMATCH header'],
    ['that is cut off', at(20, () => null), 'BLOCK_MISSING'],
    ['of the block before', at(20, () => blocks[18]?.block), 'HEADER_HASH_MISMATCH header'],
    [
      'with another bloom filter',
      at(20, block => ({ ...block, logsBloom: `0x${'00'.repeat(256)}` })),
      'HEADER_HASH_MISMATCH header',
    ],
    ['that is no object', at(20, () => 'header'), 'HEADER_MALFORMED header'],
  ])('leaves an endpoint that sends a header %s, and keeps what is proven', async (_, change, code) => {
    const [liar, honest] = [blockEndpoint(blocks, change), blockEndpoint(blocks)]
    const claim = claimOf(blocks, 30)
    const headers = await collect(walkHeaders(sourceOf(liar, honest), claim, 1n))
    expect(headers.map(({ hash }) => hash)).toEqual(down(30))
    // A header that is none is left at once. One that proves to be another is asked for again, and those before it.
    expect(honest.total()).toBeLessThanOrEqual(code.startsWith('HEADER_HASH') ? 20 : 2)
    expect(await codeOf(collect(walkHeaders(sourceOf(liar), claim, 1n)))).toBe(code)
  })

  it('is not held up by a silent endpoint', async () => {
    const silent = blockEndpoint(
      blocks,
      at(20, () => new Promise(() => {}) as never),
    )
    const headers = await collect(walkHeaders(sourceOf(silent, blockEndpoint(blocks)), claimOf(blocks, 30), 15n))
    expect(headers.length).toBe(16)
  })
})

describe('a block', () => {
  const open = (...endpoints: ReturnType<typeof blockEndpoint>[]) =>
    fetchBlock(sourceOf(...endpoints), claimOf(blocks, 60), false, ({ transactions }) =>
      transactions.map(transaction => transaction.open()),
    )

  it('has the transactions that its header commits to', async () => {
    const endpoint = blockEndpoint(blocks)
    const opened = await open(endpoint)
    expect(opened.map(({ hash, from }) => ({ hash, from }))).toEqual(
      blocks[59]?.transactions.map(({ hash, from }) => ({ hash, from })),
    )
    expect(endpoint.asked).toEqual({ eth_getBlockByNumber: 1 })
    const both = await fetchBlock(sourceOf(endpoint), claimOf(blocks, 60), true, block => block.sentReceipts)
    expect(both).toEqual(blocks[59]?.receipts)
  })

  it.each<[string, (sent: Sent[]) => unknown, string]>([
    ['one left out', sent => sent.slice(1), 'TRANSACTIONS_ROOT_MISMATCH transactions'],
    ['one too many', sent => [...sent, sent[0]], 'TRANSACTIONS_ROOT_MISMATCH transactions'],
    ['two swapped', ([first, second, ...rest]) => [second, first, ...rest], 'TRANSACTIONS_ROOT_MISMATCH transactions'],
    ['the hashes alone', sent => sent.map(({ hash }) => hash), 'BLOCK_MALFORMED transactions[0]'],
    ['another sender', sent => sent.map(one => ({ ...one, from: TOKEN })), 'BLOCK_FIELD_MISMATCH from'],
    ['none at all', () => undefined, 'BLOCK_MALFORMED transactions'],
  ])('is not taken with %s', async (_, change, code) => {
    const liar = blockEndpoint(
      blocks,
      at(60, block => ({ ...block, transactions: change(Object(block).transactions) })),
    )
    expect(await codeOf(open(liar))).toBe(code)
    expect((await open(liar, blockEndpoint(blocks))).length).toBe(7)
  })
})

describe('logs', () => {
  const search = async (address: Hex, ...endpoints: ReturnType<typeof blockEndpoint>[]) => {
    const source = sourceOf(...endpoints)
    const isIn = bloomTest({ address })
    const found: unknown[] = []
    for await (const { header } of walkHeaders(source, claimOf(blocks, 70), 1n)) {
      if (isIn(header.logsBloom)) found.unshift(...(await fetchLogs(source, header, { address })))
    }
    return Object(spell(found)).map(inQuantities)
  }
  const truth = (address: Hex) => logsOf(blocks.slice(0, 70)).filter(log => log.address === address)

  it('has all of a range, with few requests', async () => {
    const endpoint = blockEndpoint(blocks)
    expect(await search(TOKEN, endpoint)).toEqual(truth(TOKEN))
    expect(truth(TOKEN).length).toBeGreaterThan(3)
    const holding = blocks.slice(0, 70).filter(block => logsOf([block]).some(({ address }) => address === TOKEN)).length
    expect(endpoint.asked).toEqual({ eth_getBlockByNumber: 70 + holding, eth_getBlockReceipts: holding })
    expect(await search(OTHER, endpoint)).toEqual(truth(OTHER))
    const before = endpoint.total()
    expect(await search(named('nobody', 20), endpoint)).toEqual([])
    expect(endpoint.total() - before).toBe(70)
  })

  it('asks for receipts and transactions together', async () => {
    const endpoint = blockEndpoint(blocks)
    const { header } = (await walkHeaders(sourceOf(endpoint), claimOf(blocks, 60), 60n).next()).value ?? expect.fail()
    const before = endpoint.total()
    // Both are in the block, but not together.
    const both = { address: OTHER, topics: [named('from')] }
    expect(await fetchLogs(sourceOf(endpoint), header, both)).toEqual([])
    expect(endpoint.total() - before).toBe(2)
  })

  const changed = (change: (receipts: Sent[]) => unknown): Change =>
    at(60, receipts => change(receipts as unknown as Sent[]), 'eth_getBlockReceipts')
  const logs = (change: (logs: Sent[]) => Sent[]): Change =>
    changed(receipts => receipts.map(one => ({ ...one, logs: change(one.logs as Sent[]) })))
  it.each<[string, Change, string]>([
    ['left out', logs(list => list.slice(1)), 'RECEIPTS_ROOT_MISMATCH receipts'],
    ['added', logs(list => [...list, ...list]), 'RECEIPTS_ROOT_MISMATCH receipts'],
    ['changed', logs(list => list.map(log => ({ ...log, data: '0x01' }))), 'RECEIPTS_ROOT_MISMATCH receipts'],
    ['reordered', logs(list => list.toReversed()), 'RECEIPTS_ROOT_MISMATCH receipts'],
    ['of another block', changed(() => blocks[49]?.receipts), 'RECEIPTS_ROOT_MISMATCH receipts'],
    ['that nobody has', changed(() => null), 'BLOCK_MISSING'],
    ['of no receipts', changed(() => []), 'RECEIPTS_ROOT_MISMATCH receipts'],
  ])('are not taken if they are %s', async (_, change, code) => {
    const liar = blockEndpoint(blocks, change)
    expect(await codeOf(search(TOKEN, liar))).toBe(code)
    expect(await search(TOKEN, liar, blockEndpoint(blocks))).toEqual(truth(TOKEN))
  })
})
