import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import type { StateScheme, Trusted } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type CallClaim, verifyCallEvidence } from '../../src/entry/provider.ts'
import type { CallVector } from '../../vectors/calls/generate.ts'
import { sizesOf } from '../verify/sizes.ts'

const vectors = (['valid', 'invalid'] as const).flatMap(kind =>
  readdirSync(`vectors/calls/${kind}`).map(name => {
    const path = `vectors/calls/${kind}/${name}`
    return { path, vector: JSON.parse(readFileSync(path, 'utf8')) as CallVector }
  }),
)

function claimOf({ claim, scheme }: CallVector): CallClaim<Trusted, StateScheme> {
  const { chainId, l2BlockNumber, hardfork, call, ...rest } = claim
  const number = (text: Hex | 'fromBundle') => (text === 'fromBundle' ? text : BigInt(text))
  return {
    ...{
      ...rest,
      scheme: scheme === 'ethereum' ? scheme : poseidon2,
      chainId: BigInt(chainId),
      l2BlockNumber: number(l2BlockNumber),
    },
    // Unchecked: a vector may state any.
    hardfork: hardfork as CallClaim['hardfork'],
    call: call === 'fromBundle' ? call : { ...call, value: number(call.value), gas: number(call.gas) },
  }
}

it('gives every call vector its expected outcome', async () => {
  const counts = { valid: 0, invalid: 0 }
  for (const { path, vector } of vectors) {
    const { expected, bundle } = vector
    const found = await verifyCallEvidence(bundle, claimOf(vector)).catch(error => error)
    if (expected.valid) {
      const { valid: _, gasUsed, finalizedTimestamp = '0x0', ...outcome } = expected
      expect(found, path).toMatchObject({
        ...outcome,
        gasUsed: BigInt(gasUsed),
        finalizedTimestamp: BigInt(finalizedTimestamp),
      })
      expect(Object.hasOwn(found, 'returnData'), path).toBe(expected.returnData !== undefined)
      expect(Object.hasOwn(found, 'revertData'), path).toBe(expected.revertData !== undefined)
      counts.valid++
    } else {
      expect(found.code, path).toBe(expected.code)
      counts.invalid++
    }
  }
  expect(counts).toEqual(sizesOf('calls'))
})

it('has a schema that accepts every valid bundle and refuses malformed ones', () => {
  const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: false, strictRequired: false }).compile(
    JSON.parse(readFileSync('docs/evidence.schema.json', 'utf8')),
  )
  const counts = { kept: 0, broken: 0 }
  for (const { path, vector } of vectors) {
    const { expected, bundle } = vector
    if (expected.valid) {
      validate(bundle)
      expect(validate.errors ?? [], path).toEqual([])
      counts.kept++
    } else if (/kind|codes-left|version|hardfork-unknown|padded/.test(path)) {
      expect(validate(bundle), path).toBe(false)
      counts.broken++
    }
  }
  expect(counts.kept).toBe(sizesOf('calls').valid)
  expect(counts.broken).toBeGreaterThan(4)
})
