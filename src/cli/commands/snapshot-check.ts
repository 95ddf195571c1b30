import { statSync } from 'node:fs'
import { type Rollup, safeVerifyEvidence, type VerifiedEvidence } from '../../anchor.ts'
import { readFileChunks, unpack } from '../../bulk/audit/input.ts'
import { linesOf, readBatches } from '../../bulk/audit/lines.ts'
import { checkSnapshot, type FileProblems, type RowProblem } from '../../bulk/snapshot/snapshot-check.ts'
import type { SnapshotPlan } from '../../bulk/snapshot/write.ts'
import { fieldIn } from '../../document/value.ts'
import { createVerifier, type Hex } from '../../index.ts'
import { exitCodes, type Io } from '../command.ts'
import { messageOf, orUsageError, UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import { refuseWrongFlags } from '../options/flags.ts'
import { describeError, formatError, formatTable, paint, printable, toJson } from '../output/report.ts'

/** The files of a snapshot, and what the user states about them. */
export interface SnapshotFilesCheck extends Pick<SnapshotPlan, 'target' | 'holders' | 'format' | 'scheme'> {
  /** The file of rows. */
  readonly path: string
  /** The file of kept answers. */
  readonly keep: string
  /** Only its evidence is used, and only after it is verified. */
  readonly manifest: string
  readonly rollup: Rollup
  /** The L1 block hash that the user trusts. */
  readonly l1BlockHash: Hex
  readonly l2Block: bigint | undefined
  readonly json: boolean
}

/** How many problems are listed. */
const [MAX_PRINTED, MAX_LISTED] = [20, 1000]
const ROWS_PER_PROGRESS = 1000
const LINES = { batchLength: 2 ** 20, maxLineLength: MAX_INPUT_BYTES }

/** Verifies the files of a snapshot, offline. @returns the exit code @throws UsageError if a file cannot be read */
export async function checkFiles(about: SnapshotFilesCheck, io: Io): Promise<number> {
  const { manifest, scheme, rollup, l1BlockHash, l2Block, json } = about
  const bundle = fieldIn(await readRegularJson(manifest), 'evidence')
  const claim = { scheme, rollup, trusted: { l1BlockHash }, ...(l2Block !== undefined && { l2BlockNumber: l2Block }) }
  const outcome = safeVerifyEvidence(bundle, claim)
  if (!outcome.ok) {
    refuseWrongFlags(outcome.error)
    if (json) io.stdout.write(toJson({ ok: false, evidence: describeError(outcome.error) }))
    else io.stderr.write(formatError(outcome.error, [['evidence of', manifest]], io.stderr))
    return exitCodes.notVerified
  }
  const found = await compareRows(about, outcome.stateRoot, io)
  io.stdout.write(json ? jsonOf(found, about, outcome) : `${linesOfReport(found, about, outcome, io).join('\n')}\n`)
  return found.ok ? exitCodes.verified : exitCodes.notVerified
}

/** What {@link compareRows} found. */
interface Findings {
  readonly ok: boolean
  /** How many rows are not proven. */
  readonly unproven: number
  /** The first of them. */
  readonly problems: readonly Problem[]
  /** What is wrong with a file as a whole, in sentences. */
  readonly files: readonly string[]
}

async function compareRows(about: SnapshotFilesCheck, stateRoot: Hex, io: Io): Promise<Findings> {
  const { path, format, keep, holders, scheme } = about
  // Only the answers may be packed. In packed rows, other programs would read something else than is checked here.
  const [rows, answers] = [linesIn(path, chunks => chunks), linesIn(keep, unpack)]
  const checked = checkSnapshot({ ...about, rows, answers }, createVerifier(scheme), stateRoot)
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
  const files = sentencesOf(next.value)
  return { ok: unproven === 0 && files.length === 0, unproven, problems, files }
}

const sentencesOf = ({ isHeadingWrong, hasMoreRows, hasMoreAnswers }: FileProblems): string[] => [
  ...(isHeadingWrong ? ['The first line of the rows is not their heading.'] : []),
  ...(hasMoreRows ? ['More rows follow the last address.'] : []),
  ...(hasMoreAnswers ? ['More answers are kept than there are rows for.'] : []),
]

type Proven = Pick<VerifiedEvidence, 'stateRoot' | 'l2BlockNumber' | 'currentL2BlockNumber'>

function jsonOf({ ok, unproven, problems, files }: Findings, about: SnapshotFilesCheck, proven: Proven): string {
  const { l2BlockNumber, currentL2BlockNumber, stateRoot } = proven
  const { l1BlockHash, holders } = about
  const counts = { rows: holders.length, proven: holders.length - unproven }
  return toJson({ ok, ...counts, l1BlockHash, l2BlockNumber, currentL2BlockNumber, stateRoot, files, problems })
}

function linesOfReport(found: Findings, about: SnapshotFilesCheck, proven: Proven, { stdout }: Io): string[] {
  const { ok, unproven, problems, files } = found
  const { l1BlockHash, l2Block, holders } = about
  const { l2BlockNumber, currentL2BlockNumber, stateRoot } = proven
  const verdict =
    unproven === 0
      ? paint(stdout, ok ? 'green' : 'red', `All ${holders.length} rows are proven${ok ? '.' : ', but:'}`)
      : paint(stdout, 'red', `${unproven} of ${holders.length} rows are not proven.`)
  const printed = problems.slice(0, MAX_PRINTED).map(problem => [`line ${problem.line}`, ...wordsOf(problem)])
  const rest = unproven - printed.length
  return [
    ...[verdict, ...files],
    ...(printed.length > 0 ? [formatTable(printed)] : []),
    ...(rest > 0 ? [`  … and ${rest} more. --json lists up to ${MAX_LISTED}.`] : []),
    formatTable([
      ['L1 block hash', l1BlockHash, 'stated by you'],
      ['L2 block', `${l2BlockNumber}`, `proven, and stated by ${l2Block === undefined ? 'the manifest' : 'you'}`],
      ['last finalized', `${currentL2BlockNumber}`, 'proven'],
      ['L2 state root', stateRoot, 'proven'],
    ]),
    ...(l2Block === undefined && l2BlockNumber !== currentL2BlockNumber
      ? ['Note: this is an older state, and whoever made the files chose it. State the block with --l2-block.']
      : []),
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
    'answer unreadable': 'the kept answer is not JSON, or too long',
  }
  return [holder, words[kind]]
}

type Chunks = AsyncIterable<Uint8Array>

/** The lines of a regular file; null for a line that is too long. @throws UsageError */
async function* linesIn(
  path: string,
  unpacked: (chunks: Chunks) => Chunks,
): AsyncGenerator<string | null, undefined, undefined> {
  // Others would never end, or wait for a writer.
  if (!orUsageError(`cannot read ${path}`, () => statSync(path)).isFile())
    throw new UsageError(`${path} is not a regular file`)
  try {
    for await (const batch of readBatches(unpacked(readFileChunks(path)), LINES)) {
      for (const bytes of linesOf(batch)) yield bytes && Buffer.from(bytes).toString()
    }
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  }
  return undefined
}
