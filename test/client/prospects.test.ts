import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fetchRecordings } from '../../src/cli/snapshot/snapshot.ts'
import { followWith } from '../../src/client/follow/follow.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createChain } from '../../src/devnet/service/chain.ts'
import type { Methods } from '../../src/devnet/service/json-rpc.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import {
  EndpointError,
  type EndpointErrorCode,
  endpointErrorMeanings,
  finalizedBlockHash,
  type RequestProvider,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { createStateVerifier } from '../../src/verify/state/kind.ts'
import { withNetwork } from '../network.ts'
import { skipTime } from './clock.ts'
import { ROLLUP, USER } from './servers.ts'

/** What each code must mean for asking again. Written down here a second time, so that no change goes unnoticed. */
const EXPECTED = {
  passes: [
    ...['UNREACHABLE', 'TIMEOUT', 'HTTP_ERROR', 'RATE_LIMITED'],
    ...['L1_UNCONFIRMED', 'BEACON_UNAVAILABLE', 'BEACON_STALE'],
  ],
  unclear: ['NOT_JSON', 'ENVELOPE_MALFORMED', 'ID_MISMATCH', 'ENDPOINT_ERROR'],
  missing: ['BLOCK_MISSING', 'BLOCK_NOT_FINALIZED', 'MESSAGE_MISSING'],
  wrong: [...['ANSWER_MALFORMED', 'ETH_PROOF_ANSWER', 'OTHER_KEYS', 'L1_CONTRADICTION'], 'MESSAGES_REFUTED'],
  refused: [
    ...['UNAUTHORIZED', 'RESPONSE_TOO_LARGE', 'METHOD_UNKNOWN', 'CHAIN_MISMATCH', 'TAG_UNSUPPORTED', 'PARAMS_REFUSED'],
    ...['PROOF_UNAVAILABLE', 'L1_HISTORY_MISSING'],
  ],
  final: ['ABORTED', 'L1_DISAGREEMENT', 'CLOCK_BEHIND', 'BEACON_CHECKPOINT_OLD'],
} as const
const CASES = Object.entries(EXPECTED).flatMap(([prospect, codes]) =>
  codes.map(code => [code as EndpointErrorCode, prospect as keyof typeof EXPECTED] as const),
)

const chain = createChain(demoWorld(poseidon2), ROLLUP)
for (let block = 0; block < 2; block++) {
  chain.addBlock()
  chain.finalize()
}

/** An endpoint whose first `failures` proofs of an L2 account fail with this code. */
function endpoint(methods: Methods, code?: EndpointErrorCode, failures = 1): RequestProvider {
  let left = code === undefined ? 0 : failures
  return {
    async request({ method, params = [] }) {
      if (method === 'rollup_getProof' && left-- > 0 && code !== undefined) throw new EndpointError(code)
      return JSON.parse(JSON.stringify(methods.get(method)?.(params as unknown[])))
    },
  }
}
const [l1, l2] = [
  endpoint(l1Methods(chain, 1n)),
  (code?: EndpointErrorCode, failures?: number) => endpoint(l2Methods(chain, 2n), code, failures),
]
const codeOf = (error: unknown): unknown => Reflect.get(Object(error), 'code')

/** The block of the first item, or the code that ends it; and how often it waited. */
async function follow(...endpoints: RequestProvider[]) {
  const controller = new AbortController()
  let waits = 0
  const wait = async () => {
    if (++waits === 20) controller.abort()
    controller.signal.throwIfAborted()
  }
  const about = { rollup: ROLLUP, scheme: poseidon2, l1BlockHash: finalizedBlockHash(l1), signal: controller.signal }
  const items = followWith(withNetwork({ ...about, l1, l2: endpoints, requests: [{ address: USER }] }), {
    wait,
    random: () => 0.5,
  })
  const outcome = await items.next().then(({ value }) => value?.l2BlockNumber, codeOf)
  return [outcome, waits]
}

/** The outcome for the only address, or the code that ends it. */
async function snapshot(provider: RequestProvider) {
  const { signal } = new AbortController()
  let refused = ''
  const onWrong = (_: unknown, code: string, isLast: boolean) => {
    if (isLast) refused = code
  }
  const how = { method: 'rollup_getProof', keysPerRequest: 1, concurrency: 1, signal, onWrong }
  const at = { scheme: poseidon2, stateRoot: chain.at(2n)?.stateRoot() ?? '0x', block: 2n }
  const whose = { target: { storageKeys: [] }, holders: [USER] }
  const lines = fetchRecordings(provider, { ...at, ...how, ...whose, verify: createStateVerifier(poseidon2) })
  return lines.next().then(() => (refused === '' ? 'verified' : `row: ${refused}`), codeOf)
}

const record = (provider: RequestProvider) =>
  recordEvidence(withNetwork({ l1, l2: provider, scheme: poseidon2, rollup: ROLLUP, address: USER })).then(
    ({ verified: evidence }) => evidence.l2BlockNumber,
    codeOf,
  )

const provide = (provider: RequestProvider) => {
  const about = { l1, l2: provider, rollup: ROLLUP, scheme: poseidon2, chainId: 2n }
  return createVerifiedProvider(withNetwork({ ...about, l1BlockHash: finalizedBlockHash(l1) }))
    .view()
    .then(
      ({ l2BlockNumber: blockNumber }) => blockNumber,
      error => error.data.error,
    )
}

it('knows what every code means', () => {
  expect(CASES.map(([code]) => code).sort()).toEqual(Object.keys(endpointErrorMeanings).sort())
})

const ACTIONS = { passes: 'wait', unclear: 'wait', missing: 'wait', wrong: 'change', refused: 'change' } as const
const FINAL: Readonly<Record<string, string>> = {
  ABORTED: 'none',
  L1_DISAGREEMENT: 'stop',
  CLOCK_BEHIND: 'stop',
  BEACON_CHECKPOINT_OLD: 'renew',
}

it.each(CASES)('%s: %s, and says what to do', (code, prospect) => {
  // A prover catches up, though nobody asks for the same blocks again by itself.
  const action = code === 'PROOF_UNAVAILABLE' ? 'wait' : prospect === 'final' ? FINAL[code] : ACTIONS[prospect]
  expect(new EndpointError(code).action).toBe(action)
})

it('waits for proofs, unless they are gone or a follower has waited in vain', () => {
  const actionOf = (details: object) => new EndpointError('PROOF_UNAVAILABLE', details).action
  const report = (said: string) => ({ said })
  expect(actionOf(report('"header not found"'))).toBe('wait')
  expect(actionOf(report('"historical state has been pruned"'))).toBe('change')
  expect(actionOf({ cause: new EndpointError('BLOCK_MISSING') })).toBe('change')
})

it('says the same in the page of errors', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const lines = [...page.matchAll(/^- `(wait|change|stop|renew|fix|none)`(.*(?:\n {2}.*)*)/gm)]
  const said = lines.flatMap(([, action, text = '']) =>
    [...text.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, code]) => [code, action]),
  )
  const meant = Object.keys(endpointErrorMeanings).map(code => [
    code,
    new EndpointError(code as EndpointErrorCode).action,
  ])
  expect(said.sort()).toEqual(meant.sort())
})

it.each(CASES)('%s: %s, for everybody who asks again', async (code, prospect) => {
  skipTime()
  const isPassing = ['passes', 'unclear', 'missing'].includes(prospect)
  // A busy endpoint is asked again by the queue. A follower tries again, unless nothing can be mended. It gives up in the end, and
  // sooner if time does not help.
  const waits = code === 'RATE_LIMITED' ? 0 : 1
  expect(await follow(l2(code))).toEqual(prospect === 'final' ? [code, 0] : [2n, waits])
  expect(await follow(l2(code), l2())).toEqual(prospect === 'final' ? [code, 0] : [2n, 0])
  expect(await follow(l2(code, 99))).toEqual(isPassing ? ['ABORTED', 20] : [code, prospect === 'final' ? 0 : 7])
  // A snapshot asks again if that may help. Only wrong answers get an address refused.
  expect(await snapshot(l2(code))).toBe(isPassing || prospect === 'wrong' ? 'verified' : code)
  if (!isPassing) expect(await snapshot(l2(code, 99))).toBe(prospect === 'wrong' ? `row: ${code}` : code)
  // Recordings and the provider take an earlier block if, and only if, what keeps this one away may pass.
  const outcome = code === 'RATE_LIMITED' ? 2n : isPassing ? 1n : code
  expect(await record(l2(code))).toBe(outcome)
  expect(await provide(l2(code))).toBe(outcome)
  // If that does not help, they say what was wrong.
  expect(await record(l2(code, 99))).toBe(prospect === 'missing' ? 'PROOF_UNAVAILABLE' : code)
  // The time for a request ends before the queue has given up a busy endpoint.
  const named = prospect === 'missing' ? 'PROOF_UNAVAILABLE' : code
  expect(await provide(l2(code, 99))).toBe(code === 'RATE_LIMITED' ? undefined : named)
})
