import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { mismatch } from '../tree/path.ts'
import { decodeKey, type Keys, pubkeysOf } from './decode.ts'
import { createMemory } from './memory.ts'
import { type BeaconNetwork, type DecodedNetwork, decodeCount, decodeNetworkFields, fieldsOf } from './network.ts'
import { hashPair, merkleize, rootOfBytes } from './ssz.ts'

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
