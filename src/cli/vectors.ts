import type { ProofError } from '../index.ts'
import { compareWithExpected, completeClaim, readCase, verifyCase } from './case.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'
import { isEvidenceVector, readEvidenceVector } from './evidence-vector.ts'
import { isFolder, listJsonFiles, parsePath, readJson } from './input.ts'
import { formatTable, paint, printable, toJson } from './report.ts'

const help = `Usage: rollup-state-proof vectors FOLDER [--json]

Verifies every vector and recording (*.json, but for *.schema.json) below FOLDER and compares each outcome with what
the file expects: the verified fields, or the code of the failure. A recording is expected to verify.

Options:
  --json    one JSON object a line: one a case, then a summary

Exit code: 0 all as expected, 1 a case is not, 2 there are no cases, or a file is not a case that can be run.

Example:
  rollup-state-proof vectors recordings/
`

export const vectors: Command = {
  summary: 'run a folder of test vectors and compare each outcome with its expectation',
  help,
  async run(args, io) {
    const { path: folder, json } = parsePath(args, 'expected one folder')
    if (!isFolder(folder)) throw new UsageError(`${folder} is not a folder`)
    return runVectors(folder, json, io)
  },
}

/** What became of one file. `group` is what the summary counts it under. */
type CaseResult =
  | { file: string; group: string; asExpected: boolean; outcome: string; path: string; surprises: string[] }
  | { file: string; unusable: string }

/** Runs every case below `folder` and reports. @returns the exit code */
export async function runVectors(folder: string, json: boolean, io: Io): Promise<number> {
  const files = listJsonFiles(folder)
  if (files.length === 0) throw new UsageError(`there are no vectors in ${folder}`)
  const results: CaseResult[] = []
  for (const [index, file] of files.entries()) {
    if (!json) showProgress(`${index + 1}/${files.length} ${printable(file)}`, io)
    const result = await runCase(file, io)
    results.push(result)
    if (json) io.stdout.write(toJson(result))
  }
  if (!json) showProgress('', io)

  const unusable = results.filter(result => 'unusable' in result)
  const run = results.filter(result => 'group' in result)
  const failed = run.filter(result => !result.asExpected)
  const groups = [...new Set(run.map(({ group }) => group))].map(group => {
    const cases = run.filter(result => result.group === group)
    return { group, cases: cases.length, asExpected: cases.filter(result => result.asExpected).length }
  })
  if (json) {
    const totals = { cases: run.length, asExpected: run.length - failed.length, unusable: unusable.length }
    io.stdout.write(toJson({ summary: { ...totals, groups } }))
  } else {
    for (const { file, surprises } of failed) {
      io.stdout.write(`${paint(io.stdout, 'red', 'Not as expected')} ${printable(file)}\n`)
      io.stdout.write(surprises.map(line => `  ${printable(line)}\n`).join(''))
    }
    for (const result of unusable) {
      io.stdout.write(`${paint(io.stdout, 'red', 'Not a case')} ${printable(result.file)}\n`)
      io.stdout.write(`  ${printable(result.unusable)}\n`)
    }
    const rows = groups.map(({ group, cases, asExpected }) => [group, `${cases}`, `${asExpected}`])
    io.stdout.write(`${formatTable([['', 'cases', 'as expected'], ...rows])}\n`)
    const isGood = failed.length + unusable.length === 0
    const verdict = `${run.length - failed.length} of ${files.length} files as expected.`
    io.stdout.write(`${paint(io.stdout, isGood ? 'green' : 'red', verdict)}\n`)
  }
  if (unusable.length > 0) return exitCodes.unusable
  return failed.length === 0 ? exitCodes.verified : exitCodes.notVerified
}

async function runCase(file: string, io: Io): Promise<CaseResult> {
  try {
    const content = await readJson(file, io)
    const { group, error, surprises } = isEvidenceVector(content) ? runEvidenceVector(content) : runAnswerCase(content)
    return {
      file,
      group,
      asExpected: surprises.length === 0,
      outcome: error?.code ?? 'verified',
      path: error?.path ?? '',
      surprises,
    }
  } catch (error) {
    if (error instanceof UsageError) return { file, unusable: error.message }
    throw error
  }
}

interface Judged {
  readonly group: string
  readonly error: ProofError | null
  readonly surprises: string[]
}

function runAnswerCase(content: unknown): Judged {
  const read = readCase(content)
  if (read.kind === 'answer') throw new UsageError('it is neither a vector nor a recording')
  const question = completeClaim({}, read)
  const outcome = verifyCase(read, question)
  const error = outcome.ok ? null : outcome.error
  return {
    group: `${question.claim.scheme.name} ${read.kind}`,
    error,
    surprises: compareWithExpected(read, outcome),
  }
}

function runEvidenceVector(content: Readonly<Record<string, unknown>>): Judged {
  const { subject, kind, run } = readEvidenceVector(content)
  return { group: `${subject} ${kind}`, ...run() }
}

/** One line on a terminal, overwritten by the next. */
function showProgress(text: string, { stderr }: Io): void {
  if (stderr.isTTY) stderr.write(`\r\x1b[K${text}`)
}
