import { createHash } from 'node:crypto'
import { lowerCase } from '../../base/hex.ts'
import { stringify } from '../../base/json/stringify.ts'
import type { Hex } from '../../entry/index.ts'
import { readFileChunks, unpack } from '../audit/input.ts'
import { readLines } from '../audit/lines.ts'
import type { RowFormat } from '../audit/rows.ts'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_ADDRESS_LINE, MAX_ADDRESSES, MAX_STORAGE_KEYS } from '../limits.ts'
import type { Target } from '../snapshot/snapshot.ts'
import { isHexOf } from '../words/layout.ts'
import { isAddress } from './address.ts'
import { list, optionsOf, text, textOr } from './declared.ts'
import { describeRollup, networkOf } from './network.ts'
import { EACH, integerOf, parsePath, requireHex, toInteger, wholeNumber } from './parse.ts'

export const snapshotOptions = {
  ...optionsOf('storage-key'),
  mapping: list('SLOT KEY', "a mapping's entry; the word `each` as KEY: one per address"),
  address: text('CONTRACT', 'the contract with that mapping'),
  ...optionsOf('l2-block'),
  concurrency: textOr('8', 'N', 'requests at once, 1 to 256'),
  ...optionsOf('keys-per-request', 'keep', 'check'),
} as const
export const allOptions = {
  ...snapshotOptions,
  ...optionsOf('network', 'l1', 'l2', 'implementation', 'timeout', 'output', 'force', 'json', 'l1-block-hash'),
} as const

/** What the options ask for. */
export type Wanted = Awaited<ReturnType<typeof readWanted>>

/** @throws UsageError */
export async function readWanted(args: readonly string[], io: Io) {
  const { values, path: file } = parsePath(
    args,
    { ...allOptions, [EACH]: text('SLOT', '') },
    'name one file of addresses, or - for standard input',
  )
  const { output: path, keep, check } = values
  if (!path || path === '-') throw new UsageError('--output is needed: the file for the rows')
  if (keep !== undefined && !keep.endsWith('.gz')) throw new UsageError('--keep: the name must end with .gz')
  if (keep === path) throw new UsageError('--keep and --output name the same file')
  const format: RowFormat = path.endsWith('.csv') ? 'csv' : 'ndjson'
  const l1BlockHash = values['l1-block-hash']
  requireHex('--l1-block-hash', 32, l1BlockHash)
  return {
    values,
    ...{ path, keep, format, check, trust: { l1BlockHash }, force: values.force, json: values.json },
    concurrency: wholeNumber('--concurrency', values.concurrency, 1, 256),
    keysPerRequest: wholeNumber('--keys-per-request', values['keys-per-request'], 1, MAX_STORAGE_KEYS),
    target: targetOf(values.address, values[EACH], values['storage-key'] ?? []),
    network: networkOf(values),
    l2Block: integerOf(values, 'l2-block', 64),
    holders: await readAddresses(file, io),
  }
}

/** The request for which the files must have been written, to be continued or reported. */
export function describeWanted(wanted: Wanted) {
  const { target, network, holders, trust, l2Block, format, keep, keysPerRequest } = wanted
  return {
    command: 'snapshot',
    addresses: `${holders.length}, SHA-256 ${createHash('sha256').update(holders.join('\n')).digest('hex')}`,
    target: stringify(target),
    ...describeRollup(network),
    'L1 block hash': trust.l1BlockHash?.toLowerCase() ?? 'any',
    'L2 block': `${l2Block ?? 'newest'}`,
    ...{ format, keep: keep ?? '', 'keys per request': `${keysPerRequest}` },
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
    throw new UsageError('--address CONTRACT and --mapping SLOT each belong together: where it declares the mapping')
  }
  if (storageKeys.length > 0) throw new UsageError('--storage-key: --mapping SLOT each computes the storage keys')
  return { contract: lowerCase(contract), slot: toInteger('--mapping SLOT', slot, 256), storageKeys }
}

/** @throws UsageError when a line is not an address */
async function readAddresses(file: string, io: Io): Promise<Hex[]> {
  const name = file === '-' ? 'standard input' : file
  if (isHexOf(20, file)) {
    throw new UsageError('expected a file with one address per line; for one address, use the command record')
  }
  const addresses: Hex[] = []
  await orUsageError(`cannot read ${name}`, async () => {
    let line = 0
    for await (const text of readLines(unpack(file === '-' ? io.stdin : readFileChunks(file)), MAX_ADDRESS_LINE))
      addAddress(addresses, text, `${name}, line ${++line}`)
  })
  if (addresses.length === 0) throw new UsageError(`${name} has no address`)
  return addresses
}

/** Adds the address in a line, if there is one. @throws UsageError if it is none, or one too many */
export function addAddress(addresses: Hex[], line: string, place: string): void {
  const address = line.replace(/#.*/s, '').trim()
  if (address === '') return
  if (!isAddress(place, address))
    throw new UsageError(`${place}: expected an address, 20 bytes of hexadecimal after 0x`)
  if (addresses.length >= MAX_ADDRESSES) throw new UsageError(`${place}: more than ${MAX_ADDRESSES} addresses`)
  addresses.push(lowerCase(address))
}
