import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorld } from '../../src/devnet/index.ts'
import { type Hex, ProofError, verifyProof } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { addressFor, keyFor, wordFor } from '../../vectors/vector.ts'
import { verify } from '../model/verify.ts'
import { createWorld as createModel } from '../model/world.ts'
import { sized } from '../size.ts'

// Each random history is written to the world, to the model (another implementation of the specification) and to plain
// maps. All three must give the same answers, and the verifier must agree with the maps.

const addresses = Array.from({ length: 6 }, (_, index) => addressFor(`account ${index}`))
const keys = Array.from({ length: 5 }, (_, index) => keyFor(index))
const NO_VALUE = wordFor(0)

interface Fields {
  nonce: bigint
  balance: bigint
  codeHash: Hex
  snarkCodeHash: Hex
  codeSize: bigint
}

type Step =
  | { do: 'set'; address: Hex; fields: Fields }
  | { do: 'delete'; address: Hex }
  | { do: 'store'; address: Hex; key: Hex; value: Hex }
  | { do: 'look'; address: Hex }

const address = fc.constantFrom(...addresses)
const key = fc.constantFrom(...keys)
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(wordFor)
const fields: fc.Arbitrary<Fields> = fc.record({
  nonce: uint64,
  balance: fc.bigInt({ min: 0n, max: 2n ** 252n }),
  codeHash: word,
  // Canonical in both schemes.
  snarkCodeHash: fc.bigInt({ min: 0n, max: 2n ** 24n }).map(wordFor),
  codeSize: uint64,
})
const value = fc.oneof({ weight: 2, arbitrary: fc.constant(NO_VALUE) }, { weight: 5, arbitrary: word })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('set'), address, fields }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete'), address }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('store'), address, key, value }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('look'), address }) },
)

describe.each([
  { scheme: poseidon2, seed: 1, crowds: [0, 1, 2, 30, 250] },
  { scheme: mimc, seed: 2, crowds: [0, 1, 2, 30] },
])('a random history of $scheme.name', ({ scheme, seed, crowds }) => {
  const counts = { looks: 0, present: 0, absent: 0, slotsPresent: 0, slotsAbsent: 0, otherRoots: 0, reinserted: 0 }

  /** Runs the steps in a state that starts with `crowd` other accounts. */
  function relive(crowd: number, steps: readonly Step[]): void {
    const world = createWorld(scheme)
    const model = createModel(scheme.name)
    const truth = new Map<Hex, { fields: Fields; slots: Map<Hex, Hex> }>()
    const deleted = new Set<Hex>()
    const proofs: { stateRoot: Hex; address: Hex; answer: unknown }[] = []

    function set(address: Hex, fields: Fields): void {
      world.setAccount(address, fields)
      model.setAccount(address, { ...fields, keccakCodeHash: fields.codeHash })
      truth.set(address, { fields, slots: truth.get(address)?.slots ?? new Map() })
      if (deleted.has(address)) counts.reinserted++
    }

    function store(address: Hex, key: Hex, value: Hex): void {
      const account = truth.get(address)
      if (account === undefined) return
      world.setStorage(address, { key, value })
      model.setStorage(address, key, value)
      if (value === NO_VALUE) account.slots.delete(key)
      else account.slots.set(key, value)
    }

    function remove(address: Hex): void {
      if (!truth.delete(address)) return
      world.deleteAccount(address)
      model.deleteAccount(address)
      deleted.add(address)
    }

    function look(address: Hex): void {
      const stateRoot = world.stateRoot()
      expect(stateRoot).toBe(model.stateRoot())
      const answer = world.getProof(address, keys)
      expect(answer).toEqual(model.getProof(address, keys))
      const account = truth.get(address)
      const expected = {
        account: account === undefined ? null : expect.objectContaining(account.fields),
        storage: keys.map(key => {
          const value = account?.slots.get(key)
          const leafIndex = value === undefined ? null : expect.any(Number)
          return { key, value: value ?? NO_VALUE, exists: value !== undefined, leafIndex }
        }),
      }
      const verified = verifyProof(answer, { scheme, stateRoot, address, storageKeys: keys })
      expect(verified).toEqual(expected)
      expect(verify(answer, { scheme: scheme.name, stateRoot, address, storageKeys: keys })).toEqual(verified)
      proofs.push({ stateRoot, address, answer })
      counts.looks++
      counts[account === undefined ? 'absent' : 'present']++
      for (const { exists } of verified.storage) counts[exists ? 'slotsPresent' : 'slotsAbsent']++
    }

    for (let index = 0; index < crowd; index++) {
      const nothing = { codeHash: NO_VALUE, snarkCodeHash: NO_VALUE, codeSize: 0n }
      set(addressFor(`crowd ${index}`), { nonce: BigInt(index), balance: 1n, ...nothing })
    }
    for (const step of steps) {
      if (step.do === 'set') set(step.address, step.fields)
      else if (step.do === 'delete') remove(step.address)
      else if (step.do === 'store') store(step.address, step.key, step.value)
      else look(step.address)
    }
    for (const address of addresses) look(address)
    if (crowd > 0) look(addressFor('crowd 0'))

    // No proof holds against an earlier or later root.
    const roots = [...new Set(proofs.map(({ stateRoot }) => stateRoot))]
    for (const [index, { stateRoot, address, answer }] of proofs.entries()) {
      const other = roots[index % roots.length]
      if (other === undefined || other === stateRoot) continue
      const claim = { scheme, stateRoot: other, address, storageKeys: keys }
      expect(() => verifyProof(answer, claim)).toThrow(ProofError)
      expect(verify(answer, { ...claim, scheme: scheme.name })).toBe('invalid')
      counts.otherRoots++
    }
  }

  it('reads the same in the world, in the model and in its proofs', () => {
    const history = fc.array(step, { minLength: 10, maxLength: 60, size: 'max' })
    fc.assert(
      fc.property(history, fc.constantFrom(...crowds), (steps, crowd) => relive(crowd, steps)),
      { seed, numRuns: sized(6) },
    )
    relive(0, [])
    relive(crowds.at(-1) ?? 0, [])
    // The histories were not trivial.
    expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThanOrEqual(6)
  })
})
