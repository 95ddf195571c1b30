import { expect, it, onTestFinished, vi } from 'vitest'

/** The module needs the types of a page, which those of Node contradict. */
const MODULE: string = '../../src/site/engine.ts'

interface StubbedWorker {
  readonly sent: unknown[]
  readonly isEnded: boolean
  reply(data: object): void
}

/** An engine whose workers answer nothing by themselves. */
async function startEngine() {
  const workers: StubbedWorker[] = []
  class HeldWorker extends EventTarget implements StubbedWorker {
    readonly sent: unknown[] = []
    isEnded = false
    constructor() {
      super()
      workers.push(this)
    }
    postMessage(message: unknown) {
      this.sent.push(message)
    }
    reply(data: object) {
      this.dispatchEvent(new MessageEvent('message', { data }))
    }
    terminate() {
      this.isEnded = true
    }
  }
  vi.stubGlobal('Worker', HeldWorker)
  vi.stubGlobal('location', new URL('https://example.com'))
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  const { createEngine } = await import(MODULE)
  return { engine: createEngine(), workers }
}

it('gives a worker up that takes longer than 15 seconds, and starts another', async () => {
  const { engine, workers } = await startEngine()
  const failed: unknown[] = []
  engine.ask('proof', 0).catch((error: Error) => failed.push(error.message))
  await vi.advanceTimersByTimeAsync(14_900)
  expect([workers, failed]).toMatchObject([[{ isEnded: false }], []])
  await vi.advanceTimersByTimeAsync(200)
  expect(workers).toMatchObject([{ isEnded: true }])
  expect(failed).toEqual(['Given up: it took longer than 15 seconds. The command line has more time.'])
  engine.ask('proof', 0)
  expect(workers).toMatchObject([{ isEnded: true }, { isEnded: false }])
})

it('begins nothing that is forgotten, and stops whatever is done with another file', async () => {
  const { engine, workers } = await startEngine()
  const answers: unknown[] = []
  const ask = (...request: unknown[]) => engine.ask(...request).then((answer: unknown) => answers.push(answer))
  ask('verify', 1)
  ask('verify', 2)
  ask('part', [], 0)
  ask('verify', 3)
  expect(workers[0]?.sent).toEqual([['verify', 1]])
  for (const answer of ['first', 'of a part', 'third']) workers[0]?.reply({ kind: 'verify', answer })
  await vi.advanceTimersByTimeAsync(0)
  expect(workers[0]?.sent).toEqual([
    ['verify', 1],
    ['part', [], 0],
    ['verify', 3],
  ])
  expect(answers).toEqual(['of a part', 'third'])
  ask('verify', 4)
  ask('load', 5)
  expect(workers).toMatchObject([{ isEnded: true }, { isEnded: false, sent: [['load', 5]] }])
  // What the first worker has sent before it ended.
  workers[0]?.reply({ kind: 'verify', answer: 'fourth' })
  workers[1]?.reply({ kind: 'load', answer: 'fifth' })
  await vi.advanceTimersByTimeAsync(0)
  expect(answers).toEqual(['of a part', 'third', 'fifth'])
})
