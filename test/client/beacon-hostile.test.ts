import { expect, it, onTestFinished, vi } from 'vitest'
import * as beacon from '../../src/entry/beacon.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  type BeaconApi,
  type BeaconFailure,
  beaconBlockHash,
  createBeaconApi,
  EndpointError,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import {
  ANY,
  ANY_TRUSTED,
  apiOf,
  type Change,
  codeOf,
  down,
  fetchConsensus,
  forge,
  quietDemo,
  startDemo,
  timed,
} from './beacon-apis.ts'
import { ROLLUP, startServer } from './servers.ts'

const silent = { request: () => new Promise(() => {}) }

type Demo = ReturnType<typeof quietDemo>

/** It claims the same block in a later period. */
const claimNewer =
  (periods: bigint): Change =>
  (body, path) => {
    if (!path.endsWith('finality_update')) return body
    const { data } = body as { data: { signature_slot: string; finalized_header: { beacon: { slot: string } } } }
    data.signature_slot = `${BigInt(data.signature_slot) + 8192n * periods}`
    data.finalized_header.beacon.slot = data.signature_slot
    return body
  }

/** Another signature. */
const forgeUpdates: Change = (body, path) => {
  if (!path.endsWith('updates')) return body
  for (const { data } of body as { data: { sync_aggregate: { sync_committee_bits: string } } }[]) {
    data.sync_aggregate.sync_committee_bits = `0x${'ff'.repeat(63)}fe`
  }
  return body
}

/** Never answers requests for these. */
const silentAt = (api: ReturnType<typeof apiOf>, names: RegExp): ReturnType<typeof apiOf> => ({
  asked: api.asked,
  get: async (path, signal) => {
    const answer = await api.get(path, signal)
    return names.test(path) ? new Promise(() => {}) : answer
  },
})

it.each([1, 5])('is not held up by %i liars who claim a newer block and hang', async count => {
  const { service, follow, head } = await startDemo()
  const newer = () => silentAt(apiOf(service, claimNewer(500n)), /updates/)
  const liars = Array.from({ length: count }, newer)
  const honest = apiOf(service)
  // Everything is made before: what follows takes no time but that which the test lets pass.
  expect(await (await follow([honest]))()).toBe(head())
  const failures: (readonly BeaconFailure[])[] = []
  const l1BlockHash = await follow([...liars, honest], { onFailure: found => void failures.push(found) })
  const first = await timed(l1BlockHash)
  expect(first.value).toBe(head())
  expect(first.waited).toBeLessThan(count * 1000 + 4000)
  service.chain.l1.addBlock()
  await apiOf(service).get('/eth/v1/beacon/light_client/finality_update')
  const second = await timed(l1BlockHash)
  expect(second.value).toBe(head())
  // Those that failed are not waited for again.
  expect(second.waited).toBeLessThan(1000)
  expect(failures[0]).toEqual(liars.map((_, index) => ({ index, code: 'TIMEOUT' })))
  expect(failures.map(found => found.map(({ index }) => index))).toEqual([[...liars.keys()], [...liars.keys()]])
  const asked = liars.map(({ asked }) => asked.filter(name => name === 'updates').length)
  expect(Math.max(...asked)).toBeLessThanOrEqual(4)
})

const kinds: [string, (demo: Demo) => Promise<BeaconApi> | BeaconApi][] = [
  ['is down', () => down],
  ['never answers', ({ service }) => silentAt(apiOf(service), /./)],
  ['never answers after the bootstrap', ({ service }) => silentAt(apiOf(service), /finality|updates/)],
  ['never sends updates', ({ service }) => silentAt(apiOf(service), /updates/)],
  ['lies about the newest block', ({ service }) => apiOf(service, forge)],
  ['claims a later period', ({ service }) => apiOf(service, claimNewer(1n))],
  ['claims the far future', ({ service }) => apiOf(service, claimNewer(10n ** 9n))],
  ['forges updates', ({ service }) => apiOf(service, forgeUpdates)],
  ['has no updates', ({ service }) => apiOf(service, (body, path) => (path.endsWith('updates') ? [] : body))],
  [
    'is busy for ever',
    async () => createBeaconApi((await startServer(response => void response.writeHead(429).end())).url),
  ],
  [
    'sends megabytes of brackets',
    async () => {
      const brackets = `[${'[],'.repeat(2 ** 22)}0]`
      return createBeaconApi((await startServer(response => void response.end(brackets))).url)
    },
  ],
  [
    'sends megabytes of text',
    async () => createBeaconApi((await startServer(response => void response.end(`"${'x'.repeat(2 ** 24)}`))).url),
  ],
]

let shared: Demo | undefined

it.each(kinds)('gets the honest answer beside an endpoint that %s', async (name, make) => {
  shared ??= quietDemo()
  const { service, follow, head, trust } = shared
  const failed = new Set<number>()
  const onFailure = (found: readonly BeaconFailure[]) => {
    for (const { index } of found) failed.add(index)
  }
  const apis = [await make(shared), apiOf(service)]
  const trusted = await trust(60n)
  const l1BlockHash = await follow(apis, { onFailure }, 60n)
  const followed = await timed(l1BlockHash)
  expect(followed.value).toBe(head())
  const fetched = await timed(() => fetchConsensus({ ...ANY_TRUSTED, apis, trusted }))
  const { proven, consensus } = fetched.value
  expect(proven.l1BlockHash).toBe(head())
  expect(Math.max(followed.waited, fetched.waited)).toBeLessThan(5000)
  // Whoever claims the true block has not failed, if another endpoint sent the updates.
  expect([...failed]).toEqual(name === 'has no updates' ? [] : [0])
  const { bootstrap, updates, finality } = consensus
  expect(trusted.verifyConsensus({ bootstrap, updates, finality }, trusted.beaconBlockRoot)).toMatchObject(proven)
})

it('asks eight endpoints at once, and a further one when one is silent', async () => {
  shared ??= quietDemo()
  const { service, follow } = shared
  const apis = Array.from({ length: 10 }, () => silentAt(apiOf(service), /finality/))
  const controller = new AbortController()
  const { signal } = controller
  const l1BlockHash = await follow(apis, { signal })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const code = codeOf(l1BlockHash())
  const asked: number[] = []
  for (let waited = 0; waited < 1500; waited += 50) {
    await vi.advanceTimersByTimeAsync(50)
    await new Promise(resolve => setImmediate(resolve))
    asked.push(apis.filter(({ asked }) => asked.includes('finality_update')).length)
  }
  expect([...new Set(asked)]).toEqual([8, 9])
  controller.abort()
  expect(await code).toBe('ABORTED')
})

it('refuses a forged update before it fetches more of them', async () => {
  const { service, trust } = await startDemo()
  const forged = apiOf(service, forgeUpdates)
  const trusted = await trust(0n)
  expect(await codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [forged], trusted }))).toBe('BEACON_SIGNATURE_MISMATCH')
  expect(forged.asked).toEqual(['bootstrap', 'finality_update', 'updates'])
})

it('returns the known block through a momentary failure, while it is recent', async () => {
  const { service, follow, head } = await startDemo()
  let isDown = false
  const api = apiOf(service)
  const flaky: BeaconApi = { get: path => (isDown ? down.get(path) : api.get(path)) }
  const failures: (readonly BeaconFailure[])[] = []
  const l1BlockHash = await follow([flaky], { onFailure: found => void failures.push(found) })
  const known = await l1BlockHash()
  isDown = true
  expect(await l1BlockHash()).toBe(known)
  expect(failures).toEqual([[{ index: 0, code: 'UNREACHABLE' }]])
  isDown = false
  service.chain.l1.addBlock()
  expect(await l1BlockHash()).toBe(head())
  expect(head()).not.toBe(known)
})

it('remembers the committees that are proven, and does not leave the one that signs', async () => {
  const { service, follow, head, rootOf } = await startDemo()
  const honest = apiOf(service)
  const roots: Hex[] = []
  let isMute = true
  const mute: BeaconApi = {
    get: (path, signal) =>
      isMute && path.endsWith('finality_update') ? apiOf(service, forge).get(path, signal) : honest.get(path, signal),
  }
  const l1BlockHash = await follow([mute], { onProgress: root => void roots.push(root) }, 10n)
  expect(await l1BlockHash()).not.toBe(head())
  const asked = honest.asked.filter(name => name === 'updates').length
  isMute = false
  expect(await l1BlockHash()).toBe(head())
  expect(honest.asked.filter(name => name === 'updates').length).toBe(asked)
  expect(roots.at(-1)).toBe(await rootOf(service.chain.l1.blockNumber()))
})

it('checks the age of what it proves from at every call, and by the rules of the fork', async () => {
  const { service, trust, network, rootOf, head } = await startDemo()
  const { maxAgeSeconds } = ANY
  const api = apiOf(service)
  const { data } = (await api.get('/eth/v1/beacon/light_client/finality_update')) as {
    data: { finalized_header: { beacon: { slot: string } }; signature_slot: string }
  }
  const signed = network.genesisTime + 12 * Number(data.signature_slot)
  const finalized = network.genesisTime + 12 * Number(data.finalized_header.beacon.slot)
  vi.useFakeTimers({ toFake: ['Date'], now: (signed + 1) * 1000 })
  onTestFinished(() => void vi.useRealTimers())
  const later = (days: number) => vi.setSystemTime((finalized + days * 86_400) * 1000)
  const gloasless = { ...network, forks: network.forks.filter(({ name }) => name !== 'gloas') }
  const l1BlockHash = beaconBlockHash({ apis: [api], trusted: await trust(63n), maxAgeSeconds })
  await l1BlockHash()
  later(6.9)
  await l1BlockHash()
  later(7.1)
  expect(await codeOf(l1BlockHash())).toBe('BEACON_CHECKPOINT_OLD')
  const trusted = beacon.trustBeaconBlock({ network: gloasless, blockRoot: await rootOf(63n) })
  later(13)
  const old = () => codeOf(beaconBlockHash({ apis: [api], trusted, maxAgeSeconds })())
  expect(await old()).not.toBe('BEACON_CHECKPOINT_OLD')
  later(15)
  // The default is that of beaconBlockHash, and may be stated.
  for (const [days, code] of [
    [7.1, 'BEACON_CHECKPOINT_OLD'],
    [6.8, 'no error'],
  ] as const) {
    later(days)
    expect(await codeOf(fetchConsensus({ apis: [api], trusted: await trust(63n) }))).toBe(code)
  }
  later(15)
  const limit = { maxTrustedAgeSeconds: 14 * 86_400 }
  expect(await codeOf(fetchConsensus({ apis: [api], trusted: await trust(63n), ...limit }))).toBe(
    'BEACON_CHECKPOINT_OLD',
  )
  const record = { l1: silent, l2: silent, scheme: poseidon2, rollup: ROLLUP, address: ROLLUP.address }
  const recorded = recordEvidence(
    withNetwork({ ...record, beacon: { apis: [api], trusted: await trust(63n), ...limit } }),
  )
  expect(await codeOf(recorded)).toBe('BEACON_CHECKPOINT_OLD')
  const byDefault = recordEvidence(withNetwork({ ...record, beacon: { apis: [api], trusted: await trust(63n) } }))
  expect(await codeOf(byDefault)).toBe('BEACON_CHECKPOINT_OLD')
  // A clock that is behind makes everything look young.
  vi.setSystemTime((signed - 60) * 1000)
  expect(await codeOf(beaconBlockHash({ apis: [api, down], trusted: await trust(60n) })())).toBe('CLOCK_BEHIND')
  expect(await codeOf(fetchConsensus({ apis: [api], trusted: await trust(60n) }))).toBe('CLOCK_BEHIND')
  // What nobody signed says nothing about the clock, nor does one that was behind keep the block from being taken.
  const postdated: Change = (body, path) => {
    if (!path.endsWith('finality_update')) return body
    const update = body as { data: { signature_slot: string } }
    update.data.signature_slot = `${Number(update.data.signature_slot) + 1000}`
    return update
  }
  const again = beaconBlockHash({ apis: [apiOf(service, postdated), down], trusted: await trust(60n) })
  expect(await codeOf(again())).toBe('CLOCK_BEHIND')
  vi.setSystemTime((signed + 1) * 1000)
  expect(await again()).toBe(head())
  const apis = [apiOf(service, postdated), api]
  expect((await fetchConsensus({ apis, trusted: await trust(60n) })).proven.l1BlockHash).toBe(head())
})

it('lets the program work while it verifies, and be aborted', async () => {
  const { service, follow, trust, head } = await startDemo()
  let turns = 0
  const ticking = setInterval(() => turns++, 0)
  onTestFinished(() => clearInterval(ticking))
  expect(await (await follow([apiOf(service)], {}, 0n))()).toBe(head())
  expect(turns).toBeGreaterThan(8)
  const controller = new AbortController()
  const { signal } = controller
  const abort = { onProgress: () => controller.abort('enough'), signal }
  const trusted = await trust(10n)
  const error = await fetchConsensus({ ...ANY_TRUSTED, apis: [apiOf(service)], trusted, ...abort }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(EndpointError)
  expect(error).toMatchObject({ code: 'ABORTED', cause: 'enough' })
})
