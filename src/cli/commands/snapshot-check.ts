import { statSync } from 'node:fs'
import { type Rollup, safeVerifyEvidence } from '../../anchor.ts'
import { readFileChunks, unpack } from '../../bulk/audit/input.ts'
import { linesOf, readBatches } from '../../bulk/audit/lines.ts'
import { columnsOf, rowsOf, rowToCsv, rowToJson } from '../../bulk/snapshot/snapshot.ts'
import { checkSnapshot, type RowProblem } from '../../bulk/snapshot/snapshot-check.ts'
import { fieldIn } from '../../document/value.ts'
import { createVerifier, type Hex, type Scheme } from '../../index.ts'
import { exitCodes, type Io } from '../command.ts'
import { messageOf, orUsageError, UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import { refuseWrongFlags } from '../options/flags.ts'
import { requestFor, type Target } from '../options/snapshot-target.ts'
import { describeError, formatError, formatTable, paint, printable, toJson } from '../output/report.ts'

/** The files of a snapshot, and what the user states about them. */
export interface SnapshotFilesCheck {
  /** The file of rows. */
  readonly path: string
  readonly format: 'ndjson' | 'csv'
  /** The file of kept answers. */
  readonly keep: string
  /** Only its evidence is used, and only after it is verified. */
  readonly manifest: string
  readonly holders: readonly Hex[]
  readonly target: Target
  readonly scheme: Scheme
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
  const { path, format, keep, manifest, holders, target, scheme, rollup, l1BlockHash, l2Block, json } = about
  const bundle = fieldIn(await readRegularJson(manifest), 'evidence')
  const outcome = safeVerifyEvidence(bundle, {
    ...{ scheme, rollup, trusted: { l1BlockHash } },
    ...(l2Block !== undefined && { l2BlockNumber: l2Block }),
  })
  if (!outcome.ok) {
    refuseWrongFlags(outcome.error)
    if (json) io.stdout.write(toJson({ ok: false, evidence: describeError(outcome.error) }))
    else io.stderr.write(formatError(outcome.error, [['evidence of', printable(manifest)]], io.stderr))
    return exitCodes.notVerified
  }
  const { stateRoot, l2BlockNumber, currentL2BlockNumber } = outcome

  const isMapping = target.contract !== undefined
  const columns = columnsOf(target.storageKeys, isMapping)
  // Only the answers may be packed. In packed rows, other programs would read something else than is checked here.
  const [rows, answers] = [linesIn(path, chunks => chunks), linesIn(keep, unpack)]
  const heading = format === 'csv' ? columns.join(',') : undefined
  const isHeadingWrong = heading !== undefined && (await rows.next()).value !== heading
  const checked = checkSnapshot(
    {
      ...{ holders, rows, answers },
      requestFor: some => requestFor(target, some),
      rowsFor: (request, state) =>
        rowsOf({ request, answer: undefined, state }, isMapping).map(row =>
          (format === 'csv' ? rowToCsv(row, columns) : rowToJson(row)).trimEnd(),
        ),
      isRefused: row => (format === 'csv' ? row.split(',', 2)[1] : verdictIn(row)) === 'refused',
    },
    createVerifier(scheme),
    stateRoot,
  )

  const firstLine = heading === undefined ? 1 : 2
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
  const files = [
    ...(isHeadingWrong ? ['The first line of the rows is not their heading.'] : []),
    ...(next.value.rows ? ['More rows follow the last address.'] : []),
    ...(next.value.answers ? ['More answers are kept than there are rows for.'] : []),
  ]
  const ok = unproven === 0 && files.length === 0
  const counts = { rows: holders.length, proven: holders.length - unproven }
  if (json)
    io.stdout.write(
      toJson({ ok, ...counts, l1BlockHash, l2BlockNumber, currentL2BlockNumber, stateRoot, files, problems }),
    )
  else {
    const verdict =
      unproven === 0
        ? paint(io.stdout, ok ? 'green' : 'red', `All ${holders.length} rows are proven${ok ? '.' : ', but:'}`)
        : paint(io.stdout, 'red', `${unproven} of ${holders.length} rows are not proven.`)
    const printed = problems.slice(0, MAX_PRINTED).map(problem => [`line ${problem.line}`, ...wordsOf(problem)])
    const lines = [
      ...[verdict, ...files],
      ...(printed.length > 0 ? [formatTable(printed)] : []),
      ...(unproven > printed.length
        ? [`  … and ${unproven - printed.length} more. --json lists up to ${MAX_LISTED}.`]
        : []),
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
    io.stdout.write(`${lines.join('\n')}\n`)
  }
  return ok ? exitCodes.verified : exitCodes.notVerified
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

function verdictIn(row: string): unknown {
  try {
    return fieldIn(JSON.parse(row), 'verdict')
  } catch {
    return undefined
  }
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
