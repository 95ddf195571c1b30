import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError, type VerifiedProvider } from '../../src/entry/provider.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { sized } from '../size.ts'
import { BOB, demoState, MANY, TOKEN } from './contracts.ts'
import { createEndpoints, type Endpoints, type Tamper, word } from './endpoints.ts'
import { type FullCall, type FullState, worldOf, writeState } from './full-state.ts'
import { worlds } from './programs.ts'
import { CALLS, countWaves, finalize } from './waves.ts'

/** Without the contract of 240 slots. */
const fewSlots = new Map([...demoState].filter(([address]) => address !== MANY))

type Step = (provider: VerifiedProvider, endpoints: Endpoints) => unknown

/** How many requests there are in each wave, of what a provider is asked, one after the other. */
const wavesOf = (...steps: Step[]) => wavesIn(fewSlots, ...steps)
async function wavesIn(state: FullState, ...steps: Step[]) {
  const endpoints = createEndpoints(state, true)
  const waves = countWaves(endpoints)
  const provider = endpoints.provider(waves.options)
  const found: string[][][] = []
  for (const step of steps) {
    await step(provider, endpoints)
    found.push(waves.take())
  }
  return found
}
const view = (provider: VerifiedProvider) => provider.view()
const refresh = (provider: VerifiedProvider) => provider.refresh()
const news = (_: VerifiedProvider, endpoints: Endpoints) => finalize(endpoints)
const ask = (name: keyof typeof CALLS) => (provider: VerifiedProvider) => provider.request(CALLS[name])
const countsOf = (waves: string[][]) => waves.map(({ length }) => length)

it('finds a view in few waves, and that there is no newer one in one', async () => {
  const newL1Block = (_: VerifiedProvider, { chain }: Endpoints) => chain.l1.addBlock()
  const [first, same, , later, , newer] = await wavesOf(view, refresh, newL1Block, refresh, news, refresh)
  expect(first).toEqual([
    ['l1BlockHash', 'eth_chainId', 'eth_getBlockByNumber', 'eth_getStorageAt'],
    ['eth_getLogs', 'eth_getProof'],
    ['eth_getProof', 'rollup_getProof'],
  ])
  expect(same).toEqual([['l1BlockHash']])
  expect(later).toEqual([['l1BlockHash'], ['eth_getBlockByHash'], ['eth_getProof']])
  expect(newer && countsOf(newer)).toEqual([1, 1, 1, 2, 2])
})

it('answers the first request for a balance in four waves, and the first call in five', async () => {
  const balance = (provider: VerifiedProvider) =>
    provider.request({ method: 'eth_getBalance', params: [BOB, 'latest'] })
  const [first] = await wavesOf(balance)
  expect(first && countsOf(first)).toEqual([4, 2, 2, 1])
  const [call] = await wavesOf(ask('balanceOf'))
  expect(call && countsOf(call)).toEqual([4, 2, 2, 3, 1])
})

it('finds the same view, whatever the endpoint names as final', async () => {
  const honest = await wavesOf(view)
  const lies: Record<string, readonly unknown[]> = {
    // The block before, none, one that does not exist, no number; a block that is not asked for, and nothing.
    eth_getStorageAt: [word(0), word(7), word(2n ** 70n), 'no', null],
    eth_getBlockByNumber: [null, {}, 'no'],
  }
  let told = 0
  for (const [method, answers] of Object.entries(lies)) {
    for (const answer of answers) {
      const endpoints = createEndpoints(fewSlots, true)
      finalize(endpoints)
      endpoints.lie.l1 = (name, truth) => (name === method ? answer : truth)
      const waves = countWaves(endpoints)
      const { l2BlockNumber, timestamp } = await endpoints.provider(waves.options).view()
      expect([l2BlockNumber, timestamp], `${method} ${answer}`).toEqual([1n, endpoints.chain.timestamp(1n)])
      expect(waves.take().length, `${method} ${answer}`).toBeLessThanOrEqual((honest[0]?.length ?? 0) + 3)
      told++
    }
  }
  expect(told).toBe(8)
})

it('executes a call in two waves, one whose reads depend on reads in four, and the same at a newer block in one', async () => {
  for (const [name, cold, again] of [
    ['balanceOf', [3, 1], [2]],
    ['quote', [3, 4, 2, 1], [4]],
  ] as const) {
    const [, first, warm, , , next] = await wavesOf(view, ask(name), ask(name), news, refresh, ask(name))
    expect(first && countsOf(first), name).toEqual(cold)
    expect(warm, name).toEqual([])
    // The codes are known by their hashes.
    expect(next && countsOf(next), name).toEqual(again)
    expect(new Set(next?.flat()), name).toEqual(new Set(['rollup_getProof']))
  }
})

it('asks for 200 slots in three waves', async () => {
  const [all, first, warm, , , next] = await wavesIn(
    demoState,
    view,
    ask('slots'),
    ask('slots'),
    news,
    refresh,
    ask('slots'),
  )
  expect(all && countsOf(all)).toEqual([4, 2, 2])
  expect(first && countsOf(first)).toEqual([3, 2, 1])
  expect(warm).toEqual([])
  expect(next && countsOf(next)).toEqual([3])
})

/** The result, or why there is none. */
const outcomeOf = (asked: Promise<unknown>) =>
  asked.catch((error: unknown) => {
    if (!isProviderError(error)) throw error
    return { reason: error.reason, data: error.data, message: error.message }
  })
const callOf = ({ gas, value, ...call }: FullCall) => ({
  method: 'eth_call',
  params: [{ ...call, gas: `0x${(gas ?? 0n).toString(16)}`, value: `0x${(value ?? 0n).toString(16)}` }],
})

/** The same accounts with other values, in which each contract has the code of the next. */
function changed(state: FullState): FullState {
  const codes = [...state.values()].map(({ code }) => code)
  const entries = [...state].map(([address, { storage = {}, ...account }], index) => {
    const code = account.code && codes[(index + 1) % codes.length]
    const slots = Object.entries(storage).map(([key, value]) => [key, word(BigInt(value) ^ 3n)])
    return [address, { ...account, ...(code && { code }), storage: Object.fromEntries(slots) }] as const
  })
  return new Map(entries)
}

/** Finalizes a block with this state. From then on, the endpoint has the codes of both blocks. */
function move(endpoints: Endpoints, next: FullState): RequestProvider {
  writeState(endpoints.chain.pending, next)
  return {
    async request({ method, params }) {
      const [address, block] = params as [Hex, Hex]
      if (method !== 'eth_getCode' || block === '0x0') return endpoints.l2.request({ method, params })
      return next.get(address)?.code ?? '0x'
    },
  }
}

it('gives what it gives at first, whatever the same calls have read before', async () => {
  let calls = 0
  await fc.assert(
    fc.asyncProperty(worlds, async ({ state, calls: asked }) => {
      const endpoints = createEndpoints(state)
      const l2 = move(endpoints, changed(state))
      const experienced = endpoints.provider({ l2 })
      for (const block of [0, 1]) {
        if (block === 1) finalize(endpoints)
        expect((await experienced.refresh()).l2BlockNumber).toBe(BigInt(block))
        const plain = endpoints.provider({ l2 })
        for (const call of asked.slice(0, 5)) {
          const [found, expected] = [
            outcomeOf(experienced.request(callOf(call))),
            outcomeOf(plain.request(callOf(call))),
          ]
          expect(await found).toEqual(await expected)
          calls++
        }
      }
    }),
    { seed: 5, numRuns: sized(2), endOnFailure: true },
  )
  expect(calls).toBeGreaterThanOrEqual(20)
})

it('refuses the code that a contract had before by its hash, and fetches the one that it has', async () => {
  const endpoints = createEndpoints(fewSlots)
  const next = new Map(fewSlots).set(TOKEN, { ...demoState.get(TOKEN), code: demoState.get(MANY)?.code ?? '0x' })
  const l2 = move(endpoints, next)
  let isLying = true
  const lying: RequestProvider = {
    request: args => (isLying && args.method === 'eth_getCode' ? endpoints.l2.request(args) : l2.request(args)),
  }
  const provider = endpoints.provider({ l2: lying })
  expect(await provider.request(CALLS.balanceOf)).toBe(word(100))
  finalize(endpoints)
  await provider.refresh()
  const refused = { reason: 'PROOF_REFUSED', data: { error: 'CODE_HASH_MISMATCH' } }
  await expect(provider.request(CALLS.balanceOf)).rejects.toMatchObject(refused)
  isLying = false
  const plain = endpoints.provider({ l2 })
  expect(await outcomeOf(provider.request(CALLS.balanceOf))).toEqual(await outcomeOf(plain.request(CALLS.balanceOf)))
})

const [world, otherWorld] = [worldOf(fewSlots), worldOf(changed(fewSlots))]
/** A wrong answer: the proof of another account, or the code of another contract; then one of another block, and none. */
const LIES: readonly ((method: string, params: readonly unknown[]) => unknown)[] = [
  (method, [, keys]) => (method === 'eth_getCode' ? '0x00' : world.getProof(BOB, keys as Hex[])),
  (method, [address, keys]) => (method === 'eth_getCode' ? '0x' : otherWorld.getProof(address as Hex, keys as Hex[])),
  () => Promise.reject(new Error('no')),
]

it('gives the same error, whichever answer of a wave is wrong, in whichever order they arrive', async () => {
  const endpoints = createEndpoints(fewSlots)
  const nameOf = (method: string, [to]: readonly unknown[]) => `${method} ${typeof to === 'string' ? to : ''}`
  const named: string[] = []
  type Lies = ReadonlyMap<string, (typeof LIES)[number] | undefined>
  async function run(lies: Lies, isReversed: boolean) {
    endpoints.lie.l2 = null
    const { options } = countWaves(endpoints, 0, wave => (isReversed ? wave.toReversed() : wave))
    const provider = endpoints.provider({ l2: options.l2 })
    await provider.view()
    const tamper: Tamper = (method, answer, params) => {
      const name = nameOf(method, params)
      if (!named.includes(name)) named.push(name)
      const lie = lies.get(name)
      return lie ? lie(method, params) : answer
    }
    endpoints.lie.l2 = tamper
    return outcomeOf(provider.request(CALLS.quote))
  }
  const truth = await run(new Map(), false)
  expect(typeof truth).toBe('string')
  const places = [...named]
  expect(places.length).toBe(7)
  const errors: unknown[] = []
  for (const [index, place] of places.entries()) {
    const other = places[(index + 3) % places.length] ?? ''
    const lies: Lies = new Map([
      [place, LIES[index % 3]],
      [other, LIES[(index + 1) % 3]],
    ])
    const [found, reversed] = [await run(lies, false), await run(lies, true)]
    expect(found, `${place}, ${other}`).toEqual(reversed)
    expect(found, `${place}, ${other}`).not.toEqual(truth)
    errors.push(found)
  }
  expect(new Set(errors.map(error => Reflect.get(Object(error), 'reason')))).toEqual(
    new Set(['PROOF_REFUSED', 'ENDPOINT_FAILED']),
  )
})

it('gives the error of the root, then that of the state, then that of the timestamp', async () => {
  const boom = () => Promise.reject(new Error('no'))
  for (const isReversed of [false, true]) {
    const endpoints = createEndpoints(fewSlots, true)
    const waves = countWaves(endpoints, 0, wave => (isReversed ? wave.toReversed() : wave))
    const errorOf = async (isWrong: (method: string, params: readonly unknown[]) => boolean) => {
      endpoints.lie.l1 = (method, answer, params) => (isWrong(method, params) ? boom() : answer)
      endpoints.lie.l2 = (method, answer, params) => (isWrong(method, params) ? boom() : answer)
      const { reason, data } = Object(await outcomeOf(endpoints.provider(waves.options).view()))
      return reason && data.layer
    }
    const keysOf = ([, keys]: readonly unknown[]) => (Array.isArray(keys) ? keys.length : 0)
    const [root, state, time] = [
      (method: string, params: readonly unknown[]) => method === 'eth_getProof' && keysOf(params) === 4,
      (method: string) => method === 'rollup_getProof',
      (method: string, params: readonly unknown[]) => method === 'eth_getProof' && keysOf(params) > 4,
    ]
    expect(await errorOf((method, params) => root(method, params) || state(method))).toBe('L1')
    expect(await errorOf((method, params) => state(method) || time(method, params))).toBe('L2')
    expect(await errorOf(time)).toBe('L1')
    // Logs are only hints.
    expect(await errorOf(method => method === 'eth_getLogs')).toBeUndefined()
  }
})
