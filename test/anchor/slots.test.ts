import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { verifyCode } from '../../src/anchor/code.ts'
import { arraySlot, mappingSlot } from '../../src/anchor/slots.ts'
import { anchorStorageKeys, lineaRollup } from '../../src/anchor.ts'
import { bytesToHex } from '../../src/bytes.ts'
import { refusal } from '../refusal.ts'
import { codeOf } from './helpers.ts'

const A = '0x00000000000000000000000000000000000000aa'
const B = '0x00000000000000000000000000000000000000bb'

it('computes publicly known slots', () => {
  // keccak256 of the numbers 0 and 1 as 32 bytes: the start of dynamic arrays in slots 0 and 1.
  expect(arraySlot(0n, 0n)).toBe('0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563')
  expect(arraySlot(1n, 0n)).toBe('0xb10e2d527612073b26eecdfd717e6a320cf44b4afac2b0732d9fcbe2b7fa0cf6')
  // keccak256 of 64 zero bytes: entry 0 of the mapping in slot 0.
  expect(mappingSlot(0n, 0n)).toBe('0xad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5')
})

it('encodes keys as Solidity does', () => {
  expect(mappingSlot(5n, A)).toBe(mappingSlot(5n, 0xaan))
  expect(mappingSlot(5n, A)).toBe(mappingSlot(`0x${'00'.repeat(31)}05`, `0x${'00'.repeat(31)}aa`))
  expect(mappingSlot(5n, A, B)).toBe(mappingSlot(mappingSlot(5n, A), B))
  expect(mappingSlot(5n, A, B)).not.toBe(mappingSlot(5n, B, A))
})

it('computes the slots of array elements', () => {
  const first = BigInt(arraySlot(3n, 0n))
  expect(BigInt(arraySlot(3n, 7n))).toBe(first + 7n)
  expect(BigInt(arraySlot(3n, 7n, 2n))).toBe(first + 14n)
  // Slots wrap around at 2^256, as they do in the EVM.
  expect(BigInt(arraySlot(3n, 2n ** 256n - 1n))).toBe(first - 1n)
})

it('computes the storage keys of the rollup contract', () => {
  const [root, current] = anchorStorageKeys({ rollup: lineaRollup, l2BlockNumber: 9n })
  expect(root).toBe(mappingSlot(282n, 9n))
  expect(BigInt(current)).toBe(281n)
  const moved = { ...lineaRollup, layout: { stateRootHashes: 1n, currentL2BlockNumber: 2n } }
  expect(anchorStorageKeys({ rollup: moved, l2BlockNumber: 9n })).toEqual([
    mappingSlot(1n, 9n),
    `0x${'00'.repeat(31)}02`,
  ])
})

it('refuses arguments that are not slots or keys', () => {
  const wrong = [
    () => mappingSlot(0n),
    () => mappingSlot(-1n, A),
    () => mappingSlot(2n ** 256n, A),
    () => mappingSlot(0n, '0x00'),
    () => mappingSlot('0x00', A),
    () => mappingSlot(0n, `0x${'zz'.repeat(20)}`),
    () => mappingSlot(5 as never, A),
    () => mappingSlot(5n, null as never),
    () => arraySlot(0n, -1n),
    () => arraySlot(0n, 2n ** 256n),
    () => arraySlot(0n, 0n, 1 as never),
    () => anchorStorageKeys({ rollup: lineaRollup, l2BlockNumber: -1n }),
    () => anchorStorageKeys({ rollup: lineaRollup, l2BlockNumber: 2n ** 64n }),
  ]
  for (const work of wrong) expect(codeOf(work), String(work)).toBe('ARGUMENT_INVALID')
})

it('says which argument is wrong, and what it expects', () => {
  const WORD = '0x-prefixed hexadecimal of 32 bytes'
  expect(refusal(() => mappingSlot(0n))).toMatchObject({ path: 'keys', expected: 'at least one key' })
  expect(refusal(() => mappingSlot(0n, 1n, -1n))).toMatchObject({
    path: 'keys[1]',
    expected: 'a number from 0 to 2^256 - 1',
    found: '-1',
  })
  expect(refusal(() => mappingSlot(0n, '0x00'))).toMatchObject({ path: 'keys[0]', expected: WORD, found: '1 bytes' })
  expect(refusal(() => mappingSlot(0n, `0x${'zz'.repeat(20)}`)).expected).toBe('0x-prefixed hexadecimal of 20 bytes')
  expect(refusal(() => mappingSlot(5 as never, A))).toMatchObject({
    path: 'slot',
    expected: 'a bigint, or 0x-prefixed hexadecimal of 32 bytes',
    found: 'the number 5',
  })
  expect(refusal(() => arraySlot(0n, -1n)).path).toBe('index')
  expect(refusal(() => arraySlot(0n, 1n, -1n)).path).toBe('slotsPerElement')
  const largest = 2n ** 256n - 1n
  expect(codeOf(() => mappingSlot(largest, largest))).toBe(null)
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
