import { rmSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Evidence } from '../../anchor.ts'
import type { SnapshotProgress } from '../../bulk/snapshot/write.ts'
import { fieldIn, isObject } from '../../document/value.ts'
import { type GrowingFile, openGrowingFile } from './growing-file.ts'
import { type AskedFor, readProgress, refuseOverwrite, statRegular, writeWhole } from './output-file.ts'

/** How far a snapshot is, and the evidence for its state root. */
export interface SavedProgress extends SnapshotProgress {
  readonly bundle: Evidence
}

export interface SnapshotPaths {
  readonly path: string
  readonly keep: string | undefined
  readonly force: boolean
  readonly askedFor: AskedFor
}

/**
 * Opens the files that a snapshot writes piece by piece, with the progress beside them.
 *
 * @throws UsageError if there are files that belong to something else
 */
export async function openSnapshotFiles({ path, keep, force, askedFor }: SnapshotPaths) {
  const partial = `${path}.partial`
  const paths = keep === undefined ? [path] : [path, keep]
  const isContinued = statRegular(partial) !== undefined && !force
  if (isContinued) await readProgress(partial, askedFor)
  for (const each of paths) {
    const exists = statRegular(each) !== undefined
    if (exists && !isContinued && !force) throw refuseOverwrite(each, 'is not of a snapshot that can be continued')
  }
  const begin = () => writeWhole(partial, `${JSON.stringify({ askedFor, checkpoint: null })}\n`, force)
  // Written before the files themselves, so that it always says what they belong to.
  if (!isContinued && !force) begin()
  const files: GrowingFile[] = []
  const close = async () => {
    for (const file of files) await file.close()
  }
  try {
    for (const each of paths) files.push(await openGrowingFile(each))
    if (force) {
      rmSync(`${path}.manifest.json`, { force: true })
      begin()
    }
    // Read again: only from here on can no other run change it.
    const begun = readBegun(partial, await readProgress(partial, askedFor))
    const lengths: number[] = []
    for (const [index, file] of files.entries()) {
      // Drops what came after the last saved progress: it is fetched again.
      const length = begun?.lengths[index] ?? 0
      if (file.length < length) throw refuseOverwrite(paths[index] ?? '', 'is shorter than when it was written')
      await file.truncate(length)
      lengths.push(length)
    }
    return {
      /** The progress of an interrupted run for the same request; undefined if there is none. */
      begun,
      async save(rows: string, kept: string, progress: SavedProgress) {
        // Each piece is a gzip member of its own, so the file stays valid gzip if it is cut between two of them.
        const pieces = [Buffer.from(rows), ...(kept === '' ? [] : [gzipSync(kept)])]
        for (const [index, piece] of pieces.entries()) {
          await files[index]?.append(piece)
          lengths[index] = (lengths[index] ?? 0) + piece.length
        }
        // Syncs the files first: if the machine crashes, the progress must not claim more than they hold.
        await Promise.all(files.map(file => file.sync()))
        writeWhole(partial, `${JSON.stringify({ askedFor, checkpoint: { ...progress, lengths } })}\n`, true)
      },
      /** The snapshot is complete. */
      removeProgress: () => rmSync(partial, { force: true }),
      async close() {
        // A run that fails before its first row leaves no files behind.
        if (lengths.every(length => length === 0)) for (const each of [...paths, partial]) rmSync(each, { force: true })
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** @throws UsageError if `save` did not write it */
function readBegun(partial: string, checkpoint: unknown) {
  if (checkpoint === null) return undefined
  const [requests, counts, bundle, lengths] = ['requests', 'counts', 'bundle', 'lengths'].map(name =>
    fieldIn(checkpoint, name),
  )
  const [present, absent, refused] = ['present', 'absent', 'refused'].map(name => fieldIn(counts, name))
  const numbers = [requests, present, absent, refused, ...(Array.isArray(lengths) ? lengths : [undefined])]
  if (!isObject(bundle) || !numbers.every(number => Number.isSafeInteger(number) && Number(number) >= 0)) {
    throw refuseOverwrite(partial, 'is not a checkpoint of a snapshot')
  }
  // All of it was checked above; the bundle is verified before it is used.
  return checkpoint as SavedProgress & { readonly lengths: readonly number[] }
}
