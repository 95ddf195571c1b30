import type { ServerResponse } from 'node:http'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it, onTestFinished, vi } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import { type OnFailure, openEndpoints } from '../../src/client/sources/endpoints.ts'
import { LACKING_MS } from '../../src/client/transport/limits.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import type { Methods } from '../../src/devnet/service/json-rpc.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  createRollupClient,
  type Endpoint,
  EndpointError,
  type EndpointErrorCode,
  fetchVerifiedRoot,
  finalizedBlockHash,
  type RecordProgress,
  type RequestProvider,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { skipTime } from './clock.ts'
import { fetchAnswer, fetcherOf } from './fetching.ts'
import { demoChain, everythingIn } from './hostile-conversations.ts'
import { CONTRACT, ROLLUP, startServer, startService, word } from './servers.ts'

const chain = demoChain()
const storageKeys = [0, 1, 2, 7, 9].map(word)
const stateRoot = chain.at(8n)?.stateRoot() ?? '0x'
const truth = chain.at(8n)?.getProof(CONTRACT, storageKeys)
const claim = { scheme: poseidon2, stateRoot, address: CONTRACT, storageKeys, l2BlockNumber: 8n }
const recording = { scheme: poseidon2, rollup: ROLLUP, address: CONTRACT, storageKeys }

type Change = (answer: unknown, method: string, params: readonly unknown[], turn: number) => unknown

/** An endpoint that may fail or lie, and the methods it was asked for. */
function endpoint(methods: Methods, change: Change = answer => answer) {
  const asked: string[] = []
  const provider: RequestProvider = {
    async request({ method, params = [] }) {
      asked.push(method)
      const answer = methods.get(method)?.(params as unknown[])
      return change(JSON.parse(JSON.stringify(answer ?? null)), method, params as unknown[], asked.length - 1)
    },
  }
  return Object.assign(provider, { asked })
}
const l1Of = (change?: Change) => endpoint(l1Methods(chain, 1n), change)
const l2Of = (change?: Change) => endpoint(l2Methods(chain, 2n), change)
const fail =
  (code: EndpointErrorCode): Change =>
  () => {
    throw new EndpointError(code)
  }
const to =
  (lied: string, change: Change): Change =>
  (answer, method, ...rest) =>
    method === lied ? change(answer, method, ...rest) : answer
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    error => error.code,
  )

it('takes a URL, a URL object, a provider of either kind, or several of them', async () => {
  const { url } = await startService()
  const send = { send: (method: string, params: unknown[]) => createHttpProvider(url).request({ method, params }) }
  const down = 'http://127.0.0.1:1'
  const kinds: (Endpoint | readonly Endpoint[])[] = [
    ...[url, new URL(url), createHttpProvider(url), send],
    [url],
    [down, new URL(down), send],
  ]
  for (const l2 of kinds) expect(await fetcherOf(l2).blockNumber()).toBe(1n)
  expect(kinds.length).toBe(6)
})

it('asks the endpoint that last succeeded first, and each at most once', async () => {
  let isDown = true
  const first = l2Of(answer => (isDown ? fail('UNREACHABLE')(answer, '', [], 0) : answer))
  const second = l2Of()
  const client = fetcherOf([first, second])
  for (let turn = 0; turn < 3; turn++) expect(await client.blockNumber()).toBe(8n)
  expect([first.asked.length, second.asked.length]).toEqual([1, 3])
  isDown = false
  const broken = fetcherOf([l2Of(fail('TIMEOUT')), first, l2Of(fail('TIMEOUT'))])
  first.asked.length = 0
  // Requests at the same time do not make each other skip an endpoint.
  const proofs = await Promise.all(storageKeys.map(key => broken.answer({ ...claim, storageKeys: [key] })))
  expect(proofs).toEqual(storageKeys.map(key => chain.at(8n)?.getProof(CONTRACT, [key])))
  expect(first.asked.length).toBe(5)
})

it('asks every endpoint, whatever other requests have moved on to meanwhile', async () => {
  let release = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const first: RequestProvider = {
    async request({ method }) {
      if (method === 'rollup_getProof') await gate
      throw new EndpointError('UNREACHABLE')
    },
  }
  const second = l2Of(to('eth_blockNumber', fail('UNREACHABLE')))
  const third = l2Of(to('rollup_getProof', fail('UNREACHABLE')))
  const client = fetcherOf([first, second, third])
  const proof = client.answer(claim)
  expect(await client.blockNumber()).toBe(8n)
  release()
  expect(await proof).toEqual(truth)
})

const FAILURES: [EndpointErrorCode, boolean][] = [
  ...['UNREACHABLE', 'RATE_LIMITED', 'BLOCK_MISSING', 'ETH_PROOF_ANSWER', 'UNAUTHORIZED', 'CHAIN_MISMATCH'].map(
    (code): [EndpointErrorCode, boolean] => [code as EndpointErrorCode, true],
  ),
  ...['ABORTED', 'L1_DISAGREEMENT', 'CLOCK_BEHIND', 'BEACON_CHECKPOINT_OLD'].map(
    (code): [EndpointErrorCode, boolean] => [code as EndpointErrorCode, false],
  ),
]
it.each(FAILURES)('after %s, asks the next: %s', async (code, isAsked) => {
  const next = l2Of()
  const outcome = codeOf(createRollupClient([l2Of(fail(code)), next]).getVerifiedState(claim))
  expect([await outcome, next.asked.length]).toEqual(isAsked ? ['nothing', 1] : [code, 0])
})

it('does not ask the next after a mistake of the program', async () => {
  const next = l2Of()
  const endpoints = openEndpoints('l2', [l2Of(), next])
  let rest: AbortSignal | undefined
  const work = endpoints.run(async (_, { signal }) => {
    rest = signal
    throw new RangeError('a bug')
  })
  await expect(work).rejects.toThrow(RangeError)
  expect(next.asked).toEqual([])
  // What it has left under way ends.
  expect(rest?.aborted).toBe(true)
})

it('ends all at once after a mistake of the program, and hands nothing on', async () => {
  const endpoints = openEndpoints('l2', [l2Of(), l2Of(), l2Of(), l2Of()])
  const signals: AbortSignal[] = []
  const round = endpoints.each(async (_, { signal }, index) => {
    signals.push(signal)
    await new Promise(resolve => setTimeout(resolve, index))
    if (index === 2) throw new RangeError('a bug')
    return index < 3 || new Promise(() => {})
  })
  const found: number[] = []
  const read = async () => {
    for await (const { index } of round) {
      found.push(index)
      await vi.waitFor(() => expect(signals.every(one => one.aborted)).toBe(true))
    }
  }
  await expect(read()).rejects.toThrow(RangeError)
  expect([found, signals.length]).toEqual([[0], 4])
})

it('throws the failure that is most likely to pass, and tells of each', async () => {
  const cases: [EndpointErrorCode[], EndpointErrorCode][] = [
    [['UNAUTHORIZED', 'TIMEOUT', 'BLOCK_MISSING'], 'TIMEOUT'],
    [['BLOCK_MISSING', 'UNREACHABLE', 'TIMEOUT'], 'UNREACHABLE'],
    [['OTHER_KEYS', 'BLOCK_MISSING', 'METHOD_UNKNOWN'], 'BLOCK_MISSING'],
    [['METHOD_UNKNOWN', 'OTHER_KEYS'], 'OTHER_KEYS'],
  ]
  for (const [codes, code] of cases) {
    const told: unknown[] = []
    const onFailure: OnFailure = (layer, index, error) => void told.push([layer, index, error.code])
    const endpoints = openEndpoints(
      'l2',
      codes.map(each => l2Of(fail(each))),
      'L2',
      { onFailure },
    )
    const error = await endpoints.run(provider => provider.call('x', [])).catch(thrown => thrown)
    expect(error).toMatchObject({ code, layer: 'L2' })
    expect(told).toEqual(codes.map((each, index) => ['L2', index, each]))
  }
  expect(cases.length).toBe(4)
})

it('never returns a wrong answer if another endpoint has the right one', async () => {
  const other = chain.at(4n)
  const wrong: [string, Change][] = [
    ['another block', (_, __, [, keys]) => other?.getProof(CONTRACT, keys as typeof storageKeys)],
    ['other keys', () => chain.at(8n)?.getProof(CONTRACT, [word(5)])],
    [
      'another account',
      (_, __, [, keys]) => chain.at(8n)?.getProof(`0x${'a1'.repeat(20)}`, keys as typeof storageKeys),
    ],
    ['nothing', () => null],
    ['eth_getProof', () => ({ accountProof: ['0x'], storageHash: '0x', storageProof: [] })],
  ]
  for (const [what, change] of wrong) {
    const lie = to('rollup_getProof', change)
    const client = createRollupClient([l2Of(lie), l2Of()])
    expect((await client.getVerifiedState(claim)).storage[0]?.value, what).toBe(
      chain.at(8n)?.getStorage(CONTRACT, word(0)),
    )
    expect(await fetchAnswer([l2Of(lie), l2Of()], claim, { maxKeysPerRequest: 2 }), what).toEqual(truth)
    const { verified } = await recordEvidence(withNetwork({ l1: l1Of(), l2: [l2Of(lie), l2Of()], ...recording }))
    expect(verified.stateRoot, what).toBe(stateRoot)
    expect(await codeOf(createRollupClient([l2Of(lie), l2Of(lie)]).getVerifiedState(claim)), what).not.toBe('nothing')
  }
  expect(wrong.length).toBe(5)
})

it('goes on at the next endpoint with the keys that are left', async () => {
  const first = l2Of((answer, _, __, turn) => (turn === 2 ? fail('UNREACHABLE')(answer, '', [], 0) : answer))
  const second = l2Of()
  expect(await fetchAnswer([first, second], claim, { maxKeysPerRequest: 1 })).toEqual(truth)
  expect([first.asked.length, second.asked.length]).toEqual([3, 3])
  // It may write the same account in another way, once both are verified.
  const broken = l2Of((answer, _, __, turn) => (turn === 2 ? fail('UNREACHABLE')(answer, '', [], 0) : answer))
  const loud = l2Of(answer => {
    const { accountProof, ...rest } = Object(answer)
    return { ...rest, accountProof: { ...accountProof, key: accountProof.key.toUpperCase().replace('X', 'x') } }
  })
  const joined = await fetchAnswer([broken, loud], claim, { maxKeysPerRequest: 1 })
  expect(Object(joined).storageProofs).toEqual(Object(truth).storageProofs)
  expect(loud.asked.length).toBe(3)
})

/** Logs that name these finalizations and no other. */
const naming =
  (...blocks: number[]) =>
  (logs: unknown) => {
    const [log] = logs as { topics: string[] }[]
    return blocks.map(block => ({ ...log, topics: [log?.topics[0], word(block)] }))
  }

it('records from whichever endpoints tell the truth, and says which failed', async () => {
  const lies: [string, Change][] = [
    ['is down', fail('UNREACHABLE')],
    [
      'forges a block, and cannot prove anything in it',
      to('eth_getBlockByNumber', answer => {
        const forged = { ...Object(answer), stateRoot: word(7) }
        return { ...forged, hash: bytesToHex(keccak_256(Buffer.from(encodeHeader(forged).slice(2), 'hex'))) }
      }),
    ],
    [
      'names a block that it cannot prove',
      to('eth_getBlockByNumber', answer => ({ ...Object(answer), stateRoot: word(7) })),
    ],
    [
      'proves another account',
      to('eth_getProof', (_, __, [address]) => chain.l1.getProof(address as typeof CONTRACT, [], 42n)),
    ],
    [
      'leaves out a slot',
      to('eth_getProof', answer => ({ ...Object(answer), storageProof: Object(answer).storageProof.slice(0, 1) })),
    ],
    ['makes one up', to('eth_getLogs', naming(5))],
  ]
  const lagging = l2Of(
    to('rollup_getProof', (answer, _, params) =>
      params[2] === '0x8' ? fail('BLOCK_MISSING')(answer, '', [], 0) : answer,
    ),
  )
  for (const [what, lie] of lies) {
    const steps: RecordProgress[] = []
    const onProgress = (progress: RecordProgress) => void steps.push(progress)
    const { verified } = await recordEvidence(
      withNetwork({ l1: [l1Of(lie), l1Of()], l2: lagging, ...recording, onProgress }),
    )
    expect(verified, what).toMatchObject({ l2BlockNumber: 4n, currentL2BlockNumber: 8n })
    const failed = steps.filter(step => step.step === 'endpointFailed' && step.layer === 'L1')
    expect(failed[0], what).toMatchObject({ index: 0, code: expect.any(String) })
    expect(
      failed.every(step => Reflect.get(step, 'index') === 0),
      what,
    ).toBe(true)
  }
  expect(lies.length).toBe(6)
})

it('is shown every earlier finalization that an endpoint tells of', async () => {
  const kept = (block: string) =>
    to('rollup_getProof', (answer, _, params) =>
      params[2] === block ? answer : fail('BLOCK_MISSING')(answer, '', [], 0),
    )
  const hiding: [string, Change][] = [
    ['all', to('eth_getLogs', () => [])],
    ['all but the newest', to('eth_getLogs', naming(8))],
    ['some', to('eth_getLogs', naming(3))],
  ]
  let found = 0
  for (const [what, lie] of hiding) {
    for (const l1 of [
      [l1Of(lie), l1Of()],
      [l1Of(), l1Of(lie)],
      [l1Of(), l1Of(fail('TIMEOUT')), l1Of(lie)],
    ]) {
      for (const [block, number] of [
        ['0x4', 4n],
        ['0x3', 3n],
        ['0x0', 0n],
      ] as const) {
        const { verified } = await recordEvidence(withNetwork({ l1, l2: l2Of(kept(block)), ...recording }))
        expect(verified.l2BlockNumber, what).toBe(number)
        found++
      }
    }
  }
  expect(found).toBe(27)
  // A denial proves nothing while another endpoint is down.
  const unsure = { l1: [l1Of(to('eth_getLogs', naming(8))), l1Of(to('eth_getLogs', fail('TIMEOUT')))] }
  expect(await codeOf(recordEvidence(withNetwork({ ...unsure, l2: l2Of(kept('0x4')), ...recording })))).toBe('TIMEOUT')
})

it('takes the timestamp from whichever endpoint serves the log', async () => {
  for (const lie of [fail('METHOD_UNKNOWN'), () => [], () => 'logs'] satisfies Change[]) {
    const options = { l1: [l1Of(to('eth_getLogs', lie)), l1Of()], l2: l2Of(), ...recording }
    expect((await recordEvidence(withNetwork(options))).verified.finalizedTimestamp).toBe(chain.timestamp(8n))
  }
})

it('records an earlier finalization if no endpoint that answers holds the newest', async () => {
  const lagging = l2Of(
    to('rollup_getProof', (answer, _, params) =>
      params[2] === '0x8' ? fail('BLOCK_MISSING')(answer, '', [], 0) : answer,
    ),
  )
  for (const l2 of [
    [lagging, l2Of(fail('UNREACHABLE'))],
    [l2Of(fail('UNREACHABLE')), lagging],
  ]) {
    const { verified } = await recordEvidence(withNetwork({ l1: l1Of(), l2, ...recording }))
    expect(verified.l2BlockNumber).toBe(4n)
  }
  const { verified } = await recordEvidence(withNetwork({ l1: l1Of(), l2: [lagging, l2Of()], ...recording }))
  expect(verified.l2BlockNumber).toBe(8n)
})

it('does not ask again what L1 is proven to hold', async () => {
  const l1BlockHash = Reflect.get(chain.l1.getBlock(63n) ?? {}, 'hash')
  const [one, two] = [l1Of(), l1Of()]
  const root = { l1: [one, two], rollup: ROLLUP, l1BlockHash }
  expect(await codeOf(fetchVerifiedRoot({ ...root, l2BlockNumber: 2n }))).toBe('ANCHOR_NO_ROOT')
  expect(await codeOf(fetchVerifiedRoot({ ...root, l2BlockNumber: 9n }))).toBe('ANCHOR_BLOCK_AHEAD')
  const elsewhere = { ...root, rollup: { address: CONTRACT } }
  expect(await codeOf(fetchVerifiedRoot({ ...elsewhere, l2BlockNumber: 8n }))).toBe('ANCHOR_NO_CONTRACT')
  expect(two.asked).toEqual([])
})

it('finds the finalized block at whichever endpoint answers', async () => {
  const hash = Reflect.get(chain.l1.getBlock(63n) ?? {}, 'hash')
  const lying = l1Of(to('eth_getBlockByNumber', answer => ({ ...Object(answer), timestamp: '0x1' })))
  expect(await finalizedBlockHash([l1Of(fail('TIMEOUT')), lying, l1Of()], { quorum: 1 })()).toBe(hash)
  expect(await codeOf(finalizedBlockHash(lying)())).toBe('HEADER_HASH_MISMATCH')
})

it('asks with the method of the rollup', async () => {
  const methods = async (options: object) => {
    const { asked, ...provider } = l2Of((_, __, [, keys]) =>
      chain.at(8n)?.getProof(CONTRACT, keys as typeof storageKeys),
    )
    await createRollupClient(provider, options).getVerifiedState(claim)
    return asked
  }
  const rollup = { ...ROLLUP, method: 'linea_getProof' }
  expect(await methods({})).toEqual(['rollup_getProof'])
  expect(await methods({ rollup: ROLLUP })).toEqual(['rollup_getProof'])
  expect(await methods({ rollup })).toEqual(['linea_getProof'])
  expect(await methods({ rollup, method: 'x_getProof' })).toEqual(['x_getProof'])
})

it('aborts with the reason of the signal, and asks no other endpoint', async () => {
  const reason = new Error('closed')
  const l1BlockHash = word(1)
  for (const late of [false, true]) {
    const controller = new AbortController()
    const { signal } = controller
    const next = l2Of()
    const hanging: RequestProvider = {
      request() {
        controller.abort(reason)
        return new Promise(() => {})
      },
    }
    if (!late) controller.abort(reason)
    const client = createRollupClient([hanging, next])
    const works = [
      client.getVerifiedState({ ...claim, signal }),
      fetchVerifiedRoot({ l1: [hanging, next], rollup: ROLLUP, l1BlockHash, signal }),
      recordEvidence(withNetwork({ l1: [hanging, next], l2: next, ...recording, signal })),
    ]
    for (const work of works) {
      const error = await work.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'ABORTED', action: 'none' })
      expect(Reflect.get(Object(error), 'cause')).toBe(reason)
    }
    expect(next.asked).toEqual([])
  }
})

/** A server that does not answer its first request. `isClosed` says whether the client has given that one up. */
async function startHolding(onFirst: (response: ServerResponse) => void) {
  let isOver = false
  const { url } = await startServer((response, _, turn) => {
    if (turn > 0) return void response.end()
    response.on('close', () => {
      isOver = true
    })
    onFirst(response)
  })
  const isClosed = async () => {
    // What is sent later arrives later.
    for (let turn = 0; turn < 3; turn++) await (await fetch(url)).text()
    return isOver
  }
  return { url, isClosed }
}

it('ends the HTTP request itself when it is aborted', async () => {
  const controller = new AbortController()
  const { url, isClosed } = await startHolding(() => controller.abort('enough'))
  const work = fetchVerifiedRoot({ l1: url, rollup: ROLLUP, l1BlockHash: word(1), signal: controller.signal })
  await expect(work).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' })
  expect(await isClosed()).toBe(true)
})

it('passes on the reason, whoever notices the abort first', async () => {
  const { url } = await startServer(() => {})
  const reason = { why: 'enough' }
  const causeOf = (work: Promise<unknown>) => work.catch((error: unknown) => Reflect.get(Object(error), 'cause'))
  const own = new AbortController()
  const asked = fetcherOf(createHttpProvider(url, { signal: own.signal })).blockNumber()
  own.abort(reason)
  expect(await causeOf(asked)).toBe(reason)
  const { signal } = new AbortController()
  const controller = new AbortController()
  const alert: RequestProvider = {
    request: () => {
      controller.abort(reason)
      return Promise.reject(new DOMException('stopped', 'AbortError'))
    },
  }
  expect(await causeOf(fetcherOf(alert).blockNumber(controller.signal))).toBe(reason)
  expect(await codeOf(fetcherOf(alert).blockNumber(signal))).toBe('ABORTED')
})

it('asks the next endpoint, whatever the first says of aborts and codes', async () => {
  const brand = Symbol.for('rollup-state-proof/error')
  const codes = ['__proto__', 'constructor', 'toString', 'OF_A_LATER_VERSION', 5, undefined, null, {}, Symbol('x')]
  const branded = codes.map(code => Object.assign(new Error('x'), { [brand]: 'EndpointError', code, action: 'none' }))
  // viem and ethers keep what the endpoint wrote.
  const written = { name: 'AbortError', code: -32000, message: 'aborted' }
  const wrapped = [
    { cause: written },
    { info: { error: written } },
    { error: Object.assign(Object.create(null), written) },
  ]
  const honest: RequestProvider = { request: async () => '0x8' }
  for (const thrown of [...branded, ...wrapped.map(own => Object.assign(new Error('x'), own))]) {
    const hostile: RequestProvider = { request: () => Promise.reject(thrown) }
    expect(await fetcherOf([hostile, honest]).blockNumber()).toBe(8n)
    const error = await fetcherOf(hostile)
      .blockNumber()
      .catch((failed: unknown) => failed)
    expect(error).toMatchObject({ code: expect.stringMatching(/^(UNREACHABLE|ENDPOINT_ERROR)$/), action: 'wait' })
  }
})

it('quotes no key of an endpoint whose answer it refuses', async () => {
  const { url } = await startServer((response, id) => {
    const block = { ...chain.l1.getBlock(63n), hash: 'it is secret-key-0123' }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: block }))
  })
  const error = await finalizedBlockHash(`${url}/v3/secret-key-0123`)().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'HEADER_HASH_MISMATCH', found: expect.stringContaining('it is [key]') })
  expect(everythingIn(error)).not.toContain('secret')
})

it('shows no part of the URL of any of them', async () => {
  const { url } = await startServer(response => response.writeHead(500).end('secret-key'))
  const urls = [`${url}/v3/secret-key-0123`, 'http://127.0.0.1:1/v3/secret-key-4567']
  const steps: unknown[] = []
  const onProgress = (progress: unknown) => void steps.push(progress)
  const works = [
    createRollupClient(urls).getVerifiedState(claim),
    recordEvidence(withNetwork({ l1: urls, l2: urls, ...recording, onProgress })),
    fetchVerifiedRoot({ l1: urls, rollup: ROLLUP, l1BlockHash: word(1) }),
  ]
  for (const work of works) {
    const error = await work.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EndpointError)
    expect(`${everythingIn(error)} ${JSON.stringify(steps)}`).not.toMatch(/secret|127\.0/)
  }
  expect(steps.length).toBe(2)
})

/** Milliseconds until the work has ended, by a clock that is turned by hand, and its outcome. */
async function timeOf(work: () => Promise<unknown>) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const begin = Date.now()
  let ended: { readonly outcome: unknown } | undefined
  work()
    .catch((error: unknown) => error)
    .then(outcome => {
      ended = { outcome }
    })
  while (ended === undefined && Date.now() - begin < 600_000) await vi.advanceTimersByTimeAsync(100)
  return { outcome: ended?.outcome, milliseconds: Date.now() - begin }
}

/** Never answers what `isAsked` picks; asks `other` for the rest. */
const silent = (other: RequestProvider, isAsked: (method: string) => boolean = () => true): RequestProvider => ({
  request: args => (isAsked(args.method) ? new Promise(() => {}) : other.request(args)),
})

it('does not wait for a provider that never answers while another one does', async () => {
  const l1BlockHash = Reflect.get(chain.l1.getBlock(63n) ?? {}, 'hash')
  let works = 0
  // All methods, or one that comes late.
  for (const late of [undefined, 'eth_getLogs', 'eth_getProof', 'rollup_getProof']) {
    const isAsked = (method: string) => late === undefined || method === late
    const [l1, l2] = [l1Of(), l2Of()].map(honest => [silent(honest, isAsked), honest] as const)
    for (const work of [
      () => fetcherOf(l2 ?? []).blockNumber(),
      () => createRollupClient(l2 ?? [], { maxKeysPerRequest: 2 }).getVerifiedState(claim),
      () => fetchVerifiedRoot({ l1: l1 ?? [], rollup: ROLLUP, l1BlockHash }),
      () => recordEvidence(withNetwork({ l1: l1 ?? [], l2: l2 ?? [], ...recording })),
    ]) {
      const { outcome, milliseconds } = await timeOf(work)
      expect(outcome).not.toBeInstanceOf(Error)
      expect(outcome).toBeDefined()
      expect(milliseconds).toBeLessThan(2000)
      works++
    }
  }
  expect(works).toBe(16)
})

it('gives a provider as much time as a URL, and the log of a finalization some of it', async () => {
  const { outcome, milliseconds } = await timeOf(() => fetcherOf(silent(l2Of())).blockNumber())
  expect(outcome).toMatchObject({ code: 'TIMEOUT' })
  expect(milliseconds).toBe(30_000)
  const l1BlockHash = Reflect.get(chain.l1.getBlock(63n) ?? {}, 'hash')
  const l1 = silent(l1Of(), method => method === 'eth_getLogs')
  const root = await timeOf(() => fetchVerifiedRoot({ l1, rollup: ROLLUP, l1BlockHash }))
  expect(root.outcome).toMatchObject({ l2BlockNumber: 8n, finalizedTimestamp: undefined })
  expect(root.milliseconds).toBe(10_000)
})

it('asks no other endpoint while one answers part by part', async () => {
  const honest = l2Of()
  const slow: RequestProvider = {
    async request(args) {
      await new Promise(resolve => setTimeout(resolve, 450))
      return honest.request(args)
    },
  }
  const other = l2Of()
  const client = createRollupClient([slow, other], { maxKeysPerRequest: 1 })
  expect((await timeOf(() => client.getVerifiedState(claim))).milliseconds).toBeGreaterThan(2000)
  expect([honest.asked.length, other.asked]).toEqual([5, []])
  // One that falls silent is overtaken, and asked last from then on.
  const fading: RequestProvider = {
    request: args => (honest.asked.length < 7 ? honest.request(args) : new Promise(() => {})),
  }
  const again = createRollupClient([fading, other], { maxKeysPerRequest: 1 })
  for (const count of [3, 8]) {
    expect((await timeOf(() => again.getVerifiedState(claim))).outcome).toMatchObject({ storage: { length: 5 } })
    expect([honest.asked.length, other.asked.length]).toEqual([7, count])
  }
})

it('ends the request of an endpoint that another one has overtaken', async () => {
  const { url, isClosed } = await startHolding(response => void response.writeHead(200).write(' '))
  expect(await fetcherOf([url, l2Of()]).blockNumber()).toBe(8n)
  expect(await isClosed()).toBe(true)
})

it('learns what an endpoint does not serve once, tells of it once, and forgets it after ten minutes', async () => {
  skipTime()
  let isServed = false
  const node = l2Of((answer, method) =>
    method === 'rollup_getProof' && !isServed ? fail('METHOD_UNKNOWN')(answer, method, [], 0) : answer,
  )
  const manager = l2Of((answer, method) =>
    method === 'rollup_getProof' ? answer : fail('METHOD_UNKNOWN')(answer, method, [], 0),
  )
  const told: unknown[] = []
  const onFailure: OnFailure = (_, index, { code }) => void told.push([index, code])
  const l2 = openEndpoints('l2', [node, manager], 'L2', { onFailure })
  const proof = () => l2.run(provider => provider.call('rollup_getProof', [CONTRACT, [], '0x8']))
  const number = () => l2.run(provider => provider.call('eth_blockNumber', []))
  for (let turn = 0; turn < 3; turn++)
    expect([await number(), Object(await proof()).storageProofs]).toEqual(['0x8', []])
  // Each stays the first for what it serves.
  expect(node.asked).toEqual(['eth_blockNumber', 'rollup_getProof', 'eth_blockNumber', 'eth_blockNumber'])
  expect(manager.asked).toEqual(['rollup_getProof', 'rollup_getProof', 'rollup_getProof'])
  expect(told).toEqual([[0, 'METHOD_UNKNOWN']])
  isServed = true
  await new Promise(resolve => setTimeout(resolve, LACKING_MS))
  await proof()
  expect(node.asked.at(-1)).toBe('rollup_getProof')
  expect(manager.asked.length).toBe(3)
  // It loses the method again.
  isServed = false
  await proof()
  await proof()
  expect([node.asked.length, manager.asked.length]).toEqual([6, 5])
})

it('tells once that an endpoint does not serve a method, however many requests for it were under way', async () => {
  const node = l2Of(async (_answer, _method, _params, turn) => {
    await new Promise(resolve => setTimeout(resolve, turn))
    throw new EndpointError('METHOD_UNKNOWN')
  })
  const told: unknown[] = []
  const onFailure: OnFailure = (_, index, { code }) => void told.push([index, code])
  const l2 = openEndpoints('l2', [node, l2Of()], 'L2', { onFailure })
  const numbers = ['0x1', '0x2', '0x3', '0x4']
  await Promise.all(numbers.map(number => l2.run(one => one.call('eth_getBlockByNumber', [number, false]))))
  expect([node.asked.length, told]).toEqual([4, [[0, 'METHOD_UNKNOWN']]])
})

it('asks again at once for what no endpoint serves', async () => {
  let isServed = false
  const node = l2Of(answer => (isServed ? answer : fail('METHOD_UNKNOWN')(answer, '', [], 0)))
  const l2 = openEndpoints('l2', [node, l2Of(fail('METHOD_UNKNOWN'))], 'L2')
  const ask = () => l2.run(provider => provider.call('eth_getCode', [CONTRACT, '0x8']))
  await expect(ask()).rejects.toThrow(/eth_getCode\. None of 2 endpoints serves it: add a node/)
  await expect(ask()).rejects.toMatchObject({ code: 'METHOD_UNKNOWN', method: 'eth_getCode', index: undefined })
  expect(node.asked.length).toBe(2)
  isServed = true
  await ask()
  expect(node.asked.length).toBe(3)
})

it('bounds what it knows of an endpoint', async () => {
  const node = l2Of(fail('METHOD_UNKNOWN'))
  const ask = (method: string) => codeOf(openProvider(node).call(method, []))
  for (let count = 0; count < 1000; count++) expect(await ask(`m_${count}`)).toBe('METHOD_UNKNOWN')
  await ask('m_999')
  await ask('m_0')
  expect(node.asked.length).toBe(1001)
})

it('shares the answer of requests that are alike and under way, and of no others', async () => {
  const l2 = l2Of()
  const asks = (method: string, params: readonly unknown[], signal?: AbortSignal) =>
    openProvider(l2).call(method, params, signal)
  const proofs = Array.from({ length: 20 }, () => asks('rollup_getProof', [CONTRACT, [], '0x8']))
  const other = asks('rollup_getProof', [CONTRACT, [], '0x4'])
  expect(new Set(await Promise.all(proofs)).size).toBe(1)
  expect(await other).not.toEqual(await proofs[0])
  await asks('rollup_getProof', [CONTRACT, [], '0x8'])
  expect(l2.asked.length).toBe(3)
  // What may change something is sent as often as it is asked for.
  await Promise.all([asks('x_send', []), asks('x_send', [])])
  expect(l2.asked.length).toBe(5)
  // Who gives up does not end it for the others.
  const controller = new AbortController()
  const [given, kept] = [asks('eth_blockNumber', [], controller.signal), asks('eth_blockNumber', [])]
  controller.abort('enough')
  expect([await codeOf(given), await kept]).toEqual(['ABORTED', '0x8'])
  expect(l2.asked.length).toBe(6)
})
