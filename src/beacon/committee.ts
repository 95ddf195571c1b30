import { bytesToHex, equalBytes, type Hex } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import { readerOf } from '../json/reader.ts'
import { decodeArgument } from '../proof/claim.ts'
import { mismatch } from '../tree/path.ts'
import { decodeKeyTexts, type Keys } from './decode.ts'
import { type BeaconNetwork, type DecodedNetwork, decodeNetwork } from './network.ts'
import { hashPair, merkleize, rootOfBytes } from './ssz.ts'

/**
 * A proven sync committee: 512 validators who sign the chain's headers for one period of 8,192 slots, about 27 hours. It is
 * plain data of about 52,000 characters, which `JSON.stringify` and `JSON.parse` store and restore.
 *
 * `network`, `period` and `root` are what you trust about a stored committee: whoever can change them chooses the committee.
 * The keys are hashed and compared with `root` at every use, so they may be kept anywhere.
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

/** A checked {@link Committee}. */
export interface DecodedCommittee {
  readonly network: DecodedNetwork
  readonly period: number
  readonly keys: Keys
}

const reader = readerOf('CLAIM_INVALID')

export function rootOfKeys({ pubkeys, aggregatePubkey }: Keys): Uint8Array {
  return hashPair(merkleize(pubkeys.map(rootOfBytes)), rootOfBytes(aggregatePubkey))
}

export function encodeCommittee(network: DecodedNetwork, period: number, keys: Keys): Committee {
  return {
    network: network.source,
    period,
    root: bytesToHex(rootOfKeys(keys)),
    pubkeys: keys.pubkeys.map(bytesToHex),
    aggregatePubkey: bytesToHex(keys.aggregatePubkey),
  }
}

/** @throws ProofError `CLAIM_INVALID`, `BEACON_COMMITTEE_ROOT`; what {@link decodeKeyTexts} throws for a stored key */
export function decodeCommittee(committee: unknown): DecodedCommittee {
  return atPath('committee', () => {
    const fields = reader.fields(committee, ['network', 'period', 'root', 'pubkeys', 'aggregatePubkey'])
    const network = decodeNetwork(fields.network)
    const period = decodePeriod(fields.period)
    const root = decodeArgument('root', fields.root, 32)
    const keys = decodeKeyTexts(fields.pubkeys, 'pubkeys', fields.aggregatePubkey, 'aggregatePubkey')
    const found = rootOfKeys(keys)
    if (!equalBytes(found, root)) throw mismatch('BEACON_COMMITTEE_ROOT', root, found)
    return { network, period, keys }
  })
}

function decodePeriod(period: unknown): number {
  if (typeof period !== 'number' || !Number.isSafeInteger(period) || period < 0) {
    throw new ProofError('CLAIM_INVALID', { path: 'period', expected: 'an integer from 0 to 2^53 - 1' })
  }
  return period
}
