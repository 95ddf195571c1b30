import { readFileSync, writeFileSync } from 'node:fs'
import { drawChart } from './chart.ts'

/** The page with the figures, and the chart drawn from them. */
export const PAGE = 'docs/benchmarks.md'
export const CHART = 'docs/drawings/benchmarks.svg'

const sectionOf = (name: string) => new RegExp(`(?<=^<!-- bench: ${name} -->\\n)[^]*?(?=^<!-- /bench -->$)`, 'm')

/** The text between the markers of a section. */
export const readSection = (page: string, name: string): string => sectionOf(name).exec(page)?.[0] ?? ''

/** Prints lines of Markdown. With `--write` in the arguments, also writes them to their section of the page. */
export function publish(name: string, lines: readonly string[]): void {
  const text = `${lines.join('\n').trim()}\n`
  console.log(text)
  if (!process.argv.includes('--write')) return
  const page = readFileSync(PAGE, 'utf8')
  if (!sectionOf(name).test(page)) throw new Error(`${PAGE} has no section ${name}`)
  const written = page.replace(sectionOf(name), () => text)
  writeFileSync(PAGE, written)
  writeFileSync(CHART, drawChart(readSection(written, 'proofs')))
}

export const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The two header lines of a table. The first column holds text, the others numbers. */
export const header = (first: string, ...others: readonly string[]): string[] => [
  row(first, ...others),
  row('---', ...others.map(() => '--:')),
]
