import { statSync } from 'node:fs'
import { isRefusal, type Refusal } from '../../base/errors.ts'
import { isArgumentError, safely } from '../../entry/index.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import { readFileChunks, unpack } from '../audit/input.ts'
import { type Lines, readLines } from '../audit/lines.ts'
import type { RowFormat } from '../audit/rows.ts'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { type AskedFor, refuseOverwrite, statRegular } from '../files/output-file.ts'
import { warnOn } from '../files/own-key.ts'
import {
  type AboutRows,
  type Counted,
  manifestPathOf,
  notManifest,
  type RowFiles,
  type RowPaths,
  type RowSteps,
  type RowsKind,
  type Saved,
  withRowFiles,
  writeManifest,
} from '../files/row-files.ts'
import { MAX_INPUT_BYTES } from '../limits.ts'
import { endProgress, showProgress } from '../options/endpoint.ts'
import type { ChosenNetwork } from '../options/network.ts'
import { describeError, formatError, REFUSED, toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import { isRefused } from '../snapshot/snapshot.ts'
import type { Source } from '../words/claim.ts'
import { DocumentError } from '../words/error.ts'
import { fieldIn, messageOf, printable } from '../words/value.ts'
import { type PartSources, verdictOf } from '../words/verdict.ts'
import { ifRight, implementationRow, type Row } from '../words/wording.ts'

export interface WantedRows extends RowPaths {
  readonly json: boolean
  readonly format: RowFormat
  readonly network: ChosenNetwork
  /** What the user states, if anything: it proves the L1 block. */
  readonly trust: {
    readonly l1BlockHash?: string | undefined
    readonly beacon?: { readonly beaconBlockRoot: string } | undefined
  }
}

export interface Taking<Counts, Progress extends Counted<Counts>> {
  readonly kind: RowsKind<Counts>
  readonly askedFor: AskedFor
  /** Begins, or goes on: what to write, how to tell how far it is, and what the manifest says. */
  begin(begun: Saved<Progress> | undefined): Promise<
    RowSteps<Progress> & {
      describe(progress: Progress): string
      readonly about: Omit<AboutRows<Counts>, 'askedFor' | 'bundle' | 'counts'>
      readonly none: Counts
    }
  >
  /** The verdict: whether it holds, and in words. What the rows are, in words, and what else there is to say of them. */
  tell(content: AboutRows<Counts> & { readonly rows: { readonly count: number } }): {
    readonly holds: boolean
    readonly statement: string
    readonly summary: string
    readonly rows: readonly Row[]
  }
}

/** Takes rows, or the rest of them. @returns the exit code @throws UsageError if there are all of them already */
export async function takeRows<Counts, Progress extends Counted<Counts>>(
  wanted: WantedRows,
  { kind, askedFor, begin, tell }: Taking<Counts, Progress>,
  io: Io,
): Promise<number> {
  const { path, keep, force, json, network, trust } = wanted
  const manifest = manifestPathOf(path)
  if (!force && statRegular(manifest) !== undefined)
    throw refuseOverwrite(manifest, 'its rows are complete, which --check verifies')
  const content = await withRowFiles(wanted, askedFor, kind, warnOn(io), async (files: RowFiles<Progress>) => {
    const { describe, about, none, ...steps } = await begin(files.begun)
    let counts = files.begun?.counts ?? none
    await files.write(steps, progress => {
      counts = progress.counts
      showProgress(io, describe(progress))
    })
    endProgress(io)
    return writeManifest(wanted, kind, { askedFor, ...about, counts, bundle: steps.bundle }, files.written())
  })
  const { askedFor: _, bundle: __, ...shown } = content
  const { holds, statement, summary, rows } = tell(content)
  const stated = trust.beacon?.beaconBlockRoot ?? trust.l1BlockHash
  const verdict = verdictOf(holds, { l1BlockHash: stated === undefined ? 'endpoint' : 'user' })
  const basis = trust.beacon ? 'beacon block' : 'L1 block hash'
  const lines = [
    formatVerdict(verdict, statement, io.stdout),
    formatTable(
      ifRight(verdict, [
        ['rows', path, summary],
        ['manifest', manifest],
        ...(keep === undefined ? [] : [[kind.kept, keep] as const]),
        ...rows,
        ['L2 block', content.l2BlockNumber],
        ['L2 state root', content.stateRoot],
        implementationRow(content, network.rollup.implementation && 'user'),
        ['L1 block hash', content.l1BlockHash],
      ]),
      io.stdout,
    ),
    `Everything rests on the ${basis}${stated === undefined ? ': compare it with a source that you trust.' : ' that you stated.'} The bundle that proves the rest is in the manifest.`,
    ...(keep === undefined
      ? []
      : ['Anyone can check these files, offline: run the same command with --check, and state what you trust.']),
  ]
  io.stdout.write(
    json ? toJson({ ...describeVerdict(verdict), ...shown, manifest, fetched: true }) : `${lines.join('\n')}\n`,
  )
  return exitCodeOf(verdict, ASKED_ENDPOINTS)
}

const LINES_PER_PROGRESS = 1000

export interface Checking<Proven, Result> {
  readonly kind: { readonly name: string; readonly kept: string }
  /** The L2 block that the user states; undefined if the files choose it. */
  readonly l2Block: bigint | undefined
  /** Proves the block from the bundle in the manifest. @throws ProofError, ArgumentError */
  prove(bundle: unknown): Proven
  /** The lines that are proven, with their line feeds. @throws ProofError, DocumentError */
  rows(proven: Proven, kept: Lines): AsyncGenerator<string, Result, undefined>
  /** What the rows are if they are right, on whose word, and what else is proven. */
  tell(
    proven: Proven,
    result: Result,
  ): {
    readonly statement: string
    readonly sources?: PartSources
    readonly json: object
    readonly rows?: readonly Row[]
    readonly notes?: readonly string[]
  }
  /** What the manifest says of a bundle that does not verify. */
  hint?(manifest: unknown): readonly Row[]
}

export const chosenBy = (value: unknown): Source => (value === undefined ? 'file' : 'user')

export const provenAndStated = (value: unknown): string =>
  `proven, and stated by ${value === undefined ? 'the manifest' : 'you'}`

/** Verifies the files of an earlier run, offline. @returns the exit code @throws UsageError if a file cannot be read */
export async function checkRows<Proven extends { readonly verified: AnyEvidence }, Result>(
  { path, keep, force, json, network, trust }: WantedRows,
  { kind, l2Block, hint = () => [], ...checking }: Checking<Proven, Result>,
  io: Io,
): Promise<number> {
  if (keep === undefined) throw new UsageError(`--check needs --keep: the file of the ${kind.kept}`)
  if (force) throw new UsageError('--check writes nothing: leave out --force')
  // Of the manifest, only the bundle is used, and only after it is verified.
  const manifest = manifestPathOf(path)
  const content = await readRegularJson(manifest)
  const other = notManifest(content, kind)
  if (other !== undefined) throw new UsageError(`${manifest} ${other}`)
  const refuse = (error: Refusal, rows: readonly Row[], place = {}) => {
    const report = { ...describeVerdict(REFUSED), ...place, error: describeError(error) }
    io.stdout.write(json ? toJson(report) : formatError(error, rows, io.stdout))
    return exitCodeOf(REFUSED)
  }
  const outcome = safely(() => checking.prove(fieldIn(content, 'bundle')))
  if (!outcome.ok) {
    if (isArgumentError(outcome.error)) throw outcome.error
    return refuse(outcome.error, [['bundle in', manifest], ...hint(content)])
  }
  // Only the evidence may be packed. In packed rows, other programs would read something else than is checked here.
  const [rows, kept] = [linesIn(path, chunks => chunks), linesIn(keep, unpack)]
  const found = await compare(checking.rows(outcome.value, kept), rows, kept, io)
  for (const lines of [rows, kept]) await lines.return(undefined)
  if ('problem' in found) {
    const { problem, ...place } = found
    if (isRefusal(problem)) return refuse(problem, [['line', `${place.line}`, path]], place)
    const report = { ...describeVerdict(REFUSED), problem, ...place }
    const words = formatVerdict(REFUSED, `line ${place.line} of ${printable(path)}: ${problem}`, io.stdout)
    const proven = place.proven === undefined ? '' : `${formatTable([['proven', place.proven]], io.stdout)}\n`
    io.stdout.write(json ? toJson(report) : `${words}\n${proven}`)
    return exitCodeOf(REFUSED)
  }
  const told = checking.tell(outcome.value, found.result)
  const verdict = verdictOf(true, { l2BlockNumber: chosenBy(l2Block), ...told.sources })
  const { verified } = outcome.value
  const { l2BlockNumber, currentL2BlockNumber, stateRoot, l1Block } = verified
  const lines = [
    formatVerdict(verdict, told.statement, io.stdout),
    formatTable(
      [
        ...(told.rows ?? []),
        ['L1 block hash', `${l1Block?.hash}`, trust.beacon ? 'proven from the beacon block' : 'stated by you'],
        ['L2 block', `${l2BlockNumber}`, provenAndStated(l2Block)],
        ['last finalized', `${currentL2BlockNumber}`, 'proven'],
        ['L2 state root', stateRoot, 'proven'],
        implementationRow(verified, network.rollup.implementation && 'user'),
      ],
      io.stdout,
    ),
    ...(told.notes ?? []),
  ]
  const about = { ...told.json, l1BlockHash: l1Block?.hash, l2BlockNumber, currentL2BlockNumber, stateRoot }
  io.stdout.write(json ? toJson({ ...describeVerdict(verdict), ...about }) : `${lines.join('\n')}\n`)
  return exitCodeOf(verdict)
}

/** The first line that is not what it has to be. */
interface WrongLine {
  readonly line: number
  readonly problem: string | Refusal
  readonly proven?: string
}

/** Compares lines with those that are proven. */
async function compare<Result>(
  proven: AsyncGenerator<string, Result, undefined>,
  rows: Lines,
  kept: Lines,
  io: Io,
): Promise<WrongLine | { readonly result: Result }> {
  for (let line = 1; ; line++) {
    const { done, value: found } = await rows.next()
    if (!done && isRefused(found)) return { line, problem: 'no answer of the endpoint verified' }
    let next: IteratorResult<string, Result>
    try {
      next = await proven.next()
    } catch (error) {
      if (isRefusal(error)) return { line, problem: error }
      if (error instanceof DocumentError) return { line, problem: error.message }
      throw error
    }
    if (next.done) {
      endProgress(io)
      if (!done) return { line, problem: 'more lines follow the last row' }
      return (await kept.next()).done ? { result: next.value } : { line, problem: 'more is kept than proves the rows' }
    }
    const row = next.value.trimEnd()
    if (found !== row) return { line, problem: done ? 'is missing' : 'differs from what is proven', proven: row }
    if (line % LINES_PER_PROGRESS === 0) showProgress(io, `${line} lines checked`)
  }
}

type Chunks = AsyncIterable<Uint8Array>

/** The lines of a regular file. @throws UsageError also if a line is too long */
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
