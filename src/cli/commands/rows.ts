import { rmSync, statSync } from 'node:fs'
import { isProofError, plural } from '../../base/errors.ts'
import { openEndpoints } from '../../client/sources/endpoints.ts'
import { isArgumentError } from '../../entry/index.ts'
import type { RecordOptions, RequestProvider } from '../../entry/rpc.ts'
import type { AnyEvidence } from '../../verify/evidence/kinds/state.ts'
import { readFileChunks, unpack } from '../audit/input.ts'
import { formatOf, type Lines, type RowFormat, readLines } from '../audit/lines.ts'
import type { Io } from '../command.ts'
import { argumentRefused, orUsageError, UsageError } from '../errors.ts'
import { type GrowingFile, openGrowingFile } from '../files/growing-file.ts'
import { ROWS_EVIDENCE } from '../files/input.ts'
import { refuseOverwrite, requireFree, serialize, stageFile, statRegular } from '../files/output-file.ts'
import { hashBasis } from '../files/recorded-file.ts'
import { formatEvidence } from '../kinds/evidence.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import type { Flags } from '../options/declared.ts'
import { type Connections, type EndpointFlags, showProgress, withEndpoints } from '../options/endpoint.ts'
import { networkOf, networkSource } from '../options/network.ts'
import { readRecordTrust, type TrustedL1Block, trustedIn, trustOptionsOf } from '../options/trust.ts'
import { describeError, formatError, REFUSED, toJson } from '../output/report.ts'
import { formatTable, timeLeft } from '../output/table.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import type { Source } from '../words/answer.ts'
import { DocumentError, fieldIn, messageOf, parseJson, printable } from '../words/value.ts'
import { type PartSources, type Verdict, verdictOf } from '../words/verdict.ts'
import { chainRows, type Row } from '../words/wording.ts'

/**
 * Rows of proven values, and beside them the evidence: a file with a bundle that proves a block, and a line for each answer or block
 * that proves some rows. The rows always follow from that file, of which nothing is believed, so that an interrupted run can go
 * on with it, whoever wrote it.
 */

export type RowsFlags = Flags & EndpointFlags & { readonly force: boolean; readonly check: boolean }

export async function readWantedRows(flags: RowsFlags) {
  const { output: path, force, check, json, 'l2-block': l2Block } = flags
  if (!path || path === '-') throw new UsageError('--output is needed: the file for the rows')
  const network = networkOf(flags)
  const trust = await readRecordTrust(flags, network)
  return { flags, path, evidence: `${path}${ROWS_EVIDENCE}`, force, check, json, network, l2Block, trust }
}

type WantedRows = Awaited<ReturnType<typeof readWantedRows>>

export interface ProvenRows {
  readonly verified: AnyEvidence
  readonly heading: string
  /** How much is missing: of addresses, or blocks. */
  left(): number
  /** What the next line of the evidence proves. @throws ProofError, DocumentError */
  rowsOf(line: unknown): string
  /** Fetches the lines that are missing. Each is read before the next one is asked for. */
  fetch(l2: RequestProvider[], signal: AbortSignal): AsyncIterable<string>
  /** What the rows are if they are right, and what else there is to say of them. */
  tell(): RowsReport
}

export interface RowsKind {
  readonly unit: readonly [one: string, many: string]
  record(
    endpoints: readonly [l1: RequestProvider[], l2: RequestProvider[]],
    how: Pick<RecordOptions, 'beacon' | 'l1BlockNumber' | 'l2BlockNumber' | 'signal'>,
  ): Promise<{ readonly bundle: unknown }>
  open(bundle: unknown, trusted: TrustedL1Block, format: RowFormat): ProvenRows
}

interface RowsReport {
  readonly holds?: boolean
  readonly statement: string
  readonly summary: string
  readonly json: object
  readonly rows?: readonly Row[]
  /** Who chose what the rows are of. */
  readonly sources?: PartSources
}

/** Writes rows and their evidence, or goes on with it; or checks the files of an earlier run. @returns the exit code @throws UsageError */
export const runRows = (wanted: WantedRows, kind: RowsKind, io: Io): Promise<number> =>
  wanted.check ? check(wanted, kind, io) : withEndpoints(wanted.flags, io, each => take(wanted, kind, each, io))

async function take(wanted: WantedRows, kind: RowsKind, connections: Connections, io: Io): Promise<number> {
  const { path, evidence, force, flags, trust, l2Block: l2BlockNumber } = wanted
  const { signal } = connections
  const [l1, l2] = [connections.open('l1', flags.l1), connections.open('l2', flags.l2)]
  const how = { ...trustOptionsOf(trust, flags.beacon, connections), l2BlockNumber, signal }
  requireFree(path, force)
  let kept = statRegular(evidence) === undefined ? undefined : await openGrowingFile(evidence)
  const file = stageFile(path, force)
  try {
    const begun =
      kept === undefined || kept.length() === 0 || force ? undefined : await resume(wanted, kind, kept, file.write)
    const isContinued = begun !== undefined
    if (begun && hashBasis(trust).by === 'endpoint') await requireOnL1(begun.rows, l1, evidence, signal)
    const bundle = begun ? undefined : (await kind.record([l1, l2], how)).bundle
    const rows = begun?.rows ?? kind.open(bundle, trustedIn(bundle, trust), formatOf(path))
    // Only now: a run that is refused changes nothing.
    if (kept === undefined) {
      kept = await openGrowingFile(evidence)
      if (kept.length() > 0) throw refuseOverwrite(evidence, 'another run has written it meanwhile')
    }
    // Rows without the evidence that proves them would pass for finished if the run ended here.
    if (force) rmSync(path, { force })
    kept.truncate(begun?.end ?? 0)
    if (!isContinued) {
      kept.append(serialize(evidence, bundle))
      file.write(rows.heading)
    }
    const { l1Block, l2BlockNumber: block } = rows.verified
    const found = `L2 block ${block}, L1 block ${l1Block?.number}: ${plural(rows.left(), ...kind.unit)}`
    showProgress(io, isContinued ? `${found} left, after an earlier run` : found)
    const [missing, begunAt] = [rows.left(), performance.now()]
    for await (const lines of rows.fetch(l2, signal)) {
      kept.append(lines)
      for (const line of lines.trimEnd().split('\n')) file.write(rows.rowsOf(JSON.parse(line)))
      const done = missing - rows.left()
      const rest = timeLeft((performance.now() - begunAt) / 1000, done / missing)
      showProgress(io, `${done} of ${plural(missing, ...kind.unit)}${rest}`)
    }
    file.publish()
    const { holds = true, ...told } = rows.tell()
    const verdict = verdictOf(holds, { l1BlockHash: hashBasis(trust).by })
    const json = { ...told.json, fetched: true, ...(isContinued && { continued: true }) }
    report(verdict, { ...told, json, isContinued }, rows, wanted, io)
    return exitCodeOf(verdict, ASKED_ENDPOINTS)
  } finally {
    file.remove()
    kept?.close()
  }
}

/** Reads evidence, and passes on the rows that it proves. @param at counts the lines @throws ProofError, DocumentError */
async function replay(
  { path, trust }: WantedRows,
  kind: RowsKind,
  lines: Lines,
  at: { evidence: number },
  pass: (rows: string) => unknown,
): Promise<ProvenRows> {
  const next = async () => {
    at.evidence++
    const { done, value } = await lines.next()
    return done ? undefined : parseJson(Buffer.from(value))
  }
  const bundle = await next()
  const rows = kind.open(bundle, trustedIn(bundle, trust), formatOf(path))
  const { l1Block } = rows.verified
  if (typeof trust.l1Block === 'bigint' && l1Block?.number !== trust.l1Block)
    throw new DocumentError(`it is of L1 block ${l1Block?.number}`)
  await pass(rows.heading)
  for (let found = await next(); found !== undefined; found = await next()) {
    if (rows.left() <= 0) throw new DocumentError(`it proves none of the ${kind.unit[1]} asked for`)
    await pass(rows.rowsOf(found))
  }
  return rows
}

/** Verifies the evidence of an interrupted run, and writes the rows that it proves. @throws UsageError if it is no such file */
async function resume(wanted: WantedRows, kind: RowsKind, file: GrowingFile, write: (rows: string) => void) {
  const end = file.endOfLines()
  if (end === 0) throw refuseOverwrite(wanted.evidence, 'has no whole line')
  const at = { evidence: 0 }
  try {
    return { rows: await replay(wanted, kind, readLines(file.read(end), MAX_INPUT_BYTES), at, write), end }
  } catch (error) {
    if (!isProofError(error) && !(error instanceof DocumentError)) throw error
    throw refuseOverwrite(wanted.evidence, `its line ${at.evidence} is not of this request (${messageOf(error)})`)
  }
}

/** If the user states no hash, the endpoint states it: also that of a block in a file, which a sender may have made up. */
async function requireOnL1({ verified }: ProvenRows, l1: RequestProvider[], evidence: string, signal: AbortSignal) {
  const hash = `${verified.l1Block?.hash}`
  const block = await openEndpoints('l1', l1, 'L1', { signal }).run((provider, attempt) =>
    provider.call('eth_getBlockByHash', [hash, false], attempt.signal),
  )
  if (fieldIn(block, 'hash') !== hash)
    throw refuseOverwrite(evidence, `the L1 endpoint does not know its L1 block ${hash}`)
}

const ROWS_PER_PROGRESS = 1000

class WrongRow extends DocumentError {
  readonly proven: string | undefined

  constructor(problem: string, proven?: string) {
    super(problem)
    this.proven = proven
  }
}

/** Verifies the evidence, and compares the rows, offline. */
async function check(wanted: WantedRows, kind: RowsKind, io: Io): Promise<number> {
  const { path, evidence, force, trust, l2Block } = wanted
  if (hashBasis(trust).by === 'endpoint')
    throw new UsageError('--check needs --l1-block-hash or --checkpoint: everything rests on it')
  if (force) throw new UsageError('--check writes nothing: leave out --force')
  const at = { evidence: 0, row: 0 }
  // Only the evidence may be packed. In packed rows, other programs would read something else than is checked here.
  const [found, lines] = [linesIn(path, chunks => chunks), linesIn(evidence, unpack)]
  const compare = async (proven: string) => {
    for (const row of proven.split('\n').slice(0, -1)) {
      if (++at.row % ROWS_PER_PROGRESS === 0) showProgress(io, `${at.row} rows checked`)
      const { done, value } = await found.next()
      if (value !== row) throw new WrongRow(done ? 'is missing' : 'differs from what is proven', row)
    }
  }
  try {
    const rows = await replay(wanted, kind, lines, at, compare)
    const left = rows.left()
    if (left > 0) throw new DocumentError(`the file ends without proof of ${left} of the ${kind.unit[1]} asked for`)
    at.row++
    if (!(await found.next()).done) throw new WrongRow('follows the last row')
    const { holds = true, sources, ...told } = rows.tell()
    const verdict = verdictOf(holds, { l2BlockNumber: l2Block === undefined ? chosenIn(true) : 'user', ...sources })
    report(verdict, told, rows, wanted, io)
    return exitCodeOf(verdict)
  } catch (error) {
    reportRefused(error, at, wanted, io)
    return exitCodeOf(REFUSED)
  } finally {
    for (const each of [found, lines]) await each.return(undefined)
  }
}

/** @throws UsageError; any error that says nothing of the files */
function reportRefused(
  error: unknown,
  at: { readonly evidence: number; readonly row: number },
  { path, evidence, json }: WantedRows,
  { stdout }: Io,
): void {
  if (isArgumentError(error)) throw argumentRefused(error)
  if (!isProofError(error) && !(error instanceof DocumentError)) throw error
  const { proven } = error instanceof WrongRow ? error : { proven: undefined }
  const place = error instanceof WrongRow ? { file: path, line: at.row } : { file: evidence, line: at.evidence }
  const where = `line ${place.line} of ${printable(place.file)}`
  if (json) {
    const reason = isProofError(error) ? { error: describeError(error) } : { problem: error.message, proven }
    stdout.write(toJson({ ...describeVerdict(REFUSED), ...place, ...reason }))
  } else if (isProofError(error)) stdout.write(formatError(error, [['in', where]], stdout))
  else {
    const table = proven === undefined ? '' : `${formatTable([['proven', proven]], stdout)}\n`
    stdout.write(`${formatVerdict(REFUSED, `${where}: ${error.message}`, stdout)}\n${table}`)
  }
}

function report(
  verdict: Verdict,
  { statement, summary, json, rows = [], isContinued = false }: RowsReport & { readonly isContinued?: boolean },
  { verified }: ProvenRows,
  { flags, path, evidence, check, network, trust, l2Block }: WantedRows,
  { stdout }: Io,
): void {
  if (flags.json) {
    const { l1Block, l2BlockNumber, currentL2BlockNumber, stateRoot, implementation } = verified
    const about = { l1BlockHash: l1Block?.hash, l2BlockNumber, currentL2BlockNumber, stateRoot, implementation }
    stdout.write(toJson({ ...describeVerdict(verdict), file: path, evidence, ...json, ...about }))
    return
  }
  const { by, words: hash, sentence } = hashBasis(trust)
  const more = by === 'endpoint' ? `--check --l1-block-hash ${verified.l1Block?.hash}` : '--check'
  const less = flags.force ? ', and without --force' : ''
  const sources = {
    rollup: networkSource(flags),
    l2BlockNumber: l2Block === undefined ? chosenIn(check || isContinued) : 'user',
  } as const
  const chain = chainRows({ rollup: network.rollup, hash, sources }, verified)
  const all: Row[] = [['rows', path, summary], ['evidence', evidence], ...rows, ...chain]
  const lines = [
    formatEvidence(verdict, { what: statement }, all, stdout),
    sentence,
    ...(isContinued ? [`Note: ${evidence} was there, and chose the blocks. For newer ones, use --force.`] : []),
    ...(check ? [] : [`Anyone can check these files, offline: run the same command with ${more}${less}.`]),
  ]
  stdout.write(`${lines.join('\n')}\n`)
}

export const chosenIn = (check: boolean): Source => (check ? 'file' : 'default')

type Chunks = AsyncIterable<Uint8Array>

async function* linesIn(path: string, unpacked: (chunks: Chunks) => Chunks): Lines {
  // Others would never end, or wait for a writer.
  if (!orUsageError(`cannot read ${path}`, () => statSync(path)).isFile())
    throw new UsageError(`${path} is not a regular file`)
  try {
    yield* readLines(unpacked(readFileChunks(path)), MAX_INPUT_BYTES)
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  }
  return undefined
}
