import { bls12_381 } from '@noble/curves/bls12-381.js'
import { decodeArgument } from '../../base/arguments.ts'
import { byteAt, bytesToHex, concatBytes, equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import { mismatch } from '../tree/path.ts'
import { decodeKey, type Keys, pubkeysOf } from './decode.ts'
import { MAX_REMEMBERED } from './limits.ts'
import { type BeaconNetwork, type DecodedNetwork, decodeCount, decodeNetworkFields, fieldsOf } from './network.ts'
import { hashPair, merkleize, rootOfBytes } from './ssz.ts'

/** Remembers what belongs to the {@link MAX_REMEMBERED} keys that were used last. */
function createMemory<Key, Value>() {
  const kept = new Map<Key, Value>()
  return {
    get: (key: Key): Value | undefined => kept.get(key),
    keep(key: Key, value: Value): Value {
      // The last entry is the one used last.
      kept.delete(key)
      kept.set(key, value)
      for (const old of kept.keys()) if (kept.size > MAX_REMEMBERED) kept.delete(old)
      return value
    },
  }
}

/**
 * A proven sync committee: 512 validators who sign the chain's headers for one period of 8,192 slots, about 27 hours. Networks
 * with a preset of their own have other numbers. It is plain data of about 52,000 characters, which `JSON.stringify` and
 * `JSON.parse` store and restore.
 *
 * `network`, `period` and `root` are what you trust about a stored committee: whoever can change them chooses the committee.
 * The keys of a stored committee are hashed and compared with `root` at every use, so they may be kept anywhere. A committee that
 * a function has returned is frozen.
 */
export interface Committee {
  /** The network whose chain it signs. Replace it if its fork table has grown since the committee was stored. */
  network: BeaconNetwork
  /** The period that it signs: its slots divided by 8,192, rounded down. */
  period: number
  /** The SSZ root of the keys, 32 bytes. */
  root: Hex
  /** 512 public keys, 48 bytes each. */
  pubkeys: readonly Hex[]
  /** The sum of the keys, 48 bytes. The chain has computed it, and `root` covers it. */
  aggregatePubkey: Hex
}

export interface DecodedCommittee {
  readonly network: DecodedNetwork
  readonly period: number
  readonly root: Hex
  readonly keys: Keys
}

export const rootOfKeys = ({ pubkeys, aggregatePubkey }: Keys): Uint8Array =>
  hashPair(merkleize(pubkeys.map(rootOfBytes)), rootOfBytes(aggregatePubkey))

/** Committees that were just proven, which need not be decoded and hashed again: they are frozen, and cannot have changed. */
const proven = /* @__PURE__ */ createMemory<unknown, DecodedCommittee>()

/** @param rootBytes that of `keys` @returns it frozen, with all that it holds */
export function encodeCommittee(network: DecodedNetwork, period: number, keys: Keys, rootBytes: Uint8Array): Committee {
  const root = bytesToHex(rootBytes)
  const committee = Object.freeze({
    network: network.source,
    period,
    root,
    pubkeys: Object.freeze(keys.pubkeys.map(bytesToHex)),
    aggregatePubkey: bytesToHex(keys.aggregatePubkey),
  })
  proven.keep(committee, { network, period, root, keys })
  return committee
}

/** @throws ArgumentError, `BEACON_COMMITTEE_ROOT`; what {@link pubkeysOf} throws for a stored key */
export function decodeCommittee(committee: unknown): DecodedCommittee {
  const known = proven.get(committee)
  if (known !== undefined) return proven.keep(committee, known)
  return atPath('committee', () => {
    const field = fieldsOf(committee, ['network', 'period', 'root', 'pubkeys', 'aggregatePubkey'])
    const network = field('network', decodeNetworkFields)
    const period = field('period', decodeCount)
    const root = field('root', root => decodeArgument('', root, 32))
    const keys = { pubkeys: field('pubkeys', pubkeysOf(network)), aggregatePubkey: field('aggregatePubkey', decodeKey) }
    const found = rootOfKeys(keys)
    if (!equalBytes(found, root)) throw mismatch('BEACON_COMMITTEE_ROOT', root, found)
    return { network, period, root: bytesToHex(root), keys }
  })
}

const { longSignatures, G1 } = bls12_381
type PublicKey = ReturnType<typeof G1.Point.fromBytes>

const CIPHERSUITE = /* @__PURE__ */ new TextEncoder().encode('BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_')
const DOMAIN_SYNC_COMMITTEE = /* @__PURE__ */ Uint8Array.of(7, 0, 0, 0)

const hasSigned = (bits: Uint8Array, index: number): boolean => ((byteAt(bits, index >> 3) >> (index & 7)) & 1) === 1

/** Two thirds of the committee have to sign. @param bits one per member @throws ProofError `BEACON_TOO_FEW_SIGNERS` */
export function verifySigners(bits: Uint8Array): number {
  const size = 8 * bits.length
  const needed = Math.ceil((2 * size) / 3)
  let signers = 0
  for (let index = 0; index < size; index++) if (hasSigned(bits, index)) signers++
  if (signers < needed) throw refusal('BEACON_TOO_FEW_SIGNERS', `at least ${needed}`, signers)
  return signers
}

/**
 * Keys that were decoded, for the committees used last, by their roots: a root has only one list of keys, and was compared with
 * them. A committee signs for 27 hours, mostly with the same members absent, and decoding their keys takes the most time.
 */
const remembered = /* @__PURE__ */ createMemory<Hex, Map<number, PublicKey>>()

/**
 * The sum of the signers' keys: the aggregate key of the committee minus the keys of those who did not sign. These are less
 * than a third, so this takes a fraction of the time. @param root that of `keys`
 */
export function signersKey({ pubkeys, aggregatePubkey }: Keys, root: Hex, bits: Uint8Array): PublicKey {
  const points = remembered.keep(root, remembered.get(root) ?? new Map<number, PublicKey>())
  const pointOf = (index: number, path: string, key: Uint8Array): PublicKey => {
    const point = points.get(index) ?? atPath(path, () => decodePoint(key))
    points.set(index, point)
    return point
  }
  const subtract = (sum: PublicKey, key: Uint8Array, index: number) =>
    hasSigned(bits, index) ? sum : sum.subtract(pointOf(index, `pubkeys[${index}]`, key))
  return pubkeys.reduce(subtract, pointOf(-1, 'aggregatePubkey', aggregatePubkey))
}

function decodePoint(key: Uint8Array): PublicKey {
  try {
    return G1.Point.fromBytes(key) // on the curve, and in the subgroup
  } catch {
    throw new ProofError('BEACON_KEY_POINT', { expected: 'points of the subgroup' })
  }
}

/** What the committee signs: the root of a block header, bound to a fork of a network. */
export function signingRoot(header: Uint8Array, version: Uint8Array, genesisValidatorsRoot: Uint8Array): Uint8Array {
  const forkDataRoot = hashPair(rootOfBytes(version), genesisValidatorsRoot)
  return hashPair(header, concatBytes(DOMAIN_SYNC_COMMITTEE, forkDataRoot.subarray(0, 28)))
}

export function verifySignature(signature: Uint8Array, message: Uint8Array, publicKey: PublicKey): void {
  const point = decodeSignature(signature)
  if (!longSignatures.verify(point, longSignatures.hash(message, CIPHERSUITE), publicKey)) {
    throw new ProofError('BEACON_SIGNATURE_MISMATCH', { expected: 'a signature of these signers' })
  }
}

function decodeSignature(signature: Uint8Array): ReturnType<typeof longSignatures.Signature.fromBytes> {
  try {
    const point = longSignatures.Signature.fromBytes(signature) // on the curve, and in the subgroup
    if (!point.is0()) return point
  } catch {
    // Reported below.
  }
  throw new ProofError('BEACON_SIGNATURE_POINT', { expected: 'a point of the subgroup' })
}
