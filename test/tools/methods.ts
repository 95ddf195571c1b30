/**
 * Writes the lists of methods in `docs/methods.md`, from the table by which the provider dispatches and refuses them. With `--check`,
 * compares them instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { METHOD_ROWS } from '../../src/provider/methods.ts'

const PAGE = 'docs/methods.md'

/** Replaces each list, which stands between two comments. */
export const withLists = (page: string): string =>
  ['proven', 'stateless', 'forwarded', 'refused'].reduce((text, kind) => {
    const rows = METHOD_ROWS.filter(row => row.kind === kind).map(
      ({ methods, how }) => `- ${methods.map(method => `\`${method}\``).join(', ')}: ${how}`,
    )
    const place = new RegExp(`(<!-- ${kind} -->\n)[^]*?(<!-- end -->)`)
    if (!place.test(text)) throw new Error(`${PAGE} has no place for what is ${kind}`)
    return text.replace(place, `$1\n${rows.join('\n')}\n\n$2`)
  }, page)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(PAGE, 'utf8')
  const after = withLists(before)
  if (process.argv.includes('--check')) {
    console.log(`${PAGE}: ${before === after ? 'as the code has it' : 'differs: npm run generate'}`)
    if (before !== after) process.exitCode = 1
  } else writeFileSync(PAGE, after)
}
