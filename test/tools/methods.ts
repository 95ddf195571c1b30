/**
 * Writes the tables of methods in `docs/methods.md`, from the table by which the provider dispatches and refuses them. With `--check`,
 * compares them instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { METHOD_ROWS } from '../../src/provider/methods.ts'

const PAGE = 'docs/methods.md'

/** The heading of the column with the reasons, by what happens with the methods. */
const HEADS = {
  proven: 'what proves the answer',
  stateless: 'what the answer is about',
  forwarded: 'what the endpoint can do',
  refused: 'why',
} as const

/** Replaces each table, which stands between two comments. */
export const withTables = (page: string): string =>
  Object.entries(HEADS).reduce((text, [kind, head]) => {
    const rows = METHOD_ROWS.filter(row => row.kind === kind).map(
      ({ methods, how }) => `| ${methods.map(method => `\`${method}\``).join(', ')} | ${how} |`,
    )
    const table = [`| method | ${head} |`, '|---|---|', ...rows].join('\n')
    const place = new RegExp(`(<!-- ${kind} -->\n)[^]*?(<!-- end -->)`)
    if (!place.test(text)) throw new Error(`${PAGE} has no place for what is ${kind}`)
    return text.replace(place, `$1\n${table}\n\n$2`)
  }, page)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(PAGE, 'utf8')
  const after = withTables(before)
  if (process.argv.includes('--check')) {
    console.log(`${PAGE}: ${before === after ? 'as the code has it' : 'differs: npm run generate'}`)
    if (before !== after) process.exitCode = 1
  } else writeFileSync(PAGE, after)
}
