import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { allCodes } from '../../../src/base/error-meanings.ts'
import { addTally, countVerdict, createTally, type Tally } from '../../../src/cli/audit/audited.ts'
import { MAX_EXAMPLES, MAX_NAMED } from '../../../src/cli/audit/limits.ts'
import type { Verdict } from '../../../src/cli/audit/record.ts'
import { type AuditReport, formatAuditReport } from '../../../src/cli/audit/report.ts'

const refused = (code: string, path = 'accountProof'): Verdict => ({ verdict: 'refused', code, path }) as Verdict
const unreadable = (reason: string): Verdict => ({ verdict: 'unreadable', reason })

/** Counts verdicts as the lines of a file. */
function tallyOf(verdicts: readonly Verdict[], file?: string): Tally {
  const tally = createTally()
  for (const [index, verdict] of verdicts.entries()) {
    countVerdict(tally, verdict, JSON.stringify({ line: index + 1, file, ...verdict }))
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
      samples: [],
      version: '1',
      failure: undefined,
      date: '2026-11-26T00:00:00.000Z',
      sha256: 'ab'.repeat(32),
    },
    claim: { scheme: 'fromRecord', stateRoot: 'fromRecord', address: 'fromRecord', storageKeys: 'fromRecord' },
    ...more,
  })

/** The codes and reasons of the page, each with its examples. */
const groupsOf = (page: string): [string, string[]][] =>
  [...page.matchAll(/<details class="group.*?<b>(.*?)<\/b>.*?<ul>(.*?)<\/ul>/g)].map(([, name = '', items = '']) => [
    name,
    [...items.matchAll(/<li>(.*?)<\/li>/g)].map(([, item = '']) => item),
  ])

it('groups refusals by code, most frequent first, with the first lines of each', () => {
  const many = tallyOf([...Array(30).fill(refused('KEY_MISMATCH')), ...Array(3).fill(unreadable('not JSON'))])
  addTally(many, tallyOf([...Array(40).fill(refused('BAD_HEX', '')), refused('KEY_MISMATCH')], 'b.ndjson'))
  const page = report(many)
  const lines = Array.from({ length: MAX_EXAMPLES }, (_, index) => index + 1)
  expect(groupsOf(page)).toEqual([
    ['BAD_HEX', lines.map(line => `b.ndjson, line ${line}`)],
    ['KEY_MISMATCH', lines.map(line => `line ${line} <code>accountProof</code>`)],
    ['not JSON', ['line 1', 'line 2', 'line 3'].map((_, index) => `line ${index + 31}`)],
  ])
  expect(page).toContain('Refused <span>71 lines, 2 reasons</span>')
  expect(page).toContain(
    'The first 5 of 31. The verdicts list all of them: search for &#34;code&#34;:&#34;KEY_MISMATCH&#34;',
  )
})

it('folds the rarer reasons', () => {
  const codes = allCodes().slice(0, MAX_NAMED + 2)
  const page = report(tallyOf(codes.map(code => refused(code))))
  expect(page.split('<details class="rest">').map(part => groupsOf(part).length)).toEqual([MAX_NAMED, 2])
  expect(page).toContain('2 rarer reasons, 2 lines')
})

it('does not grow with the input, whatever it contains', () => {
  const hostile = '</code><script>\u202e'.repeat(30)
  const verdicts = allCodes().flatMap(code => Array(7).fill(refused(code, hostile)))
  const tally = tallyOf(verdicts, hostile)
  expect(Object.keys(tally.kinds).length).toBeGreaterThan(100)
  const claim = { scheme: 'mimc', stateRoot: 'fromRecord', address: 'fromRecord' } as const
  const storageKeys = Array(10_000).fill(`0x${'11'.repeat(32)}`)
  const samples = Array.from({ length: 241 }, (_, index) => ({ seconds: index, lines: index * index }))
  const page = report(tally, { inputs: Array(10_000).fill(hostile), samples, claim: { ...claim, storageKeys } })
  expect(page.length).toBeLessThan(2 ** 20)
  expect(page).toContain(' and 9,995 more')
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page).not.toContain('\u202e')
  const before = page.length
  for (let more = 0; more < 3; more++) addTally(tally, tallyOf(verdicts, hostile))
  // Only the counts have more digits.
  expect(
    report(tally, { inputs: Array(10_000).fill(hostile), samples, claim: { ...claim, storageKeys } }).length,
  ).toBeLessThan(before + 10 * allCodes().length)
})

it('allows no script but its own', () => {
  const page = report(tallyOf([refused('BAD_HEX'), unreadable('empty')]))
  const script = page.split('<script>')[1]?.split('</script>')[0] ?? ''
  const digest = createHash('sha256').update(script).digest('base64')
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${digest}'; `)
})

it('draws the rate only if it changed during a run of some length', () => {
  const samplesOf = (count: number, rate: (second: number) => number) => {
    const samples = [{ seconds: 0, lines: 0 }]
    for (let seconds = 1; seconds < count; seconds++) {
      samples.push({ seconds, lines: (samples.at(-1)?.lines ?? 0) + rate(seconds) })
    }
    return samples
  }
  const isDrawn = (samples: AuditReport['samples']) => report(createTally(), { samples }).includes('<svg')
  expect(isDrawn(samplesOf(30, () => 1000))).toBe(false)
  expect(isDrawn(samplesOf(30, second => (second > 20 ? 400 : 1000)))).toBe(true)
  expect(isDrawn(samplesOf(6, second => (second > 3 ? 400 : 1000)))).toBe(false)
})
