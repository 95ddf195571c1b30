import { expect, it } from 'vitest'
import { MAX_STRAGGLERS } from '../../src/client/transport/limits.ts'
import { createFlights } from '../../src/client/transport/waiting.ts'
import { isEndpointError } from '../../src/entry/rpc.ts'

/** A work that ends when it is told, and which of its parts were aborted. @param over null if nobody can end all */
function setUp(over: AbortSignal | null = new AbortController().signal) {
  const { run } = createFlights<string>(over ?? undefined)
  const aborted: string[] = []
  const ends = new Map<string, () => void>()
  let count = 0
  const start = (name: string, signal: AbortSignal) => {
    const work = (own: AbortSignal) =>
      new Promise<string>((resolve, reject) => {
        count++
        ends.set(name, () => resolve(name))
        own.addEventListener('abort', () => {
          aborted.push(name)
          reject(own.reason)
        })
      })
    return run(name, signal, work).catch(error => (isEndpointError(error) ? error.code : 'failed'))
  }
  return { start, aborted, end: (name: string) => ends.get(name)?.(), begun: () => ends.size, count: () => count }
}

it('lets works go on that nobody waits for any more, of as many as are under way within a bound', async () => {
  const { start, aborted, end } = setUp()
  const waiting = new AbortController()
  const names = Array.from({ length: MAX_STRAGGLERS }, (_, index) => `${index}`)
  const first = [...names, 'a'].map(name => start(name, waiting.signal))
  waiting.abort()
  expect(new Set(await Promise.all(first))).toEqual(new Set(['ABORTED']))
  expect(aborted).toEqual(['a'])
  end('0')
  await new Promise(resolve => setImmediate(resolve))
  const again = new AbortController()
  const second = ['b', 'c'].map(name => start(name, again.signal))
  again.abort()
  expect(await Promise.all(second)).toEqual(['ABORTED', 'ABORTED'])
  expect(aborted).toEqual(['a', 'c'])
})

it('lets none go on where nobody could end it', async () => {
  const { start, aborted } = setUp(null)
  const waiting = new AbortController()
  const work = start('a', waiting.signal)
  waiting.abort()
  expect([await work, aborted]).toEqual(['ABORTED', ['a']])
})

it('makes whoever asks for the same meanwhile wait for it, and leaves it to go on for the next', async () => {
  const { start, aborted, end, count } = setUp()
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()]
  const left = start('a', first.signal)
  first.abort()
  expect(await left).toBe('ABORTED')
  const joined = start('a', second.signal)
  second.abort()
  expect(await joined).toBe('ABORTED')
  const last = start('a', third.signal)
  end('a')
  expect(await last).toBe('a')
  expect([count(), aborted]).toEqual([1, []])
})

it('gives what they come to, begins none in vain, and ends all with the whole', async () => {
  const whole = new AbortController()
  const { start, aborted, end, begun } = setUp(whole.signal)
  const waiting = new AbortController()
  const [one, other] = [start('one', waiting.signal), start('other', waiting.signal)]
  end('one')
  expect(await one).toBe('one')
  waiting.abort()
  expect([await other, aborted]).toEqual(['ABORTED', []])
  whole.abort(new Error('over'))
  expect(aborted).toEqual(['other'])
  // Nothing goes on any more.
  const further = new AbortController()
  const last = start('last', further.signal)
  further.abort()
  expect([await last, aborted]).toEqual(['ABORTED', ['other', 'last']])
  expect(await start('late', AbortSignal.abort())).toBe('ABORTED')
  expect(begun()).toBe(3)
})
