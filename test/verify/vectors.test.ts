import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { FLAGS, type Vector } from '../../vectors/vector.ts'
import { outcomeOf } from '../outcome.ts'

const paths = readdirSync('vectors', { recursive: true, encoding: 'utf8' })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => /^(mimc|poseidon2)\/.*\.json$/.test(path))
  .sort()
const contents = new Map(paths.map(path => [path, readFileSync(join('vectors', path), 'utf8')]))
const vectors = [...contents].map(([path, text]) => ({ path, vector: JSON.parse(text) as Vector }))

it('conforms to the schema', () => {
  const validate = new Ajv2020({ strictTypes: false, strictRequired: false }).compile(
    JSON.parse(readFileSync('vectors/vector.schema.json', 'utf8')),
  )
  for (const { path, vector } of vectors) {
    validate(vector)
    expect(validate.errors ?? [], path).toEqual([])
  }
})

for (const scheme of ['mimc', 'poseidon2'] as const) {
  const of = (kind: string) => vectors.filter(({ path }) => path.startsWith(`${scheme}/${kind}/`))

  it(`verifies every field of the valid ${scheme} vectors`, () => {
    expect(of('valid').length).toBeGreaterThanOrEqual(40)
    for (const { path, vector } of of('valid')) expect(outcomeOf(vector), path).toEqual(vector.expected)
  })

  it(`refuses each invalid ${scheme} vector with its code`, () => {
    expect(of('invalid').length).toBeGreaterThanOrEqual(60)
    for (const { path, vector } of of('invalid')) expect(outcomeOf(vector), path).toEqual(vector.expected)
  })

  it(`has an invalid ${scheme} vector for every flag, and no duplicates`, () => {
    expect(new Set(of('invalid').map(({ vector }) => vector.flag))).toEqual(new Set(Object.keys(FLAGS)))
    const claims = of('invalid').map(({ vector: { stateRoot, address, storageKeys, answer } }) =>
      JSON.stringify([stateRoot, address, storageKeys, answer]),
    )
    expect(new Set(claims).size).toBe(claims.length)
  })
}

it('explains each flag in the README', () => {
  const readme = readFileSync('vectors/README.md', 'utf8')
  for (const [flag, cost] of Object.entries(FLAGS)) expect(readme).toContain(`| \`${flag}\` | ${cost} |`)
})
