import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generateAnswers } from '../vectors/generate.ts'

it('regenerates the corpus byte for byte', () => {
  const generated = generateAnswers()
  const paths = readdirSync('vectors', { recursive: true, encoding: 'utf8' })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => /^(mimc|poseidon2)\/.*\.json$/.test(path))
  expect(paths.length).toBeGreaterThan(400)
  expect([...generated.keys()].sort()).toEqual(paths.sort())
  for (const [path, text] of generated) expect(text === readFileSync(`vectors/${path}`, 'utf8'), path).toBe(true)
})
