import { keccak_256 } from '@noble/hashes/sha3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import type { StateScheme } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  type CallBundle,
  type CallClaim,
  isProviderError,
  recordCall,
  verifyCallEvidence,
} from '../../src/entry/provider.ts'
import { isEndpointError } from '../../src/entry/rpc.ts'
import type { Asking } from '../../src/provider/provider.ts'
import { DEADLINE, endingAfter, holdDeadlines } from '../deadlines.ts'
import { withNetwork } from '../network.ts'
import { at, createEndpoints, LEFT, ROLLUP } from './endpoints.ts'
import { CHAIN_ID, type FullState } from './full-state.ts'
import { bn1, bn2, g1, g2, precompile } from './precompile-inputs.ts'

/** A call ends at its deadline, and while it runs, other tasks do, too. */

const LOOP = at('c0')
const SCALAR = 'ff'.repeat(32)
const [G1, G2, BN_PAIR] = [g1(1n), g2(1n), bn1(1n) + bn2(1n)]

/** Calls a precompile for ever, with what the call's data are. */
const callsForEver = (number: number): Hex => `0x365f5f375b5f5f365f73${precompile(number).slice(2)}5afa50600456`

/** Calls that take seconds to minutes on any machine, with the default gas. */
const ENDLESS: Readonly<Record<string, { code: Hex; data?: Hex }>> = {
  'an endless loop': { code: '0x5b5f56' },
  'a loop over much memory': { code: '0x600162200000525b600756' },
  'hashes of much memory': { code: '0x5b620800005f20505f56' },
  'contracts that call themselves': { code: '0x5b5f5f5f5f305afa505f56' },
  'a loop of additions of BLS12-381': { code: callsForEver(0x0b), data: `0x${G1}${G1}` },
  'a loop of sums of products in G1': { code: callsForEver(0x0c), data: `0x${(G1 + SCALAR).repeat(4)}` },
  'a loop of sums of products in G2': { code: callsForEver(0x0e), data: `0x${(G2 + SCALAR).repeat(4)}` },
  'a loop of pairing checks of BLS12-381': { code: callsForEver(0x0f), data: `0x${(G1 + G2).repeat(4)}` },
  'a loop of pairing checks of BN254': { code: callsForEver(8), data: `0x${BN_PAIR.repeat(4)}` },
}

function endpointsFor({ code }: { code: Hex }) {
  const state: FullState = new Map([[LOOP, { nonce: 1n, code }]])
  return createEndpoints(state, true)
}

/** What the work throws: see {@link endingAfter}. */
const errorAfter = (turns: number, end: () => void, work: () => Promise<unknown>): Promise<unknown> =>
  endingAfter(turns, end, work).then(
    value => ({ value }),
    (error: unknown) => error,
  )
const reasonOf = (error: unknown) =>
  isProviderError(error) ? error.reason : isEndpointError(error) ? error.code : error

/** Runs work that never ends, and aborts it once timers have fired for some turns. */
function abortingAfter(turns: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const controller = new AbortController()
  return errorAfter(
    turns,
    () => controller.abort(new Error('enough')),
    () => work(controller.signal),
  )
}

it.each(Object.entries(ENDLESS))('lets timers fire during %s, and ends it', async (_, what) => {
  const provider = endpointsFor(what).provider({ timeoutMs: DEADLINE })
  const params = [{ to: LOOP, data: what.data ?? '0x' }, 'latest']
  // What follows is nothing but computing.
  await provider.request({ method: 'eth_getCode', params: [LOOP] })
  const error = await abortingAfter(8, signal => provider.request({ method: 'eth_call', params }, { signal }))
  expect(error).toMatchObject({ reason: 'ENDPOINT_FAILED', data: { error: 'ABORTED' } })
  // The execution has ended, too: nothing but its own end keeps the next one from being quick.
  expect(await provider.request({ method: 'eth_call', params: [{ to: at('ee') }, 'latest'] })).toBe('0x')
})

it('ends a call at the deadline', async () => {
  const elapse = holdDeadlines()
  const provider = endless().provider({ timeoutMs: DEADLINE })
  await provider.view()
  const late = { reason: 'TIMEOUT', code: -32016, action: 'fix', data: { reason: 'TIMEOUT' } }
  expect(await errorAfter(3, elapse, () => provider.request(ASKED))).toMatchObject(late)
})

it('has as many endless calls as it means to', () => expect(Object.keys(ENDLESS)).toHaveLength(9))

const endless = () => endpointsFor({ code: '0x5b5f56' })
const ASKED = { method: 'eth_call', params: [{ to: LOOP }, 'latest'] }

it('ends a request, or a provider, when its signal is aborted', async () => {
  const errors = await Promise.all([
    abortingAfter(3, signal => endless().provider({ timeoutMs: DEADLINE }).request(ASKED, { signal })),
    abortingAfter(3, signal => endless().provider({ signal, timeoutMs: DEADLINE }).request(ASKED)),
  ])
  for (const error of errors) expect(error).toMatchObject({ reason: 'ENDPOINT_FAILED', data: { error: 'ABORTED' } })
  expect(errors).toHaveLength(2)
  const aborted = endless().provider({ timeoutMs: DEADLINE }).request(ASKED, { signal: AbortSignal.abort() })
  await expect(aborted).rejects.toMatchObject({ data: { error: 'ABORTED' } })
})

it('has one deadline for an estimate, an access list, and what waits for an endpoint', async () => {
  const elapse = holdDeadlines()
  const provider = endless().provider({ timeoutMs: DEADLINE })
  await provider.view()
  const late = { reason: 'TIMEOUT' }
  for (const method of ['eth_estimateGas', 'eth_createAccessList']) {
    const ask = () => provider.request({ ...ASKED, method, params: [{ to: LOOP }] })
    expect(await errorAfter(3, elapse, ask), method).toMatchObject(late)
  }
  const silent = { request: () => new Promise<never>(() => {}) }
  for (const layer of ['l1', 'l2']) {
    const waiting = endless().provider({ timeoutMs: DEADLINE, [layer]: silent })
    for (const method of ['eth_call', 'eth_getBalance']) {
      const ask = () => waiting.request({ method, params: [method === 'eth_call' ? { to: LOOP } : LOOP] })
      expect(await errorAfter(3, elapse, ask), layer + method).toMatchObject(late)
    }
  }
})

it('has the same deadline, and a signal, for its view', async () => {
  const never = () => new Promise<never>(() => {})
  const silent: object[] = [{ l1: { request: never } }, { l2: { request: never } }, { l1BlockHash: never }]
  const abort = { signal: AbortSignal.timeout(20) }
  for (const options of silent) {
    for (const name of ['view', 'refresh'] as const) {
      const late = { reason: 'TIMEOUT', data: { reason: 'TIMEOUT' } }
      await expect(
        endless()
          .provider({ ...options, timeoutMs: 50 })
          [name](),
        name,
      ).rejects.toMatchObject(late)
      const aborted = { reason: 'ENDPOINT_FAILED', data: { error: 'ABORTED' } }
      await expect(
        endless()
          .provider({ ...options, timeoutMs: DEADLINE })
          [name](abort),
        name,
      ).rejects.toMatchObject(aborted)
    }
  }
  expect(silent.length).toBe(3)
})

it.each(['an endless loop', 'a loop of pairing checks of BN254'])('ends %s that may not be slow', async name => {
  const what = ENDLESS[name] ?? expect.fail()
  const provider = endpointsFor(what).provider({ timeoutMs: DEADLINE })
  const params = [{ to: LOOP, data: what.data ?? '0x' }, 'latest']
  // What follows is nothing but computing.
  for (const address of [LOOP, precompile(8), at('00')]) {
    await provider.request({ method: 'eth_getCode', params: [address] })
  }
  const rejections: unknown[] = []
  const note = (error: unknown) => rejections.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const asking: Asking = { admit: () => Promise.reject(new Error('too many')) }
  const asked = provider.request({ method: 'eth_call', params }, asking)
  await expect(asked).rejects.toMatchObject({ reason: 'ENDPOINT_FAILED', cause: { cause: { message: 'too many' } } })
  await new Promise(resolve => setTimeout(resolve))
  expect(rejections).toEqual([])
})

it('answers another client while calls compute', async () => {
  const controller = new AbortController()
  const provider = endless().provider({ timeoutMs: DEADLINE })
  const balance = { method: 'eth_getBalance', params: [LOOP] }
  await provider.request(balance)
  let ended = 0
  const calls = Array.from({ length: 8 }, () => {
    const asking: Asking = { signal: controller.signal }
    const slow = new Promise<boolean>(resolve => {
      asking.admit = async () => resolve(true)
    })
    const end = provider
      .request(ASKED, asking)
      .catch(() => {})
      .then(() => ended++)
    return { isSlow: Promise.race([slow, end.then(() => false)]), end }
  })
  // Each has used up its first slice, and has more to compute.
  expect(await Promise.all(calls.map(({ isSlow }) => isSlow))).toEqual(new Array(8).fill(true))
  // Each answer waits for at most one slice of a call.
  for (let answered = 0; answered < 20; answered++) {
    await provider.request(balance)
    await new Promise(resolve => setTimeout(resolve))
  }
  expect(ended).toBe(0)
  controller.abort()
  await Promise.all(calls.map(({ end }) => end))
})

describe('a call as evidence', () => {
  const about = { scheme: poseidon2, rollup: ROLLUP, chainId: CHAIN_ID }
  const call = { to: LOOP, gas: 100_000n }

  async function bundleOf(code: Hex = '0x5b5f56'): Promise<{ bundle: CallBundle<StateScheme>; claim: CallClaim }> {
    const { l1, l2 } = endpointsFor({ code })
    // With little gas, the loop ends soon. The gas is not proven.
    const { bundle, verified } = await recordCall(withNetwork({ l1, l2, ...about, call }))
    const trusted = { l1BlockHash: verified.l1Block.hash }
    const claim = { ...about, trusted, l2BlockNumber: 'fromBundle', hardfork: 'prague', call: LEFT } as const
    return { bundle: { ...bundle, call: { ...bundle.call, gas: '0x2faf080' } }, claim }
  }

  it('ends at the deadline, or when it is aborted', async () => {
    const { bundle, claim } = await bundleOf()
    const elapse = holdDeadlines()
    const late = await errorAfter(3, elapse, () => verifyCallEvidence(bundle, claim, { timeoutMs: DEADLINE }))
    const aborted = await abortingAfter(3, signal => verifyCallEvidence(bundle, claim, { signal }))
    expect([late, aborted].map(reasonOf)).toEqual(['TIMEOUT', 'ABORTED'])
    await expect(verifyCallEvidence(bundle, claim, { timeoutMs: 0 })).rejects.toThrow('timeoutMs')
  })

  it('has the deadline for its anchor, too', async () => {
    const { bundle, claim } = await bundleOf('0x00')
    const { header } = bundle.l1 as { header: Hex }
    const l1BlockHash = bytesToHex(keccak_256(hexToBytes(header, header.length / 2 - 1)))
    // Proves the block, in more time than there is.
    const verifyConsensus = () => {
      const began = Date.now()
      while (Date.now() - began < 150);
      return { l1BlockHash } as never
    }
    const trusted = { beaconBlockRoot: l1BlockHash, network: 'devnet', verifyConsensus, lightClient: {} as never }
    const consensus = { network: 'devnet', bootstrap: {}, updates: [], finality: {} }
    const asked = verifyCallEvidence({ ...bundle, consensus }, { ...claim, trusted }, { timeoutMs: 100 })
    await expect(asked).rejects.toMatchObject({ reason: 'TIMEOUT' })
  })

  it('ends at the deadline while it is recorded', async () => {
    const { l1, l2 } = endless()
    const elapse = holdDeadlines()
    const slow = { l1, l2, ...about, call: { to: LOOP } }
    const late = await errorAfter(3, elapse, () => recordCall(withNetwork({ ...slow, timeoutMs: DEADLINE })))
    const aborted = await abortingAfter(3, signal => recordCall(withNetwork({ ...slow, signal })))
    expect([late, aborted].map(reasonOf)).toEqual(['TIMEOUT', 'ABORTED'])
  })

  it('is no fault of the bundle where the rollup differs', async () => {
    // Reads the balance of BLAKE2F, and with much gas calls it.
    const { bundle, claim } = await bundleOf('0x600931505a62030d4010600e57005b5f5f5f5f60095afa00')
    const asked = verifyCallEvidence(bundle, claim)
    await expect(asked).rejects.toMatchObject({ reason: 'ROLLUP_DIFFERS', data: { precompile: 'BLAKE2F' } })
  })
})
