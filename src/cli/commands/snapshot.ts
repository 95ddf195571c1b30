import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { type Evidence, type Rollup, safeVerifyEvidence } from '../../anchor.ts'
import {
  columnsOf,
  rowsOf,
  rowToCsv,
  rowToJson,
  type SnapshotPart,
  type SnapshotRequest,
  takeSnapshot,
} from '../../bulk/snapshot/snapshot.ts'
import { statedBlockHash } from '../../document/evidence.ts'
import { fieldIn } from '../../document/value.ts'
import { formatTime } from '../../document/wording.ts'
import type { Hex, Scheme } from '../../index.ts'
import { type Provider, recordEvidence } from '../../rpc.ts'
import { type Command, exitCodes, type Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { type AskedFor, readExisting, refuseOverwrite, statRegular, writeWhole } from '../files/output-file.ts'
import { type Counts, openSnapshotFiles } from '../files/snapshot-file.ts'
import { MAX_STORAGE_KEYS } from '../limits.ts'
import { methodOf } from '../options/chain-flags.ts'
import { flag, formatOptions, optionsOf, text, textOr } from '../options/declared.ts'
import { endProgress, notFetched, showProgress, withEndpoints } from '../options/endpoint.ts'
import { requireScheme, rollupOf } from '../options/flags.ts'
import { parseOptions, requireHex, toInteger, wholeNumber } from '../options/parse.ts'
import { readAddresses, requestsFor, type Target, targetOf } from '../options/snapshot-target.ts'
import { formatRows, paint, toJson } from '../output/report.ts'
import { checkFiles } from './snapshot-check.ts'

const whatOptions = {
  ...optionsOf('storage-key', 'mapping'),
  'mapping-slot': text(
    'N',
    "instead of accounts: each address's entry in the mapping that --address declares in slot N",
  ),
  address: text('CONTRACT', 'the contract with that mapping, 20 bytes'),
}
const whereOptions = {
  ...optionsOf('l1', 'l2', 'scheme', 'rollup', 'layout-roots-slot', 'layout-current-slot'),
  ...optionsOf('l1-block-hash', 'l2-block', 'method'),
}
const howOptions = {
  concurrency: textOr('8', 'N', 'requests at once, 1 to 256'),
  'keys-per-request': textOr('100', 'N', 'storage keys per request, 1 to 1000'),
  timeout: textOr('30', 'SECONDS', 'time per request'),
}
const outputOptions = {
  output: {
    ...text(
      'ROWS',
      'required: the file for the rows. ROWS.manifest.json gets the evidence for the state root, counts, and the SHA-256 of the rows',
    ),
    short: 'o',
  },
  format: text('FORMAT', 'ndjson or csv (default: csv if ROWS ends with .csv, otherwise ndjson)'),
  keep: text('FILE.ndjson.gz', 'keep the answers as recordings, for --check and the command audit'),
  check: flag(
    'fetch and write nothing: verify the files of an earlier run, offline. Run its command again with --check, --keep, --l1-block-hash and --l2-block',
  ),
  ...optionsOf('force'),
  json: flag('print the summary as one JSON object'),
} as const

const help = `Usage: rollup-state-proof snapshot ADDRESSES --l1 URL --l2 URL --scheme SCHEME
         --rollup ROLLUP -o ROWS [options]

Fetches and verifies the state of many accounts, or the entries of many holders
in one mapping, at one finalized L2 block. Writes one row of proven values per
address, in the order of the addresses. ADDRESSES is a file with one address per
line, or - for standard input; empty lines, and text after #, are ignored.

What to fetch:
${formatOptions(whatOptions)}

Where from:
${formatOptions(whereOptions)}

How:
${formatOptions(howOptions)}

Output:
${formatOptions(outputOptions)}

If the endpoint is busy (HTTP 429 or 503), all requests pause for the time in
Retry-After. Without that header, each pause is longer than the last. A request
that fails otherwise is sent again after growing pauses. If an answer does not
verify, snapshot asks again. After three such answers, the address gets a row
with the verdict "refused". An interrupted run keeps its progress in
ROWS.partial: run the same command again to continue. The files are then the
same as without the interruption.

--check believes nothing in the files: it proves the state root from the
evidence in the manifest and your L1 block hash, verifies every kept answer
against that root, and compares every row with what its answer proves. Without
--l2-block, the files choose the block.

Exit code: 0 all verified; 1 some answers did not verify, or --check found a row
that is not proven; 2 wrong usage, or a file cannot be read or written; 3 an
endpoint failed: run the command again.

Examples:
  export L1_URL=https://... L2_URL=https://...
  rollup-state-proof snapshot holders.txt --scheme poseidon2 --rollup mainnet \\
    -o balances.csv --keep answers.ndjson.gz
  rollup-state-proof snapshot holders.txt --scheme poseidon2 --rollup mainnet \\
    --address 0x... --mapping-slot 0 -o tokens.csv
  rollup-state-proof snapshot holders.txt --scheme poseidon2 --rollup mainnet \\
    -o balances.csv --keep answers.ndjson.gz --check --l1-block-hash 0x... \\
    --l2-block N
`

export const snapshot: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = parseOptions({
      args: [...args],
      allowPositionals: true,
      options: { ...whatOptions, ...whereOptions, ...howOptions, ...outputOptions },
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0)
      throw new UsageError('name one file of addresses, or - for standard input')
    const { output: path, keep, force } = values
    if (!path || path === '-') throw new UsageError('--output is needed: the file for the rows')
    if (keep !== undefined && !keep.endsWith('.gz')) throw new UsageError('--keep: the name must end with .gz')
    if (keep === path) throw new UsageError('--keep and --output name the same file')
    const format = values.format ?? (path.endsWith('.csv') ? 'csv' : 'ndjson')
    if (format !== 'ndjson' && format !== 'csv') throw new UsageError('--format: expected ndjson or csv')
    const concurrency = wholeNumber('--concurrency', values.concurrency, 1, 256)
    const keysPerRequest = wholeNumber('--keys-per-request', values['keys-per-request'], 1, MAX_STORAGE_KEYS)
    const l1BlockHash = values['l1-block-hash']
    requireHex('--l1-block-hash', 32, l1BlockHash)
    const target = targetOf(values.address, values['mapping-slot'], values['storage-key'] ?? [])
    const [scheme, rollup] = [requireScheme(values.scheme), rollupOf(values)]
    const l2Block = values['l2-block'] === undefined ? undefined : toInteger('--l2-block', values['l2-block'], 64)
    const holders = await readAddresses(file, io)
    const manifest = `${path}.manifest.json`
    if (values.check) {
      if (keep === undefined) throw new UsageError('--check needs --keep: the file of the answers')
      if (l1BlockHash === undefined) throw new UsageError('--check needs --l1-block-hash: everything rests on it')
      if (force) throw new UsageError('--check writes nothing: leave out --force')
      const stated = { l1BlockHash: l1BlockHash as Hex, l2Block, scheme, rollup, target, holders }
      return checkFiles({ path, format, keep, manifest, json: values.json, ...stated }, io)
    }
    const requests = requestsFor(target, holders, keysPerRequest)
    const method = methodOf(values)
    const askedFor = {
      command: 'snapshot',
      addresses: `${holders.length}, SHA-256 ${sha256(holders.join('\n'))}`,
      target: JSON.stringify(target, (_, field) => (typeof field === 'bigint' ? `${field}` : field)),
      scheme: scheme.name,
      rollup: rollup.address.toLowerCase(),
      layout: `${rollup.layout?.stateRootHashes ?? 'default'}, ${rollup.layout?.currentL2BlockNumber ?? 'default'}`,
      'L1 block hash': l1BlockHash?.toLowerCase() ?? 'any',
      'L2 block': `${l2Block ?? 'newest'}`,
      ...{ method, format, keep: keep ?? '', 'keys per request': `${keysPerRequest}` },
    }

    return withEndpoints(values, io, async ({ open, signal }) => {
      if (!force && statRegular(manifest) !== undefined) {
        const existing = await readManifest(manifest, path, askedFor)
        return report(existing, { path, keep, manifest, json: values.json, isFetched: false }, io)
      }
      const [l1, l2] = [open('l1', values.l1), open('l2', values.l2)]
      // If one request is told to wait, all must wait, so this provider does not retry by itself.
      const l2Once = open('l2', values.l2, 0)
      const files = await openSnapshotFiles({ path, keep, force, askedFor })
      try {
        const begun = files.begun
        if (begun) showProgress(io, `continuing after ${begun.requests} of ${requests.length} requests`)
        const bundle =
          begun?.bundle ?? (await fetchBundle({ l1, l2, scheme, rollup, l2Block, method, target, holders, signal }))
        const anchor = verifyBundle(bundle, { scheme, rollup, l1BlockHash })
        showProgress(
          io,
          `L2 block ${anchor.l2BlockNumber}, L1 block ${anchor.l1Block.number} of ${formatTime(anchor.l1Block.timestamp)}`,
        )
        const isMapping = target.contract !== undefined
        const columns = columnsOf(target.storageKeys, isMapping)
        const counts = { ...(begun?.counts ?? { present: 0, absent: 0, refused: 0 }) }
        let done = begun?.requests ?? 0
        let [text, kept] = [done === 0 && format === 'csv' ? `${columns.join(',')}\n` : '', '']
        const parts = takeSnapshot(l2Once, requests.slice(done), {
          ...{ scheme, stateRoot: anchor.stateRoot, block: anchor.l2BlockNumber },
          ...{ method, keysPerRequest, concurrency, signal },
          onRetry: (request, error) => {
            if (error.name === 'ProofError') io.stderr.write(`${describeLie(request)}: ${error.code}; asking again\n`)
          },
        })
        const commit = async () => {
          await files.append(text, kept)
          ;[text, kept] = ['', '']
          await files.saveCheckpoint({ requests: done, counts, bundle })
          showProgress(io, `${done} of ${requests.length} requests`)
        }
        const batch = isMapping ? 1 : ROWS_PER_COMMIT
        for await (const outcome of parts) {
          for (const part of outcome) {
            for (const row of rowsOf(part, isMapping)) {
              counts[row.verdict]++
              text += format === 'csv' ? rowToCsv(row, columns) : rowToJson(row)
              if (row.verdict === 'refused') {
                io.stderr.write(`${describeLie(part.request)}: ${row.code}; no answer of the endpoint verifies\n`)
              }
            }
            if (keep !== undefined) kept += recordingOf(part, scheme, anchor.stateRoot)
          }
          done++
          // Commits at fixed places, so that the compressed file is the same however often the run was interrupted.
          if (done % batch === 0) await commit()
        }
        if (text !== '') await commit()
        endProgress(io)
        const content = {
          version: 1,
          askedFor,
          l1BlockHash: anchor.l1Block.hash,
          l2BlockNumber: `${anchor.l2BlockNumber}`,
          stateRoot: anchor.stateRoot,
          rows: { file: basename(path), format, count: holders.length, sha256: await sha256OfFile(path) },
          ...(keep !== undefined && { kept: { file: basename(keep), sha256: await sha256OfFile(keep) } }),
          counts,
          evidence: bundle,
        }
        writeWhole(manifest, `${JSON.stringify(content)}\n`, force)
        files.removeCheckpoint()
        return report(content, { path, keep, manifest, json: values.json, isFetched: true }, io)
      } finally {
        await files.close()
      }
    })
  },
}

const ROWS_PER_COMMIT = 64

const describeLie = ({ address, holders }: SnapshotRequest): string =>
  holders.length === 1 ? `${holders[0]}` : `${address}, ${holders.length} holders from ${holders[0]}`

/** A recording, as a line for `audit`. Refused answers are not kept. */
function recordingOf(part: SnapshotPart, scheme: Scheme, stateRoot: Hex): string {
  if (!('answer' in part)) return ''
  const { address, storageKeys } = part.request
  return `${JSON.stringify({ scheme: scheme.name, stateRoot, address, storageKeys, result: part.answer })}\n`
}

interface BundleRequest {
  readonly l1: Provider
  readonly l2: Provider
  readonly scheme: Scheme
  readonly rollup: Rollup
  readonly l2Block: bigint | undefined
  readonly method: string
  readonly target: Target
  readonly holders: readonly Hex[]
  readonly signal: AbortSignal
}

/** Evidence for the state root: the bundle of the first account. */
async function fetchBundle({
  l1,
  l2,
  target,
  holders,
  method,
  signal,
  l2Block,
  ...about
}: BundleRequest): Promise<Evidence> {
  const address = target.contract ?? holders[0] ?? `0x${'00'.repeat(20)}`
  const request = { ...about, address, ...(l2Block !== undefined && { l2BlockNumber: l2Block }) }
  const { bundle } = await recordEvidence(l1, l2, request, { method, signal })
  return bundle
}

/** @throws ProofError if it does not verify, or is not from the trusted L1 block */
function verifyBundle(bundle: Evidence, about: { scheme: Scheme; rollup: Rollup; l1BlockHash: Hex | undefined }) {
  const { scheme, rollup, l1BlockHash } = about
  const trusted = { l1BlockHash: l1BlockHash ?? statedBlockHash(bundle) }
  const outcome = safeVerifyEvidence(bundle, { scheme, rollup, trusted })
  if (!outcome.ok) throw outcome.error
  if (outcome.reach !== 'l1BlockHash') throw new UsageError('the checkpoint has no L1 block: use --force')
  return outcome
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Describes the rows, and holds the evidence for their state root. */
interface Manifest {
  readonly version: number
  readonly askedFor: AskedFor
  readonly l1BlockHash: string
  readonly l2BlockNumber: string
  readonly stateRoot: string
  readonly rows: { readonly file: string; readonly format: string; readonly count: number; readonly sha256: string }
  readonly kept?: { readonly file: string; readonly sha256: string }
  readonly counts: Counts
  readonly evidence: Evidence
}

/** The manifest of an earlier run for the same request, whose rows must be unchanged. @throws UsageError */
async function readManifest(manifest: string, path: string, askedFor: AskedFor): Promise<Manifest> {
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
  const hash = fieldIn(rows, 'sha256')
  if (statRegular(path) === undefined || (await sha256OfFile(path)) !== hash) {
    throw refuseOverwrite(manifest, `does not match ${path}`)
  }
  // What is used of it was checked above. It may be anybody's: nothing in it is verified.
  return content as Manifest
}

interface Place {
  readonly path: string
  readonly keep: string | undefined
  readonly manifest: string
  readonly json: boolean
  /** False if the files existed. */
  readonly isFetched: boolean
}

/** @returns the exit code */
function report(content: Manifest, { path, keep, manifest, json, isFetched }: Place, io: Io): number {
  const { counts, rows, l2BlockNumber, stateRoot, l1BlockHash } = content
  const exitCode = counts.refused > 0 ? exitCodes.notVerified : exitCodes.verified
  if (json) {
    const { askedFor: _, evidence: __, ...summary } = content
    io.stdout.write(toJson({ ...summary, manifest, fetched: isFetched }))
    return exitCode
  }
  const verdict =
    counts.refused === 0
      ? paint(io.stdout, 'green', `All ${rows.count} addresses verified.`)
      : paint(io.stdout, 'red', `${counts.refused} of ${rows.count} addresses have no answer that verifies.`)
  const lines = [
    ...(isFetched
      ? [verdict]
      : [notFetched(path, io.stdout), 'Nothing was verified either. This is what the manifest says:']),
    formatRows([
      ['rows', path, `${counts.present} present, ${counts.absent} absent, ${counts.refused} refused`],
      ['manifest', manifest],
      ...(keep === undefined ? [] : [['answers', keep] as const]),
      ['L2 block', l2BlockNumber],
      ['L2 state root', stateRoot],
      ['L1 block hash', l1BlockHash],
    ]),
    'Everything rests on the L1 block hash: compare it with a source that you trust. The evidence is in the manifest.',
    ...(keep === undefined
      ? []
      : ['Anyone can check these files, offline: run the same command with --check, --l1-block-hash and --l2-block.']),
  ]
  io.stdout.write(`${lines.join('\n')}\n`)
  return exitCode
}
