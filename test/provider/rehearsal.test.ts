import { encodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import type { Hex } from '../../src/entry/index.ts'
import { MAX_REHEARSED_GAS, MAX_REHEARSED_STEPS } from '../../src/provider/limits.ts'
import type { Pace } from '../../src/provider/pace.ts'
import { createKnownState } from '../../src/provider/proven-state.ts'
import { keccak256 } from '../../src/verify/hash/keccak/index.ts'
import { compiledContracts } from '../contracts/compile.ts'
import { at, word } from './endpoints.ts'
import { bytesOf, type FullState } from './full-state.ts'
import { bn1, bn2, precompile } from './precompile-inputs.ts'
import { runPlain, runRehearsed, type Setting } from './rehearsing.ts'

/** What rehearsals cost at most, whatever a contract makes of guesses: in requests, in number, and in steps. */

const { Decoys } = await compiledContracts()
if (!Decoys) throw new Error('the contract is missing')
const [ALICE, DECOYS] = [at('a1'), at('dc')]
const PAIRING: Hex = `0x${bn1(1n)}${bn2(1n)}${bn1(1n)}${bn2(1n)}`

/** A list from slot 1 on, in which each slot holds the number of the next. */
const list = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [word(index + 1), word(index + 2)]))
const state: FullState = new Map([
  [ALICE, { balance: 1n }],
  [DECOYS, { nonce: 1n, code: Decoys.code, storage: list }],
])
const callOf = (functionName: string, args: readonly unknown[]) => ({
  ...{ from: ALICE, to: DECOYS },
  data: encodeFunctionData({ abi: Decoys.abi, functionName, args }),
})

/** Counts steps. */
function createCounter() {
  const counter = {
    steps: 0,
    watch: ({ budget = expect.fail(), ...pace }: Pace): Pace => ({
      ...pace,
      budget: {
        ...budget,
        spend(more) {
          budget.spend(more)
          counter.steps += more
        },
      },
      isDue() {
        counter.steps++
        return pace.isDue()
      },
    }),
  }
  return counter
}

/** Runs a call, which ends as it does without rehearsals, and counts the steps of these, and its own. */
async function measure(name: string, args: readonly unknown[], setting: Setting = {}) {
  const [rehearsed, plain] = [createCounter(), createCounter()]
  const call = callOf(name, args)
  const { outcome, asked, ...found } = await runRehearsed(state, call, { watch: rehearsed.watch, ...setting })
  expect(outcome).toBe(await runPlain(state, call, { ...setting, watch: plain.watch }))
  return { ...found, requests: asked.length, steps: rehearsed.steps, own: plain.steps }
}

/** As a provider that has executed a call to the contract in another block, and proven nothing else there. */
function knowing(): Setting {
  const known = createKnownState()
  const codeHash = bytesToHex(keccak256(bytesOf(Decoys?.code ?? '0x')))
  known.addCode(codeHash, bytesOf(Decoys?.code ?? '0x'))
  known.note(DECOYS, { account: { nonce: 1n, balance: 0n, codeHash, hasStorage: true }, slots: new Map() })
  return { known }
}

/** What a call asks for before each rehearsal and after the last one. */
const waves = (amounts: readonly number[], all: number): number[] =>
  amounts.map((amount, index) => (amounts[index + 1] ?? all) - amount)

/** The sender, and the contract with its code; then slots, one after the other. */
const alone = (slots: number) => 3 + slots

it.each([
  ['chase', [30], 0, 10],
  ['chase', [199], 0, 31],
  ['readSlots', [30, 1000], 1, 10],
  ['readSlots', [199, 2 ** 40], 1, 31],
  ['readAgain', [30, 100], 1, 10],
  ['readAccounts', [30, 40], 40, 10],
  ['readAccounts', [199, 2 ** 40], 158, 31],
  ['wait', [30], 0, 10],
  // With the account of the precompile, and that of what it calls.
  ['compute', [30, precompile(8), PAIRING], 2, 11],
  ['compute', [30, precompile(4), '0x00'], 2, 11],
  ['hash', [30, 2 ** 20], 0, 10],
  ['hash', [30, 2 ** 16], 0, 10],
  ['power', [30, 3], 0, 10],
  ['power', [30, 30], 0, 10],
  ['copy', [30, 2 ** 16], 0, 10],
  ['grow', [30, 2 ** 16], 0, 10],
  ['pairs', [20, 3], 14, 11],
  ['pairs', [20, 30], 14, 11],
] as const)('costs few requests and steps more: %s %#', async (name, args, more, rehearsals) => {
  const found = await measure(name, args)
  expect([found.requests - alone(args[0]), found.rehearsals]).toEqual([more, rehearsals])
  // Used are the contract, its code, the slots, and half of the pairs.
  const used = 2 * 16 + (args[0] + 30) * 4
  expect(found.steps).toBeLessThanOrEqual(MAX_REHEARSED_STEPS + 2 ** 10 * used)
  // Powers, hashes, copies and memory are bounded by their gas.
  const most = MAX_REHEARSED_GAS + 2n ** 13n * BigInt(used)
  expect(found.before.filter(({ gas }) => gas > most)).toEqual([])
})

it('guesses 152 slots or 37 accounts at first, then more as they are of use, and never more than 1,024 reads or 64 accounts at once', async () => {
  // What a guess costs: 16 for each of two accounts, 4 for a slot, and 640 in all.
  expect(await measure('readSlots', [1, 2 ** 40], knowing())).toMatchObject({ keys: 152, requests: 3, rehearsals: 1 })
  const few = { keys: 1, requests: 2 + 37, rehearsals: 1 }
  expect(await measure('readAccounts', [1, 2 ** 40], knowing())).toMatchObject(few)
  const slots = await measure('sum', [4000, 0], knowing())
  const keys = slots.before.map(({ keys }) => keys)
  expect(waves(keys, slots.keys)).toEqual([152, 416, 832, 1024, 1024, 552])
  const accounts = await measure('sum', [0, 500], knowing())
  const requests = accounts.before.map(({ requests }) => requests)
  expect(waves(requests, accounts.requests)).toEqual([40, 64, 64, 64, 64, 64, 64, 64, 14])
})

it('takes four slots that were proven in another block for one of which nothing is known', async () => {
  const setting = knowing()
  const slots = Array.from({ length: 1000 }, (_, index) => [word(2 ** 40 + index), word(0)] as const)
  const account = setting.known?.account(DECOYS)?.account ?? null
  setting.known?.note(DECOYS, { account, slots: new Map(slots) })
  expect(await measure('readSlots', [1, 2 ** 40], setting)).toMatchObject({ keys: 605, rehearsals: 1 })
})

it('ends a rehearsal 32,768 steps after its last guess', async () => {
  const { steps, rehearsals } = await measure('wait', [1], knowing())
  expect(rehearsals).toBe(1)
  expect(steps).toBeGreaterThan(2 ** 15)
  expect(steps).toBeLessThan(2 ** 15 + 200)
})

it('leaves the outcome as it is at any bound on requests, or says that it is reached', async () => {
  let [calls, refusals] = [0, 0]
  for (const [name, args] of [
    ['chase', [10]],
    ['readAccounts', [10, 40]],
    ['sum', [20, 20]],
  ] as const) {
    const call = callOf(name, args)
    const truth = await runPlain(state, call)
    for (let maxRequests = 1; maxRequests < 60; maxRequests += 3) {
      const { outcome, asked } = await runRehearsed(state, call, { maxRequests })
      expect(asked.length, name).toBeLessThanOrEqual(maxRequests)
      if (outcome !== truth) {
        expect(outcome).toContain('LIMIT_REACHED')
        refusals++
        // Twice what it takes alone is always enough.
        expect(maxRequests, name).toBeLessThan(2 * (3 + Number(args[0]) + (name === 'sum' ? 20 : 0)))
      }
      calls++
    }
  }
  expect([calls, refusals]).toEqual([60, 20])
})

it('asks for nothing once it is aborted inside a rehearsal, or late', async () => {
  const call = callOf('wait', [30])
  const asked: string[] = []
  for (const isLate of [false, true]) {
    asked.length = 0
    let [steps, before] = [0, 0]
    const controller = new AbortController()
    const watch = (pace: Pace): Pace => ({
      ...pace,
      isDue() {
        if (++steps === 5000) {
          before = asked.length
          controller.abort(new Error('enough'))
        }
        return pace.isDue()
      },
    })
    // Nothing but the deadline ends this one.
    const never = () => new Promise<never>(() => {})
    const setting = isLate ? { timeoutMs: 20, rehearse: never } : { signal: controller.signal, watch }
    const error = await runRehearsed(state, call, { ...setting, asked }).catch(error => error)
    expect(error).toMatchObject(isLate ? { reason: 'TIMEOUT' } : { code: 'ABORTED' })
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setTimeout(resolve))
    expect([asked.length, steps > 5010]).toEqual([before, false])
    expect(before).toBe(isLate ? 0 : 3)
  }
})
