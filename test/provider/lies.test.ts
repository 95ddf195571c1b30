import fc from 'fast-check'
import { encodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { ProviderError } from '../../src/entry/provider.ts'
import { sized } from '../size.ts'
import { ALICE, BOB, demoState, MANY, manyAbi, PROXY, TOKEN, tokenAbi } from './contracts.ts'
import { createEndpoints, type Endpoints, type Tamper, word } from './endpoints.ts'
import { worldOf } from './full-state.ts'

/** How many lies are told, half of them by the L1. */
const LIES = sized(44)

const balanceOf = (owner: Hex) => encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
const transfer = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [BOB, 5n] })
const chase = encodeFunctionData({ abi: manyAbi, functionName: 'chase', args: [3n] })

/** Questions and their true answers. */
const QUESTIONS = [
  { method: 'eth_getBalance', params: [ALICE, 'latest'], truth: '0xde0b6b3a7640000' },
  { method: 'eth_getBalance', params: [`0x${'ee'.repeat(20)}`, 'latest'], truth: '0x0' },
  { method: 'eth_getStorageAt', params: [TOKEN, '0x2', 'latest'], truth: word(107) },
  { method: 'eth_getStorageAt', params: [TOKEN, '0x77', 'latest'], truth: word(0) },
  { method: 'eth_getCode', params: [TOKEN, 'latest'], truth: demoState.get(TOKEN)?.code },
  { method: 'eth_call', params: [{ to: TOKEN, data: balanceOf(ALICE) }, 'latest'], truth: word(100) },
  { method: 'eth_call', params: [{ to: PROXY, data: balanceOf(BOB) }, 'latest'], truth: word(70) },
  { method: 'eth_call', params: [{ from: ALICE, to: PROXY, data: transfer }, 'latest'], truth: word(1) },
  { method: 'eth_call', params: [{ to: MANY, data: chase }, 'latest'], truth: word(3) },
  { method: 'eth_estimateGas', params: [{ from: ALICE, to: TOKEN, data: balanceOf(ALICE) }], truth: '0x5d8f' },
]
type Question = (typeof QUESTIONS)[number]

/** Expects the truth or a typed error. @returns whether it was the truth */
async function ask(endpoints: Endpoints, { method, params, truth }: Question): Promise<boolean> {
  try {
    expect(await endpoints.provider().request({ method, params })).toEqual(truth)
    return true
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return false
  }
}

/** Every place in a JSON value that can be lied about. */
function placesIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))]
}

function change(value: unknown, path: readonly (string | number)[], lie: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return lie(value)
  const copy: Record<string | number, unknown> = Array.isArray(value) ? ([...value] as never) : { ...Object(value) }
  copy[name] = change(copy[name], rest, lie)
  return copy
}

const flip = (digit: string) => (Number.parseInt(digit, 16) ^ 1).toString(16)
const KINDS: readonly ((value: unknown, at: number) => unknown)[] = [
  // Flip a digit.
  (value, at) => {
    if (typeof value === 'number') return value + 1
    if (typeof value !== 'string' || value.length < 3) return '0x1'
    const place = 2 + Math.floor(at * (value.length - 2))
    return value.slice(0, place) + flip(value[place] ?? '0') + value.slice(place + 1)
  },
  // Null, zero, another type, empty code, a huge text, a missing item, every item twice.
  () => null,
  value => (typeof value === 'string' ? `0x${'0'.repeat(Math.max(0, value.length - 2))}` : 0),
  () => ({}),
  () => '0x',
  () => `0x${'f'.repeat(100_000)}`,
  value => (Array.isArray(value) ? value.slice(1) : undefined),
  value => (Array.isArray(value) ? [...value, ...value] : []),
]

const aLie = fc.record({
  question: fc.constantFrom(...QUESTIONS),
  // Which answer is changed, where, and how.
  turn: fc.integer({ min: 0, max: 5 }),
  place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  digit: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  kind: fc.constantFrom(...KINDS),
})

it.each(['l1', 'l2'] as const)('tells the truth or nothing, whichever field of an %s answer is false', async layer => {
  let told = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(aLie, async ({ question, turn, place, digit, kind }) => {
      const endpoints = createEndpoints(demoState)
      let count = 0
      endpoints.lie[layer] = (_, answer) => {
        // One lie alone is often about what is only a hint, and is asked for again.
        if (count++ < turn) return answer
        told++
        const places = placesIn(answer)
        return change(answer, places[Math.floor(place * places.length)] ?? [], value => kind(value, digit))
      }
      if (!(await ask(endpoints, question))) refused++
    }),
    { seed: 7, numRuns: LIES / 2 },
  )
  expect(told).toBeGreaterThan(LIES / 8)
  expect(refused).toBeGreaterThan(LIES / 16)
})

/** The same contracts in another state, as in another block or chain. */
const otherState = new Map(
  [...demoState].map(([address, { storage = {}, balance = 0n, ...account }]) => {
    const slots = Object.entries(storage).map(([key, value]) => [key, word(BigInt(value) ^ 3n)])
    return [address, { ...account, balance: balance + 1n, storage: Object.fromEntries(slots) }] as const
  }),
)
const otherWorld = worldOf(otherState)

it('tells the truth or nothing if all or some answers are of another block', async () => {
  let refused = 0
  for (const turns of [1, 2, 3]) {
    for (const question of QUESTIONS.filter(({ method }) => method !== 'eth_getCode')) {
      const endpoints = createEndpoints(demoState)
      let count = 0
      endpoints.lie.l2 = (method, answer, [address, keys]) =>
        method === 'rollup_getProof' && ++count % turns === 0
          ? otherWorld.getProof(address as Hex, keys as Hex[])
          : answer
      if (!(await ask(endpoints, question))) refused++
    }
  }
  // A lie in what is only guessed to be of use is dropped, and asked for again if it is.
  expect(refused).toBeGreaterThan(14)
})

it('tells the truth or nothing if an answer is of another account, or code of another contract', async () => {
  const lies: Tamper[] = [
    (method, answer, [, keys]) =>
      method === 'rollup_getProof' ? worldOf(demoState).getProof(BOB, keys as Hex[]) : answer,
    (method, answer) => (method === 'eth_getCode' ? demoState.get(MANY)?.code : answer),
    (method, answer) => (method === 'eth_getCode' ? '0x' : answer),
  ]
  let refused = 0
  for (const lie of lies) {
    for (const question of QUESTIONS) {
      const endpoints = createEndpoints(demoState)
      endpoints.lie.l2 = lie
      if (!(await ask(endpoints, question))) refused++
    }
  }
  expect(refused).toBeGreaterThan(10)
})

it('ends a call whose proof is refused, even if the contract catches failures', async () => {
  const endpoints = createEndpoints(demoState)
  // The token fails inside a multicall that allows failures. The refusal must not look like a failed inner call.
  endpoints.lie.l2 = (method, answer, [address]) =>
    method === 'rollup_getProof' && address === TOKEN ? otherWorld.getProof(TOKEN) : answer
  const { MULTICALL, multicallAbi } = await import('./contracts.ts')
  const data = encodeFunctionData({
    abi: multicallAbi,
    functionName: 'aggregate3',
    args: [[{ target: TOKEN, allowFailure: true, callData: balanceOf(ALICE) }]],
  })
  const asked = endpoints.provider().request({ method: 'eth_call', params: [{ to: MULTICALL, data }, 'latest'] })
  await expect(asked).rejects.toMatchObject({ reason: 'PROOF_REFUSED', data: { error: 'STATE_ROOT_MISMATCH' } })
})
