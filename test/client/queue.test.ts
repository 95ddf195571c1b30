import { expect, it } from 'vitest'
import { BULK_AT_FIRST, BULK_AT_ONCE, MAX_QUEUED, REQUESTS_AT_ONCE } from '../../src/client/transport/limits.ts'
import { openProvider, originOf } from '../../src/client/transport/provider.ts'
import { createQueue, LONGEST_PAUSE, type QueueState, queueAt } from '../../src/client/transport/queue.ts'
import { createBudget, inAdvance, inherit } from '../../src/client/transport/waiting.ts'
import { createHttpProvider, EndpointError } from '../../src/entry/rpc.ts'
import { createClock, fixedWindow, type Limiter, limitedEndpoint, slidingWindow, spaced, tokenBucket } from './clock.ts'

const how = { timeoutMs: 30_000, maxRetries: 4 }
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    error => error.code,
  )

/** The signal of bulk work, or of somebody's single request. */
function signalOf(isBulk: boolean, owner?: AbortSignal): AbortSignal {
  const { signal } = new AbortController()
  inherit(signal, owner, isBulk)
  return signal
}

const LIMITERS: [string, (perSecond: number) => Limiter][] = [
  ['a bucket of tokens', perSecond => tokenBucket(perSecond)],
  ['a large bucket', perSecond => tokenBucket(perSecond, 10 * perSecond)],
  ['a sliding window', perSecond => slidingWindow(perSecond)],
  ['a fixed window', perSecond => fixedWindow(perSecond)],
  ['no burst at all', perSecond => spaced(perSecond)],
]

it('learns what an endpoint allows: all arrives, at 2 or 10 per second, and below 5 % is refused', async () => {
  let cases = 0
  for (const [what, limiterOf] of LIMITERS) {
    for (const perSecond of [2, 10]) {
      for (const retryAfterMs of [undefined, () => 1000]) {
        const name = `${what}, ${perSecond} per second, ${retryAfterMs ? 'with' : 'without'} Retry-After`
        const clock = createClock()
        const endpoint = limitedEndpoint(clock, 50, limiterOf(perSecond), retryAfterMs)
        const queue = createQueue(clock)
        const total = 60 * perSecond
        await clock.run(Promise.all(Array.from({ length: total }, () => queue.run(endpoint.send, how))))
        const { asked, refused, most } = endpoint.counts
        expect(asked - refused, name).toBe(total)
        // What it learns from is what it sends before it knows.
        const late = endpoint.refusedAt.filter(at => at > 10_000).length
        expect(late / total, name).toBeLessThan(0.05)
        expect(most, name).toBe(REQUESTS_AT_ONCE)
        // Sixty seconds at best.
        expect(clock.now() / 1000, name).toBeLessThan(100)
        cases++
      }
    }
  }
  expect(cases).toBe(20)
})

it('tries what was refused again after a while only, and goes on to more once that is allowed', async () => {
  let cases = 0
  for (const [limiterOf, perSecond, most] of [
    [tokenBucket, 2, 26],
    [spaced, 10, 15],
  ] as const) {
    const clock = createClock()
    let limiter: Limiter = limiterOf(perSecond)
    const endpoint = limitedEndpoint(clock, 50, now => limiter(now))
    const queue = createQueue(clock)
    const patient = { timeoutMs: 1e9, maxRetries: 99 }
    const ask = (count: number) =>
      clock.run(Promise.all(Array.from({ length: count }, () => queue.run(endpoint.send, patient))))
    // Ten minutes and five at best. What it learns from at first does not count.
    await ask(perSecond === 2 ? 1200 : 3000)
    expect(endpoint.refusedAt.filter(at => at > 10_000).length).toBeLessThanOrEqual(most)
    const began = clock.now()
    limiter = () => true
    await ask(2000)
    expect((clock.now() - began) / 1000).toBeLessThan(200)
    cases++
  }
  expect(cases).toBe(2)
})

it('sends all at once to an endpoint that refuses nothing, within its connections', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(clock, 50, () => true)
  const queue = createQueue(clock)
  await clock.run(Promise.all(Array.from({ length: 10 * REQUESTS_AT_ONCE }, () => queue.run(endpoint.send, how))))
  expect(endpoint.counts).toMatchObject({ refused: 0, most: REQUESTS_AT_ONCE })
  expect(clock.now()).toBe(500)
})

it('lets single requests pass bulk work, at any rate, and lets bulk work go on', async () => {
  const figures: Record<string, number[]> = {}
  for (const perSecond of [undefined, 10, 2]) {
    const clock = createClock()
    const endpoint = limitedEndpoint(clock, 50, perSecond === undefined ? () => true : tokenBucket(perSecond))
    const queue = createQueue(clock)
    let bulkDone = 0
    // Sixty ranges of a hundred requests each, of which sixteen are asked at once.
    const ranges = Array.from({ length: 60 }, async () => {
      const owner = signalOf(true)
      const next = async (left: number): Promise<void> => {
        if (left === 0) return
        await queue.run(endpoint.send, { ...how, signal: signalOf(true, owner), timeoutMs: 1e9 })
        bulkDone++
        return next(left - 16)
      }
      await Promise.all(Array.from({ length: 16 }, (_, index) => next(100 + index - 16)))
    })
    const ending = Promise.all(ranges)
    // Fifty clients, one after the other, from when the rate is known.
    const waits: number[] = []
    const clients = Array.from({ length: 50 }, async (_, index) => {
      await clock.sleep(perSecond === undefined ? 50 * index : 30_000 + 1000 * index)
      const began = clock.now()
      await queue.run(endpoint.send, { ...how, signal: signalOf(false) })
      waits.push(clock.now() - began)
    })
    const before = bulkDone
    await clock.run(Promise.all(clients))
    waits.sort((a, b) => a - b)
    figures[`${perSecond}`] = [waits[24] ?? 0, waits[49] ?? 0].map(Math.round)
    expect(waits.length).toBe(50)
    expect(bulkDone).toBeGreaterThan(before)
    ending.catch(() => {})
  }
  // Milliseconds: half of them, and the slowest. Alone it is 50, and at 2 per second a turn is 500.
  const { undefined: unlimited, 10: ten, 2: two } = figures
  expect(unlimited).toEqual([50, 50])
  expect(ten?.[0]).toBeLessThan(250)
  expect(ten?.[1]).toBeLessThan(1500)
  expect(two?.[0]).toBeLessThan(1500)
  expect(two?.[1]).toBeLessThan(5000)
})

it('lets owners take turns, whatever each of them asks for', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(clock, 50, tokenBucket(1, 1))
  const queue = createQueue(clock)
  const order: string[] = []
  const ask = async (name: string, owner: AbortSignal) => {
    const signal = signalOf(false, owner)
    await queue.run(endpoint.send, { ...how, timeoutMs: 1e9, maxRetries: 99, signal })
    order.push(name)
  }
  const [greedy, modest] = [new AbortController().signal, new AbortController().signal]
  // What the queue learns from.
  const first = Array.from({ length: REQUESTS_AT_ONCE }, () => ask('first', greedy))
  const many = Array.from({ length: 50 }, () => ask('greedy', greedy))
  const few = Array.from({ length: 3 }, () => ask('modest', modest))
  await clock.run(Promise.all([...first, ...many, ...few]))
  const rest = order.filter(name => name !== 'first')
  expect(rest.slice(0, 6).filter(name => name === 'modest').length).toBe(3)
  expect(rest.length).toBe(53)
})

it('leaves some connections to single requests', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(clock, 1000, () => true)
  const queue = createQueue(clock)
  const bulk = Array.from({ length: 300 }, () => queue.run(endpoint.send, { ...how, signal: signalOf(true) }))
  await clock.run(clock.sleep(1))
  // With each answer there is one more.
  for (const atOnce of [8, 16, 32, 48, 48]) {
    expect(endpoint.counts.active).toBe(atOnce)
    await clock.run(clock.sleep(1000))
  }
  expect([BULK_AT_FIRST, BULK_AT_ONCE]).toEqual([8, 48])
  const single = queue.run(endpoint.send, { ...how, signal: signalOf(false) })
  expect(await clock.run(single)).toBe(6001)
  await clock.run(Promise.all(bulk))
})

it('learns from few refusals what an endpoint allows to bulk work', async () => {
  const figures: number[] = []
  for (const [, limiterOf] of LIMITERS) {
    const refused = [2, 10].map(async perSecond => {
      const clock = createClock()
      const endpoint = limitedEndpoint(clock, 50, limiterOf(perSecond))
      const queue = createQueue(clock)
      const bulk = { ...how, timeoutMs: 1e9, maxRetries: 99 }
      const works = Array.from({ length: 100 }, () => queue.run(endpoint.send, { ...bulk, signal: signalOf(true) }))
      await clock.run(Promise.all(works))
      return endpoint.counts.refused
    })
    figures.push(Math.max(...(await Promise.all(refused))))
  }
  // Were all sent at once, it would be 50 to 63. A large bucket refuses nothing at first.
  for (const [index, most] of [20, 43, 20, 20, 20].entries()) expect(figures[index]).toBeLessThanOrEqual(most)
  expect(figures.length).toBe(5)
})

it('asks one request alone whether an endpoint is still busy, and waits as long as it is told to', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(
    clock,
    50,
    now => now > 20_000,
    () => 5_000,
  )
  const queue = createQueue(clock)
  await clock.run(Promise.all(Array.from({ length: 20 }, () => queue.run(endpoint.send, how))))
  expect(endpoint.refusedAt).toEqual([...Array(20).fill(50), 5100, 10_150, 15_200])
})

it('does not believe a Retry-After that proved too short', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(
    clock,
    50,
    () => false,
    () => 0,
  )
  expect(await clock.run(codeOf(createQueue(clock).run(endpoint.send, how)))).toBe('RATE_LIMITED')
  expect(endpoint.refusedAt).toEqual([50, 100, 900, 2450, 5500])
})

it('fails without a request while a pause takes longer than whoever asks has time, but not for ever', async () => {
  const clock = createClock()
  let retryAfterMs: number | undefined = 1e9
  const endpoint = limitedEndpoint(
    clock,
    50,
    now => now > 100,
    () => retryAfterMs,
  )
  const queue = createQueue(clock)
  const [first, other] = [queue.run(endpoint.send, how), queue.run(endpoint.send, { ...how, timeoutMs: 1e8 })]
  expect(await clock.run(codeOf(first))).toBe('RATE_LIMITED')
  expect(await codeOf(queue.run(endpoint.send, how))).toBe('RATE_LIMITED')
  expect(endpoint.counts.asked).toBe(2)
  // After the longest pause that is believed.
  retryAfterMs = undefined
  expect(await clock.run(codeOf(other))).toBe('nothing')
  expect(clock.now()).toBe(50 + LONGEST_PAUSE + 50)
  expect(await clock.run(codeOf(queue.run(endpoint.send, how)))).toBe('nothing')
})

it('ends the wait of what is aborted, and sends nothing for it', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(clock, 50, tokenBucket(1, 1))
  const queue = createQueue(clock)
  const all = new AbortController()
  const works = Array.from({ length: 300 }, () => codeOf(queue.run(endpoint.send, { ...how, signal: all.signal })))
  await clock.run(clock.sleep(60))
  const { asked } = endpoint.counts
  all.abort('enough')
  await clock.run(Promise.all(works))
  expect((await Promise.all(works)).filter(code => code === 'ABORTED').length).toBe(299)
  expect(endpoint.counts.asked).toBe(asked)
  expect(await codeOf(queue.run(endpoint.send, { ...how, signal: all.signal }))).toBe('ABORTED')
})

it('bounds what waits', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(clock, 50, () => true)
  const queue = createQueue(clock)
  const works = Array.from({ length: REQUESTS_AT_ONCE + MAX_QUEUED + 5 }, () => codeOf(queue.run(endpoint.send, how)))
  const codes = await clock.run(Promise.all(works))
  expect(codes.filter(code => code === 'RATE_LIMITED').length).toBe(5)
})

it('passes on every other failure at once, and goes on after it', async () => {
  const queue = createQueue(createClock())
  for (const error of [
    new EndpointError('UNREACHABLE'),
    new EndpointError('METHOD_UNKNOWN'),
    new RangeError('a bug'),
    7,
  ]) {
    await expect(queue.run(() => Promise.reject(error), how)).rejects.toBe(error)
  }
  expect(await queue.run(async () => 5, how)).toBe(5)
})

it('tells what requests wait for, not too often', async () => {
  const clock = createClock()
  const endpoint = limitedEndpoint(clock, 50, tokenBucket(2))
  const queue = createQueue(clock)
  const told: QueueState[] = []
  const end = queue.watch(state => void told.push(state))
  await clock.run(Promise.all(Array.from({ length: 120 }, () => queue.run(endpoint.send, how))))
  expect(told.length).toBeGreaterThan(5)
  expect(told.length).toBeLessThan(20)
  expect(told[0]).toMatchObject({ requestsPerSecond: expect.any(Number), pauseMs: expect.any(Number) })
  const rates = told.slice(1).map(({ requestsPerSecond }) => requestsPerSecond ?? 0)
  expect(Math.min(...rates)).toBeGreaterThan(1)
  expect(Math.max(...rates)).toBeLessThan(3)
  expect(told.map(({ waiting }) => waiting)).toEqual(told.map(({ waiting }) => waiting).sort((a, b) => b - a))
  end()
})

it('has one queue per URL in the process, whoever asks, and per provider of the caller', () => {
  const [one, same, other] = ['http://x.example/a', 'HTTP://x.example:80/a#2', 'http://x.example/b'].map(
    url => originOf(createHttpProvider(url))?.queue,
  )
  expect(same).toBe(one)
  expect(other).not.toBe(one)
  const mine = { request: async () => null }
  expect(openProvider(mine)).toBe(openProvider(mine))
  expect(openProvider({ ...mine })).not.toBe(openProvider(mine))
  // Nothing is forgotten for a URL that is not opened.
  for (let count = 0; count < 300; count++)
    expect(() => createHttpProvider(`http://x.example/${count}`, { timeoutMs: 0 })).toThrow(/timeoutMs/)
  expect(queueAt('http://x.example/a')).toBe(one)
  // Many URLs do not fill the memory.
  for (let count = 0; count < 1000; count++) queueAt(`http://x.example/${count}`)
  expect(queueAt('http://x.example/a')).not.toBe(one)
})

it('keeps nothing of works that have not begun, however many there are', async () => {
  const begun: number[] = []
  const work = async (index: number) => begun.push(index)
  for await (const done of inAdvance(2 ** 40, 3, work)) if (done === 5) break
  expect(begun.slice(0, 5)).toEqual([0, 1, 2, 3, 4])
  expect(begun.length).toBeLessThan(10)
})

it('gives back what a work holds that throws before it waits for anything', async () => {
  const budget = createBudget(1)
  const fail = (): Promise<never> => {
    throw new Error('at once')
  }
  await expect(budget.run(fail)).rejects.toThrow('at once')
  expect(budget.free).toBe(1)
})
