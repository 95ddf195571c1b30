import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { isRefusal } from '../../src/base/errors.ts'
import type { Claim, Outcome, Scheme, VerifiedState } from '../../src/entry/index.ts'
import { createVerifier, safely, verifyProof } from '../../src/entry/index.ts'
import { createVerifierWithin } from '../../src/verify/verifier/verifier.ts'
import type { Vector } from '../../vectors/vector.ts'
import { flipBitAt, type Json, partAt, placesOf, replaceAt, trueAnswers } from '../answers.ts'
import { schemes } from '../bench/subjects.ts'
import { sized, strided } from '../size.ts'

type Question = Omit<Claim, 'scheme'>

/** The verdict, or the code and path of the error. */
function outcomeOf(verify: () => unknown): unknown {
  try {
    return verify()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return `${error.code} at ${error.path}`
  }
}

/** So few places that digests are constantly evicted. */
const TINY = 2

function vectorsOf(scheme: Scheme): Vector[] {
  return ['valid', 'invalid'].flatMap(kind => {
    const folder = `vectors/${scheme.name}/${kind}`
    return readdirSync(folder).map(file => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')))
  })
}

describe.each(schemes)('$scheme.name', ({ scheme, engines }) => {
  it('has the same outcome for each vector with every hasher and any memory', () => {
    const vectors = vectorsOf(scheme)
    const counts = { verified: 0, refused: 0 }
    const shared = createVerifier(scheme)
    const forgetful = createVerifierWithin(TINY, scheme)
    const stride = strided(scheme.name === 'mimc' ? 23 : 9)
    for (const [index, vector] of vectors.entries()) {
      const { answer, stateRoot, address, storageKeys, expected, description } = vector
      const claim = { stateRoot, address, storageKeys }
      const outcome = outcomeOf(() => verifyProof(answer, { ...claim, scheme }))
      counts[typeof outcome === 'string' ? 'refused' : 'verified']++
      expect(typeof outcome === 'string', description).toBe(!expected.valid)
      // The two hashers without WebAssembly are slow, so they check only every `stride`-th vector.
      const { reference, fallback, ...fast } = engines
      const slow = index % stride === 0 ? [reference, fallback] : []
      for (const engine of [...Object.values(fast), ...slow]) {
        expect(
          outcomeOf(() => engine.verify(answer, claim)),
          description,
        ).toEqual(outcome)
      }
      // The shared verifier runs twice: the second time, it remembers nearly everything.
      for (const verifier of [shared, shared, forgetful]) {
        expect(
          outcomeOf(() => verifier.verifyProof(answer, claim)),
          description,
        ).toEqual(outcome)
      }
    }
    expect(counts.verified).toBeGreaterThanOrEqual(40)
    expect(counts.refused).toBeGreaterThanOrEqual(60)
  })

  it('remembers nothing that changes a verdict, for true and changed answers in any order', () => {
    const answers = trueAnswers(scheme).map(one => ({
      ...one,
      places: [...placesOf(one.answer)].filter(place => String(partAt(one.answer, place)).startsWith('0x')),
    }))
    const counts = { verified: 0, refused: 0 }
    const step = fc.record({
      which: fc.nat(answers.length - 1),
      change: fc.constantFrom('none', 'none', 'bit', 'node of another', 'root of another'),
      other: fc.nat(answers.length - 1),
      place: fc.nat(),
      bit: fc.nat(),
    })
    const take = <T>(items: readonly T[], index: number): T => {
      const item = items[index % items.length]
      if (item === undefined) throw new Error('nothing to take from')
      return item
    }
    const property = fc.property(fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }), steps => {
      const verifiers = [createVerifier(scheme), createVerifierWithin(TINY, scheme)]
      for (const { which, change, other, place, bit } of steps) {
        const { answer, places, stateRoot, address, storageKeys } = take(answers, which)
        const donor = take(answers, other)
        const target = take(places, place)
        const sent: Json =
          change === 'bit'
            ? replaceAt(answer, target, hex => flipBitAt(String(hex), bit % (4 * (String(hex).length - 2))))
            : change === 'node of another'
              ? replaceAt(answer, target, hex => partAt(donor.answer, target) ?? hex)
              : answer
        const question: Question = {
          stateRoot: change === 'root of another' ? donor.stateRoot : stateRoot,
          ...{ address, storageKeys },
        }
        const fresh = outcomeOf(() => verifyProof(sent, { ...question, scheme }))
        counts[typeof fresh === 'string' ? 'refused' : 'verified']++
        for (const verifier of verifiers) {
          expect(outcomeOf(() => verifier.verifyProof(sent, question))).toEqual(fresh)
          const safe: Outcome<VerifiedState> = safely(() => verifier.verifyProof(sent, question))
          expect(safe.ok).toBe(typeof fresh !== 'string')
        }
      }
    })
    fc.assert(property, { seed: 4, numRuns: sized(scheme.name === 'mimc' ? 3 : 12) })
    expect(Math.min(counts.verified, counts.refused), JSON.stringify(counts)).toBeGreaterThan(15)
  })
})

it('compiles no WebAssembly and computes no hash on import', async () => {
  const doors = ['index', 'mimc', 'poseidon2', 'anchor', 'blocks', 'messages', 'networks']
  const forbidden = vi.fn(function forbidden() {
    throw new Error('work while importing')
  })
  vi.resetModules()
  const keccak_256 = vi.fn(forbidden)
  vi.doMock('@noble/hashes/sha3.js', () => ({ keccak_256 }))
  vi.stubGlobal('WebAssembly', { Module: forbidden, Instance: forbidden })
  for (const door of doors)
    expect(Object.keys(await import(`../../src/entry/${door}.ts`)).length, door).toBeGreaterThan(0)
  expect(forbidden).not.toHaveBeenCalled()
  expect(keccak_256).not.toHaveBeenCalled()
  // The first use does the work.
  const { poseidon2 } = await import('../../src/verify/scheme/poseidon2.ts')
  expect(poseidon2.hasher.hash(new Uint8Array(32)).length).toBe(32)
  expect(forbidden).toHaveBeenCalledTimes(1)
  vi.unstubAllGlobals()
  vi.doUnmock('@noble/hashes/sha3.js')
})
