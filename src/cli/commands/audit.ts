import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isEndpointError } from '../../client/transport/error.ts'
import { orAbort } from '../../client/transport/waiting.ts'
import { AuditInputError, type AuditOptions, audit as auditInputs } from '../audit/audit.ts'
import { addTally, createTally, type Place } from '../audit/audited.ts'
import { MAX_NAMED } from '../audit/limits.ts'
import type { RecordClaim } from '../audit/record.ts'
import { type AuditSummary, conclude, confirmRoots, counted, formatNumber, summarize } from '../audit/summary.ts'
import { exitCodes, type Io, type Output } from '../command.ts'
import { codeOf, outputLost, UsageError } from '../errors.ts'
import { openInputs } from '../files/input.ts'
import { requireFree, stageFile, writeWhole } from '../files/output-file.ts'
import { MAX_INPUT_MIB } from '../limits.ts'
import { type Flags, optionsOf, or, text, typed } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { networkOf } from '../options/network.ts'
import { whole } from '../options/read.ts'
import { trustedOf } from '../options/trust.ts'
import { toJson } from '../output/report.ts'
import { formatTable, overwriteProgress, timeLeft } from '../output/table.ts'
import { acceptedWith, exitCodeOf, paintVerdict, TRUSTS_FILE } from '../output/verdict.ts'
import manifest from '../package.json' with { type: 'json' }
import { untilSignal } from '../signals.ts'
import { printable } from '../words/value.ts'
import type { Word } from '../words/verdict.ts'
import type { Row } from '../words/wording.ts'

const options = {
  ...optionsOf('state-root', 'address', 'storage-key', 'mapping'),
  html: text('REPORT', 'write the summary as a page, too'),
  jobs: typed('N', 'threads that verify (default: the number of cores)', whole(1, 256)),
  'max-line': or(`${MAX_INPUT_MIB}`, typed('MIB', 'the maximum length of a record, at most 64', whole(1, 64))),
}
const forBundles = optionsOf('network', 'implementation', 'l1-block-hash', 'l1-state-root')
const shared = { ...forBundles, ...optionsOf('output', 'force', 'json', 'trust-file') }

export const command = defineCommand(
  {
    usage: 'audit [FILE...|-] [options]',
    options,
    shared,
    isMany: true,
    about: `
Verifies records, one JSON text per line, and writes one verdict per line. A
record is a recording (scheme, stateRoot, address, storageKeys, result), an
answer, a vector of one, or an evidence bundle. gzip is unpacked. Bundles need
--l1-block-hash, --l1-state-root or --state-root, also those recorded with
--checkpoint, for which \`verify --checkpoint\` prints the L1 block hash. The file
of --output is there once every line has its verdict.`,
    notes: `
A verdict on the word of the record alone ("trusted": "file") is consistent.
Exit code, of the worst record: 2 wrong usage, no records, or an input failed; 1
some refused or unreadable; 4 some consistent only; 0 all verified.`,
    examples: `
rollup-state-proof audit answers.ndjson.gz --state-root 0x... \\
  -o verdicts.ndjson --html report.html
cat *.ndjson | rollup-state-proof audit --state-root 0x... | grep refused`,
  },
  async (values, io, files) => {
    const { output = '-', html, force, json, jobs = availableParallelism(), 'trust-file': trustsFile } = values
    const claim = await claimOf(values)
    const sources = openInputs(files, io)
    const hasFile = output !== '-'
    if (hasFile) requireOther(output, files)
    if (html !== undefined) {
      requireOther(html, [...files, output])
      requireFree(html, force)
    }
    const digest = createHash('sha256')
    const options = { claim, jobs, maxLineLength: values['max-line'] * 2 ** 20, digest }
    const { tally, seconds, failure } = await untilSignal(async signal => {
      if (!hasFile) return writeVerdicts(sources, { ...options, signal }, pipeTo(io.stdout), io)
      const file = stageFile(output, force)
      try {
        const judged = await writeVerdicts(sources, { ...options, signal }, async verdicts => file.write(verdicts), io)
        if (judged.failure === undefined) file.publish()
        return judged
      } finally {
        file.remove()
      }
    })
    if (failure instanceof ClosedPipe) return exitCodes.unusable

    // Then the reason is all there is to say.
    if (failure !== undefined && tally.lines === 0 && !json) throw new UsageError(failure.message, false)
    const summary = summarize(tally)
    const stream = hasFile ? io.stdout : io.stderr
    // Of an input that was not read to its end, there is no verdict.
    const isWhole = summary.lines > 0 && failure === undefined
    const { word } = conclude(summary)
    const about = { inputs: sources.inputs.map(({ name }) => name), sha256: digest.digest('hex') }
    const by = { date: new Date().toISOString(), version: manifest.version }
    const reason = failure && `${failure.message}${hasFile ? `, and ${output} is not written` : ''}`
    const facts: Row[] = [...factsOf(about, values, claim), ['audited', by.date, `by rollup-state-proof ${by.version}`]]
    const report = describe({ ...summary, seconds, isWhole }, facts, trustsFile)
    if (html !== undefined) writeWhole(html, formatAuditReport(report), force)
    const inJson = { verdict: isWhole ? word : null, ...summary, ...about, ...by, seconds }
    stream.write(
      json
        ? toJson({ ...inJson, failure: reason && printable(reason) })
        : formatSummary(report, isWhole ? word : null, stream),
    )
    // With --json, the summary already says it.
    if (failure !== undefined && json) return exitCodes.unusable
    if (reason !== undefined) throw new UsageError(reason, false)
    // Nothing was verified: the input is most likely not the one that was meant.
    if (summary.lines === 0) return exitCodes.unusable
    return exitCodeOf({ word, restsOn: 'file' }, acceptedWith(trustsFile))
  },
)

async function claimOf(flags: Flags): Promise<RecordClaim> {
  const { 'state-root': stateRoot, address, 'storage-key': storageKeys } = flags
  const isForBundles = stateRoot !== undefined || Object.keys(forBundles).some(name => name in flags)
  const network = networkOf(flags)
  const names = ['l1-block-hash', 'l1-state-root', 'state-root'] as const
  const anchor = isForBundles ? { rollup: network.rollup, trusted: await trustedOf(flags, network, names) } : undefined
  return { stateRoot, address, storageKeys, anchor }
}

/** @throws UsageError if the output is an input, which it would replace */
function requireOther(output: string, files: readonly string[]): void {
  const idOf = (path: string) => path !== '-' && statSync(path, { throwIfNoEntry: false }) && realpathSync(path)
  const id = idOf(output)
  if (files.includes(output) || (id && files.some(file => idOf(file) === id)))
    throw new UsageError(`${output} is named twice: it cannot be read and written at once`)
}

/** What identifies the input, and what the user stated: whoever reads the summary does not see the command line. */
function factsOf(
  { inputs, sha256 }: { readonly inputs: readonly string[]; readonly sha256: string },
  flags: Flags,
  { stateRoot, address, storageKeys, anchor }: RecordClaim,
): Row[] {
  const stated = Object.entries({
    'state root': stateRoot,
    address,
    'storage keys': storageKeys && shortened(storageKeys),
    implementation: flags.implementation,
    'L1 block hash': flags['l1-block-hash'],
    'L1 state root': flags['l1-state-root'],
  }).flatMap(([name, value]): Row[] => (value === undefined ? [] : [[name, value, 'stated by you']]))
  const by = flags.network === undefined ? 'the default' : 'stated by you'
  return [
    [inputs.length === 1 ? 'input' : 'inputs', shortened(inputs)],
    ['SHA-256, unpacked', sha256],
    ...stated,
    ...(anchor === undefined
      ? []
      : [['network of bundles', `${networkOf(flags).name} (${anchor.rollup.address})`, by] as const]),
  ]
}

const shortened = (items: readonly string[]): string =>
  items.length > MAX_NAMED
    ? `${items.slice(0, MAX_NAMED).join(', ')} and ${formatNumber(items.length - MAX_NAMED)} more`
    : items.join(', ')

class ClosedPipe extends Error {}

/** Ends once it is written: until then, nothing further is read. */
const pipeTo =
  (stream: Output) =>
  (verdicts: string): Promise<void> =>
    new Promise((resolve, reject) => {
      stream.write(verdicts, error => {
        if (!error) resolve()
        else reject(CLOSED.includes(`${codeOf(error)}`) ? new ClosedPipe() : outputLost(error))
      })
    })

const CLOSED = ['EPIPE', 'ERR_STREAM_DESTROYED']

const PROGRESS_INTERVAL = 500

/** Writes the verdicts, counts and times them, and shows how far it is. `failure` is why it ended too early. */
async function writeVerdicts(
  { inputs, share }: ReturnType<typeof openInputs>,
  { signal, ...options }: AuditOptions & { readonly signal: AbortSignal },
  write: (verdicts: string) => Promise<void>,
  io: Io,
) {
  const begun = performance.now()
  const seconds = () => (performance.now() - begun) / 1000
  const tally = createTally()
  const show = () => overwriteProgress(io, describeProgress(share(), tally.lines, seconds()))
  const timer = io.stderr.isTTY ? setInterval(show, PROGRESS_INTERVAL) : undefined
  let failure: Error | undefined
  const batches = auditInputs(inputs, options)
  try {
    for (;;) {
      // An input may be a pipe whose writer is silent for long.
      const { done, value: batch } = await orAbort(() => batches.next(), signal)
      if (done) break
      addTally(tally, batch.tally)
      await write(batch.text)
    }
  } catch (error) {
    if (isEndpointError(error)) failure = new AuditInputError(`stopped after ${linesIn(tally.lines)}`)
    else if (error instanceof AuditInputError || error instanceof ClosedPipe) failure = error
    else throw error
  } finally {
    // Not awaited, because it waits for what is being read.
    void batches.return(undefined).catch(() => {})
    clearInterval(timer)
  }
  return { tally, failure, seconds: seconds() }
}

const linesIn = (lines: number): string => counted(lines, 'line', 'lines')

function describeProgress(share: number, lines: number, seconds: number): string {
  const percent = share > 0 ? `, ${Math.floor(100 * share)}%` : ''
  return `${linesIn(lines)}, ${formatNumber(lines / seconds)} per second${percent}${timeLeft(seconds, share)}`
}

type Summary = AuditSummary & { readonly seconds: number; readonly isWhole: boolean }

function describe(summary: Summary, facts: readonly Row[], trustsFile: boolean): AuditReport {
  const { lines, kinds, notes, consistent, seconds, isWhole } = summary
  const width = Math.max(...kinds.map(({ count }) => formatNumber(count).length), 0)
  const { word, sentence } = conclude(summary)
  const rate = `${formatNumber(lines / Math.max(seconds, 0.001))} per second`
  return {
    sentences: [
      lines > 0 && !isWhole ? `The input was not read to its end. Until then: ${sentence}` : sentence,
      ...(consistent > 0 ? [confirmRoots(consistent)] : []),
      ...notes.map(note => `Note: ${note}`),
      ...(trustsFile && word === 'consistent' ? [TRUSTS_FILE] : []),
    ],
    tables: [
      kinds.map(({ kind, count, meaning = '', first }) => [
        formatNumber(count).padStart(width),
        kind,
        meaning,
        first === undefined ? '' : `first: ${placeOf(first)}`,
      ]),
      [...facts, ['records', formatNumber(lines), `in ${seconds.toFixed(1)} s, ${rate}`]],
    ],
  }
}

function formatSummary({ sentences: [verdict = '', ...more], tables }: AuditReport, word: Word | null, stream: Output) {
  const painted = word === null ? verdict : paintVerdict(stream, { word }, verdict)
  const written = tables.filter(rows => rows.length > 0).map(rows => formatTable(rows, stream))
  return `${[painted, ...more, ...written].join('\n')}\n`
}

const placeOf = ({ line, file, path }: Place): string =>
  [`line ${formatNumber(line)}${file === undefined ? '' : ` of ${file}`}`, ...(path ? [path] : [])].join(', ')

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\p{Cc}\p{Cf}]/gu, character => `&#${character.codePointAt(0)};`)

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:1100px;margin:24px auto;padding:0 16px;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}td{vertical-align:top;padding:4px 12px 4px 0;border-top:1px solid GrayText}`

/** What an audit found: sentences, the first of which is its verdict, and tables of cells. */
interface AuditReport {
  readonly sentences: readonly string[]
  readonly tables: readonly (readonly Row[] | readonly (readonly string[])[])[]
}

/** A self-contained page: it loads nothing, and its policy allows no script. */
function formatAuditReport({ sentences: [verdict = '', ...sentences], tables }: AuditReport): string {
  const rowOf = (cells: readonly (string | undefined)[]) =>
    `<tr>${cells.map(cell => `<td>${escapeHtml(cell ?? '')}</td>`).join('')}</tr>`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>Audit</title>
<style>${STYLE}</style>
<main>
<h1>${escapeHtml(verdict)}</h1>
${sentences.map(sentence => `<p>${escapeHtml(sentence)}</p>`).join('\n')}
${tables.map(rows => `<table>\n${rows.map(rowOf).join('\n')}\n</table><br>`).join('\n')}
</main>
</html>
`
}
