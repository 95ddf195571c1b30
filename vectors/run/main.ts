/**
 * Runs the vectors and recordings at the paths that are given, files or folders, and compares each outcome with the one that the file
 * expects. Without a path, it runs the corpus: `npm run vectors`.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { formatTable } from '../../src/cli/output/table.ts'
import { type FileResult, runVector } from './run-vector.ts'

/** The JSON files below, sorted. */
const filesIn = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('.json') && !name.endsWith('.schema.json'))
        .map(name => join(path, name))
        .sort()
    : [path]

/** How many files there are of each group, and how many are as expected. */
function countGroups(results: readonly FileResult[]): string[][] {
  const run = results.filter(result => 'group' in result)
  return [...new Set(run.map(({ group }) => group))].map(group => {
    const cases = run.filter(result => result.group === group)
    return [group, `${cases.length}`, `${cases.filter(({ mismatches }) => mismatches.length === 0).length}`]
  })
}

const paths = process.argv.slice(2)
const results: FileResult[] = []
for (const file of (paths.length === 0 ? ['vectors'] : paths).flatMap(filesIn)) results.push(await runVector(file))
const failed = results.flatMap(result => {
  const reasons = 'group' in result ? result.mismatches : [result.unusable]
  return reasons.length === 0 ? [] : [[result.file, ...reasons].join('\n  ')]
})
const isGood = results.length > 0 && failed.length === 0
console.log(
  [
    ...failed,
    formatTable([['', 'cases', 'as expected'], ...countGroups(results)]),
    `${results.length - failed.length} of ${results.length} files as expected.`,
  ].join('\n'),
)
process.exitCode = isGood ? 0 : 1
