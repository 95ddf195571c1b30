import { openNewest } from '../../client/record/record-logs.ts'
import { isArgumentError, safely } from '../../entry/index.ts'
import { unpack } from '../audit/input.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { linesIn } from '../files/lines.ts'
import { logRows, manifestPathOf, notManifest } from '../files/row-files.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { checkLogs, type LogProblem, type LogsStep } from '../logs/check-logs.ts'
import { type LogsCounts, NO_LOGS } from '../logs/logs.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import { stateClaimOf, type WantedLogs } from '../options/logs-options.ts'
import { describeError, formatError, formatTable, printable, REFUSED, toJson } from '../output/report.ts'
import { describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import type { Source } from '../words/claim.ts'
import { kindOf } from '../words/evidence.ts'
import { cut, fieldIn, show } from '../words/value.ts'
import { type Verdict, verdictOf } from '../words/verdict.ts'
import { implementationRow } from '../words/wording.ts'

/** How many problems are listed. */
const [MAX_PRINTED, MAX_LISTED] = [20, 1000]
const BLOCKS_PER_PROGRESS = 1000

/** Verifies the files of a search, offline. @returns the exit code @throws UsageError if a file cannot be read */
export async function checkLogFiles(
  wanted: WantedLogs & { readonly format: 'ndjson' | 'csv' },
  io: Io,
): Promise<number> {
  const { path, keep, format, l2BlockNumber, trust, fromBlock, toBlock, force, json } = wanted
  const trusted = trust.beacon ?? (trust.l1BlockHash && { l1BlockHash: trust.l1BlockHash })
  if (keep === undefined) throw new UsageError('--check needs --keep: the file of the blocks')
  if (!trusted) throw new UsageError('--check needs --l1-block-hash or --checkpoint: everything rests on it')
  if (force) throw new UsageError('--check writes nothing: leave out --force')
  // Of the manifest, only the bundle is used, and only after it is verified.
  const manifest = manifestPathOf(path)
  const content = await readRegularJson(manifest)
  const other = notManifest(content, logRows)
  if (other !== undefined) throw new UsageError(`${manifest} ${other}`)
  const bundle = fieldIn(content, 'bundle')
  const { rollup, scheme } = wanted.network
  const claim = stateClaimOf(wanted, trusted, kindOf(bundle, scheme))
  const outcome = safely(() => openNewest(bundle, claim, toBlock))
  if (!outcome.ok) {
    if (isArgumentError(outcome.error)) throw outcome.error
    const at = [['bundle in', manifest] as const, ...endOf(content, toBlock)]
    io.stdout.write(
      json
        ? toJson({ ...describeVerdict(REFUSED), error: describeError(outcome.error) })
        : formatError(outcome.error, at, io.stdout),
    )
    return exitCodeOf(REFUSED)
  }
  const { newest, verified, ...range } = outcome.value
  // Only the blocks may be packed. In packed rows, other programs would read something else than is checked here.
  const [rows, blocks] = [linesIn(path, chunks => chunks), linesIn(keep, unpack)]
  const files = { ...wanted, ...range, format, rows, blocks }
  const { counts, problems, problemCount } = await collect(checkLogs(files, newest), io)
  for (const lines of [rows, blocks]) await lines.return(undefined)
  const chosen = (value: unknown): Source => (value === undefined ? 'file' : 'user')
  const verdict = verdictOf(problemCount === 0, { toBlock: chosen(toBlock), l2BlockNumber: chosen(l2BlockNumber) })
  const { l2BlockNumber: stateBlock, currentL2BlockNumber, stateRoot, l1Block } = verified
  const about = { fromBlock, toBlock: range.toBlock, counts, l1BlockHash: l1Block?.hash, l2BlockNumber: stateBlock }
  const said = (isStated: boolean) => `proven, and stated by ${isStated ? 'you' : 'the manifest'}`
  const lines = [
    formatVerdict(verdict, statementOn(verdict, counts), io.stdout),
    ...(problems.length === 0 ? [] : [formatTable(problems.slice(0, MAX_PRINTED).map(wordsOf))]),
    ...(problemCount > MAX_PRINTED
      ? [`  … and ${problemCount - MAX_PRINTED} more. --json lists up to ${MAX_LISTED}.`]
      : []),
    formatTable([
      ['range', `${fromBlock} to ${range.toBlock}`, said(toBlock !== undefined)],
      ['blocks', `${counts.blocks}`, `${counts.ruledOut} of them ruled out by their headers`],
      ['receipts', `${counts.receipts}`, 'verified'],
      ['L1 block hash', `${l1Block?.hash}`, trust.beacon ? 'proven from the beacon block' : 'stated by you'],
      ['L2 block', `${stateBlock}`, said(l2BlockNumber !== undefined)],
      ['last finalized', `${currentL2BlockNumber}`, 'proven'],
      ['L2 state root', stateRoot, 'proven'],
      implementationRow(verified, rollup.implementation && 'user'),
    ]),
  ]
  io.stdout.write(
    json
      ? toJson({ ...describeVerdict(verdict), ...about, currentL2BlockNumber, stateRoot, problems })
      : `${lines.join('\n')}\n`,
  )
  return exitCodeOf(verdict)
}

/** Where the files say that they end, if that is not where the user says. */
function endOf(manifest: unknown, toBlock: bigint | undefined): [string, string][] {
  const last = fieldIn(fieldIn(manifest, 'range'), 'toBlock')
  if (toBlock === undefined || last === `${toBlock}`) return []
  return [
    [
      'files end',
      `at block ${printable(cut(show(last), MAX_SHOWN_LENGTH))}, as their manifest says; you state ${toBlock}`,
    ],
  ]
}

async function collect(steps: AsyncGenerator<LogsStep, LogsCounts, undefined>, io: Io) {
  const problems: LogProblem[] = []
  let [problemCount, done, counts] = [0, 0, NO_LOGS]
  for (;;) {
    const next = await steps.next()
    if (next.done) {
      endProgress(io)
      return { counts: next.value, problems, problemCount }
    }
    if ('problem' in next.value) {
      if (++problemCount <= MAX_LISTED) problems.push(next.value.problem)
      continue
    }
    counts = next.value.counts
    if (++done % BLOCKS_PER_PROGRESS === 0)
      showProgress(io, `${done} blocks, ${counts.receipts} receipts, ${counts.logs} logs`)
  }
}

const statementOn = ({ word }: Verdict, { logs }: LogsCounts): string =>
  word === 'verified'
    ? `the rows are all logs of these blocks that the filter selects: ${logs}`
    : 'the rows are not what the blocks prove'

function wordsOf(problem: LogProblem): string[] {
  switch (problem.kind) {
    case 'different':
      return [`row ${problem.row}`, `differs from the proven row: ${problem.proven}`]
    case 'row missing':
      return [`row ${problem.row}`, `is missing: ${problem.proven}`]
    case 'block refused': {
      const place = problem.path === '' ? '' : ` at ${printable(problem.path)}`
      return [`block ${problem.block}`, `does not verify: ${problem.code}${place}. Nothing before it is proven`]
    }
    case 'block missing':
      return [`block ${problem.block}`, 'is not kept. Nothing before it is proven']
    case 'block unreadable':
      return [`block ${problem.block}`, 'is not JSON, or too long. Nothing before it is proven']
    case 'heading':
      return ['rows', 'the first line is not their heading']
    case 'more rows':
      return ['rows', 'more of them follow the last log']
    case 'more blocks':
      return ['blocks', 'more of them are kept than the range has']
  }
}
