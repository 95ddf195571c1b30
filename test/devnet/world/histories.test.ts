import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesToHex, type Hex } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { type NaiveEntry, naiveRoot } from './naive.ts'
import { accountHash, accountValueHash, address, expectProves, fullHash, schemes, word, ZERO } from './worlds.ts'

/** The expected content of a world, in plain maps. */
function createModel() {
  const accounts = new Map<
    Hex,
    { index: number; slots: Map<Hex, { index: number; value: Hex }>; nextFreeSlot: number }
  >()
  let nextFreeNode = 2
  return {
    accounts,
    nextFreeNode: () => nextFreeNode,
    create(a: Hex) {
      if (!accounts.has(a)) accounts.set(a, { index: nextFreeNode++, slots: new Map(), nextFreeSlot: 2 })
    },
    delete(a: Hex) {
      accounts.delete(a)
    },
    write(a: Hex, key: Hex, value: Hex) {
      const account = accounts.get(a)
      if (account === undefined) throw new Error('the model has no such account')
      const index = account.slots.get(key)?.index
      if (value === ZERO) account.slots.delete(key)
      else account.slots.set(key, { index: index ?? account.nextFreeSlot++, value })
    },
  }
}

describe.each(schemes)('$name', scheme => {
  it('agrees with a tree built from scratch after any sequence of writes', () => {
    const values = fc.integer({ min: 0, max: 3 })
    const step = fc.record({
      account: fc.integer({ min: 1, max: 4 }),
      key: fc.integer({ min: 0, max: 7 }),
      value: values,
    })
    let compared = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('slot', 'slot', 'slot', 'create', 'delete', 'root'), step), {
          minLength: 10,
          maxLength: 60,
        }),
        steps => {
          const world = createWorld(scheme)
          const model = createModel()
          for (const [action, { account, key, value }] of steps) {
            const a = address(account)
            if (action === 'root') world.stateRoot()
            else if (action === 'create' || !model.accounts.has(a)) {
              world.setAccount(a, { balance: BigInt(value) })
              model.create(a)
            } else if (action === 'delete') {
              world.deleteAccount(a)
              model.delete(a)
            } else {
              world.setStorage(a, { key: word(key), value: word(value) })
              model.write(a, word(key), word(value))
            }
          }
          const { accounts, nextFreeNode } = model
          for (const [a, { slots, nextFreeSlot }] of accounts) {
            const entries = Array.from(slots, ([key, { index, value }]) => ({
              index,
              hKey: fullHash(scheme, key),
              hVal: fullHash(scheme, value),
            }))
            const storageRoot = bytesToHex(naiveRoot(scheme, entries, nextFreeSlot))
            expect(world.getAccount(a)?.storageRoot).toBe(storageRoot)
            for (const key of [word(0), word(5), word(8)]) {
              expect(world.getStorage(a, key)).toBe(slots.get(key)?.value ?? ZERO)
              const [proof] = world.getProof(a, [key]).storageProofs
              expect(proof === undefined).toBe(nextFreeSlot === 2)
              if (!proof) continue
              expectProves(scheme, storageRoot, fullHash(scheme, key), proof)
              expect('proof' in proof).toBe(slots.has(key))
              if ('proof' in proof) expect(proof.proof.value).toBe(slots.get(key)?.value)
            }
          }
          const entries: NaiveEntry[] = Array.from(accounts, ([a, { index }]) => ({
            index,
            hKey: accountHash(scheme, a),
            hVal: accountValueHash(scheme, world, a),
          }))
          expect(world.stateRoot()).toBe(bytesToHex(naiveRoot(scheme, entries, nextFreeNode())))
          for (const a of [1, 2, 5].map(address)) {
            const { accountProof } = world.getProof(a)
            expectProves(scheme, world.stateRoot(), accountHash(scheme, a), accountProof)
            expect('proof' in accountProof).toBe(accounts.has(a))
            compared++
          }
        },
      ),
      { seed: 20, numRuns: scheme.name === 'mimc' ? 6 : 4 },
    )
    expect(compared).toBeGreaterThan(9)
  })
})
