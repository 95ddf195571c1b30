import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bigintToBytes, bytesToBigint, concatBytes } from '../../src/base/bytes.ts'
import { BLS12377_ORDER, isCanonicalBls12377 } from '../../src/verify/field/bls12377.ts'
import { isCanonicalKoalaBear, KOALABEAR_ORDER } from '../../src/verify/field/koalabear.ts'

const seed = 11

const fields = [
  { name: 'BLS12-377', order: BLS12377_ORDER, length: 32, isCanonical: isCanonicalBls12377 },
  { name: 'KoalaBear', order: BigInt(KOALABEAR_ORDER), length: 4, isCanonical: isCanonicalKoalaBear },
]

it('has the published orders', () => {
  expect(BLS12377_ORDER).toBe(8444461749428370424248824938781546531375899335154063827935233455917409239041n)
  expect(KOALABEAR_ORDER).toBe(2 ** 31 - 2 ** 24 + 1)
})

it.each(fields)('$name accepts elements below the order, at any position', ({ order, length, isCanonical }) => {
  const largest = 256n ** BigInt(length) - 1n
  const canonical = [0n, 1n, order - 1n]
  const spellings = [order, order + 1n, largest]
  // One byte above or below the order's byte at each place. The bytes after it must not matter.
  for (let place = 0; place < length; place++) {
    const step = 256n ** BigInt(length - 1 - place)
    const head = order - (order % step)
    canonical.push(head - 1n, head - step + ((order + 1n) % step))
    spellings.push(head + step, head + step + step - 1n)
  }
  const isElement = (x: bigint) => x >= 0n && x <= largest
  let judged = 0
  for (const x of [...canonical, ...spellings].filter(isElement)) {
    const element = bigintToBytes(x, length)
    for (const before of [0, 1, 7]) {
      for (const after of [0, 2]) {
        const bytes = concatBytes(new Uint8Array(before * length), element, new Uint8Array(after * length))
        expect(isCanonical(bytes), `${x} after ${before} before ${after}`).toBe(x < order)
        judged++
      }
    }
  }
  expect(judged).toBeGreaterThan(6 * 3 * length)
  expect(isCanonical(new Uint8Array(0))).toBe(true)
})

it.each(fields)('$name agrees with integer comparison, even in a larger buffer', ({ order, length, isCanonical }) => {
  const orderBytes = bigintToBytes(order, length)
  // Most bytes are those of the order, so that many elements share a long prefix with it.
  const element = fc.tuple(
    ...Array.from(orderBytes, byte => fc.oneof({ weight: 9, arbitrary: fc.constant(byte) }, fc.nat(255))),
  )
  let refused = 0
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), fc.nat(9), (elements, offset) => {
      const buffer = new Uint8Array(offset + elements.length * length + 5).fill(255)
      const bytes = buffer.subarray(offset, offset + elements.length * length)
      bytes.set(elements.flat())
      const isReduced = elements.every(item => bytesToBigint(Uint8Array.from(item)) < order)
      expect(isCanonical(bytes)).toBe(isReduced)
      if (!isReduced) refused++
    }),
    { seed, numRuns: 1000 },
  )
  expect(refused).toBeGreaterThan(300)
  expect(refused).toBeLessThan(1000)
})
