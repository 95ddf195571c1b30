import { describe, expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import type { Hex, Scheme } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import {
  decodeAccount,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
} from '../../../src/verify/verifier/leaf-api.ts'
import { layoutOf, lift, slice } from '../../../vectors/forge.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'
import { verdict } from '../../refusal.ts'

describe.each([mimc, poseidon2])('the functions for leaf proofs of $name', scheme => {
  const layout = layoutOf(scheme)
  const [address, key] = [addressFor('contract'), keyFor(1)]
  const world = createWorld(scheme)
  world.setAccount(address, { nonce: 3n, balance: 4n, codeSize: 5n, codeHash: keyFor('code') })
  world.setStorage(address, { key, value: wordFor(7) })
  const { accountProof, storageProofs } = world.getProof(address, [key])
  const [slotProof] = storageProofs
  if (!('proof' in accountProof) || !slotProof || !('proof' in slotProof)) throw new Error('both exist')
  const { value, proofRelatedNodes } = accountProof.proof

  it('refuse a scheme that is none, and what has another length', () => {
    const none = undefined as unknown as Scheme
    const calls: ((scheme: Scheme) => unknown)[] = [
      scheme => decodeAccount(scheme, value),
      scheme => hashAccountKey(scheme, address),
      scheme => hashAccountValue(scheme, value),
      scheme => hashStorageKey(scheme, key),
      scheme => hashStorageValue(scheme, key),
    ]
    for (const call of calls) {
      expect(verdict(() => call(scheme))).toBe('accepted')
      expect(verdict(() => call(none))).toBe('ARGUMENT_INVALID at scheme')
    }
    const hashes = [hashAccountKey, hashAccountValue, hashStorageKey, hashStorageValue, decodeAccount]
    for (const hash of hashes) expect(verdict(() => hash(scheme, '0x'))).toMatch(/^ARGUMENT_INVALID at \w+$/)
  })

  it('hash keys and values as in the leaves', () => {
    const opening = proofRelatedNodes[41] ?? ''
    expect(hashAccountKey(scheme, address)).toBe(slice(opening, layout.hKey, 32))
    expect(hashAccountValue(scheme, value)).toBe(slice(opening, layout.hVal, 32))
    const slotOpening = slotProof.proof.proofRelatedNodes[41] ?? ''
    expect(hashStorageKey(scheme, key)).toBe(slice(slotOpening, layout.hKey, 32))
    expect(hashStorageValue(scheme, wordFor(7))).toBe(slice(slotOpening, layout.hVal, 32))
  })

  it('decode an account value', () => {
    const { nonce, balance, codeSize, codeHash } = decodeAccount(scheme, value)
    expect({ nonce, balance, codeSize, codeHash }).toEqual({
      nonce: 3n,
      balance: 4n,
      codeSize: 5n,
      codeHash: keyFor('code'),
    })
    expect(decodeAccount(scheme, value)).toEqual(world.getAccount(address))
    const lifted = lift(scheme, value, 64)
    expect(verdict(() => decodeAccount(scheme, lifted))).toBe('NON_CANONICAL')
    expect(verdict(() => hashAccountValue(scheme, lifted))).toBe('NON_CANONICAL')
    for (const byte of [23, 160 + 23]) {
      const large: Hex = `0x${value.slice(2, 2 + 2 * byte)}01${value.slice(4 + 2 * byte)}`
      expect(verdict(() => decodeAccount(scheme, large))).toBe('VALUE_OUT_OF_RANGE')
    }
  })
})
