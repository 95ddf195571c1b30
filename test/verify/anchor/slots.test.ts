import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { anchorStorageKeys, lineaRollup } from '../../../src/entry/anchor.ts'
import { mappingSlot, slotKey, verifyCode } from '../../../src/entry/index.ts'
import { refusal } from '../../refusal.ts'
import { codeOf } from './helpers.ts'

const A = '0x00000000000000000000000000000000000000aa'
const B = '0x00000000000000000000000000000000000000bb'

it('computes publicly known slots', () => {
  // keccak256 of 64 zero bytes: entry 0 of the mapping in slot 0.
  expect(mappingSlot({ slot: 0n, keys: [0n] })).toBe(
    '0xad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5',
  )
})

it('encodes keys as Solidity does', () => {
  expect(mappingSlot({ slot: 5n, keys: [A] })).toBe(mappingSlot({ slot: 5n, keys: [0xaan] }))
  expect(mappingSlot({ slot: 5n, keys: [A] })).toBe(
    mappingSlot({ slot: `0x${'00'.repeat(31)}05`, keys: [`0x${'00'.repeat(31)}aa`] }),
  )
  expect(mappingSlot({ slot: 5n, keys: [A, B] })).toBe(
    mappingSlot({ slot: mappingSlot({ slot: 5n, keys: [A] }), keys: [B] }),
  )
  expect(mappingSlot({ slot: 5n, keys: [A, B] })).not.toBe(mappingSlot({ slot: 5n, keys: [B, A] }))
})

it('computes the storage keys of the rollup contract', () => {
  const [root, current] = anchorStorageKeys({ rollup: lineaRollup, l2BlockNumber: 9n })
  expect(root).toBe(mappingSlot({ slot: 282n, keys: [9n] }))
  expect(BigInt(current)).toBe(281n)
  const moved = { ...lineaRollup, layout: { stateRootHashes: 1n, currentL2BlockNumber: 2n } }
  expect(anchorStorageKeys({ rollup: moved, l2BlockNumber: 9n })).toEqual([
    mappingSlot({ slot: 1n, keys: [9n] }),
    `0x${'00'.repeat(31)}02`,
    '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  ])
})

it('refuses block numbers that the rollup contract cannot have', () => {
  for (const block of [-1n, 2n ** 64n]) {
    expect(refusal(() => anchorStorageKeys({ rollup: lineaRollup, l2BlockNumber: block })).code).toBe(
      'ARGUMENT_INVALID',
    )
  }
})

it('says which argument is wrong, and what it expects', () => {
  const WORD = '0x-prefixed hexadecimal of 32 bytes'
  const NUMBER = 'a bigint from 0 to 2^256 - 1'
  const [ARRAY, KEYS] = ['an array', 'at least one key']
  const EITHER = `a bigint, or ${WORD}`
  const tooLarge = 2n ** 256n
  const mapping = (entry: unknown) => () => mappingSlot(entry as { slot: bigint; keys: bigint[] })
  const cases: [work: () => unknown, path: string, expected: string, found: string][] = [
    [mapping(undefined), '', 'an object', 'nothing'],
    [mapping(5n), '', 'an object', 'the bigint 5'],
    [mapping({ keys: [1n] }), 'slot', EITHER, 'nothing'],
    [mapping({ slot: 1n }), 'keys', ARRAY, 'nothing'],
    [mapping({ slot: 1n, keys: [] }), 'keys', KEYS, 'an array'],
    [mapping({ slot: 1n, keys: A }), 'keys', ARRAY, 'a string'],
    [mapping({ slot: 1n, key: A }), 'key', 'no field but slot, keys', 'an unknown field'],
    [mapping({ slot: 1n, Keys: [A] }), 'Keys', 'keys', 'an unknown field'],
    [mapping({ slot: 5, keys: [A] }), 'slot', EITHER, 'the number 5'],
    [mapping({ slot: -1n, keys: [A] }), 'slot', NUMBER, 'the bigint -1'],
    [mapping({ slot: A, keys: [A] }), 'slot', WORD, '20 bytes (an address?)'],
    [mapping({ slot: 0n, keys: [1n, -1n] }), 'keys[1]', NUMBER, 'the bigint -1'],
    [mapping({ slot: 0n, keys: [tooLarge] }), 'keys[0]', NUMBER, `the bigint ${tooLarge}`],
    [mapping({ slot: 0n, keys: ['0x00'] }), 'keys[0]', WORD, '1 byte'],
    [mapping({ slot: 0n, keys: new Array(2) }), 'keys[0]', EITHER, 'nothing'],
    [
      mapping({ slot: 0n, keys: [`0x${'zz'.repeat(20)}`] }),
      'keys[0]',
      '0x-prefixed hexadecimal of 20 bytes',
      'a string of 42 characters',
    ],
    [() => slotKey(-1n), 'slot', NUMBER, 'the bigint -1'],
    [() => slotKey(tooLarge), 'slot', NUMBER, `the bigint ${tooLarge}`],
    [() => slotKey(2 as never), 'slot', NUMBER, 'the number 2'],
  ]
  for (const [work, path, expected, found] of cases) {
    expect(refusal(work), `${path}: ${found}`).toMatchObject({ code: 'ARGUMENT_INVALID', path, expected, found })
  }
  expect(cases.length).toBe(19)
})

it('takes the largest numbers', () => {
  const largest = 2n ** 256n - 1n
  expect(codeOf(() => mappingSlot({ slot: largest, keys: [largest] }))).toBe(null)
  expect(slotKey(largest)).toBe(`0x${'ff'.repeat(32)}`)
  expect(slotKey(258n)).toBe(`0x${'00'.repeat(30)}0102`)
})

it('verifies code', () => {
  const empty = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(verifyCode('0x', empty)).toEqual(new Uint8Array(0))
  const code = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
  expect(verifyCode(bytesToHex(code), bytesToHex(keccak_256(code)))).toEqual(code)
  expect(codeOf(() => verifyCode('0x00', empty))).toBe('CODE_HASH_MISMATCH')
  for (const bad of ['', '0x0', '0xgg', null, 1, code]) expect(codeOf(() => verifyCode(bad, empty))).toBe('BAD_HEX')
  expect(refusal(() => verifyCode('0x', '0x'))).toMatchObject({ code: 'ARGUMENT_INVALID', path: 'codeHash' })
  expect(refusal(() => verifyCode('0xgg', empty)).path).toBe('code')
  expect(refusal(() => verifyCode('0x00', empty))).toMatchObject({
    path: '',
    expected: empty,
    found: bytesToHex(keccak_256(Uint8Array.of(0))),
  })
})
