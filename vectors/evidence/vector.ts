import type { BeaconNetwork } from '../../src/beacon.ts'
import type { ErrorCode, Hex } from '../../src/index.ts'
import type { Flag } from '../vector.ts'

/** Rollup and expectations as JSON spells them: numbers are hexadecimal quantities. */
export interface VectorClaim {
  rollup: { name?: string; address: Hex; layout?: { stateRootHashes: Hex; currentL2BlockNumber: Hex } }
  /** A beacon block root comes with the network that it is of. */
  trusted: Partial<Record<'beaconBlockRoot' | 'l1BlockHash' | 'l1StateRoot' | 'l2StateRoot', Hex>> & {
    network?: BeaconNetwork
  }
  l2BlockNumber?: Hex
  address?: Hex
  storageKeys?: Hex[]
}

export interface Accepted {
  valid: true
  reach: string
  address: Hex
  stateRoot: Hex
  l2BlockNumber: string | null
  currentL2BlockNumber: string | null
  finalizedTimestamp: string | null
  /** Only when a beacon block root is trusted. Slot and timestamp are quantities. */
  beaconBlock?: object
  l1Block: { number: string; timestamp: string; hash: Hex; stateRoot: Hex } | null
  /** Of the account no more than these two: the other vectors have it whole. */
  account: { nonce: string; balance: string } | null
  storage: { key: Hex; value: Hex; exists: boolean; leafIndex: number | null }[]
}

export type Refused = { valid: false; code: ErrorCode }

/** What is called, and with what. */
export type VectorInput =
  | { operation: 'verifyEvidence'; scheme: 'mimc' | 'poseidon2'; claim: VectorClaim; bundle: unknown }
  | { operation: 'encodeHeader'; block: unknown }
  | { operation: 'verifyCode'; code: unknown; codeHash: Hex }

export type EvidenceVector = VectorInput & {
  description: string
  /** The class of mistakes that an invalid vector hunts. */
  flag?: Flag
  expected: Accepted | Refused
}
