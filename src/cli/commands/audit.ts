import { accessSync, constants, fstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type AuditInput, AuditInputError, audit as auditInputs } from '../../bulk/audit/audit.ts'
import { type AuditedBatch, addTally, type Tally } from '../../bulk/audit/audited.ts'
import { readFileChunks } from '../../bulk/audit/input.ts'
import type { RecordClaim } from '../../bulk/audit/record.ts'
import { formatAuditReport, REPORT_MARK, summarize } from '../../bulk/audit/report.ts'
import { type Command, exitCodes, type Io, type Output } from '../command.ts'
import { codeOf, messageOf, orUsageError, UsageError } from '../errors.ts'
import { refuseOverwrite, statRegular, writeWhole } from '../files/output-file.ts'
import { openVerdictFile, openVerdictPipe, type VerdictFile } from '../files/verdict-file.ts'
import { MAX_INPUT_MIB } from '../limits.ts'
import { type Flags, flag, formatOptions, optionsOf, text, textOr } from '../options/declared.ts'
import { requireScheme, rollupOf, trustedOf } from '../options/flags.ts'
import { parseOptions, requireHex, wholeNumber } from '../options/parse.ts'
import { formatTable, paint, printable, toJson } from '../output/report.ts'
import { overwriteProgress } from '../output/terminal.ts'
import { readVersion } from '../version.ts'

const claimOptions = optionsOf('scheme', 'state-root', 'address', 'storage-key', 'mapping')
const bundleOptions = optionsOf('rollup', 'l1-block-hash', 'l1-state-root', 'layout-roots-slot', 'layout-current-slot')
const outputOptions = {
  output: {
    ...text(
      'OUT',
      'write the verdicts to OUT (default: standard output), and a description of the run to OUT.audit. If a run is interrupted, run the same command again: it continues where OUT ends',
    ),
    short: 'o',
  },
  ...optionsOf('force'),
  html: text('REPORT', 'write a page with the counts, charts and the refused records'),
  json: flag('print the summary as one JSON object'),
} as const
const limitOptions = {
  jobs: text('N', 'the number of threads that verify (default: the number of cores)'),
  'max-line': textOr(`${MAX_INPUT_MIB}`, 'MIB', 'the maximum length of a record, 1 to 64 MiB'),
}

const help = `Usage: rollup-state-proof audit [FILE...|-] [options]

Verifies records, one per line, and writes one verdict per line, in the order of
the input. A record is a recording (scheme, stateRoot, address, storageKeys,
result), an answer (the result, or the JSON-RPC response around it), a test
vector of an answer, or an evidence bundle, as JSON. Without FILE, standard
input is read. Input compressed with gzip (or zstd, on Node 22.15 or later) is
decompressed.

Options that override all records. Nothing proves a state root that only a
record names:
${formatOptions(claimOptions)}

Required for evidence bundles, which are otherwise unreadable: --rollup, and one
of --l1-block-hash, --l1-state-root and --state-root:
${formatOptions(bundleOptions)}

Output:
${formatOptions(outputOptions)}

Limits:
${formatOptions(limitOptions)}

The summary goes to standard output with -o, and to standard error without.

Exit code: 0 all records verified; 1 some were refused or unreadable; 2 wrong
usage, or an input or output failed before its end.

Examples:
  rollup-state-proof audit answers.ndjson.gz --scheme poseidon2 \\
    --state-root 0x... -o verdicts.ndjson --html report.html
  cat *.ndjson | rollup-state-proof audit --scheme poseidon2 \\
    --state-root 0x... | grep -E '"(refused|unreadable)"'
`

export const audit: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = parseOptions({
      args: [...args],
      allowPositionals: true,
      options: { ...claimOptions, ...bundleOptions, ...outputOptions, ...limitOptions },
    })
    const { output: path, html, force } = values
    const jobs = values.jobs === undefined ? availableParallelism() : wholeNumber('--jobs', values.jobs, 1, 256)
    const maxLineLength = wholeNumber('--max-line', values['max-line'], 1, 64) * 2 ** 20
    const claim = await claimOf(values, io)
    const files = positionals.length === 0 ? ['-'] : positionals
    const sources = openInputs(files, io)
    const hasFile = path !== undefined && path !== '-'
    requireOutputs(files, [path, ...(hasFile ? [`${path}.audit`] : []), html])
    if (html !== undefined) requireReport(html, force)
    const askedFor = {
      command: 'audit',
      inputs: JSON.stringify(files),
      claim: toJson(claim).trimEnd(),
      'longest record': `${maxLineLength}`,
    }
    const verdicts = hasFile ? await openVerdictFile(path, force, files, askedFor) : openVerdictPipe(pipeTo(io.stdout))

    const resumedAt = verdicts.written.lines
    const run = startRun(sources, verdicts, io)
    const options = { claim, jobs, maxLineLength, skip: resumedAt }
    const failure = await writeVerdicts(auditInputs(sources.inputs, options), verdicts, run).finally(run.stop)
    const { tally, seconds, samples } = run.end()
    if (failure instanceof ClosedPipe) return exitCodes.unusable

    const names = files.map(file => (file === '-' ? 'standard input' : file))
    const summary = { ...summarize(tally), seconds, judged: tally.lines - resumedAt }
    const failed = failure && printable(failure.message)
    const stream = hasFile ? io.stdout : io.stderr
    if (html !== undefined) {
      const about = { inputs: names, claim, jobs, samples, tally, seconds, version: readVersion(), failure: failed }
      writeWhole(html, formatAuditReport({ ...about, resumedAt }), true)
    }
    if (values.json) stream.write(toJson({ ...summary, ...(failed !== undefined && { failure: failed }) }))
    else stream.write(formatSummary(tally, seconds, resumedAt, stream))
    // With --json, the summary already says it.
    if (failure !== undefined && values.json) return exitCodes.unusable
    if (failure !== undefined) throw new UsageError(failure.message)
    return summary.refused + summary.unreadable > 0 ? exitCodes.notVerified : exitCodes.verified
  },
}

/** @returns why an input or standard output ended too early */
async function writeVerdicts(
  batches: AsyncIterable<AuditedBatch>,
  verdicts: VerdictFile,
  run: Run,
): Promise<AuditInputError | ClosedPipe | undefined> {
  try {
    for await (const batch of batches) {
      await verdicts.write(batch.bytes)
      run.add(batch.tally)
    }
    return undefined
  } catch (error) {
    if (error instanceof AuditInputError || error instanceof ClosedPipe) return error
    throw error
  } finally {
    await verdicts.close()
  }
}

/** What the user states about all records. @throws UsageError if a value is malformed, because it would refuse every record */
async function claimOf(flags: Flags, io: Io): Promise<RecordClaim> {
  const { scheme, 'state-root': stateRoot, address, 'storage-key': storageKeys } = flags
  const { rollup, 'l1-block-hash': l1BlockHash, 'l1-state-root': l1StateRoot } = flags
  requireHex('--state-root', 32, stateRoot)
  requireHex('--l1-block-hash', 32, l1BlockHash)
  requireHex('--l1-state-root', 32, l1StateRoot)
  requireHex('--address', 20, address)
  for (const key of storageKeys ?? []) requireHex('--storage-key', 32, key)
  const isForBundles = [rollup, l1BlockHash, l1StateRoot].some(flag => flag !== undefined)
  const bundles = isForBundles && { rollup: rollupOf(flags), trusted: await trustedOf(flags, io) }
  if (bundles) requireHex('--rollup', 20, bundles.rollup.address)
  const answers = {
    scheme: scheme === undefined ? scheme : requireScheme(scheme).name,
    stateRoot,
    address,
    storageKeys,
  }
  // All of it was checked above. What is undefined is not stated.
  return { ...answers, ...bundles } as RecordClaim
}

type Sources = ReturnType<typeof openInputs>

/** @throws UsageError before reading anything, if one of the files cannot be read */
function openInputs(files: readonly string[], { stdin }: Io) {
  if (files.filter(file => file === '-').length > 1) throw new UsageError('standard input (-) is given twice')
  // Node reads nothing from a folder, as if it were empty.
  if (files.includes('-') && stdin === process.stdin && fstatSync(0).isDirectory())
    throw new UsageError('standard input is a folder')
  const stats = files.map(file => (file === '-' ? undefined : statInput(file)))
  let read = 0
  const onRead = (length: number) => {
    read += length
  }
  return {
    inputs: files.map((file): AuditInput => {
      if (file === '-') return { name: 'standard input', open: () => stdin }
      return { name: file, open: () => readFileChunks(file, onRead) }
    }),
    /** Bytes of the files that were read so far. */
    read: () => read,
    /** In bytes; undefined if an input is not a file, and so has no length. */
    length: stats.every(each => each?.isFile()) ? stats.reduce((sum, each) => sum + (each?.size ?? 0), 0) : undefined,
  }
}

function statInput(file: string): Stats {
  const stats = orUsageError(`cannot read ${file}`, () => statSync(file))
  if (stats.isDirectory()) throw new UsageError(`${file} is a folder: name the files in it`)
  return stats
}

/** @throws UsageError if an output is also an input or another output */
function requireOutputs(files: readonly string[], outputs: readonly (string | undefined)[]): void {
  const idOf = (path: string) => {
    if (path === '-') return path
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined) return `${stats.dev}:${stats.ino}`
    // Two names of one file that does not exist yet.
    return join(
      orUsageError(`cannot write ${path}`, () => realpathSync(dirname(path))),
      basename(path),
    )
  }
  const taken = new Set(files.map(idOf))
  for (const output of outputs) {
    if (output === undefined || output === '-') continue
    if (output.endsWith('/')) throw new UsageError(`${output} is a folder`)
    if (taken.has(idOf(output))) throw new UsageError(`${output} is named twice: it cannot be read and written at once`)
    taken.add(idOf(output))
  }
}

/** Without `force`, only the report of an earlier run is replaced. @throws UsageError */
function requireReport(path: string, force: boolean): void {
  if (path === '-') throw new UsageError('--html: name a file')
  orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  if (statRegular(path) === undefined || force) return
  const text = orUsageError(`cannot read ${path}`, () => readFileSync(path, 'utf8'))
  if (!text.slice(0, 1024).includes(REPORT_MARK)) throw refuseOverwrite(path, 'is not the report of an audit')
}

/** The reader of standard output closed it. */
class ClosedPipe extends Error {}

function pipeTo(stream: Output): VerdictFile['write'] {
  let isClosed = false
  let failure: unknown
  let wake = () => {}
  const end = (error?: unknown) => {
    isClosed = true
    failure ??= error
    wake()
  }
  for (const event of ['error', 'close']) stream.once(event, end)
  return async verdicts => {
    if (!isClosed) {
      // Waits until the bytes are written, not only until the stream accepts them, because their memory is reused.
      await new Promise<void>(resolve => {
        wake = resolve
        stream.write(verdicts, error => (error ? end(error) : resolve()))
      })
    }
    if (!isClosed) return
    const code = codeOf(failure)
    if (code !== undefined && code !== 'EPIPE') {
      throw new UsageError(`cannot write standard output: ${messageOf(failure)}`)
    }
    throw new ClosedPipe('standard output was closed')
  }
}

type Run = ReturnType<typeof startRun>

/** More samples would show no more on a chart. */
const MAX_SAMPLES = 240
const PROGRESS_INTERVAL = 500

/** Counts and times a run, and shows how far it is. */
function startRun(sources: Sources, { written: tally }: VerdictFile, io: Io) {
  const begun = performance.now()
  const before = tally.lines
  const elapsed = () => (performance.now() - begun) / 1000
  /** How many lines this run had judged after so many seconds. */
  let samples = [{ seconds: 0, lines: 0 }]
  let interval = 1
  if (before > 0) io.stderr.write(`continuing after line ${formatCount(before)}\n`)
  const show = () => overwriteProgress(io, describeProgress(sources, tally.lines, tally.lines - before, elapsed()))
  const timer = io.stderr.isTTY ? setInterval(show, PROGRESS_INTERVAL) : undefined
  return {
    add(more: Tally) {
      addTally(tally, more)
      const seconds = elapsed()
      if (seconds - (samples.at(-1)?.seconds ?? 0) < interval) return
      samples.push({ seconds, lines: tally.lines - before })
      if (samples.length <= MAX_SAMPLES) return
      samples = samples.filter((_, index) => index % 2 === 0)
      interval *= 2
    },
    /** Ends the progress line. */
    stop() {
      clearInterval(timer)
      overwriteProgress(io, '')
    },
    end() {
      const seconds = elapsed()
      return { tally, seconds, samples: [...samples, { seconds, lines: tally.lines - before }] }
    },
  }
}

const formatCount = (count: number): string => Math.round(count).toLocaleString('en-US')

function describeProgress(sources: Sources, lines: number, judged: number, seconds: number): string {
  const rate = `${formatCount(lines)} lines, ${formatCount(judged / seconds)} per second`
  const share = sources.length ? sources.read() / sources.length : 0
  if (share === 0) return rate
  return `${rate}, ${Math.floor(100 * share)}%, ${formatDuration((seconds / share) * (1 - share))} left`
}

function formatDuration(seconds: number): string {
  const [amount, unit] = seconds < 90 ? [seconds, 's'] : seconds < 5400 ? [seconds / 60, 'min'] : [seconds / 3600, 'h']
  return `${Math.ceil(amount)} ${unit}`
}

function formatSummary(tally: Tally, seconds: number, before: number, stream: Output): string {
  const { lines, kinds, notes, refused, unreadable } = summarize(tally)
  const rows = kinds.map(({ kind, count, meaning }) => [formatCount(count), printable(kind), meaning])
  const width = Math.max(...rows.map(([count = '']) => count.length), 0)
  const rejected = refused + unreadable
  const judged = lines - before
  const verdict =
    lines === 0
      ? 'There were no records.'
      : rejected === 0
        ? paint(stream, 'green', lines === 1 ? 'The record verified.' : `All ${formatCount(lines)} records verified.`)
        : paint(stream, 'red', `${formatCount(rejected)} of ${formatCount(lines)} records did not verify.`)
  const rate = `${formatCount(judged)} ${judged === 1 ? 'record' : 'records'} in ${seconds.toFixed(1)} s (${formatCount(judged / Math.max(seconds, 0.001))} per second)`
  const table =
    rows.length > 0 ? [formatTable(rows.map(([count = '', ...rest]) => [count.padStart(width), ...rest]))] : []
  return `${[verdict, ...table, ...notes.map(note => `Note: ${note}`), rate].join('\n')}\n`
}
