import { beforeAll, expect, it } from 'vitest'
import { openEndpoints } from '../../../src/client/sources/endpoints.ts'
import { MAX_WALK } from '../../../src/client/transport/limits.ts'
import { historyContract, historySlot } from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { type BlockView, createKnownBlocks, oldestIn } from '../../../src/provider/blocks/chain.ts'
import { isProviderError } from '../../../src/provider/error.ts'
import { HASHES_AHEAD, MAX_CACHED_HEADERS } from '../../../src/provider/limits.ts'
import { inPace, type Pace } from '../../../src/provider/pace.ts'
import { newestIn } from '../../../src/provider/view.ts'
import type { BlockHeader } from '../../../src/verify/blocks/header.ts'
import type { SentBlock } from '../../../vectors/blocks/truth.ts'
import { blockEndpoint, makeChain } from '../../verify/blocks/chain.ts'

/** The view is at block 100,000: its state has the hashes of the blocks 91,809 to 99,999. */
const STATE = 100_000
const FIRST = STATE - 8191
/** Older ones, by the hashes of parents. */
const WALK = 300
const ZERO: Hex = `0x${'00'.repeat(32)}`

let old: SentBlock[]
let recent: SentBlock[]
beforeAll(async () => {
  old = await makeChain(WALK + 4, () => [], FIRST - WALK - 1)
  recent = await makeChain(30, () => [], STATE - 30)
})

/** A state with the hashes of these blocks, as far as it is proven. Notes which slots are read. */
function viewOf(blocks: readonly SentBlock[], account: object | null = {}) {
  const slots = new Map(blocks.map(({ block }) => [historySlot(BigInt(block.number)), block.hash]))
  const read: Hex[] = []
  const state = {
    getAccount: async () => account,
    async getStorage(address: Hex, key: Hex) {
      expect(address).toBe(historyContract)
      // What is proven stays so.
      if (!read.includes(key)) read.push(key)
      return slots.get(key) ?? ZERO
    },
  }
  // The rest of a state is not read.
  return { view: { state, l2BlockNumber: BigInt(STATE) } as unknown as BlockView, read }
}

function setUp(blocks: readonly SentBlock[], account?: object | null) {
  const endpoint = blockEndpoint([...old, ...recent])
  const known = createKnownBlocks({ l2: openEndpoints('l2', endpoint, 'L2'), signal: undefined })
  return { ...viewOf(blocks, account), known, endpoint }
}
const within = <T>(work: (pace: Pace) => Promise<T>): Promise<T> => inPace({ timeoutMs: 100_000, signals: [] }, work)
const hashOf = (blocks: readonly SentBlock[], number: number) =>
  blocks.find(({ block }) => Number(block.number) === number)?.block.hash
const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.catch(error => error)
  return isProviderError(error) ? `${error.reason} ${error.message}` : `${Object(error).code}`
}

it('reads the hash of each block that the state holds, once', async () => {
  const { known, view, read, endpoint } = setUp([...old, ...recent])
  const hashAt = (number: number) => within(pace => known.hashAt(view, BigInt(number), pace))
  for (const number of [FIRST, STATE - 1]) {
    const blocks = number === FIRST ? old : recent
    expect(await hashAt(number)).toBe(hashOf(blocks, number))
    expect(await hashAt(number)).toBe(hashOf(blocks, number))
  }
  expect(read).toEqual([FIRST, STATE - 1].map(number => historySlot(BigInt(number))))
  expect(endpoint.total()).toBe(0)
})

it('proves older blocks by the hashes of parents, as far as its bound', async () => {
  const { known, view, endpoint } = setUp(old)
  const hashAt = (number: number) => within(pace => known.hashAt(view, BigInt(number), pace))
  expect(await hashAt(FIRST - 3)).toBe(hashOf(old, FIRST - 3))
  expect(endpoint.total()).toBe(3)
  const header = await within(pace => known.headerAt(view, BigInt(FIRST - WALK), pace))
  expect(header.hash).toBe(hashOf(old, FIRST - WALK))
  // Each header once: those of the first search were known.
  expect(endpoint.total()).toBe(WALK + 1)
  // Of a header that is known, the parent is; the bound is that of a finalization.
  const oldest = STATE - 65_536
  for (let number = oldest; number < FIRST - WALK; number++) known.learn({ ...header, number: BigInt(number + 1) })
  expect(await hashAt(oldest)).toBe(header.parentHash)
  expect([MAX_WALK, MAX_CACHED_HEADERS]).toEqual([65_536n, 2 * 65_536])
  expect([MAX_WALK, MAX_WALK + 1n, 0n].map(l2BlockNumber => oldestIn({ l2BlockNumber }))).toEqual([0n, 1n, 0n])
  for (const number of [oldest - 1, STATE, STATE + 1, 0]) {
    const { known, view, endpoint } = setUp(old)
    const refused = await refusalOf(within(pace => known.hashAt(view, BigInt(number), pace)))
    expect(refused).toMatch(/^BLOCK_UNPROVEN/)
    expect(refused).toContain(`the blocks ${oldest} to ${STATE - 1}, and not block ${number}`)
    expect(endpoint.total()).toBe(0)
  }
})

it('shares what requests at the same time ask for, and keeps each header of one that ended', async () => {
  const { known, view, endpoint } = setUp(recent)
  const walk = (newest: number, end = 0, pace?: Pace) => {
    const work = async (own: Pace) => {
      let count = 0
      for await (const { number } of known.walk(view, BigInt(STATE - 30), BigInt(newest), pace ?? own)) {
        count++
        if (Number(number) === end) return count
      }
      return count
    }
    return within(work)
  }
  // Given up after 7.
  expect(await walk(STATE - 1, STATE - 7)).toBe(7)
  const ranges = Array.from({ length: 20 }, (_, index) => STATE - 1 - index)
  expect(await Promise.all(ranges.map(newest => walk(newest)))).toEqual(ranges.map(newest => newest - STATE + 31))
  expect(endpoint.total()).toBe(30)
})

it('has no newest block below the first', () => {
  expect([0n, 1n, 2n].map(l2BlockNumber => newestIn({ l2BlockNumber, header: undefined }))).toEqual([0n, 0n, 1n])
})

it('knows no hash without the contract, or from an empty slot', async () => {
  for (const [account, found] of [
    [null, 'HISTORY_NO_CONTRACT'],
    [{}, 'HISTORY_NO_HASH'],
  ] as const) {
    const { known, view } = setUp([], account)
    const refused = await refusalOf(within(pace => known.headerAt(view, BigInt(STATE - 1), pace)))
    expect(refused).toMatch(/^BLOCK_UNPROVEN/)
    expect(refused).toContain(found)
  }
})

it('refuses the header of 8,191 blocks before, whose hash is in the same slot', async () => {
  const [before = expect.fail()] = old.filter(({ block }) => Number(block.number) === FIRST)
  expect(historySlot(BigInt(FIRST))).toBe(historySlot(BigInt(FIRST + 8191)))
  // The slot of block 20,000, in a state after it that still has the older hash; the endpoint sends the header of that hash.
  const { view } = viewOf([before])
  const lying = { request: async () => ({ ...before.block }) }
  const known = createKnownBlocks({ l2: openEndpoints('l2', lying, 'L2'), signal: undefined })
  const moved = { ...view, l2BlockNumber: BigInt(FIRST + 8192) }
  expect(await refusalOf(within(pace => known.headerAt(moved, BigInt(FIRST + 8191), pace)))).toBe(
    'BLOCK_NUMBER_MISMATCH',
  )
})

it('reads ahead for whoever asks for one block after another, upwards', async () => {
  const { known, view, read } = setUp(recent.slice(0, 28))
  const ask = (number: number) => within(pace => known.hashAt(view, BigInt(number), pace))
  for (let number = STATE - 30; number < STATE - 2; number++) {
    const hash = await ask(number)
    expect(hash).toBe(hashOf(recent, number))
    // Whoever asks for a block gets its header.
    known.learn({ number: BigInt(number), hash } as BlockHeader)
  }
  // The first alone, then as many as are read at once, then what is left up to the newest.
  expect(read.length).toBe(30)
  expect(new Set(read).size).toBe(30)
  expect(HASHES_AHEAD).toBe(16)
  // Slots that are still empty are not remembered as hashes.
  expect(await refusalOf(ask(STATE - 1))).toContain('HISTORY_NO_HASH')
})

it('asks for no header twice, whatever range it is in', async () => {
  const { known, view, endpoint } = setUp(recent)
  const walk = (oldest: number, newest: number) =>
    within(async pace => {
      const found: number[] = []
      for await (const { number } of known.walk(view, BigInt(oldest), BigInt(newest), pace)) found.push(Number(number))
      return found
    })
  const down = (oldest: number, newest: number) => Array.from({ length: newest - oldest + 1 }, (_, at) => newest - at)
  expect(await walk(STATE - 20, STATE - 15)).toEqual(down(STATE - 20, STATE - 15))
  expect(await walk(STATE - 10, STATE - 8)).toEqual(down(STATE - 10, STATE - 8))
  expect(endpoint.total()).toBe(9)
  expect(await walk(STATE - 25, STATE - 1)).toEqual(down(STATE - 25, STATE - 1))
  expect(endpoint.total()).toBe(25)
})

it('forgets the oldest headers', async () => {
  const { known, view, endpoint, read } = setUp([...old, ...recent])
  const headerAt = (number: number) => within(pace => known.headerAt(view, BigInt(number), pace))
  const header = await headerAt(STATE - 1)
  let learned = 1_000_000n
  const learn = (count: number) => {
    for (let more = 0; more < count; more++) known.learn({ ...header, number: ++learned })
  }
  const again = async () => {
    const [requests, slots] = [endpoint.total(), read.length]
    await headerAt(STATE - 1)
    return [endpoint.total() - requests, read.length - slots]
  }
  learn(MAX_CACHED_HEADERS - 1)
  expect(await again()).toEqual([0, 0])
  // It has arrived lately.
  learn(MAX_CACHED_HEADERS)
  expect(await again()).toEqual([0, 0])
  expect(endpoint.total()).toBe(1)
})
