import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import type { VerifiedProvider } from '../../src/entry/provider.ts'
import { isProviderError } from '../../src/provider/error.ts'
import { sized } from '../size.ts'
import { at, createEndpoints, type Endpoints, word } from './endpoints.ts'
import { type FullAccount, type FullState, writeState } from './full-state.ts'
import { DELEGATED, OBSTACLE, worlds } from './programs.ts'
import { finalize } from './waves.ts'

/**
 * Whoever lies wherever nothing but a guess comes of it: in the newest code, and in what was true one block ago. Calls
 * that guess, compared with calls of a provider that has everything proven before it is asked, so that it guesses nothing.
 */

const METHODS = ['eth_call', 'eth_estimateGas', 'eth_createAccessList']
const KEYS = [0, 1, 2, 3, 4, 5, 6, 7].map(word)

/** The same accounts, of which nothing is as it was. */
function changed(state: FullState): FullState {
  const codes = [...state.values()].map(({ code }) => code)
  return new Map(
    [...state].map(([address, { nonce = 0n, balance = 0n, code, storage = {} }], index): [Hex, FullAccount] => {
      const next = code && codes[(index + 1) % codes.length]
      const slots = Object.entries(storage).map(([key, value]) => [key, word(BigInt(value) ^ 3n)])
      const own = { nonce: nonce + 1n, balance: balance + 7n, storage: Object.fromEntries(slots) }
      return [address, { ...own, ...(next && { code: next }) }]
    }),
  )
}

/** Finalizes a block with this state. */
function move(endpoints: Endpoints, next: FullState): void {
  writeState(endpoints.chain.pending, next)
  finalize(endpoints)
}

const outcomeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.catch((error: unknown) => {
    if (!isProviderError(error)) throw error
    return { reason: error.reason, data: error.data, message: error.message }
  })

async function proveAll(provider: VerifiedProvider, addresses: readonly Hex[]): Promise<void> {
  const all = addresses.flatMap(address => [
    { method: 'eth_getCode', params: [address] },
    ...KEYS.map(key => ({ method: 'eth_getStorageAt', params: [address, key] })),
  ])
  await Promise.all(all.map(one => provider.request(one)))
}

it('lets no lie in a guess reach a result, an estimate or an access list', { timeout: 3_600_000 }, async () => {
  let [compared, guessed] = [0, 0]
  await fc.assert(
    fc.asyncProperty(worlds, async ({ state, calls }) => {
      const [endpoints, next] = [createEndpoints(state), changed(state)]
      const others = [
        at('ee'),
        at('cb'),
        ...Array.from({ length: 18 }, (_, index) => word(index).replace(/0{24}/, '') as Hex),
      ]
      const addresses = [...new Set([...state.keys(), DELEGATED, OBSTACLE, ...others])]
      const provider = endpoints.provider()
      const reference = endpoints.provider()
      const asked = calls.slice(0, 4).flatMap(({ gas, value = 0n, ...call }) => {
        const given = { ...call, value: `0x${value.toString(16)}`, ...(gas && { gas: `0x${gas.toString(16)}` }) }
        return METHODS.map(method => ({ method, params: [given, 'latest'] }))
      })
      for (const one of asked) await outcomeOf(provider.request(one))
      move(endpoints, next)
      endpoints.lie.l2 = (method, answer, [address, block]) => {
        if (method !== 'eth_getCode') return answer
        return (block === 'latest' ? state : next).get(address as Hex)?.code ?? '0x'
      }
      for (const one of [provider, reference]) expect((await one.refresh()).l2BlockNumber).toBe(1n)
      await proveAll(reference, addresses)
      for (const one of asked) {
        endpoints.asked.length = 0
        const expected = await outcomeOf(reference.request(one))
        // Otherwise, it guesses, too.
        if (endpoints.asked.length > 0) continue
        expect(await outcomeOf(provider.request(one)), JSON.stringify(one)).toEqual(expected)
        compared++
        guessed += endpoints.asked.length
      }
    }),
    { seed: 11, numRuns: sized(3), endOnFailure: true },
  )
  console.log('calls with lies in their guesses', { compared, guessed })
  expect(compared).toBeGreaterThanOrEqual(24)
  expect(guessed).toBeGreaterThan(0)
})
