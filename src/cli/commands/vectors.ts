import { dirname, join } from 'node:path'
import { safeVerifyEvidence } from '../../anchor.ts'
import { type ClaimWithSources, statedClaim } from '../../document/claim.ts'
import { DocumentError } from '../../document/error.ts'
import { claimOfVector } from '../../document/evidence.ts'
import { compareEvidence, compareState, compareVerdict, runFunction } from '../../document/expected.ts'
import {
  type AnswerFile,
  type FunctionVector,
  type InputFile,
  isBundleFile,
  isCallEvidence,
  isFunctionVector,
  readExpected,
  readInputFile,
  type StatedClaim,
} from '../../document/input-file.ts'
import { applyPatches, baseNameOf } from '../../document/patches.ts'
import { isGiven, show } from '../../document/value.ts'
import type { ProofError, SafeVerifiedState } from '../../index.ts'
import { ProviderError } from '../../provider.ts'
import { type Command, exitCodes, type Io, UsageError } from '../command.ts'
import { isFolder, listJsonFiles, readRegularJson } from '../files/input.ts'
import { flag, formatOptions, optionsOf } from '../options/declared.ts'
import { requireClaim, verifyAnswer } from '../options/flags.ts'
import { onePath, parseOptions } from '../options/parse.ts'
import { describeEvidence } from '../output/evidence-report.ts'
import { countPaths, describeError, describeSources, formatTable, paint, printable, toJson } from '../output/report.ts'
import { overwriteProgress } from '../output/terminal.ts'
import { runCallVector } from './call.ts'

const options = {
  ...optionsOf('state-root', 'scheme', 'address'),
  json: flag('print one JSON object per file, with what was proven and who stated it, then one with the summary'),
}

const help = `Usage: rollup-state-proof vectors FOLDER [options]

Verifies every vector and recording in FOLDER and its subfolders, and compares
each outcome with the one that the file expects: the verified fields, or an
error code. Recordings are expected to verify. Vectors of calls need the
optional @ethereumjs packages. Without these packages they are not run, and the
report says how many there are.

Options, which override the files:
${formatOptions(options)}

Every *.json file is verified, except *.schema.json, hidden files and
node_modules. Each file states its own scheme, root, address and keys. A verdict
is only as good as its root: compare the root with one that you trust, or fix it
for all files with --state-root. With --state-root and --scheme, the folder may
also hold bare answers.

Exit code: 0 all as expected, 1 some are not, 2 there are no files, or a file
cannot be read.

Examples:
  rollup-state-proof vectors recordings/
  rollup-state-proof vectors answers/ --scheme poseidon2 --state-root 0x...
`

export const vectors: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options })
    const folder = onePath(positionals, 'expected one folder')
    if (!isFolder(folder)) throw new UsageError(`${folder} is not a folder`)
    const { scheme, 'state-root': stateRoot, address, json } = values
    return runVectors(folder, { scheme, stateRoot, address }, json, io)
  },
}

/** The result of one file. The summary counts it under `group`. */
type CaseResult = ({ file: string } & Judged) | { file: string; unusable: string } | { file: string; notRun: string }

/**
 * Runs every case below `folder` and reports.
 *
 * @param pinned what the user states. It overrides the files
 * @returns the exit code
 */
export async function runVectors(folder: string, pinned: StatedClaim, json: boolean, io: Io): Promise<number> {
  const files = listJsonFiles(folder)
  if (files.length === 0) throw new UsageError(`there are no vectors in ${folder}`)
  const results: CaseResult[] = []
  for (const [index, file] of files.entries()) {
    if (!json) overwriteProgress(io, `${index + 1}/${files.length} ${printable(file)}`)
    const result = await runCase(file, pinned)
    if (json) io.stdout.write(toJson('group' in result ? { ...result, ...result.details, details: undefined } : result))
    // The details are only for printing, and are not kept.
    results.push('group' in result ? { ...result, details: {} } : result)
  }
  if (!json) overwriteProgress(io, '')

  const unusable = results.filter(result => 'unusable' in result)
  const run = results.filter(result => 'group' in result)
  const notRun = results.filter(result => 'notRun' in result)
  const failed = run.filter(result => !result.asExpected)
  const groups = [...new Set(run.map(({ group }) => group))].map(group => {
    const cases = run.filter(result => result.group === group)
    return { group, cases: cases.length, asExpected: cases.filter(result => result.asExpected).length }
  })
  const rootsFrom = {
    flag: run.filter(result => result.rootFrom === 'flag').length,
    file: run.filter(result => result.rootFrom === 'file').length,
  }
  if (json) {
    const totals = { cases: run.length, asExpected: run.length - failed.length, unusable: unusable.length }
    io.stdout.write(toJson({ summary: { ...totals, notRun: notRun.length, rootsFrom, groups } }))
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
    const isGood = failed.length + unusable.length === 0 && run.length > 0
    const verdict = `${run.length - failed.length} of ${files.length - notRun.length} files as expected.`
    io.stdout.write(`${paint(io.stdout, isGood ? 'green' : 'red', verdict)}\n`)
    const [first] = notRun
    if (first !== undefined) {
      const note = `Note: ${notRun.length} of ${files.length} files were not run. ${first.notRun}`
      io.stdout.write(`${paint(io.stdout, 'bold', note)}\n`)
    }
    if (rootsFrom.file > 0) {
      const count = rootsFrom.file === run.length ? 'The files' : `${rootsFrom.file} of ${run.length} files`
      const note = `Note: ${count} themselves state the root that they were verified against: compare it with one that you trust.`
      io.stdout.write(`${paint(io.stdout, 'dim', note)}\n`)
    }
  }
  if (unusable.length > 0 || run.length === 0) return exitCodes.unusable
  return failed.length === 0 ? exitCodes.verified : exitCodes.notVerified
}

async function runCase(file: string, pinned: StatedClaim): Promise<CaseResult> {
  try {
    const content = await readCase(file)
    if (isFunctionVector(content) && content.operation === 'verifyCallEvidence') {
      return { file, ...(await runCallEvidence(content, pinned)) }
    }
    return { file, ...runFile(content, pinned) }
  } catch (error) {
    if (error instanceof ProviderError) {
      return error.reason === 'EVM_MISSING' ? { file, notRun: error.message } : { file, unusable: error.message }
    }
    if (error instanceof UsageError || error instanceof DocumentError) return { file, unusable: error.message }
    throw error
  }
}

/** Reads a file. A vector with a base gets the input of the base, with its own changes. */
async function readCase(file: string): Promise<InputFile> {
  const content = await readRegularJson(file)
  const base = baseNameOf(content)
  if (base === null) return readInputFile(content)
  const path = join(dirname(file), '..', 'valid', `${base}.json`)
  return readInputFile(applyPatches(content, await readRegularJson(path)))
}

async function runCallEvidence(file: FunctionVector, pinned: StatedClaim): Promise<Judged> {
  refusePinned(pinned)
  const expected = readExpected(file.expected)
  const { error, mismatches } = await runCallVector(file, expected)
  return { group: `call ${groupOf(expected.valid)}`, ...judge(error, mismatches), rootFrom: 'file', details: {} }
}

interface Judged {
  readonly group: string
  readonly asExpected: boolean
  /** `verified`, or the code of the failure. */
  readonly outcome: string
  readonly path: string
  readonly mismatches: readonly string[]
  /** Who stated the root or hash on which the verdict rests; null if it rests on none. */
  readonly rootFrom: 'flag' | 'file' | null
  /** For `--json`: what was asked and proven. */
  readonly details: object
}

const judge = (error: ProofError | null, mismatches: readonly string[]) => ({
  asExpected: mismatches.length === 0,
  outcome: error?.code ?? 'verified',
  path: error?.path ?? '',
  mismatches,
})

/** @throws UsageError */
function refusePinned(pinned: StatedClaim): void {
  if (Object.values(pinned).some(isGiven)) {
    throw new UsageError('it is a vector that states its own claim: run it without options')
  }
}

/** @throws UsageError, DocumentError if there is nothing to run */
function runFile(file: InputFile, pinned: StatedClaim): Judged {
  if (isCallEvidence(file)) {
    throw new UsageError('it is a call as evidence: verify it by itself, with --rollup and --l1-block-hash')
  }
  if (isBundleFile(file) || isFunctionVector(file)) {
    if (isBundleFile(file) && file.claim === undefined) {
      throw new UsageError('it is an evidence bundle: verify it by itself, with --rollup and --l1-block-hash')
    }
    refusePinned(pinned)
  }
  if (isBundleFile(file)) {
    const expected = readExpected(file.expected)
    const claim = claimOfVector(file)
    const outcome = safeVerifyEvidence(file.bundle, claim)
    return {
      group: `${claim.scheme.name} evidence ${groupOf(expected.valid)}`,
      ...judge(outcome.ok ? null : outcome.error, compareEvidence(expected, outcome)),
      rootFrom: 'file',
      details: describeEvidence(claim, 'file', outcome),
    }
  }
  if (isFunctionVector(file)) {
    const expected = readExpected(file.expected)
    const subject = callSubjects.get(file.operation) ?? `operation ${show(file.operation)}`
    const { error, mismatches } = runFunction(file, expected)
    const group = `${subject} ${groupOf(expected.valid)}`
    return { group, ...judge(error, mismatches), rootFrom: null, details: {} }
  }
  const { kind } = file
  const isCase = kind === 'vector' || kind === 'recording'
  // A bare answer states no claim, but a pinned root says what to verify it against.
  if (!isCase && pinned.stateRoot === undefined) throw new UsageError(NOT_A_CASE)
  const expected = isCase ? readExpected(file.expected) : { valid: true }
  const claim = requireClaim(pinned, file)
  const outcome = verifyAnswer(file, claim)
  const compare = kind === 'vector' ? compareState : compareVerdict
  const word = kind === 'vector' ? groupOf(expected.valid) : isCase ? kind : 'answer'
  return {
    group: `${claim.claim.scheme.name} ${word}`,
    ...judge(outcome.ok ? null : outcome.error, compare(expected, outcome)),
    rootFrom: claim.sources.stateRoot === 'user' ? 'flag' : 'file',
    details: describeAnswer(file, claim, outcome),
  }
}

/** What `--json` prints about an answer: what was asked, who stated it, and what is proven. */
export function describeAnswer(file: AnswerFile, given: ClaimWithSources, outcome: SafeVerifiedState): object {
  const { claim } = given
  const sources = describeSources(given.sources)
  if (outcome.ok) {
    const { account, storage } = outcome
    const recomputedPaths = countPaths(outcome, file.answer)
    return { verified: true, ...claim, scheme: claim.scheme.name, sources, account, storage, recomputedPaths }
  }
  return { verified: false, ...statedClaim(given), sources, error: describeError(outcome.error) }
}

const NOT_A_CASE = 'it is neither a vector nor a recording'

const groupOf = (valid: boolean): string => (valid ? 'valid' : 'invalid')

const callSubjects = new Map<unknown, string>([
  ['encodeHeader', 'L1 header'],
  ['verifyCode', 'contract code'],
  ['verifyCheckpoint', 'beacon'],
  ['verifyFinality', 'beacon'],
])
