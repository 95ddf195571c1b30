import { describe, expect, it } from 'vitest'
import { bigintToBytes, bytesToHex, concatBytes, hexToBytes } from '../../../src/base/bytes.ts'
import { BLS12377_ORDER } from '../../../src/verify/field/bls12377.ts'
import { KOALABEAR_ORDER } from '../../../src/verify/field/koalabear.ts'
import { type Hasher, hasherOf } from '../../../src/verify/hash/hasher.ts'
import { mimcKernel } from '../../../src/verify/hash/mimc/kernel.ts'
import { mimcPlain } from '../../../src/verify/hash/mimc/plain.ts'
import { poseidon2Kernel } from '../../../src/verify/hash/poseidon2/kernel.ts'
import { multiply, poseidon2Plain, reduce } from '../../../src/verify/hash/poseidon2/plain.ts'
import { sized } from '../../size.ts'
import { knownAnswers, messageMaker, randomStream } from './messages.ts'
import { mimcReference } from './reference/mimc.ts'
import { poseidon2Reference } from './reference/poseidon2.ts'

const RANDOM_MESSAGES = sized(500)

const r = BLS12377_ORDER
const p = BigInt(KOALABEAR_ORDER)
const ONES = (1n << 252n) - 1n

/** Below r with every limb of `bits` bits at its largest, the top one aside; and the same for balanced limbs. */
const extremes = (bits: bigint): bigint[] => {
  const limbs = 252n / bits
  const allLow = (1n << (limbs * bits)) - 1n
  const top = (r >> (limbs * bits)) - 1n
  const halves = Array.from({ length: Number(limbs) }, (_, i) => 1n << (BigInt(i) * bits + bits - 1n)).reduce(
    (a, b) => a + b,
  )
  return [allLow, (top << (limbs * bits)) | allLow, halves, halves - 1n, (top << (limbs * bits)) | halves]
}

/** A row of pieces of one length. */
const cut = (bytes: Uint8Array, length: number): Uint8Array[] =>
  Array.from({ length: bytes.length / length }, (_, index) => bytes.slice(index * length, (index + 1) * length))

/** Every implementation is compared over the same messages: the reference, the slowest of all, hashes each once. */
function hashOnce({ hash }: Hasher): Hasher {
  const digests = new Map<string, Uint8Array>()
  return hasherOf(message => {
    const key = bytesToHex(message)
    const digest = digests.get(key) ?? hash(message)
    digests.set(key, digest)
    return digest
  })
}

const schemes = [
  {
    name: 'mimc',
    elementLength: 32,
    messages: () => messageMaker(r, 32, [0n, 1n, r - 1n, r - 2n, r / 2n, ONES, ...extremes(29n), ...extremes(24n)], 1n),
    largest: bigintToBytes(r - 1n, 32),
    extremes: [...extremes(29n), ...extremes(24n), ONES].map(x => bigintToBytes(x, 32)),
    reference: hashOnce(mimcReference()),
    implementations: { kernel: mimcKernel, plain: mimcPlain },
  },
  {
    name: 'poseidon2',
    elementLength: 4,
    messages: () => messageMaker(p, 4, [0n, 1n, p - 1n, p - 2n, p / 2n, 1n << 24n, (1n << 24n) - 1n, 1n << 30n], 2n),
    largest: concatBytes(...new Array<Uint8Array>(8).fill(bigintToBytes(p - 1n, 4))),
    extremes: [0n, 1n, p - 1n, p / 2n, 1n << 30n].map(x =>
      concatBytes(...new Array<Uint8Array>(8).fill(bigintToBytes(x, 4))),
    ),
    reference: hashOnce(poseidon2Reference()),
    implementations: { kernel: poseidon2Kernel, plain: poseidon2Plain },
  },
] as const

for (const { name, messages: startMessages, largest, extremes, reference, implementations } of schemes) {
  for (const [kind, make] of Object.entries(implementations)) {
    describe(`${name} ${kind}, against the reference`, () => {
      const hasher: Hasher = make()
      const makeMessage = startMessages()

      const compare = (message: Uint8Array) =>
        expect(bytesToHex(hasher.hash(message))).toBe(bytesToHex(reference.hash(message)))

      it(`${RANDOM_MESSAGES} random messages of one block`, () => {
        // Compared as one text: an expectation each would cost more than the hashing.
        const messages = makeMessage(32 * RANDOM_MESSAGES)
        const [found, expected] = [hasher, reference].map(({ hashBatch }) =>
          concatBytes(...hashBatch(cut(messages, 32))),
        )
        expect(bytesToHex(found ?? messages)).toBe(bytesToHex(expected ?? new Uint8Array(0)))
        expect(found?.length).toBe(32 * RANDOM_MESSAGES)
      })

      it('1 to 70 blocks', () => {
        for (let blocks = 1; blocks <= 70; blocks += blocks < 8 ? 1 : 7) compare(makeMessage(32 * blocks))
        compare(makeMessage(32 * 70))
      })

      it('one and many blocks of the largest and of extreme elements', () => {
        for (const block of [new Uint8Array(32), largest, ...extremes]) {
          compare(block)
          compare(concatBytes(...new Array<Uint8Array>(64).fill(block)))
        }
      })

      it('an empty message', () => {
        compare(new Uint8Array(0))
      })

      it('messages at any offset of a larger array', () => {
        const bytes = concatBytes(new Uint8Array(3), makeMessage(96))
        compare(bytes.subarray(3))
      })

      it('hashBatch of 0 to 9 and 39 messages, of all lengths that proofs have', () => {
        for (const length of [64, 128, 192, 320]) {
          for (const count of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 39]) {
            const messages = cut(makeMessage(count * length), length)
            const digests = hasher.hashBatch(messages)
            expect(digests.length).toBe(count)
            // The reference's cost: of the long series the first and the last few stand for all.
            for (const index of [0, 1, 2, 3, count - 2, count - 1].filter(index => index >= 0 && index < count)) {
              const [message = largest, digest = largest] = [messages[index], digests[index]]
              expect(bytesToHex(digest)).toBe(bytesToHex(hasher.hash(message)))
              if (length === 64) expect(bytesToHex(digest)).toBe(bytesToHex(reference.hash(message)))
            }
          }
        }
      })

      it('folds of 40 levels, at leaf indices below and above 2^32', () => {
        for (const leafIndex of [0, 1, 2 ** 31, 2 ** 32 + 5, 0xaaaaaaaaaa, 2 ** 40 - 1, 2 ** 53 - 1]) {
          const digest = makeMessage(32)
          const siblings = cut(makeMessage(32 * 40), 32)
          expect(bytesToHex(hasher.foldPath(digest, siblings, leafIndex))).toBe(
            bytesToHex(reference.foldPath(digest, siblings, leafIndex)),
          )
        }
      })

      it('folds of no level and of 60', () => {
        const digest = makeMessage(32)
        expect(hasher.foldPath(digest, [], 0)).toEqual(digest)
        const siblings = cut(makeMessage(32 * 60), 32)
        expect(bytesToHex(hasher.foldPath(digest, siblings, 2 ** 52 + 3))).toBe(
          bytesToHex(reference.foldPath(digest, siblings, 2 ** 52 + 3)),
        )
      })

      it('digests are those of its own constants, whatever arrays inherit', () => {
        const message = makeMessage(96)
        const expected = bytesToHex(hasher.hash(message))
        const found = new Set<string>()
        for (let index = 0; index < 150; index++) {
          Object.defineProperty(Object.prototype, index, { value: { 0: 1 }, configurable: true })
          try {
            found.add(bytesToHex(hasher.hash(message)))
          } finally {
            Reflect.deleteProperty(Object.prototype, index)
          }
        }
        expect([...found]).toEqual([expected])
      })

      it('answers are copies, and hashers do not disturb each other', () => {
        const other = make()
        const message = makeMessage(64)
        const digest = hasher.hash(message)
        const each = hasher.hashBatch(cut(makeMessage(64 * 5), 64))
        const top = hasher.foldPath(largest, cut(makeMessage(64), 32), 1)
        const before = [digest, ...each, top].map(bytesToHex)
        other.hash(makeMessage(320))
        hasher.hash(makeMessage(320))
        hasher.hashBatch(cut(makeMessage(64 * 9), 64))
        hasher.foldPath(digest, cut(makeMessage(64), 32), 2)
        expect([digest, ...each, top].map(bytesToHex)).toEqual(before)
        digest.fill(0xff)
        expect(bytesToHex(hasher.hash(message))).toBe(bytesToHex(other.hash(message)))
        expect(digest.buffer.byteLength).toBe(32)
      })
    })
  }
}

// Against the plain hash, which knows no limit: the reference would take ten times as long.
for (const { name, elementLength, messages, implementations } of schemes) {
  describe(`${name} kernel, beyond what it takes at once`, () => {
    const [kernel, plain] = [implementations.kernel(), implementations.plain()]
    const makeMessage = messages()

    it('hashes a message as long as that, and a longer one', () => {
      for (const more of [0, 64 + elementLength * (32 / elementLength - 1)]) {
        const message = makeMessage(32 * 1024 + more)
        expect(bytesToHex(kernel.hash(message))).toBe(bytesToHex(plain.hash(message)))
      }
    })

    it('folds a path of more levels', () => {
      const [digest, siblings] = [makeMessage(32), cut(makeMessage(32 * 1030), 32)]
      expect(bytesToHex(kernel.foldPath(digest, siblings, 2 ** 52 + 3))).toBe(
        bytesToHex(plain.foldPath(digest, siblings, 2 ** 52 + 3)),
      )
    })

    it.each([
      [1030, 32],
      [300, 128],
      [3, 33 * 1024],
    ])('hashes %i messages of %i bytes', (count, length) => {
      const messages = cut(makeMessage(count * length), length)
      expect(kernel.hashBatch(messages).map(bytesToHex)).toEqual(plain.hashBatch(messages).map(bytesToHex))
    })
  })
}

it('poseidon2 messages that are not whole blocks', () => {
  const { messages, reference, implementations } = schemes[1]
  for (const make of Object.values(implementations)) {
    const hasher = make()
    const makeMessage = messages()
    for (let length = 4; length <= 104; length += 4) {
      const message = makeMessage(length)
      expect(bytesToHex(hasher.hash(message))).toBe(bytesToHex(reference.hash(message)))
      const five = cut(makeMessage(5 * length), length)
      expect(hasher.hashBatch(five).map(bytesToHex)).toEqual(reference.hashBatch(five).map(bytesToHex))
    }
  }
})

it('poseidon2 plain: products next to a multiple of p, where the estimated quotient is off by one', () => {
  const next = randomStream(3n)
  let estimatesOff = 0
  for (let count = 0; count < 2000; count++) {
    const a = p - 1n - (next() % 1000n)
    const target = BigInt.asIntN(8, next())
    const b = (((target * power(a, p - 2n)) % p) + p) % p
    expect(multiply(Number(a), Number(b))).toBe(Number((target + p) % p))
    if (BigInt(Math.floor((Number(a) * Number(b)) / Number(p))) !== (a * b) / p) estimatesOff++
  }
  expect(estimatesOff).toBeGreaterThan(0)
})

it('poseidon2 plain: reduces multiples of p and their neighbours', () => {
  for (let multiple = 1; multiple <= 300; multiple++) {
    const x = multiple * KOALABEAR_ORDER
    expect([reduce(x - 1), reduce(x), reduce(x + 1)]).toEqual([KOALABEAR_ORDER - 1, 0, 1])
  }
})

function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n
  const half = power((base * base) % p, exponent / 2n)
  return exponent % 2n === 1n ? (half * base) % p : half
}

const answers = knownAnswers()
it.runIf(answers !== null)('known answers', () => {
  if (answers === null) return
  const bytes = (hex: string) => hexToBytes(hex, hex.length / 2 - 1)
  expect(answers.mimc.length).toBeGreaterThan(0)
  expect(answers.poseidon2.length).toBeGreaterThan(0)
  for (const make of [mimcReference, mimcPlain, mimcKernel]) {
    const hasher = make()
    for (const { blocks, digest } of answers.mimc) {
      expect(bytesToHex(hasher.hash(concatBytes(...blocks.map(bytes))))).toBe(digest)
    }
  }
  for (const make of [poseidon2Reference, poseidon2Plain, poseidon2Kernel]) {
    const hasher = make()
    for (const { message, digest } of answers.poseidon2) expect(bytesToHex(hasher.hash(bytes(message)))).toBe(digest)
  }
})

it('the published answers', () => {
  for (const make of [mimcReference, mimcPlain, mimcKernel]) {
    expect(bytesToHex(make().hash(new Uint8Array(32)))).toBe(
      '0x0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17',
    )
  }
  for (const make of [poseidon2Reference, poseidon2Plain, poseidon2Kernel]) {
    expect(bytesToHex(make().hash(new Uint8Array(40)))).toBe(
      '0x225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426',
    )
  }
})
