import { describe, expect, it } from 'vitest'
import { createWorld, type World } from '../../../src/devnet/index.ts'
import type { Scheme } from '../../../src/verify/scheme/scheme.ts'
import { refusal } from '../../refusal.ts'
import { ALICE, BOB, schemes, word, worldWithAlice, ZERO } from './worlds.ts'

const UINT64 = 'a bigint from 0 to 2^64 - 1'
const UINT256 = 'a bigint from 0 to 2^256 - 1'
const TOO_LARGE = 2n ** 256n
const hexOf = (length: number) => `0x-prefixed hexadecimal of ${length} bytes`

/** Values that no argument of a world may have, as far as their type can tell. */
const STRANGERS: readonly unknown[] = [
  ...['', 'x', '10', '0x', 'z'.repeat(1_000_000), 10, 1.5, Number.NaN, 10n, true, null],
  ...[[], [ALICE], {}, Object.create(null), new String(ALICE), new Uint8Array(20), Symbol('x'), () => 1],
]

describe.each(schemes)('$name', scheme => {
  it('refuses invalid arguments without changing anything', () => {
    const world = worldWithAlice(scheme)
    const before = world.stateRoot()
    const refusals: [path: string, expected: string, found: string, call: () => unknown][] = [
      ['address', 'an account that exists', 'none', () => world.setStorage(BOB, { key: word(1), value: word(1) })],
      ['address', 'an account that exists', 'none', () => world.setStorage(BOB, { key: word(1), value: ZERO })],
      ['address', 'an account that exists', 'none', () => world.deleteAccount(BOB)],
      ['address', 'an account that exists', 'none', () => world.skipLeaves(9, BOB)],
      ['changes.nonce', UINT64, `the bigint ${2n ** 64n}`, () => world.setAccount(BOB, { nonce: 2n ** 64n })],
      ['changes.nonce', UINT64, 'the bigint -1', () => world.setAccount(BOB, { nonce: -1n })],
      ['changes.codeSize', UINT64, `the bigint ${2n ** 64n}`, () => world.setAccount(BOB, { codeSize: 2n ** 64n })],
      ['changes.balance', UINT256, `the bigint ${TOO_LARGE}`, () => world.setAccount(BOB, { balance: TOO_LARGE })],
      [
        'changes.snarkCodeHash',
        'a digest: every field element reduced',
        '32 bytes (a hash?)',
        () => world.setAccount(BOB, { snarkCodeHash: word(TOO_LARGE - 1n) }),
      ],
      ['nextFreeNode', 'an integer from 3 to 2^40', 'the number 2', () => world.skipLeaves(2)],
      ['nextFreeNode', 'an integer from 3 to 2^40', `the number ${2 ** 40 + 1}`, () => world.skipLeaves(2 ** 40 + 1)],
      ['nextFreeNode', 'an integer from 3 to 2^40', 'the number 3.5', () => world.skipLeaves(3.5)],
      ['nextFreeNode', 'an integer from 2 to 2^40', 'the number 1', () => world.skipLeaves(1, ALICE)],
      ['address', hexOf(20), '1 byte', () => world.setAccount('0x00')],
      ['slot.key', hexOf(32), '2 bytes', () => world.setStorage(ALICE, { key: '0x1234', value: word(1) })],
      ['slot.value', hexOf(32), '1 byte', () => world.setStorage(ALICE, { key: word(1), value: '0x01' })],
      ['storageKeys[1]', hexOf(32), '1 byte', () => world.getProof(ALICE, [word(1), '0x01'])],
      ['key', hexOf(32), '1 byte', () => world.getStorage(ALICE, '0x01')],
      ['address', hexOf(20), 'a string of 42 characters', () => world.getAccount(`0x${'zz'.repeat(20)}`)],
      ['changes.codeHash', hexOf(32), '1 byte', () => world.setAccount(BOB, { codeHash: '0x01' })],
    ]
    for (const [path, expected, found, call] of refusals) {
      expect(refusal(call)).toMatchObject({ code: 'ARGUMENT_INVALID', path, expected, found })
    }
    expect(refusals.length).toBe(20)
    expect(world.stateRoot()).toBe(before)
  })

  it('takes undefined for a field that does not change', () => {
    const world = worldWithAlice(scheme)
    const before = world.stateRoot()
    const nothing = { nonce: undefined, balance: undefined, code: undefined, codeHash: undefined }
    world.setAccount(ALICE, { ...nothing, snarkCodeHash: undefined, codeSize: undefined })
    world.setAccount(ALICE, undefined)
    expect(world.stateRoot()).toBe(before)
  })

  /** A world, its functions without their types, and a count of the calls that it refused as ARGUMENT_INVALID. */
  function untypedWorld() {
    const world = worldWithAlice(scheme)
    world.setStorage(ALICE, { key: word(1), value: word(2) })
    const before = world.stateRoot()
    const untyped: Record<keyof World, (...args: unknown[]) => unknown> = Object(world)
    let refused = 0
    const refuses = (call: () => unknown) => {
      const { code, message } = refusal(call)
      expect(code).toBe('ARGUMENT_INVALID')
      expect(message).toMatch(/^.{10,300}$/)
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
    ['10', 'a string of 2 characters'],
    ['0x10', '1 byte'],
    [10, 'the number 10'],
    [10n, 'the bigint 10'],
    [null, 'nothing'],
    [undefined, 'nothing'],
    [true, 'a boolean'],
    [[], 'an array'],
    [{}, 'an object'],
    [Symbol('x'), 'a symbol'],
  ])('names an argument of the wrong type: %s', (value, found) => {
    const untyped: Record<keyof World, (...args: unknown[]) => unknown> = Object(createWorld(scheme))
    expect(refusal(() => untyped.deleteAccount(value)).message).toBe(
      `ARGUMENT_INVALID at address: expected 0x-prefixed hexadecimal of 20 bytes, found ${found}`,
    )
  })
})
