import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generateBeacon } from '../../vectors/beacon/generate.ts'

it('regenerates the beacon vectors byte for byte', () => {
  const generated = generateBeacon()
  const paths = readdirSync('vectors/beacon', { recursive: true, encoding: 'utf8' })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => path.endsWith('.json'))
  expect(paths.length).toBeGreaterThan(70)
  expect([...generated.keys()].sort()).toEqual(paths.sort())
  for (const [path, text] of generated) expect(text === readFileSync(`vectors/beacon/${path}`, 'utf8'), path).toBe(true)
})
