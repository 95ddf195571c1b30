import { safeVerifyEvidence } from '../anchor.ts'
import { DocumentError } from '../document/error.ts'
import { claimOfVector } from '../document/evidence.ts'
import { type CallOutcome, compareEvidence, compareState, compareVerdict, runCall } from '../document/expected.ts'
import { type InputFile, isBundleFile, isCallFile, readExpected, readInputFile } from '../document/input-file.ts'
import { show } from '../document/value.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'
import { requireClaim, verifyAnswer } from './flags.ts'
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
  | { file: string; group: string; asExpected: boolean; outcome: string; path: string; mismatches: string[] }
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
    for (const { file, mismatches } of failed) {
      io.stdout.write(`${paint(io.stdout, 'red', 'Not as expected')} ${printable(file)}\n`)
      io.stdout.write(mismatches.map(line => `  ${printable(line)}\n`).join(''))
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
    const { group, error, mismatches } = runFile(readInputFile(content))
    return {
      file,
      group,
      asExpected: mismatches.length === 0,
      outcome: error?.code ?? 'verified',
      path: error?.path ?? '',
      mismatches,
    }
  } catch (error) {
    if (error instanceof UsageError || error instanceof DocumentError) return { file, unusable: error.message }
    throw error
  }
}

interface FileOutcome extends CallOutcome {
  readonly group: string
}

/** @throws UsageError, DocumentError when there is nothing to run */
function runFile(file: InputFile): FileOutcome {
  if (isBundleFile(file)) {
    if (file.claim === undefined) throw new UsageError(NOT_A_CASE)
    const expected = readExpected(file.expected)
    const claim = claimOfVector(file)
    const outcome = safeVerifyEvidence(file.bundle, claim)
    const group = `${claim.scheme.name} evidence ${groupOf(expected.valid)}`
    return { group, error: outcome.ok ? null : outcome.error, mismatches: compareEvidence(expected, outcome) }
  }
  if (isCallFile(file)) {
    const expected = readExpected(file.expected)
    const subject = callSubjects.get(file.operation) ?? `operation ${show(file.operation)}`
    return { group: `${subject} ${groupOf(expected.valid)}`, ...runCall(file, expected) }
  }
  const { kind } = file
  if (kind !== 'vector' && kind !== 'recording') throw new UsageError(NOT_A_CASE)
  const expected = readExpected(file.expected)
  const claim = requireClaim({}, file)
  const outcome = verifyAnswer(file, claim)
  const compare = kind === 'vector' ? compareState : compareVerdict
  return {
    group: `${claim.claim.scheme.name} ${kind === 'vector' ? groupOf(expected.valid) : kind}`,
    error: outcome.ok ? null : outcome.error,
    mismatches: compare(expected, outcome),
  }
}

const NOT_A_CASE = 'it is neither a vector nor a recording'

const groupOf = (valid: boolean): string => (valid ? 'valid' : 'invalid')

const callSubjects = new Map<unknown, string>([
  ['encodeHeader', 'L1 header'],
  ['verifyCode', 'contract code'],
])

/** One line on a terminal, overwritten by the next. */
function showProgress(text: string, { stderr }: Io): void {
  if (stderr.isTTY) stderr.write(`\r\x1b[K${text}`)
}
