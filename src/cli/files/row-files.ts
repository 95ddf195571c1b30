import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Hex } from '../../base/bytes.ts'
import type { EvidenceBundle, StateScheme } from '../../entry/anchor.ts'
import type { LogsCounts } from '../logs/logs.ts'
import type { RowFormat, SnapshotProgress } from '../snapshot/snapshot.ts'
import { type Fields, fieldIn, isCount, isObject, otherVersion } from '../words/value.ts'
import { withGrowingFiles } from './growing-file.ts'
import { digestOf } from './input.ts'
import {
  type AskedFor,
  differencesIn,
  progressFile,
  readExisting,
  refuseOverwrite,
  statRegular,
  writeWhole,
} from './output-file.ts'
import type { Warn } from './own-key.ts'

/** What writes rows of proven values, whose evidence is kept beside them. */
export interface RowsKind<Counts> {
  /** With its article. */
  readonly name: string
  /** What the rows are proven from. */
  readonly kept: string
  /** What it counts. */
  readonly counts: readonly (keyof Counts & string)[]
}

export const snapshotRows: RowsKind<SnapshotProgress['counts']> = {
  name: 'a snapshot',
  kept: 'answers',
  counts: ['present', 'absent', 'refused'],
}
export const logRows: RowsKind<LogsCounts> = {
  name: 'a search for logs',
  kept: 'blocks',
  counts: ['blocks', 'ruledOut', 'receipts', 'logs'],
}

/** The files, as the user names them. */
export interface RowPaths {
  /** Of the rows. */
  readonly path: string
  /** Of what they are proven from. */
  readonly keep: string | undefined
  readonly force: boolean
}

/** How far it is: the counts, the bundle that proves the state root, and where to go on. */
export interface SavedProgress<Counts> {
  readonly counts: Counts
  readonly bundle: EvidenceBundle<StateScheme>
}

/** The files that are written piece by piece. */
export interface RowFiles<Progress> {
  /** The progress of an interrupted run for the same request; undefined if there is none. */
  readonly begun: Progress | undefined
  save(rows: string, kept: string, progress: Progress): Promise<void>
}

/**
 * Runs `work` with the files, whose progress stays beside them until it ends.
 *
 * @param isProgress whether `save` can have written it
 * @throws UsageError if there are files that belong to something else
 */
export function withRowFiles<Counts, Progress extends SavedProgress<Counts>, T>(
  { path, keep, force }: RowPaths,
  askedFor: AskedFor,
  kind: RowsKind<Counts>,
  isProgress: (saved: object) => boolean,
  warn: Warn,
  work: (files: RowFiles<Progress>) => Promise<T>,
): Promise<T> {
  const progress = progressFile(`${path}.partial`, askedFor, warn)
  const paths = keep === undefined ? [path] : [path, keep]
  const open = (saved: Fields) => readBegun<Counts, Progress>(progress.path, saved, kind, isProgress)
  const about = { progress, start: {}, force, foreign: `is not of ${kind.name} that can be continued`, open }
  return withGrowingFiles(paths, about, async files => {
    if (force) rmSync(manifestPathOf(path), { force: true })
    const result = await work({
      begun: files.begun,
      async save(rows, kept, done) {
        // Each piece is a gzip member of its own, so the file stays valid gzip if it is cut between two of them.
        await files.append(rows, kept === '' ? '' : gzipSync(kept))
        await files.save(done)
      },
    })
    progress.remove()
    return result
  })
}

const countsIn = <Counts>(content: unknown, { counts }: RowsKind<Counts>) =>
  counts.map(name => fieldIn(fieldIn(content, 'counts'), name))

/** @throws UsageError if `save` did not write it */
function readBegun<Counts, Progress>(
  path: string,
  saved: Fields,
  kind: RowsKind<Counts>,
  isProgress: (saved: object) => boolean,
): Progress | undefined {
  if (Object.keys(saved).join() === 'files') return undefined
  if (isObject(saved['bundle']) && isProgress(saved) && countsIn(saved, kind).every(isCount)) {
    // What is used of it was checked above; the bundle is verified before it is used.
    return saved as unknown as Progress
  }
  throw refuseOverwrite(path, `is not the progress of ${kind.name}`)
}

/** What the manifest says, besides the files. */
export interface AboutRows<Counts> {
  readonly askedFor: AskedFor
  readonly l1BlockHash: string
  readonly l2BlockNumber: string
  readonly stateRoot: string
  /** The code of the rollup contract, if it is proven. */
  readonly implementation?: Hex | undefined
  /** Of blocks, in decimal: of logs. */
  readonly range?: { readonly fromBlock: string; readonly toBlock: string }
  readonly counts: Counts
  /** Proves the state root. */
  readonly bundle: EvidenceBundle<StateScheme>
}

const kindOf = ({ name }: { readonly name: string }): string => `manifest of ${name}`

/** Describes the files. */
type Manifest<Counts> = Awaited<ReturnType<typeof writeManifest<Counts>>>

/** The manifest of the rows in the file at `path`. */
export const manifestPathOf = (path: string): string => `${path}.manifest.json`

/** Why it is not a manifest that this program reads; undefined if it is one. */
export const notManifest = (content: unknown, kind: { readonly name: string }): string | undefined =>
  fieldIn(content, 'kind') === kindOf(kind) ? otherVersion(content) : `is not the manifest of ${kind.name}`

/** The manifest of an earlier run for the same request, whose rows must be unchanged. @throws UsageError */
export async function readManifest<Counts>(
  path: string,
  askedFor: AskedFor,
  kind: RowsKind<Counts>,
): Promise<Manifest<Counts>> {
  const manifest = manifestPathOf(path)
  const content = await readExisting(manifest)
  const other = notManifest(content, kind)
  if (other !== undefined) throw refuseOverwrite(manifest, other)
  const differing = differencesIn(fieldIn(content, 'askedFor'), askedFor)
  if (differing !== '') {
    throw refuseOverwrite(manifest, `is of another ${kind.name.slice('a '.length)} (it differs in ${differing})`)
  }
  const rows = fieldIn(content, 'rows')
  const texts = ['l2BlockNumber', 'stateRoot', 'l1BlockHash'].map(name => typeof fieldIn(content, name))
  if (![fieldIn(rows, 'count'), ...countsIn(content, kind)].every(isCount) || texts.some(type => type !== 'string')) {
    throw refuseOverwrite(manifest, `is not the manifest of ${kind.name}`)
  }
  if (statRegular(path) === undefined || (await digestOf(path)).sha256 !== fieldIn(rows, 'sha256')) {
    throw refuseOverwrite(manifest, `does not match ${path}`)
  }
  // What is used of it was checked above. It may be anybody's: nothing in it is verified.
  return content as Manifest<Counts>
}

/** @param count of the rows */
export async function writeManifest<Counts>(
  { path, keep, force, format }: RowPaths & { readonly format: RowFormat },
  kind: RowsKind<Counts>,
  count: number,
  { counts, bundle, ...about }: AboutRows<Counts>,
) {
  const digest = async (file: string) => (await digestOf(file)).sha256
  const manifest = {
    ...{ kind: kindOf(kind), version: 1 },
    ...about,
    rows: { file: basename(path), format, count, sha256: await digest(path) },
    ...(keep !== undefined && { kept: { file: basename(keep), sha256: await digest(keep) } }),
    ...{ counts, bundle },
  }
  writeWhole(manifestPathOf(path), `${JSON.stringify(manifest)}\n`, force)
  return manifest
}
