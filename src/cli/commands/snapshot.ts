import { plural } from '../../base/errors.ts'
import { lowerCase } from '../../base/hex.ts'
import { verifyClientOptions } from '../../client/sources/fetch.ts'
import { verifyEvidence } from '../../entry/anchor.ts'
import type { Hex } from '../../entry/index.ts'
import { recordEvidence } from '../../entry/rpc.ts'
import { readFileChunks, unpack } from '../audit/input.ts'
import { readLines } from '../audit/lines.ts'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { MAX_ADDRESS_LINE, MAX_ADDRESSES, MAX_STORAGE_KEYS } from '../limits.ts'
import { list, optionsOf, or, recordOptions, typed, type ValuesOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { address, integer, isAddress, mappingKeyOf, type Read, storageKey, whole } from '../options/read.ts'
import { fetchRecordings, type SnapshotRequest, snapshotReader, type Target } from '../snapshot/snapshot.ts'
import { kindOf } from '../words/evidence.ts'
import { isHexOf } from '../words/layout.ts'
import { type RowsKind, readWantedRows, runRows } from './rows.ts'

/** The key of a mapping's entry; or the slot of the mapping, if every address of the file has an entry. */
const entry: Read<Hex | bigint> = (slot, name, key) =>
  key === 'each' ? integer(256)(slot, `${name} SLOT`) : mappingKeyOf(slot, name, key)

const options = {
  'storage-key': list<Hex | bigint>('KEY', optionsOf('storage-key')['storage-key'].help, storageKey),
  mapping: {
    ...list('SLOT KEY', "a mapping's entry; the word `each` as KEY: one per address", entry),
    into: 'storage-key',
  },
  address: typed('CONTRACT', 'the contract with that mapping', address),
  ...optionsOf('l2-block'),
  concurrency: or('8', typed('N', 'requests at once, 1 to 256', whole(1, 256))),
  'keys-per-request': or('100', typed('N', 'storage keys per request', whole(1, MAX_STORAGE_KEYS))),
  ...optionsOf('check'),
}

export const command = defineCommand(
  {
    usage: 'snapshot ADDRESSES -o ROWS [options]',
    options,
    shared: recordOptions,
    expected: 'name one file of addresses, or - for standard input',
    about: `
Fetches and verifies many accounts, or the entries of many holders in one
mapping, at one finalized L2 block. ROWS gets one row of proven values per
address, as CSV if its name ends with .csv, and ROWS.evidence.ndjson what proves
them. ADDRESSES has one address per line, with # for comments; - is standard
input. Run it again after an interruption.`,
    notes: `
--check believes nothing in the files: pass --l1-block-hash and --l2-block, too.
An address without an answer that verifies is "refused". Exit code: 0 all
verified; 1 some refused, or not proven; 2 wrong usage, or ROWS exists; 3 an
endpoint failed: run it again.`,
    examples: `
export L1_URL=https://... L2_URL=https://...
rollup-state-proof snapshot holders.txt -o balances.csv
rollup-state-proof snapshot holders.txt --address 0x... --mapping 0 each \\
  -o tokens.csv`,
  },
  async (values, io, [file]) => {
    const { 'storage-key': slots = [], mapping: _, ...flags } = values
    const wanted = await readWantedRows(flags)
    const target = targetOf(values.address, slots)
    return runRows(wanted, snapshotOf(wanted, target, await readAddresses(file, io), values, io), io)
  },
)

function targetOf(contract: Hex | undefined, slots: readonly (Hex | bigint)[]): Target {
  const keys = slots.filter(slot => typeof slot === 'string')
  const [slot, ...more] = slots.filter(slot => typeof slot === 'bigint')
  if (more.length > 0) throw new UsageError('--mapping SLOT each is given twice')
  if (keys.length > MAX_STORAGE_KEYS)
    throw new UsageError(`--storage-key: at most ${MAX_STORAGE_KEYS} fit into one kept answer`)
  const storageKeys = keys.map(lowerCase)
  if (contract === undefined && slot === undefined) return { storageKeys }
  if (contract === undefined || slot === undefined) {
    throw new UsageError('--address CONTRACT and --mapping SLOT each belong together: where it declares the mapping')
  }
  if (storageKeys.length > 0) throw new UsageError('--storage-key: --mapping SLOT each computes the storage keys')
  return { contract: lowerCase(contract), slot, storageKeys }
}

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

function snapshotOf(
  { network, l2Block }: Awaited<ReturnType<typeof readWantedRows>>,
  target: Target,
  holders: readonly Hex[],
  values: ValuesOf<typeof options>,
  io: Io,
): RowsKind {
  const { rollup } = network
  const { 'keys-per-request': keysPerRequest, concurrency } = values
  const onWrong = ({ address, holders }: SnapshotRequest, code: string, isLast: boolean) => {
    const [first] = holders
    const who = holders.length === 1 ? first : `${address}, ${holders.length} holders from ${first}`
    io.stderr.write(`${who}: ${code}; ${isLast ? 'no answer of the endpoint verifies' : 'asking again'}\n`)
  }
  return {
    unit: ['address', 'addresses'],
    record: ([l1, l2], how) =>
      recordEvidence({ l1, l2, network, address: target.contract ?? holders[0] ?? ZERO_ADDRESS, ...how }),
    open(bundle, trusted, format) {
      const scheme = kindOf(bundle, network.scheme)
      // Whose account it shows does not matter.
      const subject = { address: 'fromBundle', storageKeys: 'fromBundle' } as const
      const claim = { scheme, rollup, trusted, l2BlockNumber: l2Block ?? 'fromBundle', ...subject } as const
      const verified = verifyEvidence(bundle, claim)
      const { stateRoot, l2BlockNumber: block } = verified
      const { counts, verify, ...reader } = snapshotReader(target, holders, format, { scheme, stateRoot })
      return {
        verified,
        ...reader,
        fetch(l2, signal) {
          const left = holders.slice(holders.length - reader.left())
          const { method } = verifyClientOptions({ rollup })
          const asked = { target, holders: left, scheme, stateRoot, block, method, keysPerRequest }
          return fetchRecordings(l2, { ...asked, concurrency, verify, signal, onWrong })
        },
        tell() {
          const { present, absent, refused } = counts
          const { length } = holders
          const addresses = plural(length, 'address', 'addresses')
          return {
            holds: refused === 0,
            statement:
              refused === 0
                ? `${length === 1 ? 'this is the state' : 'these are the states'} of all ${addresses}`
                : `${refused} of ${addresses} ${refused === 1 ? 'has' : 'have'} no answer that verifies`,
            summary: `${present} present, ${absent} absent, ${refused} refused`,
            json: { counts },
          }
        },
      }
    },
  }
}

const ZERO_ADDRESS: Hex = `0x${'00'.repeat(20)}`
