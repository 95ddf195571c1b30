import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Checks the table of promises in `docs/threat-model.md`. An ellipsis stands for what differs between the runs of a test. */
const ROW = /^\| .+ \| \[([\w/-]+)\]\(\.\.\/(test\/[\w/-]+\.test\.ts)\): (.+) \|$/gm
const rows = [...readFileSync('docs/threat-model.md', 'utf8').matchAll(ROW)].map(
  ([, name = '', file = '', title = '']) => ({ name, file, title }),
)

it('names a test that exists for each promise', () => {
  expect(rows.length).toBeGreaterThan(45)
  for (const { name, file, title } of rows) {
    expect(file).toBe(`test/${name}.test.ts`)
    const text = existsSync(file) ? readFileSync(file, 'utf8').replaceAll(/\$\{\w+\}/g, '…') : ''
    expect(text.includes(title), `${file} has “${title}”`).toBe(true)
  }
})
