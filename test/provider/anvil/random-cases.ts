import fc from 'fast-check'
import { getContractAddress } from 'viem'
import { HARDFORKS, type Hardfork } from '../../../src/client/network/hardfork.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { sized } from '../../size.ts'
import { at, word } from '../endpoints.ts'
import { CONTRACTS, DELEGATED, OBSTACLE, worlds } from '../programs.ts'
import type { Scene } from './scene.ts'

/** How many worlds of drawn programs. Half of them are in Prague. */
const WORLDS = sized(12)

const [SENDER, ABSENT] = [at('a1'), at('ee')]

/** Gives each world addresses of its own, also within its code. */
function relocate(world: number): (text: string) => Hex {
  const moved = new Map<string, Hex>(
    [...CONTRACTS, DELEGATED].map((address, index) => {
      return [address.slice(2), `0x${world.toString(16).padStart(4, '0')}${`${index}`.repeat(36)}`]
    }),
  )
  const first = moved.get(CONTRACTS[0].slice(2)) as Hex
  moved.set(OBSTACLE.slice(2), getContractAddress({ from: first, nonce: 1n }).toLowerCase() as Hex)
  const pattern = new RegExp([...moved.keys()].join('|'), 'g')
  return text => text.replaceAll(pattern, found => (moved.get(found) as Hex).slice(2)) as Hex
}

const slots = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 3 })), { selector: ([key]) => key })
  .map(drawn => Object.fromEntries(drawn.map(([key, value]) => [word(key), word(value)])))
const quantity = fc.constantFrom<Hex>('0x0', '0x1', '0x2', '0x3', '0xde0b6b3a7640000')
/** A contract, none, one that returns its balance, or one that adds to two slots and returns what they held. */
const code = fc.constantFrom<Hex>('0x', '0x475f5260205ff3', '0x5f54600154015f52600160015401600155600160025560205ff3')
const account = fc
  .record({ balance: quantity, nonce: quantity, code, state: slots, stateDiff: slots }, { requiredKeys: [] })
  .map(({ stateDiff, ...rest }) =>
    rest.state === undefined && stateDiff !== undefined ? { ...rest, stateDiff } : rest,
  )
const drawnOverrides = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...CONTRACTS, SENDER, ABSENT), account), {
    ...{ minLength: 1, selector: ([address]) => address },
  })
  .map(drawn => Object.fromEntries(drawn))

/** Drawn programs that call each other. */
export function addRandom(scene: Scene): void {
  const drawn = fc.sample(worlds, { numRuns: WORLDS, seed: 14 })
  for (const [index, { state, calls }] of drawn.entries()) {
    const hardfork: Hardfork =
      index % 2 === 0 ? 'prague' : (HARDFORKS[((index - 1) / 2) % HARDFORKS.length] ?? 'prague')
    const move = relocate(index + 1)
    for (const [address, account] of state) {
      const isDelegation = account.code?.startsWith('0xef0100')
      // No account delegates before Prague.
      if (isDelegation && !['prague', 'osaka'].includes(hardfork)) continue
      scene.set(move(address), { ...account, ...(account.code && { code: move(account.code) }) })
    }
    for (const { from, to, data, ...rest } of calls) {
      const what = `world ${index}: ${from} to ${to}, ${rest.gas}`
      scene.ask('drawn programs', [hardfork], {
        what,
        from: move(from),
        to: to === undefined ? null : move(to),
        data,
        ...rest,
      })
      for (const overrides of fc.sample(drawnOverrides, { numRuns: 2, seed: scene.cases.length })) {
        scene.ask('drawn programs, overridden', [hardfork], {
          what: `${what}, with ${JSON.stringify(overrides).slice(0, 100)}`,
          from: move(from),
          to: to === undefined ? null : move(to),
          data,
          ...rest,
          overrides: JSON.parse(move(JSON.stringify(overrides))),
        })
      }
    }
  }
}
