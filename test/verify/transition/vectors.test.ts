import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isArgumentError, isProofError } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { verifyTransition } from '../../../src/entry/transition.ts'
import { applyPatches } from '../../../src/site/patches.ts'
import { spellNumbers } from '../../../vectors/run/spelling.ts'
import type { InvalidTransition, TransitionInput, ValidTransition } from '../../../vectors/transitions/generate.ts'
import { verifyTraces } from '../../model/transition.ts'
import { sizesOf } from '../sizes.ts'

const FOLDER = 'vectors/transitions'
const read = (path: string) => JSON.parse(readFileSync(`${FOLDER}/${path}.json`, 'utf8'))
const namesIn = (kind: 'valid' | 'invalid') => readdirSync(`${FOLDER}/${kind}`).map(name => name.replace('.json', ''))
const schemes = { mimc, poseidon2 }

function outcomeOf({ scheme, answer, ...claim }: TransitionInput): object {
  try {
    return { valid: true, ...spellNumbers(verifyTransition(answer, { ...claim, scheme: schemes[scheme] })) }
  } catch (error) {
    if (isProofError(error) || isArgumentError(error)) return { valid: false, code: error.code }
    throw error
  }
}

/** Arrays become objects in vectors' `expected`, where bigints are quantities. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const asFields = (value: unknown): unknown =>
  Array.isArray(value)
    ? asFields({ ...value })
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asFields(part)]))
      : value

it('proves of each valid vector what was written, and the model follows', () => {
  const names = namesIn('valid')
  for (const name of names) {
    const { input, expected }: ValidTransition = read(`valid/${name}`)
    expect(asFields(plain(outcomeOf(input))), name).toEqual(asFields(expected))
    const result = Object(input.answer).result ?? input.answer
    if (!name.endsWith('response')) continue
    expect(verifyTraces(input.scheme, result, input.parentStateRoot), name).toEqual([expected.stateRoot])
  }
  expect(names.length).toBe(sizesOf('transitions').valid)
})

it('refuses each invalid vector with its code', () => {
  const names = namesIn('invalid')
  const bases = new Map(namesIn('valid').map(name => [name, read(`valid/${name}`)]))
  for (const name of names) {
    const vector: InvalidTransition = read(`invalid/${name}`)
    const { input } = applyPatches(vector, bases.get(vector.base))
    expect(outcomeOf(input as TransitionInput), name).toEqual(vector.expected)
  }
  expect(names.length).toBe(sizesOf('transitions').invalid)
})

/** What the model does not check: what the answer states beside its traces, bounds, arguments, and the end. */
const NOT_MODELLED =
  /parent-stated|end-stated|end-of|last-block|blocks-8193|claim-root|error|nonce-above|first-block|address-of-32|index-plus|inserted-past/

it('is refused by the model, too, where the traces themselves are wrong', () => {
  const bases = new Map(namesIn('valid').map(name => [name, read(`valid/${name}`)]))
  let refused = 0
  for (const name of namesIn('invalid').filter(name => name.startsWith('poseidon2') && !NOT_MODELLED.test(name))) {
    const vector: InvalidTransition = read(`invalid/${name}`)
    const { input } = applyPatches(vector, bases.get(vector.base))
    const { answer, parentStateRoot, scheme } = input as TransitionInput
    expect(verifyTraces(scheme, answer, parentStateRoot), name).toBe('invalid')
    refused++
  }
  expect(refused).toBeGreaterThan(60)
})
