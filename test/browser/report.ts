import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { allCodes } from '../../src/base/error-meanings.ts'
import { countVerdict, createTally } from '../../src/cli/audit/audited.ts'
import type { Verdict } from '../../src/cli/audit/record.ts'
import { formatAuditReport } from '../../src/cli/audit/report.ts'
import type { OpenPage } from './page.ts'

/** A report of a million lines: a few reasons for most refusals, and all others once. */
export function writeReport(folder: string): string {
  const tally = createTally()
  const add = (verdict: Verdict) => countVerdict(tally, verdict, JSON.stringify({ line: 123_456, ...verdict }))
  for (const code of allCodes())
    add({ verdict: 'refused', code, path: 'accountProof.proof.proofRelatedNodes[41]' } as Verdict)
  for (const reason of ['empty', 'not JSON', '<b>']) add({ verdict: 'unreadable', reason })
  Object.assign(tally, { lines: 1_000_000, consistent: 999_000 })
  Object.assign(tally.kinds, { present: 700_000, absent: 299_000, 'refused BAD_HEX': 800 })
  const claim = { scheme: 'mimc', stateRoot: 'fromRecord', address: 'fromRecord', storageKeys: 'fromRecord' } as const
  const run = {
    jobs: 2,
    resumedAt: 0,
    seconds: 100,
    samples: [],
    version: '1',
    failure: undefined,
    date: '2026-11-26T00:00:00.000Z',
    sha256: 'ab'.repeat(32),
  }
  const file = join(folder, 'report.html')
  writeFileSync(file, formatAuditReport({ inputs: ['answers.ndjson.gz'], claim, tally, ...run }))
  return pathToFileURL(file).href
}

/** Checks in one browser that the report fits a phone and that its filter leaves the groups that match. */
export async function checkReport(open: OpenPage, url: string): Promise<void> {
  const page = await open({ width: 390, height: 900, colorScheme: 'light' })
  try {
    await page.goto(url)
    const shown = (filter: string) =>
      page.evaluate(text => {
        const field = document.querySelector<HTMLInputElement>('.filter input')
        if (field) field.value = text
        field?.dispatchEvent(new Event('input'))
        const groups = [...document.querySelectorAll<HTMLElement>('.group')].filter(group => group.offsetHeight > 0)
        const example = document.querySelector<HTMLElement>('.group[open] li')
        return {
          isThere: (field?.offsetHeight ?? 0) > 0,
          names: groups.map(group => group.querySelector('.name > b')?.textContent),
          count: document.querySelector('output')?.textContent,
          hasExample: (example?.offsetHeight ?? 0) > 0,
          isWide: document.documentElement.scrollWidth > innerWidth,
        }
      }, filter)
    const all = allCodes().length + 3
    const whole = await shown('')
    assert.equal(whole.names.length, all)
    assert.deepEqual([whole.isThere, whole.isWide, whole.count], [true, false, ''])
    const one = await shown('BAD_HEX')
    assert.deepEqual([one.names, one.count], [['BAD_HEX'], `1 of ${all} reasons`])
    const byPath = await shown('  nodes[41] hexadecimal')
    assert.deepEqual([byPath.names.length, byPath.hasExample, byPath.isWide], [1, true, false])
    assert.deepEqual((await shown('nothing like it')).names, [])
    assert.deepEqual((await shown('')).names, whole.names)
    assert.deepEqual(page.complaints?.() ?? [], [])
  } finally {
    await page.close()
  }
}
