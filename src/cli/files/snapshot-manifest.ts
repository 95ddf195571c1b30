import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { Evidence } from '../../anchor.ts'
import type { SnapshotPlan, SnapshotProgress } from '../../bulk/snapshot/write.ts'
import { fieldIn } from '../../document/value.ts'
import { type AskedFor, readExisting, refuseOverwrite, statRegular, writeWhole } from './output-file.ts'
import type { SnapshotPaths } from './snapshot-file.ts'

/** Describes the rows of a snapshot, and holds the evidence for their state root. */
export interface Manifest {
  readonly version: number
  readonly askedFor: AskedFor
  readonly l1BlockHash: string
  readonly l2BlockNumber: string
  readonly stateRoot: string
  readonly rows: { readonly file: string; readonly format: string; readonly count: number; readonly sha256: string }
  readonly kept?: { readonly file: string; readonly sha256: string }
  readonly counts: SnapshotProgress['counts']
  readonly evidence: Evidence
}

/** The manifest of the rows in the file at `path`. */
export const manifestPathOf = (path: string): string => `${path}.manifest.json`

/** The manifest of an earlier run for the same request, whose rows must be unchanged. @throws UsageError */
export async function readManifest(path: string, askedFor: AskedFor): Promise<Manifest> {
  const manifest = manifestPathOf(path)
  const content = await readExisting(manifest)
  if (JSON.stringify(fieldIn(content, 'askedFor')) !== JSON.stringify(askedFor)) {
    throw refuseOverwrite(manifest, 'is of another snapshot')
  }
  const [rows, counts] = ['rows', 'counts'].map(name => fieldIn(content, name))
  const numbers = [fieldIn(rows, 'count'), ...['present', 'absent', 'refused'].map(name => fieldIn(counts, name))]
  const texts = ['l2BlockNumber', 'stateRoot', 'l1BlockHash'].map(name => fieldIn(content, name))
  if (!numbers.every(Number.isSafeInteger) || !texts.every(text => typeof text === 'string')) {
    throw refuseOverwrite(manifest, 'is not the manifest of a snapshot')
  }
  if (statRegular(path) === undefined || (await sha256Of(path)) !== fieldIn(rows, 'sha256')) {
    throw refuseOverwrite(manifest, `does not match ${path}`)
  }
  // What is used of it was checked above. It may be anybody's: nothing in it is verified.
  return content as Manifest
}

export async function writeManifest(
  { path, keep, force, format, holders }: Omit<SnapshotPaths, 'askedFor'> & Pick<SnapshotPlan, 'format' | 'holders'>,
  about: Pick<Manifest, 'askedFor' | 'l1BlockHash' | 'l2BlockNumber' | 'stateRoot'>,
  counts: Manifest['counts'],
  evidence: Evidence,
): Promise<Manifest> {
  const manifest = {
    version: 1,
    ...about,
    rows: { file: basename(path), format, count: holders.length, sha256: await sha256Of(path) },
    ...(keep !== undefined && { kept: { file: basename(keep), sha256: await sha256Of(keep) } }),
    ...{ counts, evidence },
  }
  writeWhole(manifestPathOf(path), `${JSON.stringify(manifest)}\n`, force)
  return manifest
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}
