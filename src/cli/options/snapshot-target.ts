import { createReadStream } from 'node:fs'
import { mappingSlot } from '../../anchor.ts'
import { linesOf, readBatches } from '../../bulk/audit/lines.ts'
import type { SnapshotRequest } from '../../bulk/snapshot/snapshot.ts'
import { isHexOf } from '../../document/layout.ts'
import type { Hex } from '../../index.ts'
import type { Io } from '../command.ts'
import { messageOf, UsageError } from '../errors.ts'
import { MAX_ADDRESSES, MAX_STORAGE_KEYS } from '../limits.ts'
import { requireHex, toInteger } from './parse.ts'

/** What a snapshot is of, besides the addresses. */
export interface Target {
  /** The contract of a mapping; undefined for accounts. */
  readonly contract?: Hex
  readonly slot?: bigint
  readonly storageKeys: readonly Hex[]
}

const lowerCase = (hex: string): Hex => `0x${hex.slice(2).toLowerCase()}`

/** @throws UsageError */
export function targetOf(contract: string | undefined, slot: string | undefined, keys: readonly string[]): Target {
  requireHex('--address', 20, contract)
  for (const key of keys) requireHex('--storage-key', 32, key)
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

/** A line holds an address and a comment. */
const ADDRESS_LINES = { batchLength: 2 ** 16, maxLineLength: 4096 }

/** @throws UsageError when a line is not an address */
export async function readAddresses(file: string, io: Io): Promise<Hex[]> {
  const name = file === '-' ? 'standard input' : file
  const addresses: Hex[] = []
  try {
    for await (const batch of readBatches(chunksOf(file, io), ADDRESS_LINES)) {
      let line = batch.firstLine
      for (const bytes of linesOf(batch)) addAddress(addresses, bytes, `${name}, line ${line++}`)
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`cannot read ${name}: ${messageOf(error)}`)
  }
  if (addresses.length === 0) throw new UsageError(`${name} has no address`)
  return addresses
}

async function* chunksOf(file: string, { stdin }: Io): AsyncGenerator<Uint8Array> {
  for await (const chunk of file === '-' ? stdin : createReadStream(file)) yield Buffer.from(chunk)
}

function addAddress(addresses: Hex[], bytes: Uint8Array | null, place: string): void {
  const [text = ''] = Buffer.from(bytes ?? [])
    .toString()
    .split('#', 1)
  const address = text.trim()
  if (address === '' && bytes !== null) return
  if (!isHexOf(20, address)) throw new UsageError(`${place}: expected an address, 20 bytes of hexadecimal after 0x`)
  if (addresses.length >= MAX_ADDRESSES) throw new UsageError(`${place}: more than ${MAX_ADDRESSES} addresses`)
  addresses.push(lowerCase(address))
}

/** The request for the first of `holders` or, for a mapping, for all of them. */
export function requestFor({ contract, slot, storageKeys }: Target, holders: readonly Hex[]): SnapshotRequest {
  if (contract === undefined || slot === undefined) {
    const some = holders.slice(0, 1)
    return { address: some[0] ?? '0x', storageKeys, holders: some }
  }
  return { address: contract, storageKeys: holders.map(holder => mappingSlot(slot, holder)), holders }
}

/** @param most how many holders of a mapping one request may name */
export function requestsFor(target: Target, holders: readonly Hex[], most: number): SnapshotRequest[] {
  const length = target.contract === undefined ? 1 : most
  const requests: SnapshotRequest[] = []
  for (let start = 0; start < holders.length; start += length) {
    requests.push(requestFor(target, holders.slice(start, start + length)))
  }
  return requests
}
