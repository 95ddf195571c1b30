import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isEndpointError } from '../../client/transport/error.ts'
import { orAbort } from '../../client/transport/waiting.ts'
import { AuditInputError, type AuditOptions, audit as auditInputs } from '../audit/audit.ts'
import { addTally } from '../audit/audited.ts'
import type { RecordClaim } from '../audit/record.ts'
import { formatAuditReport, REPORT_MARK } from '../audit/report.ts'
import { type AuditSummary, conclude, confirmRoots, formatNumber, hintAbout, summarize } from '../audit/summary.ts'
import { exitCodes, type Io, type Output } from '../command.ts'
import { codeOf, orUsageError, outputLost, UsageError } from '../errors.ts'
import { openInputs } from '../files/input.ts'
import { refuseOverwrite, statRegular, writeWhole } from '../files/output-file.ts'
import { warnOn } from '../files/own-key.ts'
import { type VerdictFile, verdictPipe, withVerdictFile } from '../files/verdict-file.ts'
import { MAX_INPUT_MIB } from '../limits.ts'
import { type Flags, optionsOf, or, text, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { trustedOf } from '../options/flags.ts'
import { networkOf } from '../options/network.ts'
import { whole } from '../options/read.ts'
import { toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { overwriteProgress, timeLeft } from '../output/terminal.ts'
import { acceptedWith, exitCodeOf, paintVerdict, TRUSTS_FILE } from '../output/verdict.ts'
import { untilSignal } from '../signals.ts'
import { readVersion } from '../version.ts'
import { printable } from '../words/value.ts'

const options = {
  ...optionsOf('state-root', 'address', 'storage-key', 'mapping'),
  html: text('REPORT', 'write a page with the counts, and the refusals by code'),
  jobs: typed('N', 'threads that verify (default: the number of cores)', whole(1, 256)),
  'max-line': or(`${MAX_INPUT_MIB}`, typed('MIB', 'the maximum length of a record, at most 64', whole(1, 64))),
}
const shared = optionsOf(
  ...([
    'network',
    'implementation',
    'output',
    'force',
    'json',
    'trust-file',
    'l1-block-hash',
    'l1-state-root',
  ] as const),
)

export const command = defineCommand(
  {
    ...{ usage: 'audit [FILE...|-] [options]', options, shared, isMany: true },
    about: `
Verifies records, one JSON text per line, and writes one verdict per line. A
record is a recording (scheme, stateRoot, address, storageKeys, result), an
answer, a vector of one, or an evidence bundle. gzip is unpacked. Bundles need
--l1-block-hash, --l1-state-root or --state-root.
--output OUT is continued where it ends, and OUT.audit describes the run.`,
    notes: `
A verdict on the word of the record alone ("trusted": "record") is consistent.
Exit code, of the worst record: 2 wrong usage, no records, or an input failed; 1
some refused or unreadable; 4 some consistent only; 0 all verified.`,
    examples: `
rollup-state-proof audit answers.ndjson.gz --state-root 0x... \\
  -o verdicts.ndjson --html report.html
cat *.ndjson | rollup-state-proof audit --state-root 0x... | grep refused`,
  },
  async (values, io, files) => {
    const { output: path, html, force, json, jobs = availableParallelism() } = values
    const maxLineLength = values['max-line'] * 2 ** 20
    const claim = await claimOf(values)
    const sources = openInputs(files, io)
    const hasFile = path !== undefined && path !== '-'
    requireOutputs(files, [...(hasFile ? [path, `${path}.audit`] : []), ...(html === undefined ? [] : [html])])
    if (html !== undefined) requireReport(html, force)
    const askedFor = {
      command: 'audit',
      inputs: JSON.stringify(files),
      claim: toJson(claim).trimEnd(),
      'longest record': `${maxLineLength}`,
    }
    const { failure, ...judged } = await untilSignal(signal => {
      const judge = (verdicts: VerdictFile) =>
        writeVerdicts(sources, { claim, jobs, maxLineLength, signal }, verdicts, io)
      return hasFile ? withVerdictFile(path, force, askedFor, warnOn(io), judge) : judge(verdictPipe(pipeTo(io.stdout)))
    })
    if (failure instanceof ClosedPipe) return exitCodes.unusable

    const failed = failure && printable(failure.message)
    if (html !== undefined) {
      const inputs = files.map(file => (file === '-' ? 'standard input' : file))
      const network = claim.anchor && describeNetwork(values)
      const about = { inputs, claim, network, jobs, version: readVersion(), date: new Date().toISOString() }
      writeWhole(html, formatAuditReport({ ...about, failure: failed, ...judged }), true)
    }
    const { tally, resumedAt, seconds } = judged
    // Then the reason is all there is to say.
    if (failure !== undefined && tally.lines === 0 && !json) throw new UsageError(failure.message, false)
    const summary = { ...summarize(tally), seconds, judged: tally.lines - resumedAt }
    const stream = hasFile ? io.stdout : io.stderr
    // Of an input that was not read to its end, there is no verdict.
    const isWhole = summary.lines > 0 && failure === undefined
    stream.write(
      json
        ? toJson({ verdict: isWhole ? conclude(summary).word : null, ...summary, failure: failed })
        : formatSummary({ ...summary, isWhole }, values['trust-file'], stream),
    )
    // With --json, the summary already says it.
    if (failure !== undefined && json) return exitCodes.unusable
    if (failure !== undefined) throw new UsageError(failure.message, false)
    // Nothing was verified: the input is most likely not the one that was meant.
    if (summary.lines === 0) return exitCodes.unusable
    return exitCodeOf({ word: conclude(summary).word, restsOn: 'file' }, acceptedWith(values['trust-file']))
  },
)

async function claimOf(flags: Flags): Promise<RecordClaim> {
  const { 'state-root': stateRoot, address, 'storage-key': storageKeys } = flags
  const forBundles = [stateRoot, flags.network, flags.implementation, flags['l1-block-hash'], flags['l1-state-root']]
  const isForBundles = forBundles.some(flag => flag !== undefined)
  const anchor = isForBundles ? { rollup: networkOf(flags).rollup, trusted: await trustedOf(flags) } : undefined
  return { stateRoot, address, storageKeys, anchor }
}

/** The network in words, and whether the user stated it. */
function describeNetwork(flags: Flags): string {
  const { name, rollup } = networkOf(flags)
  return `${name}, with the rollup contract ${rollup.address}${flags.network === undefined ? ': the default' : ''}`
}

type Sources = ReturnType<typeof openInputs>

/** @throws UsageError if an output is also an input or another output */
function requireOutputs(files: readonly string[], outputs: readonly string[]): void {
  const idOf = (path: string) => {
    if (path === '-') return path
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined) return `${stats.dev}:${stats.ino}`
    // Two names of one file that does not exist yet.
    const folder = orUsageError(`cannot write ${path}`, () => realpathSync(dirname(path)))
    return join(folder, basename(path))
  }
  const taken = new Set(files.map(idOf))
  for (const output of outputs) {
    if (output === '-') continue
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

function pipeTo(stream: Output): (verdicts: string) => Promise<void> {
  let failure: Error | undefined
  let refuse = (_: Error) => {}
  const end = (error?: unknown) => {
    const isClosed = [undefined, 'EPIPE'].includes(codeOf(error))
    failure ??= isClosed ? new ClosedPipe('standard output was closed') : outputLost(error)
    refuse(failure)
  }
  for (const event of ['error', 'close']) stream.once(event, end)
  return verdicts =>
    new Promise((resolve, reject) => {
      refuse = reject
      if (failure !== undefined) return reject(failure)
      // Until they are written, nothing further is read.
      stream.write(verdicts, error => (error ? end(error) : resolve()))
    })
}

const PROGRESS_INTERVAL = 500

/** Writes the verdicts, counts and times them, and shows how far it is. `failure` is why it ended too early. */
async function writeVerdicts(
  { inputs, share }: Sources,
  { signal, ...options }: Omit<AuditOptions, 'judged'> & { readonly signal: AbortSignal },
  { judged, tally, resume, write }: VerdictFile,
  io: Io,
) {
  const [begun, resumedAt] = [performance.now(), tally.lines]
  const seconds = () => (performance.now() - begun) / 1000
  if (resumedAt > 0) io.stderr.write(`continuing after line ${formatNumber(resumedAt)}\n`)
  const show = () => overwriteProgress(io, describeProgress(share(), tally.lines, tally.lines - resumedAt, seconds()))
  const timer = io.stderr.isTTY ? setInterval(show, PROGRESS_INTERVAL) : undefined
  let failure: Error | undefined
  let sha256 = ''
  const batches = auditInputs(inputs, { ...options, judged })
  try {
    for (;;) {
      // An input may be a pipe whose writer is silent for long.
      const { done, value: batch } = await orAbort(() => batches.next(), signal)
      if (done) break
      if (tally.lines === 0) io.stderr.write(hintAbout(batch.tally))
      addTally(tally, batch.tally)
      await write(batch, tally)
      ;({ sha256 } = batch)
    }
  } catch (error) {
    if (isEndpointError(error))
      failure = new AuditInputError(`stopped after ${formatNumber(tally.lines)} lines${resume}`)
    else if (error instanceof AuditInputError || error instanceof ClosedPipe) failure = error
    else throw error
  } finally {
    // Not awaited, because it waits for what is being read.
    void batches.return(undefined).catch(() => {})
    clearInterval(timer)
    overwriteProgress(io, '')
  }
  return { tally, resumedAt, failure, seconds: seconds(), sha256 }
}

function describeProgress(share: number, lines: number, judged: number, seconds: number): string {
  const percent = share > 0 ? `, ${Math.floor(100 * share)}%` : ''
  return `${formatNumber(lines)} lines, ${formatNumber(judged / seconds)} per second${percent}${timeLeft(seconds, share)}`
}

type Summary = AuditSummary & { readonly seconds: number; readonly judged: number; readonly isWhole: boolean }

function formatSummary(summary: Summary, trustsFile: boolean, stream: Output): string {
  const { lines, kinds, notes, consistent, seconds, judged, isWhole } = summary
  const width = Math.max(...kinds.map(({ count }) => formatNumber(count).length), 0)
  const rows = kinds.map(({ kind, count, meaning }) => [formatNumber(count).padStart(width), printable(kind), meaning])
  const { word, sentence } = conclude(summary)
  const judgement = isWhole
    ? paintVerdict(stream, { word }, sentence)
    : `The input was not read to its end. Until then: ${sentence}`
  const verdict = lines > 0 ? judgement : sentence
  const rate = `(${formatNumber(judged / Math.max(seconds, 0.001))} per second)`
  return `${[
    ...[
      verdict,
      ...(consistent > 0 ? [confirmRoots(consistent)] : []),
      ...(rows.length > 0 ? [formatTable(rows, stream)] : []),
      ...notes.map(note => `Note: ${note}`),
    ],
    ...(trustsFile && word === 'consistent' ? [TRUSTS_FILE] : []),
    `${formatNumber(judged)} ${judged === 1 ? 'record' : 'records'} in ${seconds.toFixed(1)} s ${rate}`,
  ].join('\n')}\n`
}
