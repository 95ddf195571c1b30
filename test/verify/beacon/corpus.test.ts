import { expect, it } from 'vitest'
import { runHere } from '../../cli/io.ts'

it('accepts the chain of every fork, and refuses each invalid vector with its code', async () => {
  const { code, stdout } = await runHere(['vectors', 'vectors/beacon', '--json'])
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines.filter(({ asExpected }) => asExpected === false)).toEqual([])
  expect(lines.pop()).toEqual({
    summary: {
      ...{ cases: 86, asExpected: 86, unusable: 0 },
      // The root that the user trusts is in the vector itself.
      verdicts: { consistent: 9, refused: 77 },
      groups: [
        { group: 'beacon invalid', cases: 77, asExpected: 77 },
        { group: 'beacon valid', cases: 9, asExpected: 9 },
      ],
    },
  })
  expect(lines.filter(({ outcome }) => outcome === 'verified').length).toBe(9)
  expect(code).toBe(4)
})
