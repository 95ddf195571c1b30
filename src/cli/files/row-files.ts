import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Hex } from '../../base/bytes.ts'
import type { EvidenceBundle, StateScheme } from '../../entry/anchor.ts'
import type { RowFormat, RowStep } from '../audit/rows.ts'
import type { LogsCounts } from '../logs/logs.ts'
import type { SnapshotProgress } from '../snapshot/snapshot.ts'
import { fieldIn, otherVersion } from '../words/value.ts'
import { type Written, withGrowingFiles } from './growing-file.ts'
import { type AskedFor, progressFile, writeWhole } from './output-file.ts'
import type { Warn } from './own-key.ts'

/** What writes rows of proven values, whose evidence is kept beside them. */
export interface RowsKind<Counts> {
  /** With its article. */
  readonly name: string
  readonly kept: string
  rowsOf(counts: Counts): number
}

export const snapshotRows: RowsKind<SnapshotProgress['counts']> = {
  name: 'a snapshot',
  kept: 'answers',
  rowsOf: ({ present, absent, refused }) => present + absent + refused,
}
export const logRows: RowsKind<LogsCounts> = {
  name: 'a search for logs',
  kept: 'blocks',
  rowsOf: ({ logs }) => logs,
}

export interface RowPaths {
  readonly path: string
  /** Of what they are proven from. */
  readonly keep: string | undefined
  readonly force: boolean
}

/** How far it is: the counts, and where to go on. */
export interface Counted<Counts> {
  readonly counts: Counts
}

/** The progress, and the bundle that proves the state root. */
export type Saved<Progress> = Progress & { readonly bundle: EvidenceBundle<StateScheme> }

export interface RowSteps<Progress> {
  readonly heading: string
  readonly bundle: EvidenceBundle<StateScheme>
  readonly steps: AsyncIterable<RowStep<Progress>>
}

export interface RowFiles<Progress> {
  /** The progress of an interrupted run for the same request; undefined if there is none. */
  readonly begun: Saved<Progress> | undefined
  /** Writes steps as they come, and saves how far they are. What has come is written whatever ends them. @param tell told how far it is */
  write(steps: RowSteps<Progress>, tell: (progress: Progress) => void): Promise<void>
  /** What is written: the rows, and what they are proven from. */
  written(): readonly Written[]
}

/** Steps are written after so many milliseconds, or when so many characters wait: many small pieces would not pack well. */
const [WRITE_INTERVAL, CHARACTERS_PER_WRITE] = [2000, 2 ** 22]

/** Runs `work` with the files, whose progress stays beside them until it ends. */
export function withRowFiles<Counts, Progress extends Counted<Counts>, T>(
  { path, keep, force }: RowPaths,
  askedFor: AskedFor,
  kind: RowsKind<Counts>,
  warn: Warn,
  work: (files: RowFiles<Progress>) => Promise<T>,
): Promise<T> {
  const progress = progressFile(`${path}.partial`, askedFor, warn)
  const paths = keep === undefined ? [path] : [path, keep]
  const start: { readonly begun?: Saved<Progress> } = {}
  const about = { progress, start, force, foreign: `is not of ${kind.name} that can be continued`, beginning: '' }
  return withGrowingFiles(paths, about, async files => {
    if (force) rmSync(manifestPathOf(path), { force: true })
    const {
      written,
      begun: { begun },
    } = files
    const write: RowFiles<Progress>['write'] = async ({ heading, bundle, steps }, tell) => {
      let [rows, kept, writtenAt] = [begun === undefined ? heading : '', '', performance.now()]
      let done: Progress | undefined
      const flush = async () => {
        if (done === undefined) return
        // Each piece is a gzip member of its own, so the file stays valid gzip if it is cut between two of them.
        await files.write([rows, kept === '' ? '' : gzipSync(kept)], { begun: { ...done, bundle } })
        tell(done)
        ;[rows, kept, done, writtenAt] = ['', '', undefined, performance.now()]
      }
      try {
        for await (const step of steps) {
          rows += step.rows
          if (keep !== undefined) kept += step.kept
          done = step.progress
          const isDue = performance.now() - writtenAt >= WRITE_INTERVAL
          if (isDue || rows.length + kept.length > CHARACTERS_PER_WRITE) await flush()
        }
      } finally {
        await flush()
      }
    }
    const result = await work({ begun, write, written })
    await files.save()
    progress.remove()
    return result
  })
}

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
  readonly bundle: EvidenceBundle<StateScheme>
}

const kindOf = ({ name }: { readonly name: string }): string => `manifest of ${name}`

export const manifestPathOf = (path: string): string => `${path}.manifest.json`

/** Why it is not a manifest that this program reads; undefined if it is one. */
export const notManifest = (content: unknown, kind: { readonly name: string }): string | undefined =>
  fieldIn(content, 'kind') === kindOf(kind) ? otherVersion(content) : `is not the manifest of ${kind.name}`

/** @param written what a run has written of the rows, and of what they are proven from */
export function writeManifest<Counts>(
  { path, keep, force, format }: RowPaths & { readonly format: RowFormat },
  kind: RowsKind<Counts>,
  { counts, bundle, ...about }: AboutRows<Counts>,
  [rows, kept]: readonly Written[],
) {
  const manifest = {
    ...{ kind: kindOf(kind), version: 1 },
    ...about,
    rows: { file: basename(path), format, count: kind.rowsOf(counts), sha256: rows?.sha256 },
    ...(keep !== undefined && { kept: { file: basename(keep), sha256: kept?.sha256 } }),
    ...{ counts, bundle },
  }
  writeWhole(manifestPathOf(path), `${JSON.stringify(manifest)}\n`, force)
  return manifest
}
