import { readdirSync, readFileSync } from 'node:fs'
import { isArgumentError, isProofError } from 'rollup-state-proof'
import {
  readBlockHash,
  verifyBlock,
  verifyBlockHeader,
  verifyReceipts,
  verifyTransactions,
} from 'rollup-state-proof/blocks'
import { expect, it } from 'vitest'
import type { BlocksVector } from '../../../vectors/blocks/generate.ts'
import { sizesOf } from '../sizes.ts'
import { spell } from './helpers.ts'

const vectors = (['valid', 'invalid'] as const).flatMap(kind =>
  readdirSync(`vectors/blocks/${kind}`).map(name => {
    const path = `vectors/blocks/${kind}/${name}`
    return { path, vector: JSON.parse(readFileSync(path, 'utf8')) as BlocksVector }
  }),
)

const functions = { readBlockHash, verifyBlock, verifyBlockHeader, verifyReceipts, verifyTransactions }

function outcomeOf({ operation, input, claim }: BlocksVector): BlocksVector['expected'] {
  const numbers = Object.entries(claim).map(([name, text]) => [name, text.length < 66 ? BigInt(text) : text])
  try {
    // Unchecked: a vector may state anything.
    const call = functions[operation] as (input: unknown, claim: object) => unknown
    return { valid: true, verified: spell(call(input, Object.fromEntries(numbers))) }
  } catch (error) {
    if (isProofError(error) || isArgumentError(error)) return { valid: false, code: error.code }
    throw error
  }
}

it('gives each vector of blocks its expected outcome', () => {
  const counts = { valid: 0, invalid: 0 }
  for (const { path, vector } of vectors) {
    expect(outcomeOf(vector), path).toEqual(vector.expected)
    counts[vector.expected.valid ? 'valid' : 'invalid']++
  }
  expect(counts).toEqual(sizesOf('blocks'))
})
