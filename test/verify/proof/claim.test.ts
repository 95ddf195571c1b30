import { expect, it } from 'vitest'
import type { Hex } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { createVerifier, type ProvenSlot, verifyProof } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { refusal } from '../../refusal.ts'

const address = `0x${'aa'.repeat(20)}` as const
const present = `0x${'ab'.repeat(32)}` as const
const absent = `0x${'cd'.repeat(32)}` as const
const value = `0x${'00'.repeat(31)}ff` as const
const upper = <Text extends string>(hex: Text): Hex => `0x${hex.slice(2).toUpperCase()}`

const world = createWorld(poseidon2)
world.setAccount(address, { balance: 5n })
world.setStorage(address, { key: present, value })
const stateRoot = world.stateRoot()
const claim = { scheme: poseidon2, stateRoot, address }

it('returns one slot per key, in the order of the request, under the key as the caller wrote it', () => {
  const keys = [upper(absent), present, upper(present), absent] as const
  const answer = world.getProof(address, keys)
  const outcomes = [
    verifyProof(answer, { ...claim, storageKeys: keys }),
    createVerifier(poseidon2).verifyProof(answer, { stateRoot, address, storageKeys: keys }),
  ]
  for (const { storage } of outcomes) {
    expect(storage.map(({ key }) => key)).toEqual(keys)
    expect(storage.map(({ exists }) => exists)).toEqual([false, true, true, false])
    expect(storage[1]).toEqual({ key: present, exists: true, value, leafIndex: 2 })
    expect(storage[0]).toEqual({ key: upper(absent), exists: false, value: `0x${'00'.repeat(32)}`, leafIndex: null })
  }
})

it('lets the compiler know how many slots there are, and which fields they have', () => {
  const answer = world.getProof(address, [present, absent])
  const { storage } = verifyProof(answer, { ...claim, storageKeys: [present, absent] })
  const [first, second]: [ProvenSlot, ProvenSlot] = storage
  // @ts-expect-error there are two
  expect(storage[2]).toBe(undefined)
  const leafIndex: number = first.exists ? first.leafIndex : -1
  expect([leafIndex, second.exists]).toEqual([2, false])
  if (!second.exists) expect(second.leafIndex satisfies null).toBe(null)
  const none: [] = verifyProof(world.getProof(address), claim).storage
  expect(none).toEqual([])
  const some: readonly Hex[] = [present]
  const slots: readonly ProvenSlot[] = verifyProof(world.getProof(address, some), {
    ...claim,
    storageKeys: some,
  }).storage
  expect(slots.length).toBe(1)
})

it('takes undefined for no keys, and nothing else', () => {
  const answer = world.getProof(address)
  expect(verifyProof(answer, { ...claim, storageKeys: undefined }).storage).toEqual([])
  expect(verifyProof(answer, { ...claim, storageKeys: [] }).storage).toEqual([])
  for (const [storageKeys, found] of [
    [null, 'nothing'],
    ['0x', 'a string'],
    [{}, 'an object'],
  ]) {
    const error = refusal(() => verifyProof(answer, { ...claim, storageKeys: storageKeys as never }))
    expect(error).toMatchObject({ path: 'storageKeys', expected: 'an array', found })
  }
})

it('names what is missing', () => {
  const whole: Record<string, unknown> = { ...claim }
  for (const name of ['scheme', 'stateRoot', 'address']) {
    const { [name]: _, ...rest } = whole
    for (const lacking of [rest, { ...rest, [name]: undefined }, { ...rest, [name]: null }]) {
      const error = refusal(() => verifyProof({}, lacking as typeof claim))
      expect(error).toMatchObject({ code: 'ARGUMENT_INVALID', path: name, found: 'nothing' })
    }
  }
})

it('refuses keys that it cannot read, as it refuses every claim that it cannot read', () => {
  const fail = () => {
    throw new Error('a trap')
  }
  const trap = Object.defineProperty({ ...claim }, 'stateRoot', { get: fail, enumerable: true })
  const error = refusal(() => verifyProof({}, trap))
  expect(error).toMatchObject({
    code: 'ARGUMENT_INVALID',
    path: '',
    found: 'one that inherits, hides or refuses fields',
  })
})
