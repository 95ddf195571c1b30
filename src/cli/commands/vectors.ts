import { accessSync } from 'node:fs'
import { type Command, exitCodes, type Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { isFolder, listJsonFiles } from '../files/input.ts'
import { formatHelp, optionsOf } from '../options/declared.ts'
import { parsePath } from '../options/parse.ts'
import { paint } from '../output/paint.ts'
import { toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { overwriteProgress } from '../output/terminal.ts'
import { acceptedWith, exitCodeOf, paintVerdict, TRUSTS_FILE, worstOf } from '../output/verdict.ts'
import { printable } from '../words/value.ts'
import type { Word } from '../words/verdict.ts'
import { type FileResult, runVector } from './run-vector.ts'

const options = optionsOf('json', 'trust-file')

export const command: Command = {
  help: formatHelp({
    ...{ usage: 'vectors PATH [options]', all: options },
    about: `
Verifies the vector or recording at PATH, or all in that folder and below, and
compares each outcome with the one that the file expects: the verified fields,
or an error code. Recordings have to verify.`,
    notes: `
What verifies is consistent only: a file states its own root. To state a root
for many recordings, use \`audit\`, with one per line: jq -c . FOLDER/*.json
Exit code, of the worst file: 2 no files, or one cannot be read; 1 some are not
as expected; 4 some are consistent only; 0 all are as expected.`,
    examples: 'rollup-state-proof vectors vectors/ --trust-file',
  }),
  async run(args, io) {
    const { values, path } = parsePath(args, options, 'expected one file or folder')
    const { json, 'trust-file': trustsFile } = values
    const files = isFolder(path) ? listJsonFiles(path) : [path]
    orUsageError(`cannot read ${path}`, () => accessSync(path))
    if (files.length === 0) throw new UsageError(`there are no vectors in ${path}`)
    const results: FileResult[] = []
    for (const [index, file] of files.entries()) {
      if (!json) overwriteProgress(io, `${index + 1}/${files.length} ${printable(file)}`)
      const result = await runVector(file)
      if (json) io.stdout.write(toJson(result))
      results.push(result)
    }
    if (!json) overwriteProgress(io, '')
    const run = results.filter(result => 'group' in result)
    const unusable = results.some(result => 'unusable' in result)
    if (json) io.stdout.write(toJson({ summary: summarize(results) }))
    else io.stdout.write(`${formatSummary(results, trustsFile, io).join('\n')}\n`)
    if (unusable || run.length === 0) return exitCodes.unusable
    return exitCodeOf({ word: worstIn(run), restsOn: 'file' }, acceptedWith(trustsFile))
  },
}

/** The worst word of all. What is refused, and has to be, is as good as it can be. */
const worstIn = (run: readonly Extract<FileResult, { group: string }>[]): Word =>
  worstOf(
    run.map(({ asExpected, verdict }) => (!asExpected ? 'refused' : verdict === 'consistent' ? verdict : 'verified')),
  )

function summarize(results: readonly FileResult[]) {
  const run = results.filter(result => 'group' in result)
  const good = (cases: typeof run) => cases.filter(result => result.asExpected).length
  const said = (word: Word) => run.filter(result => result.verdict === word).length
  const groups = [...new Set(run.map(({ group }) => group))].map(group => {
    const cases = run.filter(result => result.group === group)
    return { group, cases: cases.length, asExpected: good(cases) }
  })
  return {
    ...{ cases: run.length, asExpected: good(run) },
    unusable: results.filter(result => 'unusable' in result).length,
    verdicts: { consistent: said('consistent'), refused: said('refused') },
    groups,
  }
}

function formatSummary(results: readonly FileResult[], trustsFile: boolean, { stdout }: Io): string[] {
  const { cases, asExpected, verdicts, groups } = summarize(results)
  const named = (words: string, file: string, lines: readonly string[]) => [
    `${paint(stdout, 'red', words)} ${printable(file)}`,
    ...lines.map(line => `  ${printable(line)}`),
  ]
  const failed = results.flatMap(result =>
    'group' in result && !result.asExpected ? named('Not as expected', result.file, result.mismatches) : [],
  )
  const unusable = results.flatMap(result =>
    'unusable' in result ? named('Skipped', result.file, [result.unusable]) : [],
  )
  const rows = groups.map(group => [group.group, `${group.cases}`, `${group.asExpected}`])
  const total = results.length
  const isRun = asExpected === total
  const word = isRun ? worstIn(results.filter(result => 'group' in result)) : 'refused'
  return [
    ...[...failed, ...unusable],
    formatTable([['', 'cases', 'as expected'], ...rows], stdout),
    paintVerdict(stdout, { word }, `${asExpected} of ${total} files as expected.`, false),
    ...(verdicts.consistent === 0
      ? []
      : [
          paintVerdict(
            stdout,
            { word: 'consistent' },
            `${verdicts.consistent} of ${cases} files are consistent: nobody has confirmed the roots that they themselves state.`,
          ),
        ]),
    ...(trustsFile && word === 'consistent' ? [TRUSTS_FILE] : []),
  ]
}
