import { afterEach, expect, it, vi } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import { keccakKernel, keccakPlain } from '../../../src/verify/hash/keccak/index.ts'
import { sized } from '../../size.ts'
import { randomStream } from './messages.ts'

const ascii = (text: string) => new TextEncoder().encode(text)

/** Digests that others published: each line names where. */
const PUBLISHED: readonly (readonly [message: Uint8Array, digest: string, source: string])[] = [
  [
    new Uint8Array(0),
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    'Yellow Paper, appendix F: the hash of no code',
  ],
  [
    Uint8Array.of(0x80),
    '56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    'Yellow Paper: the root of an empty trie',
  ],
  [
    Uint8Array.of(0xc0),
    '1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    'EIP-3675: the hash of no uncles',
  ],
  [
    ascii('abc'),
    '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    'go-ethereum, crypto/crypto_test.go, TestKeccak256Hash',
  ],
  [
    ascii('Transfer(address,address,uint256)'),
    'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    'ERC-20: the topic of its event',
  ],
  [
    ascii('testing'),
    '5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02',
    'the vectors of js-sha3 and go-ethereum of the word',
  ],
  [
    new Uint8Array(32),
    '290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563',
    'Solidity: slot 0 of an array',
  ],
]

it.each(PUBLISHED)('a published digest: %#', (message, digest, source) => {
  for (const hash of [keccakKernel(), keccakPlain]) expect(bytesToHex(hash(message)).slice(2), source).toBe(digest)
})

const kernel = keccakKernel()
const next = randomStream(7n)
const random = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  const words = new DataView(bytes.buffer)
  let at = 0
  for (; at + 8 <= length; at += 8) words.setBigUint64(at, BigInt.asUintN(64, next()))
  for (; at < length; at++) bytes[at] = Number(BigInt.asUintN(8, next()))
  return bytes
}
/** Digests of all messages as one text: an expectation each would cost more than the hashing. */
const digests = (hash: typeof kernel, messages: readonly Uint8Array[]) =>
  messages.map(message => bytesToHex(hash(message))).join('')

it('every length from 0 to 1,199', () => {
  const messages = Array.from({ length: 1200 }, (_, length) => random(length))
  expect(digests(kernel, messages)).toBe(digests(keccakPlain, messages))
  expect(new Set(messages.map(bytesToHex)).size).toBeGreaterThan(1190)
})

it('all bits set and all bits clear, around the ends of blocks', () => {
  const lengths = [135, 136, 137, 271, 272, 273].flatMap(length => [length, length])
  const messages = lengths.map((length, index) => new Uint8Array(length).fill(index % 2 ? 0xff : 0))
  expect(digests(kernel, messages)).toBe(digests(keccakPlain, messages))
})

it(`${sized(1000)} random messages of up to 700 bytes`, () => {
  const messages = Array.from({ length: sized(1000) }, () => random(Number(BigInt.asUintN(32, next())) % 700))
  expect(digests(kernel, messages)).toBe(digests(keccakPlain, messages))
})

it('messages as long as what the kernel takes at once, and longer', () => {
  const once = 120 * 136
  const messages = [-1, 0, 1, 135, 136].flatMap(more => [once + more, 3 * once + more]).map(random)
  expect(digests(kernel, messages)).toBe(digests(keccakPlain, messages))
})

it('messages at any offset of a larger array', () => {
  const bytes = random(1000)
  const messages = Array.from({ length: 16 }, (_, offset) => bytes.subarray(offset, offset + 500))
  expect(digests(kernel, messages)).toBe(digests(keccakPlain, messages))
})

it('answers are copies, and a digest does not depend on the message before', () => {
  const other = keccakKernel()
  const [short, long] = [random(20), random(50_000)]
  const digest = kernel(short)
  const before = bytesToHex(digest)
  kernel(long)
  expect(bytesToHex(digest)).toBe(before)
  expect(digest.buffer.byteLength).toBe(32)
  digest.fill(0xff)
  expect([kernel, other].map(hash => bytesToHex(hash(short)))).toEqual([before, before])
})

it('digests are right after a message that is none', () => {
  const before = bytesToHex(kernel(random(0)))
  // Spoils the middle of a long message, in a way that the types forbid.
  const hostile = { length: 40_000, subarray: () => new Uint8Array(50_000) } as unknown as Uint8Array
  expect(() => kernel(hostile)).toThrow(RangeError)
  expect(bytesToHex(kernel(random(0)))).toBe(before)
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

it('is the kernel if WebAssembly is available, the plain form without it or if a policy forbids it', async () => {
  const { Instance, Module } = WebAssembly
  const instances = vi.fn()
  class Counted extends Instance {
    constructor(module: object) {
      super(module)
      instances()
    }
  }
  const refuse = vi.fn(function forbidden() {
    throw new Error('unsafe-eval is not allowed')
  })
  const message = random(100)
  const expected = bytesToHex(keccakPlain(message))
  for (const [platform, count] of [
    [{ Module, Instance: Counted }, 1],
    [undefined, 0],
    [{ Module: refuse, Instance: refuse }, 0],
  ] as const) {
    vi.resetModules()
    vi.stubGlobal('WebAssembly', platform)
    instances.mockClear()
    const { keccak256 } = await import('../../../src/verify/hash/keccak/index.ts')
    expect([1, 2].map(() => bytesToHex(keccak256(message)))).toEqual([expected, expected])
    expect(instances).toHaveBeenCalledTimes(count)
  }
  expect(refuse).toHaveBeenCalledTimes(1)
})

declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object
  readonly Instance: new (module: object) => object
}
