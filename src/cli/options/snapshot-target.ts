import { createReadStream } from 'node:fs'
import { linesOf, readBatches } from '../../bulk/audit/lines.ts'
import type { Target } from '../../bulk/snapshot/snapshot.ts'
import { isHexOf } from '../../document/layout.ts'
import { lowerCase } from '../../hex.ts'
import type { Hex } from '../../index.ts'
import type { Io } from '../command.ts'
import { messageOf, UsageError } from '../errors.ts'
import { MAX_ADDRESS_LINE, MAX_ADDRESSES, MAX_STORAGE_KEYS } from '../limits.ts'
import { requireHex, toInteger } from './parse.ts'

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

/** @throws UsageError when a line is not an address */
export async function readAddresses(file: string, io: Io): Promise<Hex[]> {
  const name = file === '-' ? 'standard input' : file
  const addresses: Hex[] = []
  try {
    for await (const batch of readBatches(chunksOf(file, io), {
      batchLength: 2 ** 16,
      maxLineLength: MAX_ADDRESS_LINE,
    })) {
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
