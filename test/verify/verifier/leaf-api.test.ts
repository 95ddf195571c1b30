import { describe, expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import {
  computeRoot,
  decodeAccount,
  type Hex,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
  type Scheme,
  verifyExistence,
  verifyNonExistence,
} from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { layoutOf, lift, slice } from '../../../vectors/forge.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'
import { verdict } from '../../refusal.ts'

describe.each([mimc, poseidon2])('the functions for leaf proofs of $name', scheme => {
  const layout = layoutOf(scheme)
  const [address, absent] = [addressFor('contract'), addressFor('nobody')]
  const [key, absentKey] = [keyFor(1), keyFor(2)]
  const world = createWorld(scheme)
  world.setAccount(address, { nonce: 3n, balance: 4n, codeSize: 5n, codeHash: keyFor('code') })
  world.setStorage(address, { key, value: wordFor(7) })
  const stateRoot = world.stateRoot()
  const { storageRoot } = world.getAccount(address) ?? { storageRoot: '0x' as Hex }
  const { accountProof, storageProofs } = world.getProof(address, [key, absentKey])
  const [slotProof, absentSlotProof] = storageProofs
  const absentProof = world.getProof(absent).accountProof
  if (!('proof' in accountProof) || !slotProof || !('proof' in slotProof)) throw new Error('both exist')
  const { value, proofRelatedNodes } = accountProof.proof
  const account = { scheme, stateRoot, address }
  const slot = { scheme, storageRoot, storageKey: key }

  it('verify existence', () => {
    expect(verifyExistence(accountProof, account)).toEqual({ leafIndex: 2, value })
    expect(verifyExistence(slotProof, slot)).toEqual({ leafIndex: 2, value: wordFor(7) })
    expect(verdict(() => verifyExistence(absentProof, { ...account, address: absent }))).toBe('MALFORMED_RESPONSE')
    expect(verdict(() => verifyExistence(accountProof, { ...account, stateRoot: storageRoot }))).toBe(
      'STATE_ROOT_MISMATCH at proof',
    )
    expect(verdict(() => verifyExistence(slotProof, { ...slot, storageRoot: stateRoot }))).toBe(
      'STORAGE_ROOT_MISMATCH at proof',
    )
    expect(verdict(() => verifyExistence(accountProof, slot))).toBe('WRONG_LENGTH at key')
  })

  it('verify non-existence', () => {
    expect(verifyNonExistence(absentProof, { ...account, address: absent })).toEqual({
      leftLeafIndex: 'leftLeafIndex' in absentProof ? absentProof.leftLeafIndex : -1,
      rightLeafIndex: 'leftLeafIndex' in absentProof ? absentProof.rightLeafIndex : -1,
    })
    const { leftLeafIndex, rightLeafIndex } = verifyNonExistence(absentSlotProof, { ...slot, storageKey: absentKey })
    expect([leftLeafIndex, rightLeafIndex]).toContain(2)
    expect(verdict(() => verifyNonExistence(accountProof, account))).toBe('MALFORMED_RESPONSE')
    expect(() => verifyNonExistence(accountProof, account)).toThrow(
      'expected a proof of non-existence, found a proof of exis',
    )
    expect(verdict(() => verifyNonExistence(absentSlotProof, slot))).toBe('KEY_MISMATCH at key')
  })

  it('check their arguments', () => {
    const wrong = { ...account, stateRoot: '0x' as Hex }
    expect(verdict(() => verifyExistence(accountProof, wrong))).toBe('ARGUMENT_INVALID at stateRoot')
    expect(verdict(() => verifyExistence(slotProof, { ...slot, storageRoot: '0x' }))).toBe(
      'ARGUMENT_INVALID at storageRoot',
    )
    expect(verdict(() => verifyNonExistence(slotProof, { ...slot, storageKey: '0x' }))).toBe(
      'ARGUMENT_INVALID at storageKey',
    )
    const none = undefined as unknown as Scheme
    expect(verdict(() => verifyExistence(accountProof, { ...account, scheme: none }))).toBe(
      'ARGUMENT_INVALID at scheme',
    )
    const nothing = undefined as unknown as typeof account
    expect(verdict(() => verifyExistence(accountProof, nothing))).toBe('ARGUMENT_INVALID')
    const misnamed: [claim: object, path: string][] = [
      [{ ...account, adress: address }, 'adress'],
      [{ scheme, stateRoot }, 'address'],
      [{ scheme, address }, 'stateRoot'],
      [{ scheme, storageRoot }, 'storageKey'],
      [{ scheme, storageKey: key }, 'storageRoot'],
      [{ scheme, storageRoot, storagekey: key }, 'storagekey'],
      [{ ...account, storageKey: key }, 'stateRoot'],
      [Object.assign(Object.create({ scheme }), { stateRoot, address }), ''],
    ]
    for (const [claim, path] of misnamed) {
      for (const verify of [verifyExistence, verifyNonExistence])
        expect(verdict(() => verify(accountProof, claim as typeof account))).toBe(
          path === '' ? 'ARGUMENT_INVALID' : `ARGUMENT_INVALID at ${path}`,
        )
    }
    const calls: ((scheme: Scheme) => unknown)[] = [
      scheme => computeRoot(scheme, 2, proofRelatedNodes),
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

  it('compute the roots that a path leads to without comparing them', () => {
    const subRoot = slice(proofRelatedNodes[0] ?? '', layout.word, 32)
    expect(computeRoot(scheme, 2, proofRelatedNodes)).toEqual({ subRoot, root: stateRoot })
    const elsewhere = computeRoot(scheme, 1, proofRelatedNodes)
    expect(elsewhere.subRoot).not.toBe(subRoot)
    expect(elsewhere.root).not.toBe(stateRoot)
    const compute = (index: number, nodes: Hex[] = proofRelatedNodes) =>
      verdict(() => computeRoot(scheme, index, nodes))
    for (const index of [3, -1, 0.5, 2 ** 40]) expect(compute(index)).toBe('INDEX_OUT_OF_RANGE at leafIndex')
    expect(compute(2, proofRelatedNodes.slice(1))).toBe('WRONG_NODE_COUNT at proofRelatedNodes')
    expect(compute(2, proofRelatedNodes.with(7, '0x'))).toBe('WRONG_LENGTH at proofRelatedNodes[7]')
    for (const entry of [0, 1, 39, 41]) {
      const lifted = lift(scheme, proofRelatedNodes[entry] ?? '', (proofRelatedNodes[entry] ?? '').length / 2 - 33)
      expect(compute(2, proofRelatedNodes.with(entry, lifted))).toBe(`NON_CANONICAL at proofRelatedNodes[${entry}]`)
    }
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
