import { type StateScheme, verifyEvidence } from '../../entry/anchor.ts'
import { type Hex, isArgumentError, safely } from '../../entry/index.ts'
import { createStateVerifier } from '../../verify/state/kind.ts'
import { unpack } from '../audit/input.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { linesIn } from '../files/lines.ts'
import { manifestPathOf, notManifest, snapshotRows } from '../files/row-files.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import type { Wanted } from '../options/snapshot-options.ts'
import { describeError, formatError, formatTable, printable, REFUSED, toJson } from '../output/report.ts'
import { describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import { checkSnapshot, type FileProblems, type RowProblem } from '../snapshot/snapshot-check.ts'
import { kindOf } from '../words/evidence.ts'
import { fieldIn } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import { implementationRow } from '../words/wording.ts'

/** How many problems are listed. */
const [MAX_PRINTED, MAX_LISTED] = [20, 1000]
const ROWS_PER_PROGRESS = 1000

/** Verifies the files of a snapshot, offline. @returns the exit code @throws UsageError if a file cannot be read */
export async function checkFiles(wanted: Wanted, io: Io): Promise<number> {
  const { path, keep, network, l1BlockHash, l2Block, holders, json, force } = wanted
  if (keep === undefined) throw new UsageError('--check needs --keep: the file of the answers')
  if (l1BlockHash === undefined) throw new UsageError('--check needs --l1-block-hash: everything rests on it')
  if (force) throw new UsageError('--check writes nothing: leave out --force')
  // Of the manifest, only the bundle is used, and only after it is verified.
  const manifest = manifestPathOf(path)
  const content = await readRegularJson(manifest)
  const other = notManifest(content, snapshotRows)
  if (other !== undefined) throw new UsageError(`${manifest} ${other}`)
  const bundle = fieldIn(content, 'bundle')
  const { rollup } = network
  const scheme = kindOf(bundle, network.scheme)
  const known = { scheme, rollup, trusted: { l1BlockHash }, l2BlockNumber: l2Block ?? 'fromBundle' } as const
  const claim = { ...known, address: 'fromBundle', storageKeys: 'fromBundle' } as const
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok) {
    if (isArgumentError(outcome.error)) throw outcome.error
    io.stdout.write(
      json
        ? toJson({ ...describeVerdict(REFUSED), error: describeError(outcome.error) })
        : formatError(outcome.error, [['bundle in', manifest]], io.stdout),
    )
    return exitCodeOf(REFUSED)
  }
  const { l2BlockNumber, currentL2BlockNumber, stateRoot } = outcome.value
  const { unproven, problems, files } = await compareRows({ ...wanted, scheme }, keep, stateRoot, io)
  const isProven = unproven === 0 && files.length === 0
  const verdict = verdictOf(isProven, { l2BlockNumber: l2Block === undefined ? 'file' : 'user' })
  const about = { rows: holders.length, proven: holders.length - unproven, l1BlockHash, l2BlockNumber }
  const lines = [
    ...[
      formatVerdict(verdict, statementOn(unproven, holders.length, isProven), io.stdout),
      ...files,
      ...linesOfProblems(problems, unproven),
    ],
    formatTable([
      ['L1 block hash', l1BlockHash, 'stated by you'],
      ['L2 block', `${l2BlockNumber}`, `proven, and stated by ${l2Block === undefined ? 'the manifest' : 'you'}`],
      ['last finalized', `${currentL2BlockNumber}`, 'proven'],
      ['L2 state root', stateRoot, 'proven'],
      implementationRow(outcome.value, rollup.implementation && 'user'),
    ]),
    ...(l2Block === undefined && l2BlockNumber !== currentL2BlockNumber
      ? ['Note: this is an older state, and whoever made the files chose it. Pass the block with --l2-block.']
      : []),
  ]
  const found = { ...describeVerdict(verdict), ...about, currentL2BlockNumber, stateRoot, files, problems }
  io.stdout.write(json ? toJson(found) : `${lines.join('\n')}\n`)
  return exitCodeOf(verdict)
}

/** How many rows are not proven, the first of them, and what is wrong with a file as a whole, in sentences. */
async function compareRows(wanted: Wanted & { readonly scheme: StateScheme }, keep: string, stateRoot: Hex, io: Io) {
  const { path, format, holders, scheme } = wanted
  // Only the answers may be packed. In packed rows, other programs would read something else than is checked here.
  const [rows, answers] = [linesIn(path, chunks => chunks), linesIn(keep, unpack)]
  const checked = checkSnapshot({ ...wanted, rows, answers }, createStateVerifier(scheme), stateRoot)
  const firstLine = format === 'csv' ? 2 : 1
  const problems: Problem[] = []
  let [done, unproven] = [0, 0]
  let next = await checked.next()
  for (; !next.done; next = await checked.next()) {
    const { holder, problem } = next.value
    if (problem !== undefined && ++unproven <= MAX_LISTED) problems.push({ line: firstLine + done, holder, ...problem })
    if (++done % ROWS_PER_PROGRESS === 0) showProgress(io, `${done} of ${holders.length} rows`)
  }
  endProgress(io)
  for (const lines of [rows, answers]) await lines.return(undefined)
  return { unproven, problems, files: sentencesOf(next.value) }
}

const sentencesOf = ({ isHeadingWrong, hasMoreRows, hasMoreAnswers }: FileProblems): string[] => [
  ...(isHeadingWrong ? ['The first line of the rows is not their heading.'] : []),
  ...(hasMoreRows ? ['More rows follow the last address.'] : []),
  ...(hasMoreAnswers ? ['More answers are kept than there are rows for.'] : []),
]

const statementOn = (unproven: number, count: number, isAll: boolean): string =>
  unproven > 0
    ? `${unproven} of ${count} rows are not proven`
    : `all ${count} rows are proven${isAll ? '' : ', but the files hold something else, too'}`

function linesOfProblems(problems: readonly Problem[], unproven: number): string[] {
  const printed = problems.slice(0, MAX_PRINTED).map(problem => [`line ${problem.line}`, ...wordsOf(problem)])
  const rest = unproven - printed.length
  return [
    ...(printed.length > 0 ? [formatTable(printed)] : []),
    ...(rest > 0 ? [`  … and ${rest} more. --json lists up to ${MAX_LISTED}.`] : []),
  ]
}

type Problem = { readonly line: number; readonly holder: Hex } & RowProblem

function wordsOf(problem: Problem): string[] {
  const { kind, holder } = problem
  if (kind === 'answer refused') {
    const place = problem.path === '' ? '' : ` at ${printable(problem.path)}`
    return [holder, `the kept answer does not verify: ${problem.code}${place}`]
  }
  if (kind === 'different') return [holder, `differs from the proven row: ${problem.proven}`]
  const words = {
    refused: 'refused: no answer of the endpoint verified',
    'row missing': 'the row is missing',
    'answer missing': 'no answer is kept for it',
    'answer unreadable': 'the kept answer is not JSON, too long, or of another version',
  }
  return [holder, words[kind]]
}
