import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isArgumentError, isProofError } from 'rollup-state-proof'
import { verifyEvidence } from 'rollup-state-proof/anchor'
import { trustBeaconBlock } from 'rollup-state-proof/beacon'
import {
  type MessageEvidenceClaim,
  messageEvidence,
  readMessageArrival,
  verifyMessageFromL2,
  verifyMessageToL2,
} from 'rollup-state-proof/messages'
import { expect, it } from 'vitest'
import type { MessagesVector } from '../../../vectors/messages/generate.ts'
import { spell } from '../blocks/helpers.ts'
import { sizesOf } from '../sizes.ts'

const vectors = (['valid', 'invalid'] as const).flatMap(kind =>
  readdirSync(`vectors/messages/${kind}`).map(name => {
    const path = `vectors/messages/${kind}/${name}`
    return { path, vector: JSON.parse(readFileSync(path, 'utf8')) as MessagesVector }
  }),
)

const functions = {
  ...{ verifyMessageFromL2, verifyMessageToL2, readMessageArrival },
  verifyEvidence: (bundle: unknown, claim: object) =>
    verifyEvidence(bundle, { ...(claim as MessageEvidenceClaim), kind: messageEvidence }),
}

/** The claim with the numbers of its message as bigints, and with the function that verifies the consensus. */
function parse({ message, trusted, ...claim }: MessagesVector['claim']): object {
  const numbers = (fields: object) =>
    Object.entries(fields).map(([name, value]) => [
      name,
      ['fee', 'value', 'number'].includes(name) ? BigInt(String(value)) : value,
    ])
  const { beaconBlockRoot: blockRoot, network } = Object(trusted)
  return {
    ...claim,
    ...(trusted !== undefined && { trusted: network ? trustBeaconBlock({ network, blockRoot }) : trusted }),
    message: typeof message === 'object' && message ? Object.fromEntries(numbers(message)) : message,
  }
}

function outcomeOf({ operation, input, claim }: MessagesVector): MessagesVector['expected'] {
  try {
    // Unchecked: a vector may state anything.
    const call = functions[operation] as (input: unknown, claim: object) => unknown
    return { valid: true, verified: spell(call(input, parse(claim))) }
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
  expect(counts).toEqual(sizesOf('messages'))
})

it('has a schema that accepts every valid bundle and refuses malformed ones', () => {
  const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: false, strictRequired: false }).compile(
    JSON.parse(readFileSync('docs/evidence.schema.json', 'utf8')),
  )
  const counts = { kept: 0, broken: 0 }
  for (const { path, vector } of vectors.filter(({ vector }) => vector.operation === 'verifyEvidence')) {
    const { expected, input } = vector
    const isBroken = !expected.valid && /_MALFORMED$|^EVIDENCE_VERSION$|^BAD_HEX$|^WRONG_LENGTH$/.test(expected.code)
    if (!expected.valid && !isBroken) continue
    expect(validate(input), `${path}: ${JSON.stringify(validate.errors)}`).toBe(!isBroken)
    counts[isBroken ? 'broken' : 'kept']++
  }
  expect(counts).toEqual({ kept: 4, broken: 12 })
})
