import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createRecordVerifier } from '../../src/cli/audit/record.ts'
import { type EvidenceVector, readInputFile } from '../../src/cli/words/input-file.ts'
import { DocumentError } from '../../src/cli/words/value.ts'
import { verifyEvidence } from '../../src/entry/anchor.ts'
import { isArgumentError, isProofError, safely } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type CallClaim, verifyCallEvidence } from '../../src/entry/provider.ts'
import { claimOfVector } from '../../vectors/run/claim.ts'
import { type Json, partAt, placesOf, replaceAt } from '../answers.ts'

// Some engines' regular expressions, spreads and recursions fail above some millions of characters.
const DIGITS = 2 ** 24
const HUGE = [`0x${'ab'.repeat(DIGITS / 2)}`, `0x${'a'.repeat(DIGITS + 1)}`, '9'.repeat(DIGITS), '\n'.repeat(DIGITS)]

const read = (name: string): Json => JSON.parse(readFileSync(`vectors/${name}.json`, 'utf8'))

/** Parts of a vector that are not what is verified. */
const NO_INPUT = new Set<unknown>(['$schema', 'description', 'operation', 'scheme', 'expected'])

/** Puts huge strings in the place of each string of a vector, and of its first array items only: the others are alike. */
function* withHuge(vector: Json): Generator<{ where: string; changed: Json }> {
  for (const place of placesOf(vector)) {
    if (NO_INPUT.has(place[0]) || place.some(name => Number(name) > 1)) continue
    if (typeof partAt(vector, place) !== 'string') continue
    for (const [index, huge] of HUGE.entries()) {
      yield { where: `${place.join('.')}, ${index}`, changed: replaceAt(vector, place, () => huge) }
    }
  }
}

/** Counts the cases that `verify` refuses, with an error about what is verified, the claim or the vector itself. It throws no other error. */
async function refusals(
  cases: Iterable<{ where: string; changed: Json }>,
  verify: (changed: Json) => unknown,
): Promise<number> {
  let refused = 0
  for (const { where, changed } of cases) {
    try {
      await verify(changed)
    } catch (error) {
      if (!(isProofError(error) || isArgumentError(error) || error instanceof DocumentError))
        throw new Error(where, { cause: error })
      expect(error.message.length, where).toBeLessThan(1000)
      refused++
    }
  }
  return refused
}

it.each(['mimc', 'poseidon2'])('judges records with a huge string: %s', scheme => {
  const cases = [...withHuge(read(`${scheme}/valid/contract-slots-mixed`))]
  const records = cases.map(({ changed }) => changed)
  const verdicts = new Map<string, number>()
  const judge = createRecordVerifier({})
  for (const record of records) {
    const { verdict } = judge(Buffer.from(JSON.stringify(record)))
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
  }
  // A part of a claim that is too long is malformed.
  expect([[...verdicts], records.length]).toEqual([
    [
      ['unreadable', 16],
      ['refused', 60],
    ],
    76,
  ])
})

it.each([
  ['mimc-timestamp', 204],
  ['poseidon2-block-hash', 192],
])('refuses evidence, and claims, with a huge string: %s', async (name, count) => {
  const cases = [...withHuge(read(`evidence/valid/${name}`))]
  const refused = await refusals(cases, changed => {
    const { claim, ...file } = readInputFile(changed) as EvidenceVector
    const outcome = safely(() => verifyEvidence(file.bundle, claimOfVector({ ...file, claim })))
    if (!outcome.ok) throw outcome.error
  })
  expect([refused, cases.length]).toEqual([count, count])
})

it('refuses calls as evidence with a huge string', async () => {
  const { claim, bundle } = read('calls/valid/timestamp') as { claim: Json; bundle: Json }
  const stated = {
    scheme: poseidon2,
    rollup: partAt(claim, ['rollup']),
    trusted: partAt(claim, ['trusted']),
    ...{ chainId: 1337n, l2BlockNumber: 'fromBundle', hardfork: 'prague' },
    // The data that a bundle leaves open may be huge, so the claim states them.
    call: { from: 'fromBundle', to: 'fromBundle', data: '0x0f28c97d', value: 'fromBundle', gas: 50_000_000n },
  }
  expect(await verifyCallEvidence(bundle, stated as unknown as CallClaim)).toMatchObject({ outcome: 'returned' })
  const cases = [...withHuge(bundle)]
  const refused = await refusals(cases, changed => verifyCallEvidence(changed, stated as unknown as CallClaim))
  expect([refused, cases.length]).toEqual([160, 160])
})
