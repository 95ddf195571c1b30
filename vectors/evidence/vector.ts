import type { FailureCode } from '../../src/base/errors.ts'
import type { Rollup } from '../../src/entry/anchor.ts'
import type { BeaconNetwork } from '../../src/entry/beacon.ts'
import type { Hex } from '../../src/entry/index.ts'
import type { AnyClaim } from '../../src/verify/evidence/kinds/state.ts'
import type { Reach } from '../../src/verify/evidence/trusted.ts'
import type { KindName } from '../../src/verify/state/kind.ts'
import type { Flag } from '../vector.ts'

/** As JSON has it: numbers are hexadecimal quantities. */
type InJson<T> = T extends bigint ? Hex : T extends object ? { [Name in keyof T]: InJson<T[Name]> } : T

/** The claim. Invalid vectors may have other fields. */
export type VectorClaim = InJson<Omit<AnyClaim, 'kind' | 'scheme' | 'rollup' | 'trusted'>> & {
  rollup: InJson<Pick<Rollup, 'name' | 'address' | 'implementation' | 'layout'>>
  /** A beacon block root comes with its network. */
  trusted: Partial<Record<Reach, Hex>> & { network?: BeaconNetwork }
}

export interface Accepted {
  valid: true
  trustedInput: string
  address: Hex
  stateRoot: Hex
  /** Left out if it is not proven, like the next two and the L1 block. */
  l2BlockNumber?: string | undefined
  currentL2BlockNumber?: string | undefined
  finalizedTimestamp?: string | undefined
  /** The code behind the proxy of the contract. */
  implementation?: Hex | undefined
  /** The header of the L2 block, with quantities. Present if L1 holds its hash. */
  l2Block?: object | undefined
  /** Present if a beacon block root is trusted. Slot and timestamp are quantities. */
  beaconBlock?: object
  l1Block?: { number: string; timestamp: string; hash: Hex; stateRoot: Hex } | undefined
  /** Only these two fields of the account. Other vectors have all of them. */
  account: { nonce: string; balance: string } | null
  storage: { key: Hex; value: Hex; exists: boolean; leafIndex?: number | null }[]
}

export type Refused = { valid: false; code: FailureCode }

/** The function to call, and its arguments. */
export type VectorInput =
  | { operation: 'verifyEvidence'; kind: 'state'; scheme: KindName; claim: VectorClaim; bundle: unknown }
  | {
      operation: 'verifyAnchor'
      claim: Record<'l1StateRoot', Hex> & Pick<VectorClaim, 'rollup' | 'l2BlockNumber'>
      proof: unknown
    }
  | { operation: 'encodeHeader'; block: unknown }
  | { operation: 'verifyCode'; code: unknown; codeHash: Hex }

export type EvidenceVector = VectorInput & {
  description: string
  /** The class of mistakes that an invalid vector detects. */
  flag?: Flag
  expected: Accepted | Refused
}
