import { expect, it, onTestFinished, vi } from 'vitest'
import { createL1 } from '../../src/devnet/service/simulated-l1.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { type DissentingSource, finalizedBlockHash } from '../../src/entry/rpc.ts'
import { skipTime } from './clock.ts'
import { ROLLUP } from './servers.ts'

const quantity = (number: bigint) => `0x${number.toString(16)}`

/** A chain of ten blocks. Each `fork` is a different chain. */
function chainOf(fork: bigint) {
  const l1 = createL1(ROLLUP)
  l1.finalize({ l2BlockNumber: 0n, stateRoot: `0x${(1n + fork).toString(16).padStart(64, '0')}` })
  for (let block = 1; block < 10; block++) l1.addBlock()
  return l1
}
const [honest, forked] = [chainOf(0n), chainOf(1n)]
const hashOf = (number: bigint, l1 = honest): string => Reflect.get(l1.getBlock(number) ?? {}, 'hash')

/** An L1 endpoint that has finalized `height`. */
const source = (height: bigint, l1 = honest): RequestProvider => ({
  async request({ params }) {
    const [block] = params as [string]
    const answer = l1.getBlock(block === 'finalized' ? height : BigInt(block))
    return answer && JSON.parse(JSON.stringify(answer))
  },
})
const down: RequestProvider = { request: async () => Promise.reject(new Error('https://key.example/secret')) }
const silent: RequestProvider = { request: () => new Promise(() => {}) }

it('asks many sources at once without a warning of Node', async () => {
  const warnings: unknown[] = []
  const warned = (warning: unknown) => void warnings.push(warning)
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  const many = Array.from({ length: 40 }, () => source(7n))
  expect(await finalizedBlockHash(many)()).toBe(hashOf(7n))
  // Node warns in the next tick.
  await new Promise(resolve => setImmediate(resolve))
  expect(warnings).toEqual([])
})

it('takes the hash from one endpoint if the header hashes to it', async () => {
  expect(await finalizedBlockHash(source(7n))()).toBe(hashOf(7n))
  const lying: RequestProvider = { request: async () => ({ ...honest.getBlock(7n), timestamp: quantity(1n) }) }
  await expect(finalizedBlockHash(lying)()).rejects.toMatchObject({ code: 'HEADER_HASH_MISMATCH' })
  await expect(finalizedBlockHash(down)()).rejects.toMatchObject({ code: 'UNREACHABLE' })
})

const AGREEMENTS: [string, RequestProvider[], number, bigint, number[]][] = [
  ['one height', [source(7n), source(7n), source(7n)], 2, 7n, []],
  ['several heights: the newest that enough have finalized', [source(9n), source(7n), source(8n)], 2, 8n, [1]],
  ['one that is down', [source(7n), down, source(6n)], 2, 6n, [1]],
  ['one that is silent', [silent, source(7n), source(7n)], 2, 7n, [0]],
  ['one on another chain', [source(7n), source(7n, forked), source(7n)], 2, 7n, [1]],
  ['liars that are ahead', [source(9n, forked), source(9n, forked), source(7n), source(6n), source(5n)], 3, 5n, [0, 1]],
  ['all of them', [source(9n), source(8n), source(7n)], 3, 7n, []],
  ['a single one', [source(9n)], 1, 9n, []],
]
it.each(AGREEMENTS)('finds agreement: %s', async (_, providers, quorum, height, oddOnes) => {
  skipTime()
  const told: DissentingSource[] = []
  const options = { quorum, onDissent: (odd: readonly DissentingSource[]) => told.push(...odd) }
  expect(await finalizedBlockHash(providers, options)()).toBe(hashOf(height))
  expect(told.map(({ index }) => index)).toEqual(oddOnes)
})

/** How long it takes on a clock that tests control. */
async function timeOf<T>(work: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const began = Date.now()
  let ended: { result: T; milliseconds: number } | undefined
  work().then(result => {
    ended = { result, milliseconds: Date.now() - began }
  })
  while (ended === undefined && Date.now() < began + 60_000) await vi.advanceTimersByTimeAsync(100)
  return ended ?? expect.fail('no end')
}
const late = (provider: RequestProvider): RequestProvider => ({
  request: args => new Promise(resolve => setTimeout(resolve, 5_000)).then(() => provider.request(args)),
})
/** Names its newest block, and then says nothing more. */
const stalling: RequestProvider = {
  request: args => ((args.params as [string])[0] === 'finalized' ? source(9n).request(args) : silent.request(args)),
}

it.each([
  ['silent', [silent, source(7n), source(7n)], 7n, 0],
  ['silent after its first answer', [source(8n), stalling, source(8n)], 8n, 1],
] as const)('does not wait for one that is %s once enough agree', async (_, providers, height, index) => {
  const told: DissentingSource[] = []
  const onDissent = (odd: readonly DissentingSource[]) => void told.push(...odd)
  const { result, milliseconds } = await timeOf(finalizedBlockHash(providers, { onDissent }))
  expect([result, told]).toEqual([hashOf(height), [{ index, found: 'no answer in time' }]])
  expect(milliseconds).toBeLessThan(2_200)
})

it('waits for a slow one that decides', async () => {
  const { result, milliseconds } = await timeOf(finalizedBlockHash([source(7n, forked), source(7n), late(source(7n))]))
  expect(result).toBe(hashOf(7n))
  expect(milliseconds).toBeGreaterThanOrEqual(5_000)
})

const DISAGREEMENTS: [string, RequestProvider[], number, string][] = [
  ['two against two', [source(7n), source(7n), source(7n, forked), source(7n, forked)], 2, 'L1_DISAGREEMENT'],
  ['too few left', [source(7n), down, { ...down }], 2, 'L1_UNCONFIRMED'],
  ['nobody', [down, silent], 1, 'L1_UNCONFIRMED'],
  ['a liar where all are needed', [source(7n), source(7n, forked)], 2, 'L1_DISAGREEMENT'],
]
it.each(DISAGREEMENTS)('reports what each source said without agreement: %s', async (_, providers, quorum, code) => {
  skipTime()
  const error = await finalizedBlockHash(providers, { quorum })().catch(error => error)
  expect(error).toMatchObject({ code, layer: 'L1' })
  expect(error.message).toMatch(/must agree: source 1: .*; source 2: /)
  expect(error.message).not.toContain('secret')
})

it('refuses invalid options', () => {
  const wrong: [RequestProvider[], object][] = [
    [[], {}],
    [[down], { quorum: 2 }],
    [[down], { quorum: 0 }],
    [[down], { quorum: 0.5 }],
  ]
  for (const [providers, options] of wrong) {
    expect(() => finalizedBlockHash(providers, options)).toThrow('ARGUMENT_INVALID')
  }
  expect(() => finalizedBlockHash(undefined as never)).toThrow('ARGUMENT_INVALID')
})
