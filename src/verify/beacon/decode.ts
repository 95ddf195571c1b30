import { bigintToBytes, byteAt, bytesToHex, compareBytes, isZero } from '../../base/bytes.ts'
import { atPath, excerpt, ProofError, refusal } from '../../base/errors.ts'
import { bytesUpTo, optional } from '../../base/json/decoders.ts'
import { type FieldReader, readerOf } from '../../base/json/reader.ts'
import { BEACON_FIELDS, EXECUTION_FIELDS } from './fields.ts'
import { MAX_DIGITS, MAX_EXTRA_LENGTH } from './limits.ts'
import { type DecodedNetwork, forkAt, GLOAS_EXECUTION, type Layout, verifyVersion } from './network.ts'
import { branchLength, merkleize, rootOfBytes, rootOfShortList, rootOfUint } from './ssz.ts'

/** Decodes the beacon API's JSON to bytes and integers. Every length, count and spelling is checked here. */

const KEY_LENGTH = 48
const SIGNATURE_LENGTH = 96

export const reader = readerOf('BEACON_MALFORMED')

/** A beacon block header with its root, and what it claims about the execution layer, which is still to be proven. */
export type Header = ReturnType<ReturnType<typeof headerOf>>
/** A sync committee's keys, in their original encoding. */
export type Keys = ReturnType<ReturnType<typeof keysOf>>
/** What all updates have in common: a header, and who signed it. */
export type SignedHeader = ReturnType<typeof signedHeaderOf>
/** What a finality update and a committee update have in common. */
export type SignedUpdate = ReturnType<typeof decodeSigned>

/** Decodes the data of an API answer `{ version, data }`. */
function decodeAnswer<T>(source: unknown, network: DecodedNetwork, decode: (data: unknown) => T): T {
  const field = reader.fieldsOf(source, ['version', 'data'])
  const verify = (version: unknown) => verifyVersion(network, reader.string(version))
  field('version', optional(verify))
  return field('data', decode)
}

export function decodeBootstrap(source: unknown, network: DecodedNetwork) {
  return decodeAnswer(source, network, data => {
    const field = reader.fieldsOf(data, ['header', 'current_sync_committee', 'current_sync_committee_branch'])
    const header = field('header', headerOf(network))
    return {
      header,
      keys: field('current_sync_committee', keysOf(network)),
      branch: field('current_sync_committee_branch', branchOf(header.layout.currentCommittee)),
    }
  })
}

const SIGNED_HEADER = ['attested_header', 'sync_aggregate', 'signature_slot'] as const
const SIGNED = [...SIGNED_HEADER, 'finalized_header', 'finality_branch'] as const

/** Decodes what an optimistic update holds, of which every other update has more. */
export function decodeSignedHeader(source: unknown, network: DecodedNetwork): SignedHeader {
  return decodeAnswer(source, network, data => signedHeaderOf(reader.fieldsOf(data, SIGNED_HEADER), network))
}

export function decodeFinality(source: unknown, network: DecodedNetwork): SignedUpdate {
  return decodeAnswer(source, network, data => decodeSigned(reader.fieldsOf(data, SIGNED), network))
}

export function decodeUpdate(source: unknown, network: DecodedNetwork) {
  return decodeAnswer(source, network, data => {
    const names = [...SIGNED, 'next_sync_committee', 'next_sync_committee_branch'] as const
    const field = reader.fieldsOf(data, names)
    const signed = decodeSigned(field, network)
    return {
      ...signed,
      nextKeys: field('next_sync_committee', keysOf(network)),
      nextBranch: field('next_sync_committee_branch', branchOf(signed.attested.layout.nextCommittee)),
    }
  })
}

/** Only the slot of the signature, which tells which committee signs. */
export const readSignatureSlot = (source: unknown): bigint => readUint64(source, 'data', 'signature_slot')

const readUint64 = (source: unknown, outer: string, inner: string): bigint =>
  reader.fieldsOf(source, [outer])(outer, part => reader.fieldsOf(part, [inner])(inner, uint64))

const signedHeaderOf = (field: FieldReader<(typeof SIGNED_HEADER)[number]>, network: DecodedNetwork) => ({
  signatureSlot: field('signature_slot', uint64),
  attested: field('attested_header', headerOf(network)),
  ...field('sync_aggregate', aggregateOf(network)),
})

function decodeSigned(field: FieldReader<(typeof SIGNED)[number]>, network: DecodedNetwork) {
  const signed = signedHeaderOf(field, network)
  const { attested } = signed
  const finalized = field('finalized_header', header => {
    verifyFinalized(header)
    return headerOf(network, attested.layout)(header)
  })
  const finalityBranch = field('finality_branch', branchOf(attested.layout.finalizedRoot))
  return { ...signed, finalized, finalityBranch }
}

const aggregateOf = (network: DecodedNetwork) => (source: unknown) => {
  const field = reader.fieldsOf(source, ['sync_committee_bits', 'sync_committee_signature'])
  return {
    /** One bit per member. Bit i is bit i mod 8 of byte i / 8, counted from the lowest. */
    bits: field('sync_committee_bits', reader.bytesOf(network.preset.committeeSize / 8)),
    signature: field('sync_committee_signature', reader.bytesOf(SIGNATURE_LENGTH)),
  }
}

/** An update from before the chain has finalized anything has a header of zeros or none. */
function verifyFinalized(header: unknown): void {
  const slot = header === undefined ? 0n : readUint64(header, 'beacon', 'slot')
  if (slot === 0n) throw new ProofError('BEACON_FINALITY_MISSING', { found: 'an empty finalized header' })
}

/** In a Gloas update, an earlier finalized header may be in the form of Gloas: the block hash in place of all fields. */
const CONVERTED: Pick<Layout, 'execution' | 'executionKind'> = { execution: 812, executionKind: 'gloas' }

/** @param attested the layout of the update that holds the header */
const headerOf = (network: DecodedNetwork, attested?: Layout) => (source: unknown) => {
  const field = reader.fieldsOf(source, ['beacon', 'execution', 'execution_block_hash', 'execution_branch'])
  const beacon = field('beacon', decodeBeacon)
  const fork = atPath('beacon.slot', () => forkAt(network, beacon.slot))
  const mayBeConverted = attested?.executionKind === 'gloas' && fork.layout.executionKind === 'deneb'
  const isConverted = mayBeConverted && field('execution_block_hash', optional(reader.bytesOf(32))) !== undefined
  const layout = isConverted ? { ...fork.layout, ...CONVERTED } : fork.layout
  const name = layout.executionKind === 'gloas' ? 'execution_block_hash' : 'execution'
  const execution = field(name, executionOf(layout))
  const decodeBranch = isConverted ? decodeConvertedBranch : branchOf(layout.execution)
  return { ...beacon, layout, execution, executionBranch: field('execution_branch', decodeBranch) }
}

/** A branch as long as that of a Gloas header, which zeros precede: `normalize_merkle_branch` of the specification. */
function decodeConvertedBranch(source: unknown): Uint8Array[] {
  const branch = branchOf(GLOAS_EXECUTION)(source)
  const zeros = branch.splice(0, branchLength(GLOAS_EXECUTION) - branchLength(CONVERTED.execution))
  if (zeros.every(isZero)) return branch
  throw refusal('BEACON_BRANCH_LENGTH', `${zeros.length} hashes of zeros before the branch`, 'other hashes')
}

export function decodeBeacon(source: unknown) {
  const field = reader.fieldsOf(source, BEACON_FIELDS)
  const slot = field('slot', uint64)
  const proposerIndex = field('proposer_index', uint64)
  const parentRoot = field('parent_root', reader.bytesOf(32))
  const stateRoot = field('state_root', reader.bytesOf(32))
  const bodyRoot = field('body_root', reader.bytesOf(32))
  const root = merkleize([rootOfUint(slot), rootOfUint(proposerIndex), parentRoot, stateRoot, bodyRoot])
  return { slot, root, stateRoot, bodyRoot }
}

type ExecutionField = (typeof EXECUTION_FIELDS)[number]

/** Decodes the header of an execution payload; in Gloas, a block hash, which serves as the root: there is no more. */
export const executionOf = (layout: Layout) => (source: unknown) => {
  if (layout.executionKind === 'gloas') {
    const blockHash = reader.bytesOf(32)(source)
    return { root: blockHash, blockHash, blockNumber: undefined, timestamp: undefined }
  }
  // Deneb appended two fields.
  const fields: readonly ExecutionField[] =
    layout.executionKind === 'capella' ? EXECUTION_FIELDS.slice(0, -2) : EXECUTION_FIELDS
  const names = fields.map(([name]) => name)
  const field = reader.fieldsOf(source, names)
  return {
    root: merkleize(fields.map(([name, type]) => field(name, value => rootOf(type, value)))),
    blockHash: field('block_hash', reader.bytesOf(32)),
    blockNumber: field('block_number', uint64),
    timestamp: field('timestamp', uint64),
  }
}

/** The SSZ root of an untrusted value: of this type, or of this many bytes. */
function rootOf(type: ExecutionField[1], value: unknown): Uint8Array {
  if (type === 'uint64') return rootOfUint(uint64(value))
  if (type === 'uint256') return rootOfUint(decodeUint(value, 256n))
  if (type === 'extra') return rootOfShortList(bytesUpTo(reader, MAX_EXTRA_LENGTH)(value))
  return rootOfBytes(reader.bytesOf(type)(value))
}

/** The keys of a committee. Whether they are points of the curve is checked where they are used. */
const keysOf = (network: DecodedNetwork) => (source: unknown) => {
  const field = reader.fieldsOf(source, ['pubkeys', 'aggregate_pubkey'])
  return { pubkeys: field('pubkeys', pubkeysOf(network)), aggregatePubkey: field('aggregate_pubkey', decodeKey) }
}

export function pubkeysOf({ preset: { committeeSize } }: DecodedNetwork) {
  const verifySize = (count: number) => {
    if (count !== committeeSize) throw refusal('BEACON_COMMITTEE_SIZE', `${committeeSize} keys`, count)
  }
  return (source: unknown): Uint8Array[] => reader.items(source, verifySize, decodeKey)
}

/** The modulus of the field that holds the coordinate of a key, 48 bytes. */
const MODULUS = /* @__PURE__ */ bigintToBytes(
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn,
  KEY_LENGTH,
)

/** The first three bits of a key: compressed, infinity, and which of the two points with this coordinate it is. */
const [COMPRESSED, INFINITY, SIGN] = [0x80, 0x40, 0x20]

/** Checks the encoding of every key. Only keys that enter the computation are checked to be points. */
export function decodeKey(source: unknown): Uint8Array {
  const key = reader.bytesOf(KEY_LENGTH)(source)
  const coordinate = key.slice()
  coordinate[0] = byteAt(key, 0) & (SIGN - 1)
  const isCanonical = (byteAt(key, 0) & (COMPRESSED | INFINITY)) === COMPRESSED && compareBytes(coordinate, MODULUS) < 0
  if (!isCanonical) {
    const expected = 'a compressed point that is not infinity, its coordinate reduced'
    throw refusal('BEACON_KEY_ENCODING', expected, excerpt(bytesToHex(key)))
  }
  return key
}

/** A branch up to the root: one hash per level. */
function branchOf(generalizedIndex: number) {
  const length = branchLength(generalizedIndex)
  const verifyLength = (count: number) => {
    if (count !== length) throw refusal('BEACON_BRANCH_LENGTH', `${length} hashes`, count)
  }
  return (source: unknown): Uint8Array[] => reader.items(source, verifyLength, reader.bytesOf(32))
}

/** An unsigned integer as the beacon API writes it. Any other spelling is refused: `007`, `7.0`, `0x7`, and the number 7. */
function decodeUint(source: unknown, bits: 64n | 256n): bigint {
  const text = reader.string(source)
  // The length is checked first, so that a huge string costs nothing.
  const value = text.length <= MAX_DIGITS && /^(0|[1-9][0-9]*)$/.test(text) ? BigInt(text) : null
  if (value === null || value >> bits !== 0n) {
    throw refusal('BEACON_INTEGER', `a decimal integer of at most ${bits} bits without leading zeros`, excerpt(text))
  }
  return value
}

const uint64 = (source: unknown): bigint => decodeUint(source, 64n)
