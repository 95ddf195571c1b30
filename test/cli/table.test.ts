import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { fitRow, formatTable } from '../../src/cli/output/table.ts'
import { fileOf, networkOf, runHere } from './io.ts'

/** Tables on terminals of any width. */

const HASH = `0x${'5a'.repeat(32)}`

it('puts what does not fit on a line of its own', () => {
  const table = [
    ['scheme', 'poseidon2', 'stated by you'],
    ['L2 state root', HASH, 'proven by the rollup contract'],
    ['age', '', 'by this clock: it must have been trusted within two weeks, one since Gloas, or so'],
  ]
  const at = (columns: number) => formatTable(table, { isTTY: true, columns })
  const wide = [
    `  scheme         poseidon2${' '.repeat(57)}  stated by you`,
    `  L2 state root  ${HASH}  proven by the rollup contract`,
    `  age            ${' '.repeat(66)}  by this clock: it must have been trusted within two weeks, one since Gloas, or so`,
  ].join('\n')
  expect([formatTable(table), at(200), at(0)]).toEqual([wide, wide, wide])
  expect(at(100)).toBe(
    [
      '  scheme         poseidon2  stated by you',
      `  L2 state root  ${HASH}`,
      '    proven by the rollup contract',
      '  age            by this clock: it must have been trusted within two weeks, one since Gloas, or so',
    ].join('\n'),
  )
  expect(at(80)).toBe(
    [
      '  scheme         poseidon2  stated by you',
      '  L2 state root',
      `    ${HASH}`,
      '    proven by the rollup contract',
      '  age',
      '    by this clock: it must have been trusted within two weeks, one since Gloas,',
      '    or so',
    ].join('\n'),
  )
  // A word that fits nowhere is the terminal's to break.
  expect(fitRow(['data', HASH], 4, 20)).toEqual(['  data', HASH])
})

const vectorOf = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))
const argumentsFor = ({ claim: { rollup, trusted } }: ReturnType<typeof vectorOf>) => [
  ...networkOf(rollup.address, { rollup: { chainId: 1337 }, ...(trusted.network && { beacon: trusted.network }) }),
  ...(trusted.l1BlockHash ? ['--l1-block-hash', trusted.l1BlockHash] : ['--checkpoint', trusted.beaconBlockRoot]),
]

it.each([
  'evidence/valid/poseidon2-beacon-block-root',
  'evidence/valid/ethereum-block-hash',
  'evidence/invalid/no-root',
  'logs/valid/one-log',
  'messages/valid/evidence-from-l2',
  'calls/valid/revert',
])('breaks no hash of %s at 80, 100 or 120 columns', async path => {
  const vector = vectorOf(path)
  const file = fileOf(vector.bundle ?? vector.input)
  let count = 0
  for (const argv of [
    ['verify', file, ...argumentsFor(vector)],
    ['inspect', file],
  ]) {
    const plain = await runHere(argv)
    for (const columns of [80, 100, 120]) {
      const { code, stdout } = await runHere(argv, { isTTY: true, columns })
      const text = stripVTControlCharacters(stdout)
      expect(code).toBe(plain.code)
      // Nothing is left out or moved.
      expect(text.split(/\s+/)).toEqual(plain.stdout.split(/\s+/))
      for (const line of text.split('\n')) {
        for (const { 0: hash, index } of line.matchAll(/\b0x[0-9a-f]{64}\b/g)) {
          expect(index + hash.length, line).toBeLessThanOrEqual(columns)
          count++
        }
      }
    }
  }
  expect(count).toBeGreaterThan(10)
})
