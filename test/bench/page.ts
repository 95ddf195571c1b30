import { readFileSync, writeFileSync } from 'node:fs'
import { drawChart } from './chart.ts'

/** The page that holds the figures, and the drawing made of them. */
export const PAGE = 'docs/benchmarks.md'
export const CHART = 'docs/drawings/benchmarks.svg'

const sectionOf = (name: string) => new RegExp(`(?<=^<!-- bench: ${name} -->\\n)[^]*?(?=^<!-- /bench -->$)`, 'm')

/** The text between the marks of a section. */
export const readSection = (page: string, name: string): string => sectionOf(name).exec(page)?.[0] ?? ''

/** Prints lines of Markdown, and with `--write` in the arguments puts them into their section of the page. */
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

/** The two lines above the rows. The first column holds text, the others numbers. */
export const header = (first: string, ...others: readonly string[]): string[] => [
  row(first, ...others),
  row('---', ...others.map(() => '--:')),
]
