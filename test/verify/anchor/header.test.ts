import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/base/bytes.ts'
import { encodeHeader, verifyHeader } from '../../../src/entry/anchor.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../../src/verify/anchor/trie.ts'
import { refusal } from '../../refusal.ts'
import { headers } from './headers.ts'
import { codeOf } from './helpers.ts'

const toBytes = (hex: string) => hexToBytes(hex, hex.length / 2 - 1)
const trust = (rlp: Uint8Array): Hex => bytesToHex(keccak_256(rlp))

const itemsOf = (block: object): RlpItem[] => {
  const item = decodeRlp(toBytes(encodeHeader(block)))
  if (item instanceof Uint8Array) throw new Error('a header is a list')
  return item
}
const newest = headers.at(-1)?.block ?? {}
/** An Amsterdam block. No public block has its fields yet, so only their order is tested. */
const amsterdam = { ...newest, blockAccessListHash: `0x${'ab'.repeat(32)}`, slotNumber: '0x100' }

it('encodes real headers of every fork to their known hashes', () => {
  expect(headers.length).toBe(7)
  for (const { fork, fieldCount, block } of headers) {
    const rlp = encodeHeader(block)
    expect(itemsOf(block).length, fork).toBe(fieldCount)
    const { number, timestamp, stateRoot, hash } = verifyHeader(rlp, block.hash as Hex)
    expect({ number, timestamp, stateRoot, hash }, fork).toEqual({
      number: BigInt(block.number),
      timestamp: BigInt(block.timestamp),
      stateRoot: block.stateRoot,
      hash: block.hash,
    })
  }
})

it('refuses every header under the hash of another', () => {
  let pairs = 0
  for (const { block } of headers) {
    for (const other of headers.filter(other => other.block !== block)) {
      expect(codeOf(() => verifyHeader(encodeHeader(block), other.block.hash as Hex))).toBe('HEADER_HASH_MISMATCH')
      pairs++
    }
  }
  expect(pairs).toBe(42)
})

it('puts the fields of Amsterdam last', () => {
  const items = itemsOf(amsterdam)
  expect(items.length).toBe(23)
  expect(items[21]).toEqual(toBytes(amsterdam.blockAccessListHash))
  expect(items[22]).toEqual(Uint8Array.of(1, 0))
})

it('refuses a field of a later fork without those of earlier forks', () => {
  const added = ['baseFeePerGas', 'withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot']
  added.push('requestsHash', 'blockAccessListHash')
  for (const name of added) {
    for (const absent of [undefined, null]) {
      expect(
        codeOf(() => encodeHeader({ ...amsterdam, [name]: absent })),
        name,
      ).toBe('HEADER_FIELD_ORDER')
    }
  }
  expect(codeOf(() => encodeHeader({ ...amsterdam, slotNumber: null }))).toBe(null)
})

it('refuses non-canonical encodings of a number', () => {
  const spellings = [
    '0x',
    '0x00',
    '00x1',
    '0x0g',
    '0x01',
    '1',
    '',
    '0X1',
    '0x1g',
    '-0x1',
    '0x1 ',
    `0x1${'00'.repeat(8)}`,
  ]
  for (const gasUsed of spellings) {
    expect(
      codeOf(() => encodeHeader({ ...newest, gasUsed })),
      gasUsed,
    ).toBe('HEADER_QUANTITY')
  }
  expect(codeOf(() => encodeHeader({ ...newest, gasUsed: `0x${'ff'.repeat(8)}` }))).toBe(null)
  expect(codeOf(() => encodeHeader({ ...newest, difficulty: `0x${'ff'.repeat(33)}` }))).toBe('HEADER_QUANTITY')
})

it('refuses values that are not blocks', () => {
  for (const block of [
    null,
    undefined,
    1,
    'block',
    [],
    {},
    Object.create(newest),
    new Proxy({}, { get: fail, getOwnPropertyDescriptor: fail }),
  ]) {
    expect(codeOf(() => encodeHeader(block))).toBe('HEADER_MALFORMED')
  }
  const names = Object.keys(newest).filter(name => name !== 'hash')
  expect(names.length).toBe(21)
  for (const name of names) {
    expect(
      codeOf(() => encodeHeader({ ...newest, [name]: 1 })),
      name,
    ).toBe('HEADER_MALFORMED')
    expect(
      codeOf(() => encodeHeader({ ...newest, [name]: '0x0g' })),
      name,
    ).toMatch(/^(BAD_HEX|WRONG_LENGTH|HEADER_QUANTITY)$/)
  }
  expect(codeOf(() => encodeHeader({ ...newest, stateRoot: '0x00' }))).toBe('WRONG_LENGTH')
  expect(codeOf(() => encodeHeader({ ...newest, extraData: `0x${'00'.repeat(4097)}` }))).toBe('WRONG_LENGTH')
})

it('refuses an item that matches the trusted hash but is not a header', () => {
  const items = itemsOf(amsterdam)
  const refused = (item: RlpItem) => {
    const rlp = encodeRlp(item)
    return codeOf(() => verifyHeader(bytesToHex(rlp), trust(rlp)))
  }
  expect(refused(items)).toBe(null)
  expect(refused(items.slice(0, 14))).toBe('HEADER_MALFORMED')
  expect(refused([...items, Uint8Array.of(1)])).toBe('HEADER_MALFORMED')
  expect(refused(Uint8Array.of(1, 2))).toBe('HEADER_MALFORMED')
  for (const index of items.keys()) {
    expect(refused(items.with(index, [])), `${index}`).toBe('HEADER_MALFORMED')
    const isInteger = [7, 8, 9, 10, 11, 15, 17, 18, 22].includes(index)
    const isExtra = index === 12
    const long = refused(items.with(index, new Uint8Array(40)))
    expect(long, `${index}`).toBe(isExtra ? null : isInteger ? 'HEADER_QUANTITY' : 'HEADER_MALFORMED')
    if (isInteger) expect(refused(items.with(index, Uint8Array.of(0)))).toBe('HEADER_QUANTITY')
  }
})

it('refuses bytes that are not one canonical RLP item', () => {
  const spelled = ['0x', '0x8100', '0x817f', '0xb800', '0xb80100', '0xf800', '0xc0c0', '0xc1', '0x82aa', '0xb90001aa']
  spelled.push('0xf801c0', '0xbfffffffffffffffff', '0xffffffffffffffffff', `0x${'c1'.repeat(3000)}`)
  for (const hex of spelled) {
    expect(
      codeOf(() => verifyHeader(hex, trust(toBytes(hex)))),
      hex,
    ).toBe('RLP_NON_CANONICAL')
  }
  const deep = Array.from({ length: 1500 }).reduce<RlpItem>(item => [item], new Uint8Array(0))
  const rlp = encodeRlp(deep)
  expect(codeOf(() => verifyHeader(bytesToHex(rlp), trust(rlp)))).toBe('HEADER_MALFORMED')
})

it('refuses a header that is not hexadecimal or too long, and a malformed hash', () => {
  const hash = headers[0]?.block.hash as Hex
  expect(codeOf(() => verifyHeader(1, hash))).toBe('HEADER_MALFORMED')
  expect(codeOf(() => verifyHeader('0xzz', hash))).toBe('BAD_HEX')
  expect(codeOf(() => verifyHeader(`0x${'00'.repeat(7000)}`, hash))).toBe('WRONG_LENGTH')
  expect(codeOf(() => verifyHeader('0x', '0x12'))).toBe('ARGUMENT_INVALID')
})

it('throws only its own errors', () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect(codeOf(() => encodeHeader(proxy))).toBe('HEADER_MALFORMED')
  expect(codeOf(() => encodeHeader({ ...newest, number: proxy }))).toBe('HEADER_MALFORMED')
  expect(codeOf(() => verifyHeader(proxy, headers[0]?.block.hash as Hex))).toBe('HEADER_MALFORMED')
})

function fail(): never {
  throw new Error('a trap')
}

it('says which field it refuses, what it expects and what it found', () => {
  const encoding = (change: object) => refusal(() => encodeHeader({ ...newest, ...change }))
  expect(encoding({ gasUsed: '0x01' })).toMatchObject({
    path: 'gasUsed',
    expected: 'a quantity of at most 8 bytes without leading zeros',
    found: '"0x01"',
  })
  expect(encoding({ difficulty: '1' }).expected).toBe('a quantity of at most 32 bytes without leading zeros')
  expect(encoding({ withdrawalsRoot: null })).toMatchObject({
    path: 'withdrawalsRoot',
    expected: 'withdrawalsRoot before requestsHash',
    found: 'none',
  })
  expect(encoding({ extraData: `0x${'00'.repeat(4097)}` })).toMatchObject({
    path: 'extraData',
    expected: 'at most 4096 bytes',
    found: '4097 bytes',
  })
  expect(codeOf(() => encodeHeader({ ...newest, extraData: `0x${'00'.repeat(4096)}` }))).toBe(null)
  const items = itemsOf(newest)
  const verifying = (item: RlpItem) => {
    const rlp = encodeRlp(item)
    return refusal(() => verifyHeader(bytesToHex(rlp), trust(rlp)))
  }
  const LIST = 'a list of 15 to 23 fields'
  expect(verifying(Uint8Array.of(1, 2))).toMatchObject({ path: '', expected: LIST, found: 'a string' })
  expect(verifying(items.slice(0, 14))).toMatchObject({ path: '', expected: LIST, found: 'a list of 14' })
  expect(verifying([...items, ...items])).toMatchObject({ path: '', expected: LIST, found: 'a list of 42' })
  expect(verifying(items.with(3, []))).toMatchObject({ path: 'stateRoot', expected: 'a string', found: 'a list' })
  expect(verifying(items.with(3, new Uint8Array(31)))).toMatchObject({
    path: 'stateRoot',
    expected: '32 bytes',
    found: '31 bytes',
  })
  expect(verifying(items.with(8, new Uint8Array(9).fill(1)))).toMatchObject({
    path: 'number',
    expected: 'an integer of at most 8 bytes without leading zeros',
  })
  const zeros = `0x${'00'.repeat(32)}` as const
  expect(refusal(() => verifyHeader('0x', zeros))).toMatchObject({
    code: 'HEADER_HASH_MISMATCH',
    expected: zeros,
    found: trust(new Uint8Array(0)),
  })
  expect(refusal(() => verifyHeader('0x', '0x'))).toMatchObject({ path: 'trustedHash' })
})

it('encodes and decodes numbers of every length', () => {
  for (const [number, timestamp] of [
    [0n, 1n],
    [127n, 128n],
    [255n, 256n],
    [2n ** 63n, 2n ** 64n - 1n],
  ] as const) {
    const block = {
      ...newest,
      number: `0x${number.toString(16)}`,
      timestamp: `0x${timestamp.toString(16).toUpperCase()}`,
    }
    const header = encodeHeader(block)
    expect(verifyHeader(header, trust(toBytes(header)))).toMatchObject({ number, timestamp })
  }
})

it('reads a header with the longest extra data, and none that is longer than that', () => {
  const zeros = `0x${'00'.repeat(32)}` as const
  expect(codeOf(() => verifyHeader(`0x${'00'.repeat(6144)}`, zeros))).toBe('HEADER_HASH_MISMATCH')
  expect(refusal(() => verifyHeader(`0x${'00'.repeat(6145)}`, zeros))).toMatchObject({
    code: 'WRONG_LENGTH',
    expected: 'at most 6144 bytes',
    found: '6145 bytes',
  })
})
