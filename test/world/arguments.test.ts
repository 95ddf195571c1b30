import { describe, expect, it } from 'vitest'
import type { Scheme } from '../../src/scheme/scheme.ts'
import { createWorld, type World, WorldError } from '../../src/world.ts'
import { ALICE, BOB, schemes, word, worldWithAlice, ZERO } from './worlds.ts'

/** Values that no argument of a world may have, as far as their type can tell. */
const STRANGERS: readonly unknown[] = [
  ...['', 'x', '10', '0x', 'z'.repeat(1_000_000), 10, 1.5, Number.NaN, 10n, true, null],
  ...[[], [ALICE], {}, Object.create(null), new String(ALICE), new Uint8Array(20), Symbol('x'), () => 1],
]

describe.each(schemes)('$name', scheme => {
  it('refuses invalid arguments without changing anything', () => {
    const world = worldWithAlice(scheme)
    const before = world.stateRoot()
    const refusals: [code: string, call: () => unknown][] = [
      ['ACCOUNT_MISSING', () => world.setStorage(BOB, { key: word(1), value: word(1) })],
      ['ACCOUNT_MISSING', () => world.setStorage(BOB, { key: word(1), value: ZERO })],
      ['ACCOUNT_MISSING', () => world.deleteAccount(BOB)],
      ['ACCOUNT_MISSING', () => world.skipLeaves(9, BOB)],
      ['OUT_OF_RANGE', () => world.setAccount(BOB, { nonce: 2n ** 64n })],
      ['OUT_OF_RANGE', () => world.setAccount(BOB, { nonce: -1n })],
      ['OUT_OF_RANGE', () => world.setAccount(BOB, { codeSize: 2n ** 64n })],
      ['OUT_OF_RANGE', () => world.setAccount(BOB, { balance: 2n ** 256n })],
      ['OUT_OF_RANGE', () => world.setAccount(BOB, { snarkCodeHash: word(2n ** 256n - 1n) })],
      ['OUT_OF_RANGE', () => world.skipLeaves(2)],
      ['OUT_OF_RANGE', () => world.skipLeaves(2 ** 40 + 1)],
      ['ARGUMENT_INVALID', () => world.skipLeaves(3.5)],
      ['ARGUMENT_INVALID', () => world.setAccount('0x00')],
      ['ARGUMENT_INVALID', () => world.setStorage(ALICE, { key: '0x1234', value: word(1) })],
      ['ARGUMENT_INVALID', () => world.setStorage(ALICE, { key: word(1), value: '0x01' })],
      ['ARGUMENT_INVALID', () => world.getProof(ALICE, ['0x01'])],
      ['ARGUMENT_INVALID', () => world.getAccount(`0x${'zz'.repeat(20)}`)],
      ['ARGUMENT_INVALID', () => world.setAccount(BOB, { codeHash: `0x${'zz'.repeat(32)}` })],
    ]
    for (const [code, call] of refusals) expect(call).toThrow(expect.objectContaining({ code }))
    expect(world.stateRoot()).toBe(before)
    expect(() => world.deleteAccount(BOB)).toThrow(WorldError)
    expect(() => world.deleteAccount(`0x${'AB'.repeat(20)}`)).toThrow(`there is no account 0x${'ab'.repeat(20)}`)
  })

  /** A world, its functions without their types, and a count of the calls that it refused as ARGUMENT_INVALID. */
  function untypedWorld() {
    const world = worldWithAlice(scheme)
    world.setStorage(ALICE, { key: word(1), value: word(2) })
    const before = world.stateRoot()
    const untyped: Record<keyof World, (...args: unknown[]) => unknown> = Object(world)
    let refused = 0
    const refuses = (call: () => unknown) => {
      expect(call).toThrow(WorldError)
      expect(call).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }))
      expect(call).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{10,300}$/) }))
      refused++
    }
    const refusals = () => {
      expect(world.stateRoot()).toBe(before)
      return refused
    }
    return { untyped, refuses, refusals }
  }

  it('refuses addresses, keys and values of the wrong type without changing anything', () => {
    const { untyped, refuses, refusals } = untypedWorld()
    const takeAddress = ['setAccount', 'deleteAccount', 'getAccount', 'getStorage', 'setStorage', 'getProof'] as const
    for (const value of [...STRANGERS, undefined]) {
      for (const name of takeAddress) refuses(() => untyped[name](value, word(1), word(1)))
      refuses(() => untyped.setStorage(ALICE, { key: value, value: word(1) }))
      refuses(() => untyped.setStorage(ALICE, { key: word(1), value }))
      refuses(() => untyped.getStorage(ALICE, value))
      refuses(() => untyped.getProof(ALICE, [value]))
    }
    for (const value of STRANGERS) {
      if (!Array.isArray(value) || value.length > 0) refuses(() => untyped.getProof(ALICE, value))
    }
    refuses(() => untyped.getProof(ALICE, new Array(3)))
    expect(refusals()).toBe(219)
  })

  it('refuses fields of an account that are of the wrong type, misspelt or cannot be set', () => {
    const { untyped, refuses, refusals } = untypedWorld()
    const isFields = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
    for (const value of STRANGERS) {
      for (const field of ['nonce', 'balance', 'codeSize']) {
        if (typeof value !== 'bigint') refuses(() => untyped.setAccount(ALICE, { [field]: value }))
      }
      for (const field of ['codeHash', 'snarkCodeHash']) refuses(() => untyped.setAccount(ALICE, { [field]: value }))
      if (!isFields(value)) refuses(() => untyped.setAccount(ALICE, value))
    }
    for (const field of ['balence', 'Nonce', 'storageRoot', '__proto__', 'a\u001b[2J', 'x'.repeat(1_000_000)]) {
      refuses(() => untyped.setAccount(ALICE, Object.fromEntries([[field, 1n]])))
    }
    expect(refusals()).toBe(113)
  })

  it('refuses leaf indices of the wrong type, and what is no scheme', () => {
    const { untyped, refuses, refusals } = untypedWorld()
    for (const value of [...STRANGERS, undefined]) {
      if (value !== 10) refuses(() => untyped.skipLeaves(value))
      if (value !== undefined) refuses(() => untyped.skipLeaves(9, value))
      refuses(() => createWorld(value as Scheme))
    }
    refuses(() => createWorld({ scheme } as unknown as Scheme))
    // The name alone does not make a scheme.
    refuses(() => createWorld({ name: scheme.name } as unknown as Scheme))
    expect(refusals()).toBe(60)
  })

  it.each<[unknown, string]>([
    ['10', 'the string "10"'],
    [10, 'the number "10"'],
    [10n, 'the bigint "10"'],
    [null, 'null'],
    [undefined, 'undefined'],
    [true, 'true'],
    [[], 'an array'],
    [{}, 'a value of type object'],
    [Symbol('x'), 'a value of type symbol'],
  ])('names an argument of the wrong type: %s', (value, found) => {
    const untyped: Record<keyof World, (...args: unknown[]) => unknown> = Object(createWorld(scheme))
    expect(() => untyped.deleteAccount(value)).toThrow(
      new WorldError('ARGUMENT_INVALID', `address: expected 0x-prefixed hexadecimal of 20 bytes, found ${found}`),
    )
  })
})
