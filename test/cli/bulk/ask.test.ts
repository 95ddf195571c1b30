import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { askInOrder, type SnapshotRequest, takeSnapshot } from '../../../src/cli/snapshot/snapshot.ts'
import { createBudget } from '../../../src/client/transport/waiting.ts'
import { createService, createWorld } from '../../../src/devnet/index.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createHttpProvider, EndpointError } from '../../../src/entry/rpc.ts'
import { ROLLUP, word } from '../../client/servers.ts'

const { signal } = new AbortController()
const within = { slots: createBudget(1), ahead: 4, signal }

async function collect<T>(outcomes: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const outcome of outcomes) all.push(outcome)
  return all
}

const refuse = (_: unknown, error: Error) => Promise.reject(error)

it('reports how long a busy endpoint asks to wait', async () => {
  const genesis = createWorld(poseidon2)
  const faults = () => ({ kind: 'status', status: 429, retryAfterSeconds: 7 }) as const
  const service = createService({ genesis, rollup: ROLLUP, faults })
  const { url } = await service.listen()
  const asked = createHttpProvider(url, { maxRetries: 0 }).request({ method: 'eth_blockNumber' })
  await expect(asked).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 7000 })
  await service.close({ graceMs: 0 })
})

it('waits for as long as it is told, but at most ten minutes, and gives up after twelve failures', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const busy = new EndpointError('RATE_LIMITED', { status: 429, retryAfterMs: 10 ** 9 })
  for (const [error, minutes] of [
    [busy, 10],
    [new EndpointError('UNREACHABLE'), 1],
  ] as const) {
    let asked = 0
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const ended: unknown[] = []
    const ask = async () => {
      asked++
      throw error
    }
    collect(askInOrder({ items: [1], ...within, ask, refuse })).catch(thrown => ended.push(thrown))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked).toBe(1)
    for (let count = 1; count <= 12; count++) {
      if (error === busy) expect([asked, ended]).toEqual([count, count < 12 ? [] : [busy]])
      await vi.advanceTimersByTimeAsync(minutes * 60_000)
    }
    expect([asked, ended]).toEqual([12, [error]])
  }
})

it('gives up at once on a permanent error', async () => {
  let asked = 0
  const ask = async () => {
    asked++
    throw new EndpointError('UNAUTHORIZED')
  }
  const outcomes = collect(askInOrder({ items: [1, 2], ...within, ask, refuse }))
  await expect(outcomes).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(asked).toBeLessThan(3)
})

it('stays within its concurrency, even when it isolates the key of a lie', async () => {
  const contract: Hex = `0x${'c0'.repeat(20)}`
  const world = createWorld(poseidon2)
  world.setAccount(contract, { nonce: 1n })
  const keys = Array.from({ length: 24 }, (_, index) => word(index))
  for (const key of keys) world.setStorage(contract, { key, value: word(7) })
  let [active, most, asked] = [0, 0, 0]
  const provider = {
    async request({ params = [] }: { params?: readonly unknown[] | object | undefined }) {
      asked++
      most = Math.max(most, ++active)
      await setTimeout(1)
      active--
      // Every answer lies about every key.
      const [, storageKeys] = params as [Hex, Hex[]]
      return JSON.parse(
        JSON.stringify(world.getProof(contract, storageKeys)).replaceAll(`${'0'.repeat(63)}7"`, `${'0'.repeat(63)}8"`),
      )
    },
  }
  const requests: SnapshotRequest[] = [0, 8, 16].map(start => {
    const storageKeys = keys.slice(start, start + 8)
    return { address: contract, storageKeys, holders: storageKeys }
  })
  const parts = await collect(
    takeSnapshot(provider, requests, {
      ...{ scheme: poseidon2, stateRoot: world.stateRoot(), block: 1n, method: 'rollup_getProof', keysPerRequest: 8 },
      ...{ concurrency: 2, signal, onRetry: () => {} },
    }),
  )
  expect(parts.flat().filter(part => 'code' in part)).toHaveLength(24)
  expect(asked).toBe(3 * 3 + 3 * 24)
  expect(most).toBe(2)
})
