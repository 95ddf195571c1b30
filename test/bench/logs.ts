/**
 * `npm run bench:logs`: searches for logs over chains of the real network's size, in simulated time, with an endpoint that answers
 * after 50 milliseconds and allows any number of requests, 10 per second, or 2 per second. Prints Markdown. Words after `--`
 * select the rows that contain one of them.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import { historySlot } from '../../src/entry/blocks.ts'
import type { Hex } from '../../src/entry/index.ts'
import { type BlockView, createChain, createKnownBlocks } from '../../src/provider/blocks/chain.ts'
import { createFilters } from '../../src/provider/blocks/filters.ts'
import { createLogSearch } from '../../src/provider/blocks/logs.ts'
import { isProviderError } from '../../src/provider/error.ts'
import { inPace, type Pace } from '../../src/provider/pace.ts'
import { type Content, kinds, type SentBlock } from '../../vectors/blocks/truth.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { type Limiter, tokenBucket } from '../client/clock.ts'
import { blockEndpoint, logsOf, makeChain } from '../verify/blocks/chain.ts'
import { inVirtualTime } from './virtual-time.ts'

const LATENCY = 50
/** As the proxy has it. */
const DEADLINE = 8_000
const [TOKEN, NOBODY] = ['token', 'nobody'].map(name => named(name, 20)) as [Hex, Hex]
const RATES: readonly (readonly [string, () => Limiter])[] = [
  ['50 ms', () => () => true],
  ['10 per second', () => tokenBucket(10)],
  ['2 per second', () => tokenBucket(2)],
]

/** The view at the end of a chain whose blocks begin with 1. */
function viewOf(blocks: readonly SentBlock[], length = blocks.length): BlockView {
  const slots = new Map(
    blocks
      .slice(Math.max(0, length - 8191), length)
      .map(({ block }) => [historySlot(BigInt(block.number)), block.hash]),
  )
  const state = {
    getAccount: async () => ({}),
    getStorage: async (_: Hex, key: Hex) => slots.get(key) ?? `0x${'00'.repeat(32)}`,
  }
  // The rest of a state is not read.
  return { state, l2BlockNumber: BigInt(length + 1) } as unknown as BlockView
}

function setUp(blocks: readonly SentBlock[], mayPass: Limiter) {
  const endpoint = blockEndpoint(blocks)
  const logs = logsOf(blocks)
  let [asked, refused] = [0, 0]
  const slow = {
    async request(args: Parameters<typeof endpoint.request>[0]) {
      asked++
      await new Promise(resolve => setTimeout(resolve, LATENCY))
      if (!mayPass(performance.now())) {
        refused++
        throw { code: -32005, message: 'rate limit exceeded' }
      }
      if (args.method === 'eth_getBalance') return '0x1'
      if (args.method !== 'eth_getLogs') return endpoint.request(args)
      const [{ address, fromBlock, toBlock }] = args.params as [Record<string, unknown>]
      const isIn = (number: unknown) => Number(number) >= Number(fromBlock) && Number(number) <= Number(toBlock)
      return logs.filter(log => isIn(log.blockNumber) && [address].flat().includes(log.address as Hex))
    },
  }
  const l2 = openEndpoints('l2', slow, 'L2')
  const known = createKnownBlocks({ l2, signal: undefined })
  return {
    slow,
    chainAt: createChain({ l2, isForWallet: false }, known),
    search: createLogSearch({ l2, signal: undefined, completeLogs: true }),
    listed: createLogSearch({ l2, signal: undefined, completeLogs: false }),
    share: () => `${asked} | ${((100 * refused) / asked).toFixed(1)} %`,
  }
}

/** Asks until there is an answer. @returns how often, and the answer */
async function untilAnswered<T>(work: (pace: Pace) => Promise<T>): Promise<{ rounds: number; found: T }> {
  for (let rounds = 1; ; rounds++) {
    try {
      return { rounds, found: await inPace({ timeoutMs: DEADLINE, signals: [] }, work) }
    } catch (error) {
      if (!isProviderError(error) || error.reason !== 'TIMEOUT') throw error
    }
  }
}

const words = process.argv.slice(2)
const isWanted = (name: string) => words.length === 0 || words.some(word => name.includes(word))

/** What is used once the garbage is collected. */
const heap = () => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20)
}

async function row(name: string, blocks: readonly SentBlock[], from: number, address: Hex, isListed = false) {
  if (isWanted(name))
    for (const [rate, limiter] of RATES) {
      const { value, seconds } = await inVirtualTime(async () => {
        const { search, listed, share, chainAt } = setUp(blocks, limiter())
        const range = { first: BigInt(from), last: BigInt(blocks.length) }
        const by = isListed ? listed : search
        const { rounds, found } = await untilAnswered(pace => by(chainAt(viewOf(blocks), pace), { address }, range))
        return `${rounds} | ${found.length} | ${share()}`
      })
      console.log(`| ${name} | ${rate} | ${seconds.toFixed(1)} | ${value} | ${heap()} |`)
    }
}

/** A client with a filter polls until it has seen a finalization. */
async function listen(name: string, blocks: readonly SentBlock[], first: number) {
  if (isWanted(name))
    for (const [rate, limiter] of RATES) {
      const { value, seconds } = await inVirtualTime(async () => {
        const { search, share, chainAt } = setUp(blocks, limiter())
        let view = viewOf(blocks, first)
        const filters = createFilters({
          search,
          chainNow: async pace => chainAt(view, pace),
          timeoutMs: DEADLINE,
        })
        const within = <T>(work: (pace: Pace) => Promise<T>) => inPace({ timeoutMs: DEADLINE, signals: [] }, work)
        const id = await within(pace => filters.eth_newFilter([{ address: TOKEN }], pace, ''))
        view = viewOf(blocks)
        const [seen, expected] = [
          [] as string[],
          logsOf(blocks.slice(first)).filter(log => log.address === TOKEN).length,
        ]
        let polls = 0
        let failures = 0
        while (seen.length < expected || polls === 0) {
          polls++
          await new Promise(resolve => setTimeout(resolve, 1000))
          const more = await within(pace => filters.eth_getFilterChanges([id], pace)).catch(() => failures++)
          for (const log of Array.isArray(more) ? more : []) seen.push(`${log.blockNumber} ${log.logIndex}`)
        }
        if (new Set(seen).size !== seen.length) throw new Error('an event came twice')
        return `${polls} (${failures} timed out) | ${seen.length} | ${share()}`
      })
      console.log(`| ${name} | ${rate} | ${seconds.toFixed(1)} | ${value} | ${heap()} |`)
    }
}

/** 60 ranges at once, and 50 clients that ask for a balance ten times each. */
async function crowd(blocks: readonly SentBlock[]) {
  if (isWanted('crowd'))
    for (const [rate, limiter] of RATES) {
      const { value, seconds } = await inVirtualTime(async () => {
        const { search, share, slow, chainAt } = setUp(blocks, limiter())
        const view = viewOf(blocks)
        const times: Record<'ranges' | 'balances', number[]> = { ranges: [], balances: [] }
        const timed = async (kind: keyof typeof times, work: () => Promise<unknown>) => {
          const begin = performance.now()
          await work()
          times[kind].push((performance.now() - begin) / 1000)
        }
        const ranges = Array.from({ length: 60 }, (_, index) =>
          timed('ranges', () => {
            const range = { first: BigInt(1 + index * 16), last: BigInt(16 + index * 16) }
            return untilAnswered(pace => search(chainAt(view, pace), { address: TOKEN }, range))
          }),
        )
        const clients = Array.from({ length: 50 }, async (_, client) => {
          for (let count = 0; count < 10; count++) {
            const { signal } = new AbortController()
            await timed('balances', () => openProvider(slow).call('eth_getBalance', [`${client} ${count}`], signal))
          }
        })
        await Promise.all([...ranges, ...clients])
        const at = (list: readonly number[], part: number) =>
          [...list].sort((a, b) => a - b)[Math.floor(part * (list.length - 1))]?.toFixed(1)
        const [r, b] = [times.ranges, times.balances]
        return `${at(r, 0.5)} / ${at(r, 0.99)} | ${at(b, 0.5)} / ${at(b, 0.99)} | ${share()}`
      })
      console.log(`| ${rate} | ${seconds.toFixed(0)} | ${value} |`)
    }
}

const all = await kinds()
const [transfer, other] = [all.slice(3, 4), all.slice(1, 2)]
const full: Content[] = Array.from({ length: 300 }, (_, index) => transfer[0] ?? all[index % all.length]) as Content[]

/** What every block of the dense chain has a log of. */
const OTHER = other[0]?.logs[0]?.address as Hex
console.log('| what | endpoint | seconds | rounds of 8 s | logs | requests | refused | heap in MiB |')
console.log('|---|---|--:|--:|--:|--:|--:|--:|')
// A log of another contract in each block, and a transfer in each 20th.
const dense = await makeChain(1000, number => (number % 20 === 0 ? [...other, ...transfer] : other))
for (const count of [100, 1000]) {
  await row(`${count} blocks, none matches`, dense, 1001 - count, NOBODY)
  await row(`${count} blocks, one in 20 matches`, dense, 1001 - count, TOKEN)
  await row(`${count} blocks, all match`, dense, 1001 - count, OTHER)
}
// A finalization: 50 events, and five blocks of 300 transactions.
const finalization = await makeChain(10_000, number =>
  number % 2000 === 1000 ? full : number % 200 === 0 ? transfer : [],
)
await row('a finalization of 10,000 blocks', finalization, 1, TOKEN)
await row('the newest 8,000 of them, completeness unproven', finalization, 2001, TOKEN, true)
const long = await makeChain(30_010, number => (number > 10 && number % 600 === 0 ? transfer : []))
await listen('a listener over 30,000 blocks', long, 10)
console.log('\n| endpoint | seconds | p50 / p99 of 60 ranges | p50 / p99 of 500 balances | requests | refused |')
console.log('|---|--:|--:|--:|--:|--:|')
await crowd(dense)
