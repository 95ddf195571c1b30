import { bytesUpTo } from '../anchor/bytes-up-to.ts'
import { bigintToBytes, byteAt, bytesToHex, compareBytes } from '../bytes.ts'
import { atPath, excerpt, ProofError } from '../errors.ts'
import { readerOf } from '../json/reader.ts'
import { type DecodedNetwork, forkAt, type Layout, verifyVersion } from './network.ts'
import { branchLength, merkleize, rootOfBytes, rootOfShortList, rootOfUint } from './ssz.ts'

/** Decodes the beacon API's JSON to bytes and integers. Every length, count and spelling is checked here. */

export const COMMITTEE_SIZE = 512
const KEY_LENGTH = 48
const SIGNATURE_LENGTH = 96
const MAX_EXTRA_LENGTH = 32

const reader = readerOf('BEACON_MALFORMED')

/** A beacon block header, and what it claims about the execution layer, which is still to be proven. */
export interface Header {
  readonly slot: bigint
  /** The beacon block root. */
  readonly root: Uint8Array
  readonly stateRoot: Uint8Array
  readonly bodyRoot: Uint8Array
  readonly layout: Layout
  readonly execution: Execution
  readonly executionBranch: readonly Uint8Array[]
}

interface Execution {
  /** Root of the execution payload header; in Gloas, the block hash itself. */
  readonly root: Uint8Array
  readonly blockHash: Uint8Array
  /** These two are null in Gloas, whose headers lack them. */
  readonly blockNumber: bigint | null
  readonly timestamp: bigint | null
}

/** A sync committee's keys, in their original encoding. */
export interface Keys {
  readonly pubkeys: readonly Uint8Array[]
  readonly aggregatePubkey: Uint8Array
}

export interface Bootstrap {
  readonly header: Header
  readonly keys: Keys
  readonly branch: readonly Uint8Array[]
}

/** What a finality update and a committee update have in common. */
export interface SignedUpdate {
  readonly attested: Header
  readonly finalized: Header
  readonly finalityBranch: readonly Uint8Array[]
  /** 64 bytes. Bit i is bit i mod 8 of byte i / 8, counted from the lowest. */
  readonly bits: Uint8Array
  readonly signature: Uint8Array
  readonly signatureSlot: bigint
}

export interface CommitteeUpdate extends SignedUpdate {
  readonly nextKeys: Keys
  readonly nextBranch: readonly Uint8Array[]
}

/** The fields of an API response's `data`. */
function openResponse<Name extends string>(source: unknown, network: DecodedNetwork, names: readonly Name[]) {
  const { version, data } = reader.fields(source, ['version', 'data'])
  if (version !== undefined) atPath('version', () => verifyVersion(network, reader.string(version)))
  return atPath('data', () => reader.fields(data, names))
}

export function decodeBootstrap(source: unknown, network: DecodedNetwork): Bootstrap {
  const names = ['header', 'current_sync_committee', 'current_sync_committee_branch'] as const
  const fields = openResponse(source, network, names)
  return atPath('data', () => {
    const header = atPath('header', () => decodeHeader(fields.header, network))
    const { currentCommittee } = header.layout
    return {
      header,
      keys: atPath('current_sync_committee', () => decodeKeys(fields.current_sync_committee)),
      branch: decodeBranch('current_sync_committee_branch', fields.current_sync_committee_branch, currentCommittee),
    }
  })
}

const SIGNED_FIELDS = [
  'attested_header',
  'finalized_header',
  'finality_branch',
  'sync_aggregate',
  'signature_slot',
] as const
type SignedFields = Partial<Record<(typeof SIGNED_FIELDS)[number], unknown>>

export function decodeFinality(source: unknown, network: DecodedNetwork): SignedUpdate {
  const fields = openResponse(source, network, SIGNED_FIELDS)
  return atPath('data', () => decodeSigned(fields, network))
}

export function decodeUpdate(source: unknown, network: DecodedNetwork): CommitteeUpdate {
  const names = [...SIGNED_FIELDS, 'next_sync_committee', 'next_sync_committee_branch'] as const
  const fields = openResponse(source, network, names)
  return atPath('data', () => {
    const signed = decodeSigned(fields, network)
    const { nextCommittee } = signed.attested.layout
    return {
      ...signed,
      nextKeys: atPath('next_sync_committee', () => decodeKeys(fields.next_sync_committee)),
      nextBranch: decodeBranch('next_sync_committee_branch', fields.next_sync_committee_branch, nextCommittee),
    }
  })
}

/** Only the slot of the signature, which tells which committee signs. */
export function readSignatureSlot(source: unknown): bigint {
  const { data } = reader.fields(source, ['data'])
  return atPath('data', () => {
    const { signature_slot } = reader.fields(data, ['signature_slot'])
    return decodeUint('signature_slot', signature_slot, 64n)
  })
}

function decodeSigned(fields: SignedFields, network: DecodedNetwork): SignedUpdate {
  const signatureSlot = decodeUint('signature_slot', fields.signature_slot, 64n)
  const attested = atPath('attested_header', () => decodeHeader(fields.attested_header, network))
  const finalized = atPath('finalized_header', () => {
    verifyFinalized(fields.finalized_header)
    return decodeHeader(fields.finalized_header, network)
  })
  const finalityBranch = decodeBranch('finality_branch', fields.finality_branch, attested.layout.finalizedRoot)
  return atPath('sync_aggregate', () => {
    const names = ['sync_committee_bits', 'sync_committee_signature'] as const
    const aggregate = reader.fields(fields.sync_aggregate, names)
    const bits = atPath(names[0], () => reader.bytes(aggregate.sync_committee_bits, COMMITTEE_SIZE / 8))
    const signature = atPath(names[1], () => reader.bytes(aggregate.sync_committee_signature, SIGNATURE_LENGTH))
    return { attested, finalized, finalityBranch, bits, signature, signatureSlot }
  })
}

/** An update from before the chain has finalized anything has a header of zeros or none. */
function verifyFinalized(header: unknown): void {
  const slot = header === undefined ? 0n : readSlot(header)
  if (slot === 0n) throw new ProofError('BEACON_FINALITY_MISSING', { found: 'an empty finalized header' })
}

function readSlot(header: unknown): bigint {
  const { beacon } = reader.fields(header, ['beacon'])
  return atPath('beacon', () => decodeUint('slot', reader.fields(beacon, ['slot']).slot, 64n))
}

function decodeHeader(source: unknown, network: DecodedNetwork): Header {
  const names = ['beacon', 'execution', 'execution_block_hash', 'execution_branch'] as const
  const fields = reader.fields(source, names)
  const beacon = atPath('beacon', () => decodeBeacon(fields.beacon))
  const { layout } = atPath('beacon.slot', () => forkAt(network, beacon.slot))
  const execution =
    layout.executionKind === 'gloas'
      ? atPath('execution_block_hash', () => decodeBlockHash(fields.execution_block_hash))
      : atPath('execution', () => decodeExecution(fields.execution, layout))
  const executionBranch = decodeBranch('execution_branch', fields.execution_branch, layout.execution)
  return { ...beacon, layout, execution, executionBranch }
}

export function decodeBeacon(source: unknown): Pick<Header, 'slot' | 'root' | 'stateRoot' | 'bodyRoot'> {
  const fields = reader.fields(source, ['slot', 'proposer_index', 'parent_root', 'state_root', 'body_root'])
  const slot = decodeUint('slot', fields.slot, 64n)
  const proposerIndex = decodeUint('proposer_index', fields.proposer_index, 64n)
  const parentRoot = atPath('parent_root', () => reader.bytes(fields.parent_root, 32))
  const stateRoot = atPath('state_root', () => reader.bytes(fields.state_root, 32))
  const bodyRoot = atPath('body_root', () => reader.bytes(fields.body_root, 32))
  const root = merkleize([rootOfUint(slot), rootOfUint(proposerIndex), parentRoot, stateRoot, bodyRoot])
  return { slot, root, stateRoot, bodyRoot }
}

const CAPELLA_EXECUTION = [
  ['parent_hash', 32],
  ['fee_recipient', 20],
  ['state_root', 32],
  ['receipts_root', 32],
  ['logs_bloom', 256],
  ['prev_randao', 32],
  ['block_number', 'uint64'],
  ['gas_limit', 'uint64'],
  ['gas_used', 'uint64'],
  ['timestamp', 'uint64'],
  ['extra_data', 'extra'],
  ['base_fee_per_gas', 'uint256'],
  ['block_hash', 32],
  ['transactions_root', 32],
  ['withdrawals_root', 32],
] as const
const DENEB_EXECUTION = [...CAPELLA_EXECUTION, ['blob_gas_used', 'uint64'], ['excess_blob_gas', 'uint64']] as const

function decodeExecution(source: unknown, { executionKind }: Layout): Execution {
  const types = executionKind === 'capella' ? CAPELLA_EXECUTION : DENEB_EXECUTION
  const fields = reader.fields(
    source,
    types.map(([name]) => name),
  )
  const roots = types.map(([name, type]) => {
    if (type === 'uint64') return rootOfUint(decodeUint(name, fields[name], 64n))
    if (type === 'uint256') return rootOfUint(decodeUint(name, fields[name], 256n))
    return atPath(name, () =>
      type === 'extra'
        ? rootOfShortList(bytesUpTo(reader, fields[name], MAX_EXTRA_LENGTH))
        : rootOfBytes(reader.bytes(fields[name], type)),
    )
  })
  return {
    root: merkleize(roots),
    blockHash: atPath('block_hash', () => reader.bytes(fields.block_hash, 32)),
    blockNumber: decodeUint('block_number', fields.block_number, 64n),
    timestamp: decodeUint('timestamp', fields.timestamp, 64n),
  }
}

function decodeBlockHash(source: unknown): Execution {
  const blockHash = reader.bytes(source, 32)
  return { root: blockHash, blockHash, blockNumber: null, timestamp: null }
}

/** The keys of a committee. Whether they are points of the curve is checked where they are used. */
function decodeKeys(source: unknown): Keys {
  const fields = reader.fields(source, ['pubkeys', 'aggregate_pubkey'])
  return decodeKeyTexts(fields.pubkeys, 'pubkeys', fields.aggregate_pubkey, 'aggregate_pubkey')
}

export function decodeKeyTexts(pubkeys: unknown, keysName: string, aggregate: unknown, aggregateName: string): Keys {
  return {
    pubkeys: atPath(keysName, () => reader.items(pubkeys, verifySize, decodeKey)),
    aggregatePubkey: atPath(aggregateName, () => decodeKey(aggregate)),
  }
}

function verifySize(count: number): void {
  if (count !== COMMITTEE_SIZE) {
    throw new ProofError('BEACON_COMMITTEE_SIZE', { expected: `${COMMITTEE_SIZE} keys`, found: `${count}` })
  }
}

/** The modulus of the field that holds the coordinate of a key, 48 bytes. */
const MODULUS = /* @__PURE__ */ bigintToBytes(
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
  KEY_LENGTH,
)

/** The first three bits of a key: compressed, infinity, and which of the two points with this coordinate it is. */
const [COMPRESSED, INFINITY, SIGN] = [0x80, 0x40, 0x20]

/** Checks the encoding of every key. Only keys that enter the computation are checked to be points. */
function decodeKey(source: unknown): Uint8Array {
  const key = reader.bytes(source, KEY_LENGTH)
  const coordinate = key.slice()
  coordinate[0] = byteAt(key, 0) & (SIGN - 1)
  const isCanonical = (byteAt(key, 0) & (COMPRESSED | INFINITY)) === COMPRESSED && compareBytes(coordinate, MODULUS) < 0
  if (!isCanonical) {
    const expected = 'a compressed point that is not infinity, its coordinate reduced'
    throw new ProofError('BEACON_KEY_ENCODING', { expected, found: excerpt(bytesToHex(key)) })
  }
  return key
}

/** @throws ProofError `BEACON_BRANCH_LENGTH` unless it has one hash per level up to the root */
function decodeBranch(name: string, source: unknown, generalizedIndex: number): Uint8Array[] {
  const length = branchLength(generalizedIndex)
  const verifyLength = (count: number): void => {
    if (count === length) return
    throw new ProofError('BEACON_BRANCH_LENGTH', { expected: `${length} hashes`, found: `${count}` })
  }
  return atPath(name, () => reader.items(source, verifyLength, hash => reader.bytes(hash, 32)))
}

/** An unsigned integer as the beacon API writes it. Any other spelling is refused: `007`, `7.0`, `0x7`, and the number 7. */
function decodeUint(name: string, source: unknown, bits: 64n | 256n): bigint {
  return atPath(name, () => {
    const text = reader.string(source)
    // 2^256 has 78 digits. The length is checked first, so that a huge string costs nothing.
    const value = text.length <= 78 && /^(0|[1-9][0-9]*)$/.test(text) ? BigInt(text) : null
    if (value === null || value >> bits !== 0n) {
      const expected = `a decimal integer of at most ${bits} bits without leading zeros`
      throw new ProofError('BEACON_INTEGER', { expected, found: excerpt(text) })
    }
    return value
  })
}
