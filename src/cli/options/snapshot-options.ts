import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lowerCase } from '../../base/hex.ts'
import { stringify } from '../../base/json/stringify.ts'
import type { Hex } from '../../entry/index.ts'
import { kindName } from '../../verify/state/kind.ts'
import { linesOf, readBatches } from '../audit/lines.ts'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_ADDRESS_LINE, MAX_ADDRESSES, MAX_STORAGE_KEYS } from '../limits.ts'
import type { RowFormat, Target } from '../snapshot/snapshot.ts'
import { isHexOf } from '../words/layout.ts'
import { isAddress } from './address.ts'
import { methodOf } from './chain-flags.ts'
import { flag, optionsOf, text, textOr } from './declared.ts'
import { requireKind, rollupOf } from './flags.ts'
import { integerOf, parsePath, requireHex, toInteger, wholeNumber } from './parse.ts'

export const whatOptions = {
  ...optionsOf('storage-key', 'mapping'),
  'mapping-slot': text(
    'N',
    "instead of accounts: each address's entry in the mapping that --address declares in slot N",
  ),
  address: text('CONTRACT', 'the contract with that mapping, 20 bytes'),
}
export const whereOptions = {
  ...optionsOf('l1', 'l2', 'scheme', 'rollup', 'implementation', 'layout-roots-slot', 'layout-current-slot'),
  ...optionsOf('l1-block-hash', 'l2-block', 'method'),
}
export const howOptions = {
  concurrency: textOr('8', 'N', 'requests at once, 1 to 256'),
  'keys-per-request': textOr('100', 'N', 'storage keys per request, 1 to 1000'),
  timeout: textOr('30', 'SECONDS', 'time per request'),
}
export const outputOptions = {
  output: {
    ...text(
      'ROWS',
      'required: the file for the rows. ROWS.manifest.json gets the bundle that proves the state root, counts, and the SHA-256 of the rows',
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

/** What the options ask for. */
export type Wanted = Awaited<ReturnType<typeof readWanted>>

/** @throws UsageError */
export async function readWanted(args: readonly string[], io: Io) {
  const options = { ...whatOptions, ...whereOptions, ...howOptions, ...outputOptions }
  const { values, path: file } = parsePath(args, options, 'name one file of addresses, or - for standard input')
  const { output: path, keep, check } = values
  if (!path || path === '-') throw new UsageError('--output is needed: the file for the rows')
  if (keep !== undefined && !keep.endsWith('.gz')) throw new UsageError('--keep: the name must end with .gz')
  if (keep === path) throw new UsageError('--keep and --output name the same file')
  const named = values.format ?? (path.endsWith('.csv') ? 'csv' : 'ndjson')
  if (named !== 'ndjson' && named !== 'csv') throw new UsageError('--format: expected ndjson or csv')
  const format: RowFormat = named
  const l1BlockHash = values['l1-block-hash']
  requireHex('--l1-block-hash', 32, l1BlockHash)
  return {
    values,
    ...{ path, keep, format, check, l1BlockHash, force: values.force, json: values.json },
    concurrency: wholeNumber('--concurrency', values.concurrency, 1, 256),
    keysPerRequest: wholeNumber('--keys-per-request', values['keys-per-request'], 1, MAX_STORAGE_KEYS),
    target: targetOf(values.address, values['mapping-slot'], values['storage-key'] ?? []),
    ...{ scheme: requireKind(values.scheme), rollup: rollupOf(values), method: methodOf(values) },
    l2Block: integerOf(values, 'l2-block', 64),
    holders: await readAddresses(file, io),
  }
}

/** The request for which the files must have been written, to be continued or reported. */
export function describeWanted(wanted: Wanted) {
  const { target, scheme, rollup, holders, l1BlockHash, l2Block, method, format, keep, keysPerRequest } = wanted
  return {
    command: 'snapshot',
    addresses: `${holders.length}, SHA-256 ${createHash('sha256').update(holders.join('\n')).digest('hex')}`,
    target: stringify(target),
    scheme: kindName(scheme),
    rollup: rollup.address.toLowerCase(),
    layout: `${rollup.layout?.stateRootHashes ?? 'default'}, ${rollup.layout?.currentL2BlockNumber ?? 'default'}`,
    'L1 block hash': l1BlockHash?.toLowerCase() ?? 'any',
    'L2 block': `${l2Block ?? 'newest'}`,
    ...{ method, format, keep: keep ?? '', 'keys per request': `${keysPerRequest}` },
  }
}

/** @throws UsageError */
function targetOf(contract: string | undefined, slot: string | undefined, keys: readonly Hex[]): Target {
  requireHex('--address', 20, contract)
  if (keys.length > MAX_STORAGE_KEYS)
    throw new UsageError(`--storage-key: at most ${MAX_STORAGE_KEYS} fit into one kept answer`)
  const storageKeys = keys.map(lowerCase)
  if (contract === undefined && slot === undefined) return { storageKeys }
  if (contract === undefined || slot === undefined) {
    throw new UsageError(
      '--address and --mapping-slot belong together: the contract, and where it declares the mapping',
    )
  }
  if (storageKeys.length > 0) throw new UsageError('--storage-key: --mapping-slot computes the storage keys')
  return { contract: lowerCase(contract), slot: toInteger('--mapping-slot', slot, 256), storageKeys }
}

/** @throws UsageError when a line is not an address */
async function readAddresses(file: string, io: Io): Promise<Hex[]> {
  const name = file === '-' ? 'standard input' : file
  if (isHexOf(20, file)) {
    throw new UsageError('expected a file with one address per line; for one address, use the command record')
  }
  const addresses: Hex[] = []
  const limits = { batchLength: 2 ** 16, maxLineLength: MAX_ADDRESS_LINE }
  await orUsageError(`cannot read ${name}`, async () => {
    for await (const batch of readBatches(chunksOf(file, io), limits)) {
      let line = batch.firstLine
      for (const bytes of linesOf(batch)) addAddress(addresses, bytes, `${name}, line ${line++}`)
    }
  })
  if (addresses.length === 0) throw new UsageError(`${name} has no address`)
  return addresses
}

async function* chunksOf(file: string, { stdin }: Io): AsyncGenerator<Uint8Array> {
  for await (const chunk of file === '-' ? stdin : createReadStream(file)) yield Buffer.from(chunk)
}

/** Adds the address in a line, if there is one. @throws UsageError if it is none, or one too many */
export function addAddress(addresses: Hex[], bytes: Uint8Array | null, place: string): void {
  const [text = ''] = Buffer.from(bytes ?? [])
    .toString()
    .split('#', 1)
  const address = text.trim()
  if (address === '' && bytes !== null) return
  if (!isAddress(place, address))
    throw new UsageError(`${place}: expected an address, 20 bytes of hexadecimal after 0x`)
  if (addresses.length >= MAX_ADDRESSES) throw new UsageError(`${place}: more than ${MAX_ADDRESSES} addresses`)
  addresses.push(lowerCase(address))
}
