import { describe, expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { verifyTransition } from '../../../src/entry/transition.ts'
import { addressFor, wordFor } from '../../../vectors/vector.ts'
import { verifyTraces } from '../../model/transition.ts'
import { randomOf } from '../../random.ts'
import { sized } from '../../size.ts'
import { live, relive, type Written } from './histories.ts'

const ZERO = wordFor(0)
const slotOf = (written: Written, address: Hex, key: Hex) => written.get(address)?.slots.get(key) ?? ZERO

describe.each([poseidon2, mimc])('random histories of $name', scheme => {
  it('lead to the roots of the world, and differ where the world does', () => {
    const kinds: Record<string, number> = {}
    for (let seed = 7; seed < 7 + sized(1); seed++) {
      const { parentStateRoot, blocks, counts } = live(scheme, randomOf(seed), 6)
      for (const [kind, count] of Object.entries(counts)) kinds[kind] = (kinds[kind] ?? 0) + count
      const answer = { zkStateMerkleProof: blocks.map(({ traces }) => traces) }
      const verified = verifyTransition(answer, {
        scheme,
        parentStateRoot,
        stateRoot: blocks.at(-1)?.stateRoot ?? '0x',
      })
      expect(verified.blocks.map(({ stateRoot }) => stateRoot)).toEqual(blocks.map(({ stateRoot }) => stateRoot))
      const few = { zkStateMerkleProof: answer.zkStateMerkleProof.slice(0, 4) }
      expect(verifyTraces(scheme.name, few, parentStateRoot)).toEqual(
        blocks.slice(0, 4).map(({ stateRoot }) => stateRoot),
      )
      const other = createWorld(scheme)
      for (const index of [0, 1, 2, 3]) other.setAccount(addressFor(`crowd ${index}`), { balance: BigInt(index) })
      for (const [index, block] of blocks.entries()) {
        expect(relive(other, block)).toBe(block.stateRoot)
        const { accounts } = verified.blocks[index] ?? { accounts: [] }
        const { before, after, accesses } = block
        for (const { address } of accesses) {
          const lives = accounts.filter(diff => diff.address === address)
          expect(lives.at(0)?.before?.balance ?? null).toBe(before.get(address)?.balance ?? null)
          expect(lives.at(-1)?.after?.balance ?? null).toBe(after.get(address)?.balance ?? null)
          // The last life of an account has its slots after, the first those before.
          for (const { key, after: value } of lives.at(-1)?.storage ?? [])
            expect(value).toBe(slotOf(after, address, key))
          for (const { key, before: value } of lives.at(0)?.storage ?? [])
            expect(value).toBe(slotOf(before, address, key))
          const listed = new Set(lives.flatMap(({ storage }) => storage.map(({ key }) => key)))
          const isWhole = lives.every(({ before, after }) => before !== null && after !== null)
          for (const key of isWhole ? (after.get(address)?.slots.keys() ?? []) : []) {
            if (!listed.has(key)) expect(slotOf(before, address, key)).toBe(slotOf(after, address, key))
          }
        }
        expect(new Set(accounts.map(({ address }) => address)).size).toBe(accesses.length)
      }
    }
    expect(Object.keys(kinds).sort()).toEqual(['absent', 'created', 'deleted', 'read', 'recreated', 'updated'])
  })
})
