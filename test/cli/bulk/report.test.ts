import { expect, it } from 'vitest'
import { allCodes, meaningOf } from '../../../src/base/error-meanings.ts'
import { addTally, countVerdict, createTally, type Tally } from '../../../src/cli/audit/audited.ts'
import { MAX_EXAMPLES } from '../../../src/cli/audit/limits.ts'
import type { Verdict } from '../../../src/cli/audit/record.ts'
import { type AuditReport, formatAuditReport } from '../../../src/cli/audit/report.ts'

const refused = (code: string, path = 'accountProof'): Verdict => ({ verdict: 'refused', code, path }) as Verdict
const unreadable = (reason: string): Verdict => ({ verdict: 'unreadable', reason })

/** Counts verdicts as the lines of a file. */
function tallyOf(verdicts: readonly Verdict[], file?: string): Tally {
  const tally = createTally()
  for (const [index, verdict] of verdicts.entries()) {
    countVerdict(tally, verdict, index + 1, file)
  }
  return tally
}

const report = (tally: Tally, more: Partial<AuditReport> = {}): string =>
  formatAuditReport({
    ...{
      inputs: ['in.ndjson'],
      tally,
      jobs: 1,
      resumedAt: 0,
      seconds: 1,
      version: '1',
      ...{ failure: undefined, network: undefined },
      date: '2026-11-26T00:00:00.000Z',
      sha256: 'ab'.repeat(32),
    },
    claim: {},
    ...more,
  })

/** The kinds in the table of the page, with what is beside each. */
const rowsOf = (page: string): string[][] =>
  [...page.matchAll(/<tr><th>(.*?)<\/th><td>(.*?)<\/td><td>(.*?)<\/td><\/tr>/g)].map(([, ...cells]) =>
    cells.map(String),
  )

it('groups refusals by code, most frequent first, with the first lines of each', () => {
  const many = tallyOf([...Array(30).fill(refused('KEY_MISMATCH')), ...Array(3).fill(unreadable('not JSON'))])
  addTally(many, tallyOf([...Array(40).fill(refused('BAD_HEX', '')), refused('KEY_MISMATCH')], 'b.ndjson'))
  const page = report(many)
  const lines = Array.from({ length: MAX_EXAMPLES }, (_, index) => index + 1)
  const examples = (places: readonly string[]) => `<br>First of them: ${places.join('<br>')}`
  expect(rowsOf(page)).toEqual([
    ['refused BAD_HEX', '40', `${meaningOf('BAD_HEX')}${examples(lines.map(line => `b.ndjson, line ${line}`))}`],
    ['refused KEY_MISMATCH', '31', expect.stringContaining(examples(lines.map(line => `line ${line}, accountProof`)))],
    ['unreadable: not JSON', '3', examples(['line 31', 'line 32', 'line 33'])],
  ])
})

it('does not grow with the input, whatever it contains', () => {
  const hostile = '</code><script>\u202e'.repeat(30)
  const verdicts = allCodes().flatMap(code => Array(7).fill(refused(code, hostile)))
  const tally = tallyOf(verdicts, hostile)
  expect(Object.keys(tally.kinds).length).toBeGreaterThan(100)
  const storageKeys = Array(10_000).fill(`0x${'11'.repeat(32)}`)
  const page = report(tally, { inputs: Array(10_000).fill(hostile), claim: { storageKeys } })
  expect(page.length).toBeLessThan(2 ** 20)
  expect(page).toContain(' and 9,995 more')
  expect(page).not.toContain('<script')
  expect(page).not.toContain('\u202e')
  const before = page.length
  for (let more = 0; more < 3; more++) addTally(tally, tallyOf(verdicts, hostile))
  // Only the counts have more digits.
  expect(report(tally, { inputs: Array(10_000).fill(hostile), claim: { storageKeys } }).length).toBeLessThan(
    before + 10 * allCodes().length,
  )
})

it('allows no script', () => {
  const page = report(tallyOf([refused('BAD_HEX'), unreadable('empty')]))
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`)
})
