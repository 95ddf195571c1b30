import { isArgumentError, safely } from '../../entry/index.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import { unpack } from '../audit/input.ts'
import type { RowFormat } from '../audit/rows.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { linesIn } from '../files/lines.ts'
import { type AskedFor, statRegular } from '../files/output-file.ts'
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
  readManifest,
  type Saved,
  withRowFiles,
  writeManifest,
} from '../files/row-files.ts'
import { endProgress, notFetched, showProgress } from '../options/endpoint.ts'
import type { ChosenNetwork } from '../options/network.ts'
import { describeError, formatError, REFUSED, toJson } from '../output/report.ts'
import { formatTable } from '../output/table.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import { describeProblem, type RowProblem } from '../snapshot/problem.ts'
import type { Lines } from '../snapshot/snapshot-check.ts'
import type { Source } from '../words/claim.ts'
import { fieldIn } from '../words/value.ts'
import { type PartSources, verdictOf } from '../words/verdict.ts'
import { ifRight, implementationRow, type Row } from '../words/wording.ts'

/** What a command that writes rows was asked for. */
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

/** How rows are taken, and reported. */
export interface Taking<Counts, Progress extends Counted<Counts>> {
  readonly kind: RowsKind<Counts>
  readonly askedFor: AskedFor
  /** Begins, or goes on: what to write, how to tell how far it is, and what the manifest says. */
  begin(begun: Saved<Progress> | undefined): Promise<
    RowSteps<Progress> & {
      describe(progress: Progress): string
      readonly about: Omit<AboutRows<Counts>, 'askedFor' | 'bundle' | 'counts'>
      /** Before the first row. */
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

/** Takes rows, or the rest of them, or reports on those that exist. @returns the exit code */
export async function takeRows<Counts, Progress extends Counted<Counts>>(
  wanted: WantedRows,
  { kind, askedFor, begin, tell }: Taking<Counts, Progress>,
  io: Io,
): Promise<number> {
  const { path, keep, force, json, network, trust } = wanted
  const manifest = manifestPathOf(path)
  const isFetched = force || statRegular(manifest) === undefined
  const made = async ({ begun, write, written }: RowFiles<Progress>) => {
    const { describe, about, none, ...steps } = await begin(begun)
    let counts = begun?.counts ?? none
    await write(steps, progress => {
      counts = progress.counts
      showProgress(io, describe(progress))
    })
    endProgress(io)
    return writeManifest(wanted, kind, { askedFor, ...about, counts, bundle: steps.bundle }, written())
  }
  const content = isFetched
    ? await withRowFiles(wanted, askedFor, kind, warnOn(io), made)
    : await readManifest<Counts>(path, askedFor, kind)
  const { askedFor: _, bundle: __, ...shown } = content
  const { holds, statement, summary, rows } = tell(content)
  const stated = trust.beacon?.beaconBlockRoot ?? trust.l1BlockHash
  const l1BlockHash = !isFetched ? 'file' : stated === undefined ? 'endpoint' : 'user'
  const verdict = verdictOf(holds, { l1BlockHash })
  const basis = trust.beacon ? 'beacon block' : 'L1 block hash'
  const lines = [
    ...(isFetched
      ? [formatVerdict(verdict, statement, io.stdout)]
      : // What it says is not even consistent.
        [notFetched(path, io.stdout), 'Nothing was verified either. This is what the manifest says:']),
    formatTable(
      ifRight(verdict, [
        ['rows', path, summary],
        ['manifest', manifest],
        ...(keep === undefined ? [] : [[kind.kept, keep] as const]),
        ...rows,
        ['L2 block', content.l2BlockNumber],
        ['L2 state root', content.stateRoot],
        isFetched || content.implementation === undefined
          ? implementationRow({ implementation: content.implementation }, network.rollup.implementation && 'user')
          : ['contract code', content.implementation, 'the implementation'],
        ['L1 block hash', content.l1BlockHash],
      ]),
      io.stdout,
    ),
    `Everything rests on the ${basis}${stated === undefined ? ': compare it with a source that you trust.' : ' that you stated.'} The bundle that proves the rest is in the manifest.`,
    ...(keep === undefined
      ? []
      : ['Anyone can check these files, offline: run the same command with --check, and state what you trust.']),
  ]
  const said = isFetched ? describeVerdict(verdict) : { verdict: null }
  io.stdout.write(json ? toJson({ ...said, ...shown, manifest, fetched: isFetched }) : `${lines.join('\n')}\n`)
  return exitCodeOf(verdict, ASKED_ENDPOINTS)
}

/** How many problems are listed. */
const [MAX_PRINTED, MAX_LISTED] = [20, 1000]
const STEPS_PER_PROGRESS = 1000

/** How rows are checked, and reported. */
export interface Checking<Proven, Result> {
  readonly kind: { readonly name: string; readonly kept: string }
  /** The L2 block that the user states; undefined if the files choose it. */
  readonly l2Block: bigint | undefined
  /** Proves the block from the bundle in the manifest. @throws ProofError, ArgumentError */
  prove(bundle: unknown): Proven
  /** Yields null for each step that is right. */
  check(proven: Proven, rows: Lines, kept: Lines): AsyncGenerator<RowProblem | null, Result, undefined>
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
  { kind, l2Block, prove, check, tell, hint = () => [] }: Checking<Proven, Result>,
  io: Io,
): Promise<number> {
  if (keep === undefined) throw new UsageError(`--check needs --keep: the file of the ${kind.kept}`)
  if (force) throw new UsageError('--check writes nothing: leave out --force')
  // Of the manifest, only the bundle is used, and only after it is verified.
  const manifest = manifestPathOf(path)
  const content = await readRegularJson(manifest)
  const other = notManifest(content, kind)
  if (other !== undefined) throw new UsageError(`${manifest} ${other}`)
  const outcome = safely(() => prove(fieldIn(content, 'bundle')))
  if (!outcome.ok) {
    const { error } = outcome
    if (isArgumentError(error)) throw error
    const report = { ...describeVerdict(REFUSED), error: describeError(error) }
    io.stdout.write(json ? toJson(report) : formatError(error, [['bundle in', manifest], ...hint(content)], io.stdout))
    return exitCodeOf(REFUSED)
  }
  // Only the evidence may be packed. In packed rows, other programs would read something else than is checked here.
  const [rows, kept] = [linesIn(path, chunks => chunks), linesIn(keep, unpack)]
  const { problems, count, result } = await collect(check(outcome.value, rows, kept), io)
  for (const lines of [rows, kept]) await lines.return(undefined)
  const told = tell(outcome.value, result)
  const verdict = verdictOf(count === 0, { l2BlockNumber: chosenBy(l2Block), ...told.sources })
  const statement = count === 0 ? told.statement : `the rows are not what the ${kind.kept} prove`
  const { verified } = outcome.value
  const { l2BlockNumber, currentL2BlockNumber, stateRoot, l1Block } = verified
  const lines = [
    formatVerdict(verdict, statement, io.stdout),
    ...(count > 0 ? [formatTable(problems.slice(0, MAX_PRINTED).map(describeProblem), io.stdout)] : []),
    ...(count > MAX_PRINTED ? [`  … and ${count - MAX_PRINTED} more. --json lists up to ${MAX_LISTED}.`] : []),
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
  io.stdout.write(
    json ? toJson({ ...describeVerdict(verdict), ...about, problemCount: count, problems }) : `${lines.join('\n')}\n`,
  )
  return exitCodeOf(verdict)
}

async function collect<Result>(steps: AsyncGenerator<RowProblem | null, Result, undefined>, io: Io) {
  const problems: RowProblem[] = []
  let [count, done] = [0, 0]
  for (;;) {
    const { done: isOver, value } = await steps.next()
    if (isOver) {
      endProgress(io)
      return { problems, count, result: value }
    }
    if (value !== null && ++count <= MAX_LISTED) problems.push(value)
    if (++done % STEPS_PER_PROGRESS === 0) showProgress(io, `${done} checked`)
  }
}
