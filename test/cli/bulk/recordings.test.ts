import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fetchRecordings } from '../../../src/cli/snapshot/snapshot.ts'
import { createService, createWorld } from '../../../src/devnet/index.ts'
import { type Hex, mappingSlot } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createHttpProvider, EndpointError } from '../../../src/entry/rpc.ts'
import { createStateVerifier } from '../../../src/verify/state/kind.ts'
import { ROLLUP, word } from '../../client/servers.ts'

const contract: Hex = `0x${'c0'.repeat(20)}`
const HOLDERS = Array.from({ length: 24 }, (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`)
const keyOf = (holder: Hex) => mappingSlot({ slot: 5n, keys: [holder] })

/** Asks an endpoint for all holders of a mapping. */
function snapshot(
  request: (keys: readonly Hex[]) => Promise<unknown>,
  holders = HOLDERS,
  world = createWorld(poseidon2),
) {
  const provider = { request: ({ params }: { params?: unknown }) => request((params as [Hex, Hex[]])[1]) }
  const wrong: [Hex | undefined, boolean][] = []
  const lines: string[] = []
  const collect = async () => {
    const recordings = fetchRecordings(provider, {
      target: { contract, slot: 5n, storageKeys: [] },
      ...{ holders, scheme: poseidon2, stateRoot: world.stateRoot(), block: 1n, method: 'rollup_getProof' },
      ...{ keysPerRequest: 8, concurrency: 2, signal: new AbortController().signal },
      verify: createStateVerifier(poseidon2),
      onWrong: (asked, _, isLast) => wrong.push([asked.holders[0], isLast]),
    })
    for await (const some of recordings) lines.push(...some.trimEnd().split('\n'))
  }
  return { wrong, lines, done: collect() }
}

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
    const ended: string[] = []
    const ask = async () => {
      asked++
      throw error
    }
    snapshot(ask, HOLDERS.slice(0, 1)).done.catch(({ code }) => ended.push(code))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked).toBe(1)
    for (let count = 1; count <= 12; count++) {
      if (error === busy) expect([asked, ended]).toEqual([count, count < 12 ? [] : [busy.code]])
      await vi.advanceTimersByTimeAsync(minutes * 60_000)
    }
    expect([asked, ended]).toEqual([12, [error.code]])
  }
})

it('gives up at once on a permanent error', async () => {
  let asked = 0
  const ask = async () => {
    asked++
    throw new EndpointError('UNAUTHORIZED')
  }
  await expect(snapshot(ask, HOLDERS.slice(0, 1)).done).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(asked).toBe(1)
})

it('stays within its concurrency, even when it isolates the key of a lie', async () => {
  const world = createWorld(poseidon2)
  world.setAccount(contract, { nonce: 1n })
  for (const holder of HOLDERS) world.setStorage(contract, { key: keyOf(holder), value: word(7) })
  let [active, most, asked] = [0, 0, 0]
  // Every answer lies about every key.
  const lie = async (keys: readonly Hex[]) => {
    asked++
    most = Math.max(most, ++active)
    await setImmediate()
    active--
    return JSON.parse(
      JSON.stringify(world.getProof(contract, keys)).replaceAll(`${'0'.repeat(63)}7"`, `${'0'.repeat(63)}8"`),
    )
  }
  const { lines, wrong, done } = snapshot(lie, HOLDERS, world)
  await done
  expect(lines.map(line => JSON.parse(line))).toEqual(
    HOLDERS.map(holder => expect.objectContaining({ storageKeys: [keyOf(holder)], result: null })),
  )
  expect(wrong.filter(([, isLast]) => isLast)).toHaveLength(24)
  expect(asked).toBe(3 * 3 + 3 * 24)
  expect(most).toBe(2)
})
