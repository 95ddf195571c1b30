import { describe, expect, it } from 'vitest'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import { flipBitAt, isRefused, type Json, type Place, partAt, placesOf, replaceAt, trueAnswers } from '../answers.ts'
import { strided } from '../size.ts'

// Small systematic changes of true answers. Each must be refused: every byte of an answer is bound by the trusted root
// (nodes, values), by the question (keys) or by the path (indices). The only accepted change is the case of hexadecimal
// digits, because both cases encode the same bytes.

/**
 * Only every `EXCHANGE_STRIDE`-th change is tried, because all of them would take too long. It is prime, so that every byte
 * of a limb, every bit of a byte and every node is tried.
 */
const EXCHANGE_STRIDE = strided(11)

const describePlace = (place: Place): string => place.join('.')

/** Every `stride`-th element. */
function* sample<T>(items: Iterable<T>, stride: number): Generator<T> {
  let index = 0
  for (const item of items) if (index++ % stride === 0) yield item
}

describe.each([mimc, poseidon2])('$name', scheme => {
  const answers = trueAnswers(scheme)

  it('verifies every true answer, in either case of its digits', () => {
    expect(answers.length).toBe(13)
    for (const one of answers) {
      expect(isRefused(one, one.answer), one.name).toBe(false)
      const upper = JSON.stringify(one.answer).replace(/"0x[0-9a-f]*"/g, hex => hex.toUpperCase().replace('0X', '0x'))
      expect(upper).not.toBe(JSON.stringify(one.answer))
      expect(isRefused(one, JSON.parse(upper)), one.name).toBe(false)
    }
  })

  it('refuses a flipped bit', () => {
    const stride = strided(scheme.name === 'mimc' ? 1999 : 199)
    let tried = 0
    let bits = 0
    for (const one of answers) {
      for (const place of placesOf(one.answer)) {
        const hex = partAt(one.answer, place)
        if (typeof hex !== 'string') continue
        const length = 4 * (hex.length - 2)
        for (let bit = (stride - (bits % stride)) % stride; bit < length; bit += stride) {
          const forged = replaceAt(one.answer, place, () => flipBitAt(hex, bit))
          expect(isRefused(one, forged), `${one.name}: bit ${bit} of ${describePlace(place)}`).toBe(true)
          tried++
        }
        bits += length
      }
    }
    expect(bits).toBeGreaterThan(400_000)
    expect(tried).toBe(Math.ceil(bits / stride))
  })

  it('refuses a flipped bit anywhere in the answer for an account', () => {
    const one = answers.find(({ name }) => name === 'account')
    if (one === undefined) throw new Error('no such answer')
    // MiMC takes ten times as long. A stride of 7 tries every byte.
    const stride = strided(scheme.name === 'mimc' ? 127 : 7)
    let seen = 0
    let tried = 0
    for (const place of placesOf(one.answer)) {
      const hex = partAt(one.answer, place)
      if (typeof hex !== 'string') continue
      for (let bit = 0; bit < 4 * (hex.length - 2); bit++) {
        if (seen++ % stride !== 0) continue
        const forged = replaceAt(one.answer, place, () => flipBitAt(hex, bit))
        if (!isRefused(one, forged)) throw new Error(`bit ${bit} of ${describePlace(place)}`)
        tried++
      }
    }
    // 42 nodes, a value of 192 bytes, a key of 20 bytes.
    expect(seen).toBe(8 * (scheme.wordLength + 32 + 39 * 64 + 2 * (2 * scheme.wordLength + 64) + 192 + 20))
    expect(tried).toBe(Math.ceil(seen / stride))
  })

  it('refuses dropped, doubled, emptied and swapped parts', () => {
    const stride = strided(scheme.name === 'mimc' ? 11 : 1)
    let [seen, tried] = [0, 0]
    for (const one of answers.slice(0, 8)) {
      const refuse = (place: Place, how: string, change: (part: Json) => Json | undefined) => {
        if (seen++ % stride !== 0) return
        const forged = replaceAt(one.answer, place, change)
        if (JSON.stringify(forged) === JSON.stringify(one.answer)) return
        expect(isRefused(one, forged), `${one.name}: ${describePlace(place)} ${how}`).toBe(true)
        tried++
      }
      for (const place of placesOf(one.answer)) {
        const part = partAt(one.answer, place)
        if (place.length > 0) refuse(place, 'dropped', () => undefined)
        refuse(place, 'null', () => null)
        if (typeof part === 'string') refuse(place, 'emptied', () => '0x')
        if (!Array.isArray(part)) continue
        refuse(place, 'reversed', () => part.toReversed())
        for (const [index, item] of part.entries()) {
          refuse(place, `with ${index} doubled`, () => part.toSpliced(index, 0, item))
          const next = part[index + 1]
          if (next !== undefined) {
            refuse(place, `with ${index} in place of the next`, () => part.with(index + 1, item))
            refuse(place, `with ${index} and the next swapped`, () => part.with(index, next).with(index + 1, item))
          }
        }
      }
    }
    expect(seen).toBeGreaterThan(2_000)
    expect(tried).toBeGreaterThan((0.8 * seen) / stride)
  })

  it('refuses a leaf at another index', () => {
    let tried = 0
    for (const one of answers.slice(0, 8)) {
      for (const place of placesOf(one.answer)) {
        const index = partAt(one.answer, place)
        if (typeof index !== 'number') continue
        const near = [index - 1, index + 1, index ^ 1, index ^ 2, index ^ 4, index + 0.5, -index - 1]
        const wrapped = [8, 16, 31, 32, 39, 40, 41, 52, 53, 63, 64, 1023].map(power => index + 2 ** power)
        const others = [...near, ...wrapped, 0, 1, 2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
        for (const other of others.filter(other => other !== index)) {
          const forged = replaceAt(one.answer, place, () => other)
          expect(isRefused(one, forged), `${one.name}: ${other} as ${describePlace(place)}`).toBe(true)
          tried++
        }
      }
    }
    expect(tried).toBeGreaterThan(350)
  })

  it('refuses a part of another true answer', () => {
    const pairs = answers.flatMap(one => answers.filter(other => other !== one).map(other => [one, other] as const))
    const exchanges = pairs.flatMap(([one, other]) =>
      [...placesOf(one.answer)].map(place => ({ one, other, place, part: partAt(other.answer, place) })),
    )
    const isNode = ({ place }: { place: Place }) =>
      place.includes('proofRelatedNodes') && typeof place.at(-1) === 'number'
    const nodes = exchanges.filter(isNode)
    const larger = exchanges.filter(exchange => !isNode(exchange))
    const counts = { refused: 0, same: 0 }
    for (const { one, other, place, part } of [...sample(larger, 3), ...sample(nodes, EXCHANGE_STRIDE)]) {
      if (part === undefined) continue
      const forged = replaceAt(one.answer, place, () => part)
      // Exchanging equal parts, or two equal answers, changes nothing.
      const isSame = JSON.stringify(forged) === JSON.stringify(one.answer)
      expect(isRefused(one, forged), `${one.name}: ${describePlace(place)} of ${other.name}`).toBe(!isSame)
      counts[isSame ? 'same' : 'refused']++
    }
    expect(counts.refused).toBeGreaterThan(200)
    expect(counts.same).toBeGreaterThan(10)
  })
})
