import fc from 'fast-check'
import { expect, it } from 'vitest'
import { historyContract, historySlot } from '../../src/entry/blocks.ts'
import type { Hex } from '../../src/entry/index.ts'
import { createKnownState, type KnownState } from '../../src/provider/proven-state.ts'
import { sized } from '../size.ts'
import { word } from './endpoints.ts'
import { bytesOf, type FullAccount, type FullState } from './full-state.ts'
import { OBSTACLE, worlds } from './programs.ts'
import { readerOver } from './proving/full-reader.ts'
import { runPlain, runRehearsed, type Setting } from './rehearsing.ts'

/** No value that was guessed reaches an outcome: calls on guesses of every kind, compared with calls without any. */

/** Numbers below 2^32, from a seed. */
function createRandom(seed: number) {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
type Random = ReturnType<typeof createRandom>

/** Programs ask for the hash of a block that cannot exist. Now some ask for that of block 0, which the state holds. */
function withHistory(state: FullState): FullState {
  const changed = [...state].map(([address, account], index): [Hex, FullAccount] => {
    // NUMBER - NUMBER in place of 1000.
    const code = account.code?.replaceAll('6103e840', '43800340') as Hex | undefined
    return [address, index % 2 === 0 && code !== undefined ? { ...account, code } : account]
  })
  const storage = { [historySlot(0n)]: word(0xabcdef) }
  return new Map([...changed, [historyContract, { nonce: 1n, code: '0x00', storage }]])
}

const pick = <T>(items: readonly T[], random: Random): T => items[random(items.length)] ?? expect.fail()
const randomWord = (random: Random): Hex =>
  random(3) === 0 ? word(random(4)) : word((BigInt(random(2 ** 32)) << 200n) | 1n)

/** What was proven in another block: some of the accounts, with other fields, codes and slots. */
async function staleOf(state: FullState, random: Random): Promise<KnownState> {
  const known = createKnownState()
  const full = readerOver(state)
  const addresses = [...state.keys(), OBSTACLE]
  for (const address of addresses) {
    if (random(4) === 0) continue
    const other = pick(addresses, random)
    const account = await full.getAccount(random(2) === 0 ? address : other)
    const slots = [0, 1, 2, 3, 4, 5].filter(() => random(2) === 0).map(key => [word(key), randomWord(random)] as const)
    const changed = account && { ...account, nonce: BigInt(random(5)), balance: BigInt(random(60)) }
    known.note(address, { account: changed, slots: new Map(slots) })
    if (changed && random(3) > 0) known.addCode(changed.codeHash, await full.getCode(random(2) === 0 ? address : other))
  }
  return known
}

/** Every guess is something else each time. */
function poisonOf(state: FullState, random: Random): KnownState {
  const codes = [...state.values()].map(({ code = '0x' }) => bytesOf(code))
  const account = () => ({
    ...{ nonce: BigInt(random(9)), balance: BigInt(random(2 ** 32)), codeHash: randomWord(random) },
    hasStorage: random(2) === 0,
  })
  const slots = Object.assign(new Map<Hex, Hex>(), { get: () => randomWord(random) })
  return {
    ...createKnownState(),
    account: () => ({ account: random(5) === 0 ? null : account(), slots }),
    codeOf: () => (random(4) === 0 ? undefined : pick(codes, random)),
  }
}

const KINDS: readonly ((state: FullState, random: Random) => Setting | Promise<Setting>)[] = [
  () => ({}),
  async (state, random) => ({ known: await staleOf(state, random) }),
  (state, random) => ({ known: poisonOf(state, random) }),
]

it('lets no guess reach the outcome, gas, logs, writes or reads of a call', { timeout: 3_600_000 }, async () => {
  let [calls, rehearsals, seed] = [0, 0, 1]
  const ends = { returned: 0, reverted: 0, exhausted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(worlds, async ({ state: drawn, calls: asked }) => {
      const state = withHistory(drawn)
      for (const one of asked) {
        const call = calls % 29 === 28 ? { ...one, gas: 1n } : one
        const random = createRandom(seed++)
        const setting = await KINDS[calls % KINDS.length]?.(state, random)
        const expected = await runPlain(state, call, setting)
        const found = await runRehearsed(state, call, setting)
        expect(found.outcome).toBe(expected)
        calls++
        rehearsals += found.rehearsals
        if (expected.includes('"failure":null')) ends.returned++
        else if (expected.includes('"failure":"revert"')) ends.reverted++
        else if (expected.includes('out of gas')) ends.exhausted++
        else if (expected.includes('"ended":"')) ends.refused++
      }
    }),
    { seed: 7, numRuns: sized(12), endOnFailure: true },
  )
  console.log('calls on guesses', { calls, rehearsals, ...ends })
  expect(calls).toBeGreaterThanOrEqual(120)
  expect(rehearsals).toBeGreaterThan(calls)
  for (const count of Object.values(ends)) expect(count).toBeGreaterThan(0)
})
