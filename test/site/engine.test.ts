import { expect, it, onTestFinished, vi } from 'vitest'

/** The module needs the types of a page, which those of Node contradict. */
const MODULE: string = '../../src/site/engine.ts'

it('gives a worker up that takes longer than 15 seconds, and starts another', async () => {
  const workers: { isEnded: boolean }[] = []
  class SilentWorker extends EventTarget {
    isEnded = false
    constructor() {
      super()
      workers.push(this)
    }
    postMessage() {}
    terminate() {
      this.isEnded = true
    }
  }
  vi.stubGlobal('Worker', SilentWorker)
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  const { createEngine } = await import(MODULE)
  const engine = createEngine(
    () => {},
    () => {},
  )
  const failed: unknown[] = []
  engine.ask({ kind: 'proof', index: 0 }).catch((error: Error) => failed.push(error.message))
  await vi.advanceTimersByTimeAsync(14_900)
  expect([workers, failed]).toMatchObject([[{ isEnded: false }], []])
  await vi.advanceTimersByTimeAsync(200)
  const message = 'Given up: it took longer than 15 seconds. The command line has more time.'
  expect([workers, failed]).toMatchObject([[{ isEnded: true }, { isEnded: false }], [message]])
})
