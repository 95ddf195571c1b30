import { readdirSync, readFileSync } from 'node:fs'
import { isArgumentError, isProofError } from 'rollup-state-proof'
import { readMessageArrival, verifyMessageFromL2, verifyMessageToL2 } from 'rollup-state-proof/messages'
import { expect, it } from 'vitest'
import type { MessagesVector } from '../../vectors/messages/generate.ts'

const vectors = (['valid', 'invalid'] as const).flatMap(kind =>
  readdirSync(`vectors/messages/${kind}`).map(name => {
    const path = `vectors/messages/${kind}/${name}`
    return { path, vector: JSON.parse(readFileSync(path, 'utf8')) as MessagesVector }
  }),
)

const functions = { verifyMessageFromL2, verifyMessageToL2, readMessageArrival }

/** The claim with the numbers of its message as bigints. */
const parse = ({ message, ...claim }: MessagesVector['claim']) => {
  const numbers = Object.entries(Object(message)).map(([name, value]) => [
    name,
    ['fee', 'value', 'number'].includes(name) ? BigInt(String(value)) : value,
  ])
  return { ...claim, message: Object.fromEntries(numbers) }
}

function outcomeOf({ operation, input, claim }: MessagesVector): MessagesVector['expected'] {
  try {
    // Unchecked: a vector may state anything.
    const call = functions[operation] as (input: unknown, claim: object) => unknown
    return { valid: true, verified: call(input, parse(claim)) }
  } catch (error) {
    if (isProofError(error) || isArgumentError(error)) return { valid: false, code: error.code }
    throw error
  }
}

it('gives each vector of messages its expected outcome', () => {
  const counts = { valid: 0, invalid: 0 }
  for (const { path, vector } of vectors) {
    expect(outcomeOf(vector), path).toEqual(vector.expected)
    counts[vector.expected.valid ? 'valid' : 'invalid']++
  }
  expect(counts).toEqual({ valid: 17, invalid: 48 })
})
