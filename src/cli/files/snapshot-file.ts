import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { EvidenceBundle } from '../../anchor.ts'
import type { SnapshotProgress } from '../../bulk/snapshot/snapshot.ts'
import { fieldIn, isObject, otherVersion } from '../../document/value.ts'
import type { Wanted } from '../options/snapshot-options.ts'
import { withGrowingFiles } from './growing-file.ts'
import { digestOf } from './input.ts'
import { type AskedFor, progressFile, readExisting, refuseOverwrite, statRegular, writeWhole } from './output-file.ts'

/** How far a snapshot is, and the bundle that proves its state root. */
export interface SavedProgress extends SnapshotProgress {
  readonly bundle: EvidenceBundle
}

/** The files that a snapshot writes piece by piece. */
export interface SnapshotFiles {
  /** The progress of an interrupted run for the same request; undefined if there is none. */
  readonly begun: SavedProgress | undefined
  save(rows: string, kept: string, progress: SavedProgress): Promise<void>
}

/**
 * Runs `work` with the files of a snapshot, whose progress stays beside them until it ends.
 *
 * @throws UsageError if there are files that belong to something else
 */
export function withSnapshotFiles<T>(
  { path, keep, force }: Wanted,
  askedFor: AskedFor,
  work: (files: SnapshotFiles) => Promise<T>,
): Promise<T> {
  const progress = progressFile(`${path}.partial`, askedFor)
  const paths = keep === undefined ? [path] : [path, keep]
  const about = { progress, start: null, force, foreign: 'is not of a snapshot that can be continued' }
  return withGrowingFiles(paths, about, async (files, saved) => {
    if (force) rmSync(manifestPathOf(path), { force: true })
    const begun = readBegun(progress.path, saved)
    for (const [index, file] of files.entries()) {
      // Drops what came after the last saved progress: it is fetched again.
      const length = begun?.lengths[index] ?? 0
      if (file.length < length) throw refuseOverwrite(file.path, 'is shorter than when it was written')
      await file.truncate(length)
    }
    const result = await work({
      begun,
      async save(rows, kept, done) {
        // Each piece is a gzip member of its own, so the file stays valid gzip if it is cut between two of them.
        const pieces = [rows, kept === '' ? '' : gzipSync(kept)]
        for (const [index, file] of files.entries()) await file.append(pieces[index] ?? '')
        // Syncs the files first: if the machine crashes, the progress must not claim more than they hold.
        await Promise.all(files.map(file => file.sync()))
        progress.save({ ...done, lengths: files.map(({ length }) => length) })
      },
    })
    progress.remove()
    return result
  })
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const countsIn = (content: unknown) =>
  ['present', 'absent', 'refused'].map(name => fieldIn(fieldIn(content, 'counts'), name))

/** @throws UsageError if `save` did not write it */
function readBegun(path: string, saved: unknown) {
  if (saved === null) return undefined
  const [requests, bundle, lengths] = ['requests', 'bundle', 'lengths'].map(name => fieldIn(saved, name))
  if (isObject(bundle) && Array.isArray(lengths) && [requests, ...countsIn(saved), ...lengths].every(isCount)) {
    // What is used of it was checked above; the bundle is verified before it is used.
    return saved as SavedProgress & { readonly lengths: readonly number[] }
  }
  throw refuseOverwrite(path, 'is not the progress of a snapshot')
}

/** What the manifest of a snapshot says of it, besides its files. */
export interface AboutSnapshot {
  readonly askedFor: AskedFor
  readonly l1BlockHash: string
  readonly l2BlockNumber: string
  readonly stateRoot: string
  readonly counts: SnapshotProgress['counts']
  /** Proves the state root. */
  readonly bundle: EvidenceBundle
}

const MANIFEST = 'manifest of a snapshot'

/** Describes the files of a snapshot. */
export type Manifest = Awaited<ReturnType<typeof writeManifest>>

/** The manifest of the rows in the file at `path`. */
export const manifestPathOf = (path: string): string => `${path}.manifest.json`

/** Why it is not a manifest that this program reads; undefined if it is one. */
export const notManifest = (content: unknown): string | undefined =>
  fieldIn(content, 'kind') === MANIFEST ? otherVersion(content) : 'is not the manifest of a snapshot'

/** The manifest of an earlier run for the same request, whose rows must be unchanged. @throws UsageError */
export async function readManifest(path: string, askedFor: AskedFor): Promise<Manifest> {
  const manifest = manifestPathOf(path)
  const content = await readExisting(manifest)
  const other = notManifest(content)
  if (other !== undefined) throw refuseOverwrite(manifest, other)
  if (JSON.stringify(fieldIn(content, 'askedFor')) !== JSON.stringify(askedFor)) {
    throw refuseOverwrite(manifest, 'is of another snapshot')
  }
  const rows = fieldIn(content, 'rows')
  const texts = ['l2BlockNumber', 'stateRoot', 'l1BlockHash'].map(name => typeof fieldIn(content, name))
  if (![fieldIn(rows, 'count'), ...countsIn(content)].every(isCount) || texts.some(type => type !== 'string')) {
    throw refuseOverwrite(manifest, 'is not the manifest of a snapshot')
  }
  if (statRegular(path) === undefined || (await digestOf(path)).sha256 !== fieldIn(rows, 'sha256')) {
    throw refuseOverwrite(manifest, `does not match ${path}`)
  }
  // What is used of it was checked above. It may be anybody's: nothing in it is verified.
  return content as Manifest
}

export async function writeManifest(
  { path, keep, force, format, holders }: Wanted,
  { counts, bundle, ...about }: AboutSnapshot,
) {
  const digest = async (file: string) => (await digestOf(file)).sha256
  const manifest = {
    ...{ kind: MANIFEST, version: 1 },
    ...about,
    rows: { file: basename(path), format, count: holders.length, sha256: await digest(path) },
    ...(keep !== undefined && { kept: { file: basename(keep), sha256: await digest(keep) } }),
    ...{ counts, bundle },
  }
  writeWhole(manifestPathOf(path), `${JSON.stringify(manifest)}\n`, force)
  return manifest
}
