import { expect, it, vi } from 'vitest'
import { fetchRecordings } from '../../src/cli/snapshot/snapshot.ts'
import { followWith } from '../../src/client/follow/follow.ts'
import { followMessagesWith } from '../../src/client/follow/follow-messages.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import type { Methods } from '../../src/devnet/service/json-rpc.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { lineaMessageService as messageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import { type FollowEvent, finalizedBlockHash, type RequestProvider, recordEvidence } from '../../src/entry/rpc.ts'
import { createStateVerifier } from '../../src/verify/state/kind.ts'
import { withNetwork } from '../network.ts'
import { ROLLUP, USER } from './servers.ts'

const chain = createChain(demoWorld(poseidon2), ROLLUP, { messageService })
for (let block = 0; block < 2; block++) {
  chain.addBlock()
  chain.finalize()
}

/** Answers a request in place of the chain; undefined if the chain answers. It throws what a server says. */
type Say = (request: { method: string; block: unknown; turn: number }) => unknown

/** A server in front of the chain. */
function serve(methods: Methods, say: Say): RequestProvider {
  let turn = 0
  return {
    async request({ method, params = [] }) {
      const said = say({ method, block: (params as unknown[])[2], turn: turn++ })
      return said === undefined ? JSON.parse(JSON.stringify(methods.get(method)?.(params as unknown[]))) : said
    },
  }
}

const says = (code: number, message: string) => Object.assign(new Error(message), { code, message })
const fails = (error: Error): never => {
  throw error
}
const onProofs =
  (error: Error | null, isNewest = false): Say =>
  ({ method, block }) =>
    method !== 'rollup_getProof' || (isNewest && block !== '0x2') ? undefined : error === null ? null : fails(error)
const status = (code: number) => Object.assign(new Error('bad response'), { status: code })

const PRUNED = says(-32000, 'missing trie node 3c1d (path ) state 0x3c1d is not available')
const LAGS = says(-32000, 'header not found')
const INTERNAL = says(-32603, 'Internal error')
const UNKNOWN = says(-32000, 'qwertz')

const BALANCE = '0xde0b6b3a7640000'
const startsLate: Say = ({ method, turn }) =>
  method === 'eth_getBlockByNumber' && turn < 5 ? fails(says(-32000, 'finalized block not found')) : undefined
const hasNoState: Say = ({ method }) =>
  method === 'eth_getProof' ? fails(says(-32000, 'historical state 0a1b is not available')) : undefined
/** Everybody ends with it, and followers after some waits: of 127 seconds, or of two hours. */
const ends = (code: string, waits: 7 | 31): string[] => {
  const followed = `${code} after ${waits} waits, ${waits === 7 ? 127 : 7111} s`
  return [code, code, code, code, followed, followed]
}

/** What a server says, on which layer, and what comes of it: of each activity in {@link ACTIVITIES}, in order. */
const KINDS: readonly (readonly [
  kind: string,
  say: { readonly l1?: Say; readonly l2?: Say },
  ...outcomes: string[],
])[] = [
  [
    'the newest is pruned',
    { l2: onProofs(PRUNED, true) },
    '1',
    '1 of 2',
    BALANCE,
    'BLOCK_MISSING',
    '1, PROOF_UNAVAILABLE after 7 waits, 127 s',
    '1, skipped 2 after 4 waits, 73 s',
  ],
  [
    'the newest is not there yet',
    { l2: onProofs(LAGS, true) },
    '1',
    '1 of 2',
    BALANCE,
    'BLOCK_MISSING',
    '1, PROOF_UNAVAILABLE after 31 waits, 7111 s',
    '1, skipped 2 after 24 waits, 4777 s',
  ],
  [
    'the newest is null',
    { l2: onProofs(null, true) },
    '1',
    '1 of 2',
    BALANCE,
    'BLOCK_MISSING',
    '1, PROOF_UNAVAILABLE after 31 waits, 7111 s',
    '1, skipped 2 after 24 waits, 4777 s',
  ],
  [
    'an internal error at the newest',
    { l2: onProofs(INTERNAL, true) },
    '1',
    '1 of 2',
    BALANCE,
    'ENDPOINT_ERROR',
    '1, ENDPOINT_ERROR after 31 waits, 7111 s',
    '1, skipped 2 after 24 waits, 4777 s',
  ],
  [
    'all are pruned',
    { l2: onProofs(PRUNED) },
    'PROOF_UNAVAILABLE',
    'PROOF_UNAVAILABLE',
    'PROOF_UNAVAILABLE',
    'BLOCK_MISSING',
    'PROOF_UNAVAILABLE after 7 waits, 127 s',
    'skipped 1 after 3 waits, 7 s',
  ],
  [
    'none is there yet',
    { l2: onProofs(LAGS) },
    'PROOF_UNAVAILABLE',
    'PROOF_UNAVAILABLE',
    'PROOF_UNAVAILABLE',
    'BLOCK_MISSING',
    'PROOF_UNAVAILABLE after 31 waits, 7111 s',
    'skipped 1 after 23 waits, 4711 s',
  ],
  [
    'words that nobody knows',
    { l2: onProofs(UNKNOWN) },
    'ENDPOINT_ERROR',
    'ENDPOINT_ERROR',
    'ENDPOINT_ERROR',
    'ENDPOINT_ERROR',
    'ENDPOINT_ERROR after 31 waits, 7111 s',
    'skipped 1 after 23 waits, 4711 s',
  ],
  [
    'the method is not on this plan',
    { l2: onProofs(says(-32600, 'this method is not included in your current plan')) },
    ...ends('METHOD_UNKNOWN', 7),
  ],
  ['no key', { l2: onProofs(says(-32600, 'Must be authenticated!')) }, ...ends('UNAUTHORIZED', 7)],
  ['a wrong URL', { l2: () => fails(status(404)) }, ...ends('HTTP_ERROR', 7)],
  ['a redirect', { l2: () => fails(status(301)) }, ...ends('HTTP_ERROR', 7)],
  ['a quota that is used up', { l2: () => fails(status(402)) }, ...ends('UNAUTHORIZED', 7)],
  ['down from the start', { l2: () => fails(new TypeError('fetch failed')) }, ...ends('UNREACHABLE', 31)],
  [
    'L1 has just started',
    { l1: startsLate },
    'BLOCK_MISSING',
    'BLOCK_MISSING',
    'BLOCK_MISSING',
    'verified',
    '1, 2 after 5 waits, 31 s',
    '1, 2 after 5 waits, 31 s',
  ],
  ['L1 has lost its states', { l1: hasNoState }, ...ends('BLOCK_MISSING', 7).with(3, 'verified')],
  ['a wrong URL of L1', { l1: () => fails(status(404)) }, ...ends('HTTP_ERROR', 7).with(3, 'verified')],
]

const codeOf = (error: unknown): unknown => {
  const { code, data } = Object(error)
  return typeof code === 'string' ? code : (data?.error ?? data?.reason ?? String(error))
}

/** The first outcome of a follower, how many times it waited, and for how many seconds in all. */
async function follow(sources: Sources, more: object = {}) {
  let [waits, seconds] = [0, 0]
  const wait = async (milliseconds: number) => {
    waits++
    seconds += milliseconds / 1000
    if (waits > 1000) throw new Error('for ever')
  }
  const numbers: unknown[] = []
  const controller = new AbortController()
  const onEvent = (event: FollowEvent) => {
    if (event.name !== 'follow.skipped') return
    numbers.push(`skipped ${event.attributes['l2.block.number']}`)
    controller.abort()
  }
  const l1BlockHash = finalizedBlockHash(sources.l1)
  const about = { rollup: ROLLUP, scheme: poseidon2, l1BlockHash, requests: [{ address: USER }], fromL2BlockNumber: 1n }
  const { requests, ...unasked } = about
  const options = { ...sources, ...more, onEvent, signal: controller.signal }
  const timing = { wait, random: () => 1 }
  const items =
    'messageService' in more
      ? followMessagesWith(withNetwork({ ...unasked, ...options, messageService }), timing)
      : followWith(withNetwork({ ...unasked, ...options, requests }), timing)
  for (;;) {
    const next = await items.next().catch((error: unknown) => ({ done: true as const, value: { code: codeOf(error) } }))
    if (next.done) {
      if (!controller.signal.aborted) numbers.push(next.value?.code)
      break
    }
    numbers.push(next.value.l2BlockNumber)
    if (next.value.l2BlockNumber === 2n) break
  }
  return `${numbers.join(', ')} after ${waits} waits, ${Math.round(seconds)} s`
}

interface Sources {
  readonly l1: RequestProvider
  readonly l2: RequestProvider
}

const ACTIVITIES: Readonly<Record<string, (sources: Sources) => Promise<unknown>>> = {
  record: async sources => {
    const { verified } = await recordEvidence(
      withNetwork({ ...sources, scheme: poseidon2, rollup: ROLLUP, address: USER }),
    )
    return verified.l2BlockNumber
  },
  view: async ({ l1, l2 }) => {
    const view = await provide(l1, l2).view()
    return view.newestL2BlockNumber === undefined
      ? view.l2BlockNumber
      : `${view.l2BlockNumber} of ${view.newestL2BlockNumber}`
  },
  call: async ({ l1, l2 }) => provide(l1, l2).request({ method: 'eth_getBalance', params: [USER, 'latest'] }),
  snapshot: async ({ l2 }) => {
    const { signal } = new AbortController()
    const how = { method: 'rollup_getProof', keysPerRequest: 1, concurrency: 1, signal, onWrong: () => {} }
    const at = { scheme: poseidon2, stateRoot: chain.at(2n)?.stateRoot() ?? '0x', block: 2n } as const
    const whose = { target: { storageKeys: [] }, holders: [USER] }
    const lines = fetchRecordings(l2, { ...at, ...how, ...whose, verify: createStateVerifier(poseidon2) })
    const { value } = await onFakeClock(() => lines.next())
    return JSON.parse(`${value}`).result === null ? 'refused' : 'verified'
  },
  follow: sources => follow(sources),
  skip: sources => follow(sources, { skipUnavailable: true }),
  messages: sources => follow(sources, { messageService }),
}

const provide = (l1: RequestProvider, l2: RequestProvider) =>
  createVerifiedProvider(
    withNetwork({
      l1,
      l2,
      rollup: ROLLUP,
      scheme: poseidon2,
      chainId: 2n,
      l1BlockHash: finalizedBlockHash(l1),
    }),
  )

/** Runs `work` while the clock runs as fast as it can. */
async function onFakeClock<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  let isDone = false
  const working = work().finally(() => {
    isDone = true
  })
  working.catch(() => {})
  try {
    while (!isDone) await vi.advanceTimersByTimeAsync(1000)
  } finally {
    vi.useRealTimers()
  }
  return working
}

const CASES = KINDS.map(([kind, say, ...expected]) => ({ kind, say, expected }))

it.each(CASES)('$kind', async ({ say: { l1, l2 }, expected }) => {
  const outcomes: string[] = []
  for (const run of Object.values(ACTIVITIES)) {
    const sources = {
      l1: serve(l1Methods(chain, 1n), l1 ?? (() => undefined)),
      l2: serve(l2Methods(chain, 2n), l2 ?? (() => undefined)),
    }
    outcomes.push(await run(sources).then(String, error => String(codeOf(error))))
  }
  // Whoever follows messages waits and ends like whoever follows finalizations.
  expect(outcomes).toEqual([...expected, expected[4]])
})

it('has so many kinds, and an outcome of each activity', () => {
  expect(KINDS).toHaveLength(16)
  expect(KINDS.every(([, , ...outcomes]) => outcomes.length + 1 === Object.keys(ACTIVITIES).length)).toBe(true)
})
