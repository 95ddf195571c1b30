import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runVector } from '../../../vectors/run/run-vector.ts'
import { sizesOf } from '../sizes.ts'

it('accepts the chain of every fork, and refuses each invalid vector with its code', async () => {
  const counts: Record<string, number> = {}
  for (const kind of ['valid', 'invalid']) {
    for (const name of readdirSync(`vectors/beacon/${kind}`)) {
      const result = await runVector(`vectors/beacon/${kind}/${name}`)
      if (!('group' in result)) throw new Error(`${name}: ${result.unusable}`)
      expect(result.mismatches, name).toEqual([])
      counts[result.group] = (counts[result.group] ?? 0) + 1
    }
  }
  const { valid, invalid } = sizesOf('beacon')
  expect(counts).toEqual({ 'beacon valid': valid, 'beacon invalid': invalid })
})
