import { vi } from 'vitest'
import { fetchConsensus as fetchFrom, readBeaconSource } from '../../src/client/beacon/beacon.ts'
import type { BeaconSource } from '../../src/client/beacon/beacon-chain.ts'
import { addDemoBlocks, createService, demoWorld, type Service } from '../../src/devnet/index.ts'
import * as beacon from '../../src/entry/beacon.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type BeaconApi, type BeaconBlockHashOptions, beaconBlockHash, EndpointError } from '../../src/entry/rpc.ts'
import { ROLLUP, startService } from './servers.ts'

/** The demo, whose blocks have a fixed time long ago. */
export const ANY_TRUSTED = { maxTrustedAgeSeconds: Number.POSITIVE_INFINITY }
export const ANY = { maxAgeSeconds: Number.POSITIVE_INFINITY, ...ANY_TRUSTED }
export type Change = (body: unknown, path: string) => unknown

/** The consensus part of a recording. */
export const fetchConsensus = async ({
  onProgress = () => {},
  signal,
  ...source
}: BeaconSource & { onProgress?: (step: string) => void; signal?: AbortSignal }) => {
  const told = {
    onFailure: (_: unknown, index: number) => onProgress(`endpoint ${index} failed`),
    onUpdate: (done: number, periods: number) => onProgress(`${done} of ${periods} updates`),
  }
  return fetchFrom(readBeaconSource(source), told, signal)
}

/** The service without HTTP in between; what it answers is changed on the way. */
export function apiOf({ beacon }: Service, change: Change = body => body): BeaconApi & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async get(path) {
      const [name = '', query = ''] = path.split('?')
      asked.push(name.split('/').at(name.includes('bootstrap') ? -2 : -1) ?? '')
      const { status, body } = await beacon.answer(name, new URLSearchParams(query))
      if (status !== 200) throw new EndpointError('HTTP_ERROR', { status })
      return change(JSON.parse(JSON.stringify(body)), name)
    },
  }
}

export const down: BeaconApi = {
  get: () => Promise.reject(new EndpointError('UNREACHABLE')),
}

export async function startDemo() {
  const started = await startService()
  return { ...started, ...demoOf(started.service) }
}

/** A demo that does not listen, so that several tests may share it. */
export function quietDemo() {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  return demoOf(service)
}

function demoOf(service: Service) {
  addDemoBlocks(service.chain)
  const { network } = service.beacon
  const rootOf = async (block: bigint): Promise<Hex> => (await service.beacon.blockRoot(block)) ?? '0x'
  const trust = async (block: bigint) => beacon.trustBeaconBlock({ network, blockRoot: await rootOf(block) })
  const hashOf = (block: bigint) => Reflect.get(service.chain.l1.getBlock(block) ?? {}, 'hash')
  const head = () => hashOf(service.chain.l1.blockNumber())
  const follow = async (apis: BeaconApi[], options: Partial<BeaconBlockHashOptions> = {}, block = 60n) =>
    beaconBlockHash({ apis, trusted: await trust(block), ...ANY, ...options })
  return { service, network, rootOf, hashOf, head, follow, trust }
}

export const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    error => error.code,
  )

/** One bit of the signature is another. */
export const forge: Change = (body, path) => {
  if (!path.endsWith('finality_update')) return body
  const update = body as { data: { finalized_header: { beacon: { slot: string } } } }
  // It claims to be newer than any.
  update.data.finalized_header.beacon.slot = `${BigInt(update.data.finalized_header.beacon.slot) + 1n}`
  return update
}

/** The only clock of what it runs. Returns what `work` returns, and the milliseconds that it waited for. */
export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; waited: number }> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    let [isDone, waited] = [false, 0]
    const value = work().finally(() => {
      isDone = true
    })
    value.catch(() => {})
    for (; !isDone && waited < 3_600_000; waited += 20) {
      await vi.advanceTimersByTimeAsync(20)
      await new Promise(resolve => setImmediate(resolve))
    }
    return { value: await value, waited }
  } finally {
    vi.useRealTimers()
  }
}
