import type { FailureCode } from '../../src/base/errors.ts'
import type { BeaconNetwork, Committee, ConsensusAnswers } from '../../src/entry/beacon.ts'
import type { Hex } from '../../src/entry/index.ts'
import type { Patch } from '../patch.ts'
import type { Flag } from '../vector.ts'

/** Keys as the beacon API sends them. */
export interface ApiCommittee {
  pubkeys: Hex[]
  aggregate_pubkey: Hex
}

/** The arguments for the functions of the layer. */
export interface Input {
  network: BeaconNetwork
  blockRoot: Hex
  answers: ConsensusAnswers
  /** The committee that signs the finality update, as it would be stored. */
  committee: Committee
}

export interface Accepted {
  valid: true
  l1BlockHash: Hex
  l1BlockNumber?: string | undefined
  l1Timestamp?: string | undefined
  blockRoot: Hex
  slot: string
  slotTimestamp: string
  trustedSlotTimestamp: string
  signers: number
  period: number
  committeeRoot: Hex
}

export interface Refused {
  valid: false
  code: FailureCode
}

export interface ValidVector {
  description: string
  operation: 'verifyConsensus'
  input: Input
  expected: Accepted
}

export interface InvalidVector {
  description: string
  flag: Flag
  /** The function to call: `verifyConsensus` with the answers, or `verifyFinality` with finality update and committee. */
  operation: 'verifyConsensus' | 'verifyFinality'
  /** The valid vector whose input is patched. */
  base: string
  patches: Patch[]
  expected: Refused
}
