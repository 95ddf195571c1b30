import fc from 'fast-check'
import { getContractAddress } from 'viem'
import { HARDFORKS, type Hardfork } from '../../../src/client/network/network.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { sized } from '../../size.ts'
import { CONTRACTS, DELEGATED, OBSTACLE, worlds } from '../programs.ts'
import type { Scene } from './scene.ts'

/** How many worlds of drawn programs. Half of them are in Prague. */
const WORLDS = sized(12)

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
      scene.ask('drawn programs', [hardfork], {
        what: `world ${index}: ${from} to ${to}, ${rest.gas}`,
        from: move(from),
        to: to === undefined ? null : move(to),
        data,
        ...rest,
      })
    }
  }
}
