import { expect, it, onTestFinished, vi } from 'vitest'
import { inPace, type Pace } from '../../src/provider/pace.ts'

/** Works that compute for ever take turns. Counts turns, with a clock that only computing moves. */

/** Lets time pass by 5 ms whenever somebody asks for it. */
function computeAlone(): void {
  let now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
    now += 5
    return now
  })
  onTestFinished(() => clock.mockRestore())
}

/** Starts works that compute until they are aborted. Calls `onSlice` with the index of a work at the end of each slice. */
function startWorks(count: number, onSlice: (index: number) => void) {
  const controllers = Array.from({ length: count }, () => new AbortController())
  const compute = async (pace: Pace, index: number) => {
    for (;;) {
      await pace.pause()
      while (!pace.isDue());
      onSlice(index)
    }
  }
  const ended = controllers.map(({ signal }, index) =>
    inPace({ timeoutMs: 2 ** 30, signals: [signal] }, pace => compute(pace, index)).catch(error =>
      Reflect.get(Object(error), 'code'),
    ),
  )
  const end = () => {
    for (const controller of controllers) controller.abort()
  }
  return { end, ended: Promise.all(ended) }
}
const nextTask = () => new Promise<void>(resolve => setImmediate(resolve))

it('lets another task run after one slice of all works together, also when they begin', async () => {
  computeAlone()
  const slices: number[] = []
  const works = startWorks(16, index => slices.push(index))
  let [most, before] = [0, 0]
  while (slices.length < 100) {
    await nextTask()
    most = Math.max(most, slices.length - before)
    before = slices.length
  }
  expect(most).toBe(1)
  works.end()
  expect(await works.ended).toEqual(Array(16).fill('ABORTED'))
  // None starves.
  const counts = Array.from({ length: 16 }, (_, index) => slices.filter(each => each === index).length)
  expect(Math.min(...counts)).toBeGreaterThan(3)
})

it('gives a work a long first turn, in which most end, and then short ones', async () => {
  let now = 1_000_000
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const lengths: number[] = []
  await inPace({ timeoutMs: 2 ** 30, signals: [] }, async pace => {
    for (let turn = 0; turn < 3; turn++) {
      await pace.giveWay()
      const began = now
      while (!pace.isDue()) now++
      lengths.push(now - began)
    }
  })
  expect(lengths).toEqual([15, 2, 2])
})

it.each(['setImmediate', 'clearImmediate'])('computes where the platform has no %s', async name => {
  vi.stubGlobal(name, undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  let turns = 0
  await inPace({ timeoutMs: 2 ** 30, signals: [] }, async pace => {
    for (; turns < 3; turns++) await pace.giveWay()
  })
  expect(turns).toBe(3)
})

it('lets a work that begins compute after one slice of each of the others', async () => {
  computeAlone()
  let slices = 0
  const works = startWorks(50, () => slices++)
  while (slices < 100) await nextTask()
  const before = slices
  await inPace({ timeoutMs: 2 ** 30, signals: [] }, pace => pace.pause())
  expect(slices - before).toBeLessThanOrEqual(51)
  works.end()
  await works.ended
})
