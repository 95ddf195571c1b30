import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ProofError } from '../../src/base/errors.ts'
import { followWith } from '../../src/client/follow/follow.ts'
import { createService, demoWorld } from '../../src/devnet/index.ts'
import { createChain, type FullChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  EndpointError,
  type FollowEvent,
  type FollowOptions,
  finalizedBlockHash,
} from '../../src/entry/rpc.ts'
import { asOfNetwork, type InParts, withNetwork } from '../network.ts'
import { randomOf } from '../random.ts'
import { sized } from '../size.ts'
import { skipTime } from './clock.ts'
import {
  chainOf,
  collect,
  expectTrue,
  fail,
  finalize,
  heldAt,
  providerOf,
  REQUESTS,
  startFollowing,
  type Tamper,
  to,
} from './following.ts'
import { CONTRACT, ROLLUP, word } from './servers.ts'

// A queue waits for busy endpoints.
beforeEach(skipTime)

/** The number of finalizations in the long run. 10,000 take some minutes. */
const RUNS = sized(45)

it('yields every finalization once, in order, with the requested state', async () => {
  const chain = chainOf(4)
  const { numbers, found, code } = await collect({
    chain,
    options: { fromL2BlockNumber: 0n },
    onWait: (_, count) => {
      if (count > 3) return false
      finalize(chain)
      if (count === 2) finalize(chain)
      return undefined
    },
  })
  expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  expect(code).toBe('ABORTED')
  // The contract keeps the timestamp of its newest finalization only.
  expect(found.map(({ finalizedTimestamp }) => finalizedTimestamp !== undefined)).toEqual([
    ...[false, false, false, false, true, true, false, true, true],
  ])
  expect(found[8]?.verified[0]?.storage[0]).toMatchObject({ exists: true, leafIndex: expect.any(Number) })
  expect(found[8]?.verified[0]).toMatchObject({
    trustedInput: 'l1BlockHash',
    l2BlockNumber: 8n,
    currentL2BlockNumber: 8n,
  })
})

it('begins with the newest finalization or at the requested block', async () => {
  const begin = async (options: Partial<FollowOptions>) => (await collect({ chain: chainOf(6), options })).numbers
  expect(await begin({})).toEqual([6])
  expect(await begin({ fromL2BlockNumber: 4n })).toEqual([4, 5, 6])
  expect(await begin({ fromL2BlockNumber: 6n })).toEqual([6])
  expect(await begin({ fromL2BlockNumber: 7n })).toEqual([])
  expect(await begin({ requests: [], fromL2BlockNumber: 5n })).toEqual([5, 6])

  const ahead = chainOf(2)
  const numbers = (
    await collect({
      chain: ahead,
      options: { fromL2BlockNumber: 4n },
      onWait: (_, count) => (count > 4 ? false : void finalize(ahead)),
    })
  ).numbers
  expect(numbers).toEqual([4, 5, 6])
})

it('sends one request if nothing is new, and six per finalization', async () => {
  const chain = chainOf(3)
  const counts: number[] = []
  let before = 0
  const following = startFollowing({
    chain,
    onWait: (_, count) => {
      counts.push(following.count() - before)
      before = following.count()
      if (count >= 6) return false
      if (count === 3) finalize(chain)
      if (count === 4) chain.l1.addBlock()
      return undefined
    },
  })
  const found: bigint[] = []
  await expect(
    (async () => {
      for await (const { l2BlockNumber } of following.items) found.push(l2BlockNumber)
    })(),
  ).rejects.toThrow('ABORTED')
  expect(found).toEqual([3n, 4n])
  // A finalization, twice nothing new, another finalization, an L1 block without one, nothing new.
  expect(counts).toEqual([6, 1, 1, 6, 3, 1])
})

it('lists missed finalizations from the logs of any endpoint, or without logs from older states', async () => {
  const silent = to('eth_getLogs', () => fail(-32601, 'no such method'))
  const cut = to('eth_getLogs', (logs: unknown[]) => logs.slice(0, -1))
  const middle = to('eth_getLogs', (logs: unknown[]) => logs.filter((_, index) => index !== 2))
  const noise = to('eth_getLogs', (logs: { topics: string[] }[]) => [
    ...logs.map(log => ({ ...log, topics: [log.topics[0], word(1000 + logs.length)] })),
    ...logs,
    { ...logs[0], topics: [logs[0]?.topics[0], word(3)], data: '0x' },
  ])
  const cases: [string, readonly (Tamper | undefined)[], number[]][] = [
    ['an honest one', [undefined], [2, 3, 4, 5, 6]],
    ['one without logs', [silent], [2, 3, 4, 5, 6]],
    ['one without logs, beside an honest one', [silent, undefined], [2, 3, 4, 5, 6]],
    ['one that leaves out the newest', [cut], []],
    ['one that leaves out the newest, beside an honest one', [undefined, cut], [2, 3, 4, 5, 6]],
    ['one that leaves out another, beside an honest one', [middle, undefined], [2, 3, 4, 5, 6]],
    ['one that makes up some', [noise], [2, 3, 4, 5, 6]],
    // A single endpoint can hide this, as documented.
    ['one that leaves out another', [to('eth_getLogs', (logs: unknown[]) => logs.toSpliced(-2, 1))], [2, 3, 4, 6]],
  ]
  for (const [name, l1, expected] of cases) {
    const { numbers, error } = await collect({ chain: chainOf(6), l1, options: { fromL2BlockNumber: 2n } })
    expect(numbers, `${name}: ${error}`).toEqual(expected)
  }
  expect(cases.length).toBe(8)
})

it('refuses finalizations that never happened', async () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  for (let count = 0; count < 4; count++) {
    chain.addBlock()
    finalize(chain)
  }
  const madeUp = to('eth_getLogs', (logs: { topics: string[] }[]) =>
    logs.flatMap(log => [{ ...log, topics: [log.topics[0], word(Number(log.topics[1]) - 1)] }, log]),
  )
  const { numbers, events } = await collect({ chain, l1: [madeUp], options: { fromL2BlockNumber: 2n } })
  expect(numbers).toEqual([2, 4, 6, 8])
  const refused = events.flatMap(event => (event.name === 'follow.request.failed' ? [event.error] : []))
  expect(refused.map(({ code, message }) => [code, message.match(/It named L2 block (\d)/)?.[1]])).toEqual(
    ['3', '5', '7'].map(end => ['L1_CONTRADICTION', end]),
  )
})

/** Knows the newest finalization only. */
const forgetful = to('eth_getLogs', (logs: unknown[]) => logs.slice(-1))

it('loses no finalization to a failure: each is yielded once, beside an endpoint that hides them', async () => {
  const all = Array.from({ length: 13 }, (_, index) => index + 2)
  let left = 1
  const once = to('eth_getLogs', answer => (left-- > 0 ? fail(-32005, 'too many requests') : answer))
  const { numbers } = await collect({
    ...{ chain: chainOf(14), l1: [forgetful, once], options: { fromL2BlockNumber: 2n } },
    onWait: (_, count) => count < 9 || false,
  })
  expect([numbers, left]).toEqual([all, -1])
  for (let seed = 1; seed <= sized(8); seed++) {
    const random = randomOf(seed)
    const rate = 0.1 + 0.2 * random()
    const flaky: Tamper = answer => {
      if (random() >= rate) return answer
      if (random() < 0.5) throw new TypeError('fetch failed')
      return fail(-32005, 'too many requests')
    }
    const l1 = [forgetful, flaky]
    const chain = chainOf(14)
    const { numbers } = await collect({
      chain,
      l1: random() < 0.5 ? l1 : l1.reverse(),
      l2: [flaky],
      options: { fromL2BlockNumber: 2n },
      onWait: (_, count) => {
        if (count % 5 === 0 && chain.latest() < 20n) for (let more = 0; more < 3; more++) finalize(chain)
        return count < 120 || false
      },
    })
    expect(numbers, `seed ${seed}`).toEqual(
      Array.from({ length: 19 + ((numbers.at(-1) ?? 0) - 20) }, (_, index) => index + 2),
    )
    expect(numbers.length).toBeGreaterThan(12)
  }
})

it('does not wait for ever for the lists of an endpoint that always fails', async () => {
  const dead = to('eth_getLogs', () => fail(-32005, 'too many requests'))
  const chain = chainOf(6)
  const { numbers, waits } = await collect({
    chain,
    l1: [dead, undefined],
    options: { fromL2BlockNumber: 2n, pollIntervalMs: 1 },
    onWait(milliseconds, count) {
      if (milliseconds === 1) for (let more = 0; more < 3; more++) finalize(chain)
      return count < 10 || false
    },
  })
  expect(numbers).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  // It is not waited for again.
  expect(waits.filter(milliseconds => milliseconds > 1).length).toBe(7)
})

it('asks for few inventions: what only their inventor named is dropped', async () => {
  const inventing = to('eth_getLogs', (logs: { topics: string[] }[]) => [
    ...Array.from({ length: 490 }, (_, index) => ({ ...logs[0], topics: [logs[0]?.topics[0], word(7 + 2 * index)] })),
    ...logs.map(log => ({ ...log, topics: [log.topics[0], word(Number(log.topics[1]))] })),
  ])
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  for (let count = 0; count < 500; count++) chain.addBlock()
  chain.finalize()
  for (let count = 0; count < 500; count++) chain.addBlock()
  chain.finalize()
  for (const l1 of [
    [inventing, undefined],
    [undefined, inventing],
  ]) {
    const { numbers, count } = await collect({ chain, l1, options: { fromL2BlockNumber: 1n, requests: [] } })
    expect(numbers).toEqual([500, 1000])
    expect(count()).toBeLessThan(40)
  }
})

it('switches to the next endpoint, and backs off if all fail', async () => {
  const chain = chainOf(3)
  let isDown = true
  const down = to('rollup_getProof', answer => (isDown ? fail(-32000, 'not now') : answer))
  const lying = to('rollup_getProof', (answer: object) => ({ ...answer, accountProof: {} }))
  const other = await collect({ chain, l2: [down, lying, undefined], l1: [to('eth_getProof', () => null), undefined] })
  expect(other.numbers).toEqual([3])
  const failed = other.events.filter(event => event.name === 'follow.request.failed')
  expect(failed.map(({ attributes }) => [attributes.layer, attributes['endpoint.index']])).toEqual([
    ...[
      ['L1', 0],
      // It has answered with its logs meanwhile.
      ['L1', 0],
      ['L2', 0],
      ['L2', 1],
    ],
  ])
  expect(failed.every(({ error }) => error !== undefined)).toBe(true)

  const { numbers, waits, events } = await collect({
    chain,
    l2: [down],
    options: { pollIntervalMs: 1_000 },
    onWait: (_, count) => {
      if (count === 10) isDown = false
      return count < 11 ? undefined : false
    },
  })
  expect(numbers).toEqual([3])
  expect(waits).toEqual([750, 1500, 3000, 6000, 12_000, 24_000, 48_000, 96_000, 192_000, 225_000, 1000])
  const retries = events.filter(event => event.name === 'follow.retry')
  expect(retries.map(({ attributes }) => attributes['error.type'])).toEqual(Array(10).fill('ENDPOINT_ERROR'))
})

it('waits for lagging proofs', async () => {
  const chain = chainOf(5, { proofLag: 2 })
  const move = (_: number, count: number) => (count > 4 ? false : void finalize(chain))
  const all = await collect({ chain, options: { fromL2BlockNumber: 2n }, onWait: move })
  expect(all.numbers).toEqual([2, 3, 4, 5, 6, 7])
  const waited = all.events.flatMap(event => (event.name === 'follow.retry' ? [event.error.message] : []))
  expect(waited[0]).toMatch(/^BLOCK_MISSING: the L2 endpoint, rollup_getProof\. L2 block 4\./)
})

it('stops if the proofs of a finalization are gone, or skips it on request', async () => {
  const pruned = to('rollup_getProof', (answer, params) =>
    params[2] === '0x3' ? fail(-32600, 'BLOCK_MISSING_IN_CHAIN') : answer,
  )
  const run = (options: Partial<FollowOptions>) =>
    collect({
      chain: chainOf(5),
      l2: [pruned],
      options: { fromL2BlockNumber: 2n, ...options },
      onWait: (_, n) => (n < 30 ? undefined : false),
    })
  const stopped = await run({})
  expect(stopped.numbers).toEqual([2])
  expect(stopped.error).toMatchObject({ code: 'PROOF_UNAVAILABLE', layer: 'L2', found: 'L2 block 3, while 5 is held' })
  expect(stopped.waits.length).toBe(7)
  const skipping = await run({ skipUnavailable: true })
  expect(skipping.numbers).toEqual([2, 4, 5])
  expect(skipping.events.find(({ name }) => name === 'follow.skipped')?.attributes).toEqual({ 'l2.block.number': 3 })
})

it('skips no finalization because of a single miss', async () => {
  let misses = 2
  const lagging = to('rollup_getProof', (answer, params) =>
    params[2] === '0x3' && misses-- > 0 ? fail(-32600, 'BLOCK_MISSING_IN_CHAIN') : answer,
  )
  const options = { fromL2BlockNumber: 2n, skipUnavailable: true }
  const onWait = (_: number, count: number) => count < 9 || false
  const { numbers, events } = await collect({ chain: chainOf(5), l2: [lagging], options, onWait })
  expect(numbers).toEqual([2, 3, 4, 5])
  expect(events.some(({ name }) => name === 'follow.skipped')).toBe(false)
})

it('stops if every endpoint keeps lying, but not for temporary failures', async () => {
  const onWait = (_: number, count: number) => (count < 40 ? undefined : false)
  const forged = to('rollup_getProof', (answer: object) => ({ ...answer, accountProof: null }))
  const refused = await collect({ chain: chainOf(3), l2: [forged], onWait })
  expect([refused.code, refused.waits.length]).toEqual(['MALFORMED_RESPONSE', 7])
  const beside = await collect({
    chain: chainOf(3),
    l2: [forged, to('rollup_getProof', () => fail(429, 'no'))],
    onWait,
  })
  expect([beside.code, beside.waits.length]).toEqual(['ABORTED', 40])
  const gone = to('eth_getStorageAt', () => fail(4444, 'pruned history unavailable'))
  const noLogs: Tamper = (answer, method, params) =>
    method === 'eth_getLogs' ? fail(4444, 'pruned history unavailable') : gone(answer, method, params)
  const unlisted = await collect({ chain: chainOf(3), l1: [noLogs], options: { fromL2BlockNumber: 1n }, onWait })
  expect([unlisted.code, unlisted.waits.length]).toEqual(['L1_HISTORY_MISSING', 7])
})

it('goes on beside an endpoint that says impossible things of older states, and waits for one that is busy', async () => {
  const noLogs: Tamper = (answer, method) =>
    method === 'eth_getLogs' ? fail(-32601, 'the method eth_getLogs does not exist') : answer
  for (const held of [`0x${'f'.repeat(64)}`, `0x1${'0'.repeat(16)}`]) {
    const liar: Tamper = (answer, method, params) =>
      method === 'eth_getStorageAt' ? held : noLogs(answer, method, params)
    const beside = await collect({ chain: chainOf(4), l1: [undefined, liar], options: { fromL2BlockNumber: 1n } })
    expect([beside.code, beside.numbers]).toEqual(['ABORTED', [1, 2, 3, 4]])
  }

  // What the other one hides, this one would tell.
  let isBusy = true
  const busy: Tamper = (answer, method, params) =>
    method === 'eth_getStorageAt' && isBusy ? fail(429, 'busy') : noLogs(answer, method, params)
  const hiding = to('eth_getLogs', (logs: unknown[]) => logs.slice(-1))
  const onWait = (_: number, count: number) => {
    isBusy = count < 2
    return count < 4 ? undefined : false
  }
  const waited = await collect({ chain: chainOf(4), l1: [busy, hiding], options: { fromL2BlockNumber: 1n }, onWait })
  expect([waited.code, waited.numbers]).toEqual(['ABORTED', [1, 2, 3, 4]])
})

it('misses no finalization of the same L1 block as another, though the endpoint is down for a moment', async () => {
  // L2 blocks 3 and 4 are finalized in L1 block 4. It takes one block per request of logs.
  let calls = 0
  const narrow: Tamper = (answer, method, params) => {
    if (method === 'eth_getStorageAt') return params[2] === '0x3' ? word(2) : answer
    if (method !== 'eth_getLogs') return answer
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: Hex; toBlock: Hex }]
    if (fromBlock !== toBlock) return fail(-32602, 'block range is too large')
    if (fromBlock !== '0x4') return fromBlock === '0x3' ? [] : answer
    if (++calls === 1) throw new TypeError('fetch failed')
    const [log] = answer as [{ topics: Hex[] }]
    const [event, , ...rest] = log.topics
    return [log, { ...log, topics: [event, word(3), ...rest] }]
  }
  const { numbers } = await collect({ chain: chainOf(6), l1: [narrow], options: { fromL2BlockNumber: 1n } })
  expect([numbers, calls]).toEqual([[1, 2, 3, 4, 5, 6], 2])
})

it('stops if the sources of the L1 block hash disagree, and names both values', async () => {
  const [chain, forked] = [chainOf(3), chainOf(3, { contractVersion: 7 })]
  const [one, two] = [chain, forked].map(each => providerOf(l1Methods(each, 1n)).provider)
  if (!one || !two) throw new Error('two')
  const hashOf = (each: FullChain) => String(Reflect.get(Object(each.l1.getBlock(3n)), 'hash'))
  const split = await collect({ chain, options: { l1BlockHash: finalizedBlockHash([one, two], { quorum: 2 }) } })
  expect(split.code).toBe('L1_DISAGREEMENT')
  for (const each of [chain, forked]) expect(String(split.error)).toContain(hashOf(each))
  expect([split.waits, split.numbers]).toEqual([[], []])

  // One source, which later gives another hash.
  const hashes = [hashOf(chain), hashOf(chain), hashOf(forked)] as Hex[]
  const other = providerOf(l1Methods(forked, 1n)).provider
  const changed = await collect({
    chain,
    l1: [
      (answer, method, params) =>
        answer === null && method === 'eth_getBlockByHash' ? other.request({ method, params }) : answer,
    ],
    options: { l1BlockHash: () => hashes.shift() ?? '0x' },
    onWait: () => undefined,
  })
  expect(changed.code).toBe('L1_DISAGREEMENT')
  for (const each of [chain, forked]) expect(String(changed.error)).toContain(hashOf(each))
  expect(changed.numbers).toEqual([3])

  // A source that does not answer is a temporary failure.
  let isDown = true
  const flapping = providerOf(l1Methods(chain, 1n), answer => (isDown ? fail(-32005, 'no') : answer)).provider
  const passing = await collect({
    chain,
    options: { l1BlockHash: finalizedBlockHash([one, flapping], { quorum: 2 }) },
    onWait: (_, count) => {
      isDown = count < 20
      return count < 22 ? undefined : false
    },
  })
  expect([passing.code, passing.numbers]).toEqual(['ABORTED', [3]])
})

it('ignores a source that falls behind, and refuses a finalization that is undone', async () => {
  const chain = chainOf(3)
  const behind = chainOf(2)
  const hashOf = (each: FullChain, at: bigint) => Reflect.get(Object(each.l1.getBlock(at)), 'hash') as Hex
  const old = await collect({
    chain,
    options: {
      l1BlockHash: (
        hashes => () =>
          hashes.shift() ?? '0x'
      )([hashOf(chain, 3n), hashOf(chain, 1n), hashOf(chain, 3n)]),
    },
    onWait: (_, count) => (count < 3 ? undefined : false),
  })
  expect([old.numbers, old.code]).toEqual([[3], 'ABORTED'])
  // Another chain, longer but with fewer finalizations.
  for (let added = 0; added < 9; added++) behind.l1.addBlock()
  const state = (await collect({ chain })).found[0]?.progress
  const undone = await collect({ chain: behind, options: { resumeFrom: state } })
  expect(undone.code).toBe('L1_DISAGREEMENT')
  expect(String(undone.error)).toContain('L2 block 3 was final at L1 block 3 (0x')
})

it('refuses a higher L1 block of another chain, whatever that has finalized', async () => {
  const chain = chainOf(3)
  const [first] = (await collect({ chain })).found
  const others: [string, FullChain, string][] = []
  const another = createChain(demoWorld(poseidon2), ROLLUP)
  another.pending.setStorage(CONTRACT, { key: word(99), value: word(1) })
  for (let added = 0; added < 5; added++) finalize(another)
  others.push(['the same finalizations with other states', another, 'its root is 0x'])
  const sparse = createChain(demoWorld(poseidon2), ROLLUP)
  for (let added = 0; added < 6; added++) sparse.addBlock()
  sparse.finalize()
  for (let added = 0; added < 5; added++) sparse.l1.addBlock()
  others.push(['other finalizations', sparse, 'the contract has no root of it'])
  for (const [name, other, reason] of others) {
    for (let added = 0; added < 4; added++) other.l1.addBlock()
    const { code, numbers, error } = await collect({ chain: other, options: { resumeFrom: first?.progress } })
    expect([name, code, numbers]).toEqual([name, 'L1_DISAGREEMENT', []])
    expect(String(error)).toContain(reason)
  }
  expect(others.length).toBe(2)
})

it('refuses invalid options and states without sending a request', () => {
  const { provider } = providerOf(new Map())
  const good = { l1: provider, l2: provider, rollup: ROLLUP, scheme: poseidon2, l1BlockHash: () => word(1) }
  const progress = {
    version: 1,
    rollup: ROLLUP.address,
    l2BlockNumber: '0x3',
    stateRoot: word(2),
    implementation: CONTRACT,
    l1Block: { number: '0x3', hash: word(1) },
  }
  const make = (options: unknown) =>
    followWith(withNetwork(options as FollowOptions), { wait: async () => {}, random: () => 0 })
  const wrong: [string, object][] = [
    ...Object.keys(good).map((name): [string, object] => [name, { [name]: undefined }]),
    ['l1', { l1: [] }],
    ['l1', { l1: 'ftp://key' }],
    ['l1', { l1: {} }],
    ['l2[1]', { l2: [provider, 1] }],
    ['l1BlockHash', { l1BlockHash: word(1) }],
    ['fromL2BlockNumber', { fromL2BlockNumber: 1 }],
    ['fromL2BlockNumber', { fromL2BlockNumber: -1n }],
    ['pollIntervalMs', { pollIntervalMs: 0 }],
    ['skipunavailable', { skipunavailable: true }],
    ['from', { from: 1n }],
    ['skipUnavailable', { skipUnavailable: 0 }],
    ['onEvent', { onEvent: 1 }],
    ['signal', { signal: 1 }],
    ['requests', { requests: 1 }],
    ['requests[0]', { requests: [null] }],
    ['requests[0].address', { requests: [{}] }],
    ['requests[0].address', { requests: [{ address: '0x' }] }],
    ['requests[1].storageKeys[0]', { requests: [{ address: CONTRACT }, { address: CONTRACT, storageKeys: ['0x1'] }] }],
    ['requests[0].storagekeys', { requests: [{ address: CONTRACT, storagekeys: [] }] }],
    ['rollup.address', { rollup: { address: '0x' } }],
    ['rollup.adress', { rollup: { ...ROLLUP, adress: '0x' } }],
    ['scheme', { scheme: { name: 'x' } }],
    ['method', { method: '' }],
    ['maxKeysPerRequest', { maxKeysPerRequest: 0 }],
    ...[
      1,
      {},
      [],
      { ...progress, version: 2 },
      { ...progress, rollup: CONTRACT },
      { ...progress, l2BlockNumber: '3' },
      { ...progress, l1Block: { number: '0x3' } },
      { ...progress, stateRoot: undefined },
      { ...progress, implementation: undefined },
      Object.create(progress),
    ].map((resumeFrom): [string, object] => ['resumeFrom', { resumeFrom }]),
  ]
  for (const [path, change] of wrong) {
    const shown = JSON.stringify(change, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    expect(() => make({ ...good, ...change }), `${path} ${shown}`).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path: asOfNetwork(path) }),
    )
  }
  expect(wrong.length).toBe(39)
  for (const options of [undefined, null, 7, []]) expect(() => make(options)).toThrow('ARGUMENT_INVALID')
  for (const resumeFrom of [null, undefined, progress]) expect(() => make({ ...good, resumeFrom })).not.toThrow()
})

it('ends when aborted, even during a request', async () => {
  const controller = new AbortController()
  const never = { request: () => new Promise<never>(() => {}) }
  const options = { ...{ l1: never, l2: never, rollup: ROLLUP, scheme: poseidon2 }, l1BlockHash: () => word(1) }
  const items = followWith(withNetwork({ ...options, signal: controller.signal }), {
    wait: async () => {},
    random: () => 0,
  })
  const next = items.next()
  const reason = { why: 'enough' }
  controller.abort(reason)
  const error = await next.catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'ABORTED', action: 'none' })
  expect(Reflect.get(Object(error), 'cause')).toBe(reason)
  await expect(items.next()).resolves.toEqual({ done: true, value: undefined })
})

it('continues over HTTP when either side is restarted on its port', async () => {
  // The servers answer within the time that they have. The follower waits as the script says, without a timer.
  vi.useRealTimers()
  let finalizations = 2
  /** A restarted service has the same chain, because it consists of the same blocks. */
  async function start(port = 0) {
    const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
    const chain = service.chain as FullChain
    for (let added = 0; added < finalizations; added++) finalize(chain)
    const urls = await service.listen(port)
    onTestFinished(() => service.close({ graceMs: 0 }))
    return { service, chain, ...urls, port: Number(new URL(urls.url).port) }
  }
  const sides = { l1: await start(), l2: await start() }
  const move = () => {
    finalizations++
    for (const { chain } of Object.values(sides)) finalize(chain)
  }
  const stop = (side: keyof typeof sides) => sides[side].service.close({ graceMs: 0 })
  const restart = async (side: keyof typeof sides) => {
    sides[side] = await start(sides[side].port)
  }
  /** What happens at each wait. A stopped side does not answer. */
  const script: (() => unknown)[] = [
    move,
    () => stop('l1'),
    move,
    () => restart('l1'),
    move,
    () => stop('l2'),
    move,
    () => restart('l2'),
    async () => [await stop('l1'), await stop('l2'), move(), move()],
    () => restart('l2'),
    () => restart('l1'),
    move,
  ]
  const [l1, l2] = [createHttpProvider(sides.l1.l1Url), createHttpProvider(sides.l2.url)]
  const controller = new AbortController()
  const events: FollowEvent[] = []
  const options: InParts<FollowOptions> = {
    ...{
      l1,
      l2,
      rollup: ROLLUP,
      scheme: poseidon2,
      l1BlockHash: finalizedBlockHash(l1),
      requests: REQUESTS,
      fromL2BlockNumber: 0n,
    },
    ...{ signal: controller.signal, onEvent: event => events.push(event) },
  }
  const wait = async () => {
    const next = script.shift()
    if (next === undefined) controller.abort()
    controller.signal.throwIfAborted()
    await next?.()
  }
  const found: bigint[] = []
  await expect(
    (async () => {
      for await (const item of followWith(withNetwork(options), { wait, random: () => 0.5 })) {
        expectTrue(item, sides.l1.chain)
        found.push(item.l2BlockNumber)
      }
    })(),
  ).rejects.toThrow('ABORTED')
  expect(found).toEqual(Array.from({ length: finalizations + 1 }, (_, index) => BigInt(index)))
  expect(finalizations).toBe(9)
  const retries = events.filter(event => event.name === 'follow.retry').map(({ error }) => error.code)
  expect(retries.length).toBeGreaterThan(3)
  expect(new Set(retries)).toEqual(new Set(['UNREACHABLE']))
})

it('ends at once if no beacon endpoint is in a fork that the network lists', async () => {
  const l1BlockHash = async () => {
    throw new ProofError('BEACON_FORK_UNKNOWN')
  }
  const { l1, l2 } = { l1: createHttpProvider('http://127.0.0.1:1'), l2: createHttpProvider('http://127.0.0.1:1') }
  const waits: number[] = []
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  const options = withNetwork({ l1, l2, rollup: ROLLUP, scheme: poseidon2, l1BlockHash, requests: [] })
  await expect(followWith(options, { wait, random: () => 0 }).next()).rejects.toThrow('BEACON_FORK_UNKNOWN')
  expect(waits).toEqual([])
})

it(`yields each of ${RUNS} finalizations of an unstable rollup once, despite restarts and an upgrade`, async () => {
  const random = randomOf(7)
  const chance = (probability: number) => random() < probability
  const chain = chainOf(2, { l1Unfinalized: 4, proofLag: 2, keep: 200, l1History: 64 })
  /** The finalizations in finalized L1 blocks, as the simulation knows them. */
  const truth: bigint[] = []
  const note = () => {
    for (const { l2BlockNumber, l1BlockNumber } of chain.l1.finalizations()) {
      const isFinal = l1BlockNumber <= chain.l1.blockNumber('finalized')
      if (isFinal && l2BlockNumber > (truth.at(-1) ?? -1n)) truth.push(l2BlockNumber)
    }
  }
  const move = () => {
    for (let more = chance(0.3) ? 3 : 1; more > 0; more--) {
      if (chance(0.2)) chain.addBlock()
      finalize(chain)
    }
    if (chance(0.3)) chain.l1.addBlock()
    if (followed.length >= RUNS / 2) chain.upgrade()
    if (chance(0.15)) chain.l1.reorganize(1 + Math.floor(random() * 4))
    note()
  }
  /** A tenth of all requests fail or are answered wrongly. */
  const spoil: Tamper = answer => {
    if (!chance(0.1)) return answer
    if (chance(0.3)) return fail(-32005, 'too many requests')
    if (chance(0.3)) throw new TypeError('fetch failed')
    if (chance(0.3)) return null
    return JSON.parse(JSON.stringify(answer).replace(/[1-9a-e](?=[^1-9a-e]*"[^"]*$)/, 'f'))
  }
  // The endpoint that omits logs is not the only one.
  const omit: Tamper = (answer, method, params) =>
    spoil(method === 'eth_getLogs' && Array.isArray(answer) ? answer.filter(() => chance(0.8)) : answer, method, params)
  const honestLogs: Tamper = (answer, method, params) =>
    method === 'eth_getLogs' ? answer : spoil(answer, method, params)

  const followed: bigint[] = []
  let state: unknown
  let [restarts, requests, refused, changes] = [0, 0, 0, 0]
  const heap: number[] = []
  while (followed.length < RUNS) {
    let budget = 20 + Math.floor(random() * 400)
    const following = startFollowing({
      chain,
      l1: [omit, honestLogs],
      l2: [spoil, spoil],
      options: state === undefined ? { fromL2BlockNumber: 0n } : { resumeFrom: state },
      onWait: () => {
        move()
        return --budget > 0 ? undefined : false
      },
    })
    const kill = following.controller
    try {
      for await (const item of following.items) {
        if (followed.length % 50 === 0) expectTrue(item, chain)
        expect([item.stateRoot, item.blockHash]).toEqual(heldAt(chain, item.l2BlockNumber))
        followed.push(item.l2BlockNumber)
        state = JSON.parse(JSON.stringify(item.progress))
        if (followed.length % 500 === 0) heap.push(Math.round(process.memoryUsage().heapUsed / 2 ** 20))
        if (followed.length >= RUNS || chance(0.08)) kill.abort()
        if (chance(0.5)) move()
      }
    } catch (error) {
      // Aborted by the test, or stopped by lies and restarted as a supervisor would.
      if (error instanceof EndpointError && error.code === 'ABORTED') restarts++
      else refused++
      if (refused > RUNS) throw error
    }
    requests += following.count()
    changes += following.events.filter(({ name }) => name === 'follow.implementation.changed').length
  }
  expect(followed).toEqual(truth.slice(0, followed.length))
  expect(new Set(followed).size).toBe(followed.length)
  expect(restarts).toBeGreaterThan(1)
  expect(changes).toBe(1)
  console.info(
    `${followed.length} finalizations, ${restarts} restarts, ${refused} stops, ${requests} requests, heap ${heap.join(' ')} MiB`,
  )
}, 3_600_000)
