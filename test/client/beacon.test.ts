import { expect, it } from 'vitest'
import * as beacon from '../../src/entry/beacon.ts'
import type { Hex } from '../../src/entry/index.ts'
import {
  type BeaconApi,
  type BeaconFailure,
  beaconBlockHash,
  createBeaconApi,
  EndpointError,
} from '../../src/entry/rpc.ts'
import {
  ANY,
  ANY_TRUSTED,
  apiOf,
  type Change,
  codeOf,
  down,
  fetchConsensus,
  forge,
  startDemo,
  timed,
} from './beacon-apis.ts'
import { startServer, word } from './servers.ts'

it('follows the chain from its beginning through all forks, and goes on from the newest block', async () => {
  const { service, follow, head, network } = await startDemo()
  const roots: Hex[] = []
  const onProgress = (root: Hex) => void roots.push(root)
  const api = apiOf(service)
  expect(await (await follow([api], { onProgress }, 0n))()).toBe(head())
  const names = new Set(api.asked)
  expect([...names]).toEqual(['bootstrap', 'finality_update', 'updates'])
  expect(api.asked.filter(name => name === 'updates').length).toBe(1)
  expect(network.forks.length).toBe(5)
  expect(roots.length).toBe(1)

  service.chain.l1.addBlock()
  const resumed = apiOf(service)
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: roots[0] ?? '0x' })
  expect(await (await follow([resumed], { trusted }))()).toBe(head())
  expect(resumed.asked).toEqual(['bootstrap', 'finality_update'])
})

it('takes the newest block that is proven, whoever lies, fails or holds back', async () => {
  const { service, follow, hashOf, head } = await startDemo()
  const old = JSON.parse(JSON.stringify(await apiOf(service).get('/eth/v1/beacon/light_client/finality_update')))
  service.chain.l1.addBlock()
  const behind = apiOf(service, (body, path) => (path.endsWith('finality_update') ? old : body))
  const failures: (readonly BeaconFailure[])[] = []
  const onFailure = (found: readonly BeaconFailure[]) => void failures.push(found)
  const l1BlockHash = await follow([apiOf(service, forge), down, behind, apiOf(service)], { onFailure })
  expect(await l1BlockHash()).toBe(head())
  // One that lags counts as honest, until it names a block that is older than the one known before.
  expect(await l1BlockHash()).toBe(head())
  const failing = [
    { index: 0, code: 'BEACON_FINALITY_MISMATCH' },
    { index: 1, code: 'UNREACHABLE' },
  ]
  expect(failures[0]).toEqual(failing)
  expect(failures[1]?.at(-1)).toEqual({ index: 2, code: 'BEACON_OLDER_THAN_CHECKPOINT' })
  expect(failures.length).toBe(2)
  expect(head()).not.toBe(hashOf(63n))
})

it('does not wait for an endpoint that stays silent', async () => {
  const { service, follow, head } = await startDemo()
  const silent = { asked: 0, signals: [] as AbortSignal[] }
  const hanging: BeaconApi = {
    get: (_, signal) => {
      silent.asked++
      if (signal) silent.signals.push(signal)
      return new Promise(() => {})
    },
  }
  const failures: (readonly BeaconFailure[])[] = []
  const onFailure = (found: readonly BeaconFailure[]) => void failures.push(found)
  // Everything is made before: what follows takes no time but that which the test lets pass.
  expect(await (await follow([apiOf(service)]))()).toBe(head())
  const l1BlockHash = await follow([hanging, apiOf(service)], { onFailure })
  expect((await timed(l1BlockHash)).value).toBe(head())
  expect(failures).toEqual([[{ index: 0, code: 'TIMEOUT' }]])
  expect(silent.asked).toBe(2)
  expect(silent.signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

it('never goes back, nor is led past the present committee by a lie about the period', async () => {
  const { service, follow, head, network } = await startDemo()
  let isOld = false
  const old = await apiOf(service).get('/eth/v1/beacon/light_client/finality_update')
  service.chain.l1.addBlock()
  const lie: Change = (body, path) => {
    if (!path.endsWith('finality_update')) return body
    if (isOld) return old
    const update = body as { data: { signature_slot: string; finalized_header: { beacon: { slot: string } } } }
    update.data.signature_slot = `${BigInt(update.data.signature_slot) + 8192n}`
    update.data.finalized_header.beacon.slot = update.data.signature_slot
    return update
  }
  const roots: Hex[] = []
  const onProgress = (root: Hex) => void roots.push(root)
  const apis = [apiOf(service, lie), apiOf(service)]
  expect(await (await follow(apis, { onProgress }))()).toBe(head())
  const newest = head()
  isOld = true
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: roots.at(-1) ?? '0x' })
  const back = await follow([apiOf(service, lie)], { trusted })
  expect(await back()).toBe(newest)
  expect(await (await follow([apiOf(service, lie), apiOf(service)], { trusted }))()).toBe(newest)
})

it('throws what onProgress throws, blames no endpoint for it, and offers the root again', async () => {
  const { service, follow, head, rootOf } = await startDemo()
  const roots: Hex[] = []
  const failures: unknown[] = []
  let isFull = false
  const onProgress = (root: Hex) => {
    if (isFull) throw new EndpointError('HTTP_ERROR', { found: 'the disk is full' })
    roots.push(root)
  }
  const api = apiOf(service)
  const l1BlockHash = await follow([api], { onProgress, onFailure: found => void failures.push(found) })
  await l1BlockHash()
  await l1BlockHash()
  expect(roots.length).toBe(1)
  service.chain.l1.addBlock()
  isFull = true
  await expect(l1BlockHash()).rejects.toMatchObject({ code: 'HTTP_ERROR', found: 'the disk is full' })
  expect(roots.length).toBe(1)
  isFull = false
  expect(await l1BlockHash()).toBe(head())
  expect(roots).toEqual([roots[0], await rootOf(service.chain.l1.blockNumber())])
  expect(failures).toEqual([])
})

it('says when nothing is proven, and when what is proven is too old', async () => {
  const { service, follow, trust, hashOf } = await startDemo()
  const trusted = await trust(60n)
  expect(await codeOf((await follow([down]))())).toBe('BEACON_UNAVAILABLE')
  // The trusted block is proven by its bootstrap.
  expect(await (await follow([apiOf(service, forge)], {}, 63n))()).toBe(hashOf(63n))
  const { maxTrustedAgeSeconds } = ANY
  const forged = beaconBlockHash({ apis: [apiOf(service, forge)], trusted, maxTrustedAgeSeconds })
  expect(await codeOf(forged())).toBe('BEACON_UNAVAILABLE')
  const api = apiOf(service)
  expect(await codeOf(beaconBlockHash({ apis: [api], trusted })())).toBe('BEACON_CHECKPOINT_OLD')
  expect(await codeOf(beaconBlockHash({ apis: [api], trusted, maxTrustedAgeSeconds })())).toBe('BEACON_STALE')
})

it('refuses arguments that are wrong', async () => {
  const { service, follow, network, trust } = await startDemo()
  const api = apiOf(service)
  const trusted = await trust(60n)
  const { lightClient } = trusted
  const good = { apis: [api], trusted }
  const wrong: [string, unknown][] = [
    ['', undefined],
    ['', null],
    ['apis', { trusted }],
    ['apis', { ...good, apis: [] }],
    ['apis', { ...good, apis: [{}] }],
    ['trusted', { apis: [api] }],
    ['trusted', { ...good, trusted: {} }],
    ['trusted.lightclient', { ...good, trusted: { ...trusted, lightclient: lightClient } }],
    ['trusted.beaconBlockRoot', { ...good, trusted: { ...trusted, beaconBlockRoot: '0x12' } }],
    ['trusted.lightClient', { ...good, trusted: { ...trusted, lightClient: undefined } }],
    [
      'trusted.lightClient.verifyUpdate',
      { ...good, trusted: { ...trusted, lightClient: { ...lightClient, verifyUpdate: 1 } } },
    ],
    ['maxage', { ...good, maxage: 1 }],
    ['maxAgeSeconds', { ...good, maxAgeSeconds: -1 }],
    ['maxTrustedAgeSeconds', { ...good, maxTrustedAgeSeconds: '1' }],
    ['onProgress', { ...good, onProgress: 1 }],
    ['onFailure', { ...good, onFailure: 1 }],
    ['signal', { ...good, signal: new AbortController() }],
    ['resumeFrom', { ...good, resumeFrom: null }],
  ]
  for (const [path, options] of wrong) {
    expect(() => beaconBlockHash(options as never), path).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path }),
    )
  }
  expect(wrong.length).toBe(18)
  const forkless = { ...trusted, lightClient: { ...lightClient, network: { ...network, forks: [] } } }
  expect(await codeOf((await follow([api, api], { trusted: forkless }))())).toBe('BEACON_FORK_UNKNOWN')
  const down = createBeaconApi('http://127.0.0.1:1')
  expect(await codeOf((await follow([api, down], { trusted: forkless }))())).toBe('BEACON_UNAVAILABLE')
})

it('asks the next if one fails with a code of a later version, which may be anything', async () => {
  const { service, trust } = await startDemo()
  const later = Object.assign(new EndpointError('TIMEOUT'), { code: 'https://endpoint.example/key' })
  const odd: BeaconApi = { get: () => Promise.reject(later) }
  const trusted = await trust(60n)
  expect(await codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [odd], trusted }))).toBe('UNREACHABLE')
  const { proven } = await fetchConsensus({ ...ANY_TRUSTED, apis: [odd, apiOf(service)], trusted })
  expect(proven.l1BlockHash).toHaveLength(66)
})

it('fetches the consensus part from the first endpoint whose answers verify, known fields only', async () => {
  const { service, beaconUrl, network, rootOf, head } = await startDemo()
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: await rootOf(60n) })
  const chatty = apiOf(service, body =>
    Array.isArray(body) ? body : { ...(body as object), url: 'https://endpoint.example/key' },
  )
  const told: string[] = []
  const { consensus, proven } = await fetchConsensus({
    ...ANY_TRUSTED,
    apis: [down, apiOf(service, forge), chatty],
    trusted,
    onProgress: step => void told.push(step),
  })
  expect(proven.l1BlockHash).toBe(head())
  expect(JSON.stringify(consensus)).not.toMatch(/endpoint\.example/)
  expect(consensus.updates.length).toBe(1)
  expect(told).toEqual(['endpoint 0 failed', '0 of 1 updates', '1 of 1 updates', 'endpoint 1 failed'])
  expect(await fetchConsensus({ ...ANY_TRUSTED, apis: [createBeaconApi(`${beaconUrl}/`)], trusted })).toEqual({
    consensus,
    proven,
  })
  const failing = fetchConsensus({ ...ANY_TRUSTED, apis: [down, apiOf(service, forge)], trusted })
  await expect(failing).rejects.toMatchObject({
    code: 'BEACON_UNAVAILABLE',
    found: expect.stringMatching(/^source 1: [A-Z_]+; source 2: BEACON_[A-Z_]+$/),
  })
  expect(await codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [down], trusted }))).toBe('UNREACHABLE')
  const elsewhere = beacon.trustBeaconBlock({ network, blockRoot: word(1) })
  expect(await codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [apiOf(service)], trusted: elsewhere }))).toBe(
    'BLOCK_MISSING',
  )
})

it('ends with what onProgress throws, and asks no other endpoint', async () => {
  const { service, rootOf, network } = await startDemo()
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: await rootOf(60n) })
  const other = apiOf(service)
  for (const step of ['0 of ', '1 of ', 'endpoint 0 ']) {
    const first = step === 'endpoint 0 ' ? down : apiOf(service)
    const onProgress = (told: string) => {
      if (told.startsWith(step)) throw new EndpointError('RESPONSE_TOO_LARGE')
    }
    const root = step === '1 of ' ? beacon.trustBeaconBlock({ network, blockRoot: await rootOf(0n) }) : trusted
    const fetching = () => codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [first, other], trusted: root, onProgress }))
    // Time passes only while nothing is computed: the other is not asked because the first is slow.
    expect((await timed(fetching)).value, step).toBe('RESPONSE_TOO_LARGE')
  }
  expect(other.asked).toEqual(['finality_update', 'finality_update'])
})

it('bounds what an endpoint sends', async () => {
  const { service, network, rootOf } = await startDemo()
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: await rootOf(60n) })
  const slot = '99999999'
  const far = { data: { signature_slot: slot, finalized_header: { beacon: { slot } } } }
  const long = { data: { signature_slot: '9'.repeat(2 ** 16) } }
  const cases: [string, Change][] = [
    ['BEACON_MALFORMED', () => null],
    ['BEACON_INTEGER', () => ({ data: { header: { beacon: { slot: '9'.repeat(1000) } } } })],
    ['BLOCK_MISSING', (body, path) => (path.endsWith('updates') ? [] : body)],
    ['ANSWER_MALFORMED', (body, path) => (path.endsWith('updates') ? { length: 1 } : body)],
    ['RESPONSE_TOO_LARGE', (body, path) => (path.endsWith('updates') ? Array(100_000).fill({}) : body)],
    ['RESPONSE_TOO_LARGE', () => ({ data: { header: { execution_branch: 'x'.repeat(10 ** 6) } } })],
    ['RESPONSE_TOO_LARGE', (body, path) => (path.endsWith('finality_update') ? far : body)],
    ['RESPONSE_TOO_LARGE', (body, path) => (path.endsWith('finality_update') ? long : body)],
    ['BEACON_MALFORMED', (body, path) => (path.endsWith('updates') ? [7] : body)],
  ]
  for (const [code, change] of cases) {
    expect(await codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [apiOf(service, change)], trusted })), `${change}`).toBe(
      code,
    )
  }
  expect(cases.length).toBe(9)
})

it('asks for eight updates at once, and reads of each answer what its kind needs', async () => {
  const { service, network, rootOf } = await startDemo()
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: await rootOf(60n) })
  const ahead: Change = (body, path) => {
    if (!path.endsWith('finality_update')) return body
    const { data } = body as { data: { signature_slot: string } }
    data.signature_slot = `${BigInt(data.signature_slot) + 20n * 8192n}`
    return body
  }
  const honest = apiOf(service, ahead)
  const asked: [string, number | undefined][] = []
  const api: BeaconApi = {
    get(path, signal, length) {
      asked.push([path.replace(/^.*\/|0x.*$|start_period=\d+&/g, ''), length])
      return honest.get(path, signal)
    },
  }
  expect(await codeOf(fetchConsensus({ ...ANY_TRUSTED, apis: [api], trusted }))).toBe('BLOCK_MISSING')
  expect(asked.slice(0, 3)).toEqual([
    ['', 2 ** 17],
    ['finality_update', 2 ** 16],
    ['updates?count=8', 2 ** 20],
  ])
})

it('gives an endpoint ten seconds for an answer', async () => {
  const hanging: BeaconApi = { get: () => new Promise(() => {}) }
  const trusted = beacon.trustBeaconBlock({ network: beacon.mainnetBeacon, blockRoot: word(1) })
  const { value, waited } = await timed(() => codeOf(fetchConsensus({ apis: [hanging], trusted })))
  expect(value).toBe('TIMEOUT')
  expect(waited).toBe(10_000)
})

it('keeps URLs and keys out of its errors, and honours limits', async () => {
  const { url } = await startServer(
    (response, _, __, body) => void response.writeHead(body === '' ? 403 : 500).end('{}'),
  )
  const KEY = 'secret-key-0123456789'
  const { network, rootOf } = await startDemo()
  const trusted = beacon.trustBeaconBlock({ network, blockRoot: await rootOf(60n) })
  const refused = [`${url}/${KEY}`, `${url}?apikey=${KEY}`, `http://127.0.0.1:1/${KEY}`]
  for (const target of refused) {
    const error = await fetchConsensus({
      ...ANY_TRUSTED,
      apis: [createBeaconApi(target, { timeoutMs: 5000 })],
      trusted,
    }).catch(error => error)
    expect(error).toBeInstanceOf(EndpointError)
    expect(error.layer).toBe('beacon')
    expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain(KEY)
  }
  expect(() => createBeaconApi('ftp://x')).toThrow('ARGUMENT_INVALID')
  const controller = new AbortController()
  const reason = { why: 'enough' }
  controller.abort(reason)
  const { signal } = controller
  const aborted = await fetchConsensus({ ...ANY_TRUSTED, apis: [createBeaconApi(url)], trusted, signal }).catch(
    error => error,
  )
  expect(aborted).toMatchObject({ code: 'ABORTED', cause: reason })
})

it('ends at once when it is aborted, with the reason, and asks nobody afterwards', async () => {
  const { service, follow } = await startDemo()
  const reason = { why: 'enough' }
  const controller = new AbortController()
  const { signal } = controller
  const stopped: AbortSignal[] = []
  const hanging: BeaconApi = {
    get: (_, given) => {
      if (given) stopped.push(given)
      controller.abort(reason)
      return new Promise(() => {})
    },
  }
  const other = apiOf(service)
  const l1BlockHash = await follow([hanging, other], { signal })
  for (let call = 0; call < 2; call++) {
    const error = await l1BlockHash().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ABORTED', action: 'none' })
    expect(Reflect.get(Object(error), 'cause')).toBe(reason)
  }
  expect(stopped.map(({ aborted }) => aborted)).toEqual([true])
  expect(other.asked).toEqual([])
})

/** As from a node that has seen few signatures yet: what is signed is true. */
const sparse: Change = (body, path) => {
  if (!path.endsWith('finality_update')) return body
  const { data } = body as { data: { sync_aggregate: { sync_committee_bits: string } } }
  data.sync_aggregate.sync_committee_bits = `0x${'00'.repeat(64)}`
  return body
}

it('waits for signatures that an endpoint in good faith has not seen, and puts it behind no other', async () => {
  const { service, follow, head, trust } = await startDemo()
  const outcome = async (change: Change) => {
    const order: number[] = []
    const told: string[] = []
    const apis = [change, (body: unknown) => body].map((each, index) => {
      const api = apiOf(service, each)
      return {
        get: (path: string) => {
          if (path.endsWith('finality_update')) order.push(index)
          return api.get(path)
        },
      }
    })
    const onFailure = (found: readonly BeaconFailure[]) => void told.push(found[0]?.code ?? 'none')
    const l1BlockHash = await follow(apis, { onFailure })
    expect(await l1BlockHash()).toBe(head())
    service.chain.l1.addBlock()
    expect(await l1BlockHash()).toBe(head())
    const alone = await follow([apiOf(service, change)], { maxAgeSeconds: 1 })
    const error = await alone().catch((thrown: EndpointError) => thrown)
    const fetched = fetchConsensus({ ...ANY_TRUSTED, apis: [apiOf(service, change)], trusted: await trust(60n) })
    const { code, action } = Object(error)
    return { code, action, told: told[0], order, alone: await codeOf(fetched) }
  }
  const [wait, few, forged] = ['wait', 'BEACON_TOO_FEW_SIGNERS', 'BEACON_FINALITY_MISMATCH']
  const code = 'BEACON_UNAVAILABLE'
  expect(await outcome(sparse)).toEqual({ code, action: wait, told: few, order: [0, 1, 0, 1], alone: few })
  // What is signed and false, or not signed by them, is told apart from it, and asked last.
  expect(await outcome(forge)).toEqual({ code, action: wait, told: forged, order: [0, 1, 1, 0], alone: forged })
})
