import type { Hex } from '../../base/bytes.ts'
import type { Hardfork } from '../../client/network/network.ts'
import type { Recorded, RecordOptions } from '../../client/record/record.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import type { BundleHead, HeadClaim } from '../../verify/evidence/head.ts'
import type { ProvenState } from '../../verify/evidence/kinds/state.ts'
import type { Trusted } from '../../verify/evidence/trusted.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { StateScheme } from '../../verify/state/kind.ts'
import type { Environment } from '../options.ts'

/** A call that is executed. */
export interface EvidenceCall {
  /** The caller, 20 bytes. */
  from: Hex
  /** The contract, 20 bytes. */
  to: Hex
  /** At most 1 MiB. */
  data: Hex
  /** In wei. */
  value: bigint
  /** Gas limit of the transaction, at most 50,000,000. */
  gas: bigint
}

/** As JSON: numbers are quantities. */
type InJson<T> = { [Name in keyof T]: T[Name] extends bigint | undefined ? Hex : T[Name] }

/** A call as evidence: one JSON document with everything that an execution reads, and every proof from an L1 block hash to it. */
export interface CallBundle<Kind extends StateScheme = Scheme> extends BundleHead<Kind> {
  /** What it proves. */
  kind: 'call'
  /** Chain id of the rollup, a quantity. */
  chainId: Hex
  /** Determines the available instructions and their gas costs. */
  hardfork: Hardfork
  /**
   * The block values that the execution reads and no proof covers, as stated by the author of the bundle. Numbers are
   * quantities.
   */
  environment: InJson<Environment>
  /** What is executed. Numbers are quantities. */
  call: InJson<EvidenceCall>
  /** The answers of `rollup_getProof`, or `eth_getProof`, for each account that the execution reads, with the slots that it reads. */
  answers: {
    /** 20 bytes. */
    address: Hex
    /** 32 bytes each. */
    storageKeys: Hex[]
    /** The result. */
    answer: unknown
  }[]
  /** Each contract code that the execution reads, once. */
  codes: Hex[]
}

/**
 * What you know yourself. A bundle for anything else is refused. Where you write `'fromBundle'`, whoever made the bundle
 * chooses: check the value that is returned.
 */
export interface CallClaim<Trust extends Trusted = Trusted, Kind extends StateScheme = Scheme>
  extends HeadClaim<Trust, bigint | 'fromBundle', Kind> {
  /** Chain id of the rollup. Default: that of `rollup`. */
  chainId?: number | bigint | undefined
  /** The hard fork of the rollup at the L2 block; or `'fromBundle'`. Under another hard fork, a call can end differently. */
  hardfork: Hardfork | 'fromBundle'
  /**
   * The call that you expect, every part of it, where `'fromBundle'` stands for any; or `'fromBundle'`: any call. Hexadecimal is
   * in upper or lower case. `recordCall` uses a gas limit of 50,000,000 by default. With less gas, an inner call can fail that
   * would otherwise succeed, and the result be another one.
   */
  call: StatedCall | 'fromBundle'
}

export type StatedCall = { [Name in keyof EvidenceCall]: EvidenceCall[Name] | 'fromBundle' }

/** How to verify. */
export interface CallVerifyOptions {
  /** Aborts the verification of the state and the execution of the call, at any time. */
  signal?: AbortSignal | undefined
  /**
   * Milliseconds for everything. Then the verification fails with `TIMEOUT`: whoever makes a bundle chooses how long the call
   * computes. Default: 10,000.
   */
  timeoutMs?: number | undefined
}

/** How a call ended. A call that reverts or fails is proven to do so. */
export type CallOutcome =
  | {
      /** It succeeded. */
      outcome: 'returned'
      /** What it returned. */
      returnData: Hex
    }
  | {
      /** It undid what it did. */
      outcome: 'reverted'
      /** What the contract gave as the reason. */
      revertData: Hex
    }
  | {
      /** It ran out of gas, or met an invalid instruction. */
      outcome: 'failed'
    }

/** The outcome of a call, and what it rests on. */
export type VerifiedCall<Trust extends Trusted = Trusted, Kind extends StateScheme = Scheme> = ProvenState<
  Trust,
  Kind
> &
  CallOutcome & {
    /** Chain id of the rollup, as you passed it. */
    chainId: bigint
    /** The hard fork under which it was executed. */
    hardfork: Hardfork
    /** The block values that the execution read and no proof covers, as stated by the author of the bundle. */
    environment: Environment
    /** What was executed. Hexadecimal is in lower case. */
    call: EvidenceCall
    /** Whether there is code at `to`. Otherwise, unless it is a precompile, the call returned nothing, whatever it asked. */
    hasCode: boolean
    /** Gas used by the transaction, less refunds. */
    gasUsed: bigint
  }

/** What to execute and record, and how. */
export interface CallRecordOptions extends Omit<RecordOptions, 'address' | 'storageKeys'> {
  /** What to execute. Default: from the zero address, no data, no value, and a gas limit of 50,000,000. */
  call: Pick<EvidenceCall, 'to'> & { [Name in keyof EvidenceCall]?: EvidenceCall[Name] | undefined }
  /**
   * Block values that no proof covers, as you pass them. The bundle keeps them apart from what is proven. Your timestamp is
   * used only if L1 proves none. Default: none.
   */
  environment?: Environment | undefined
  /** Limit on the requests for the execution. Default: 1000. */
  maxRequests?: number | undefined
  /**
   * Milliseconds for executing the call, including what it fetches, and again for verifying the bundle. Then recording fails
   * with `TIMEOUT`. Default: 10,000.
   */
  timeoutMs?: number | undefined
}

/** A bundle, and what it proves: `scheme` tells the two kinds apart. */
export type RecordedCall<Kind extends StateScheme = StateScheme> = Kind extends StateScheme
  ? Pick<Recorded<readonly Hex[], Kind>, 'scheme'> & {
      /** The verified bundle, as JSON. */
      bundle: CallBundle<Kind>
      /** What the bundle proves to whoever trusts the hash of its L1 block, or the beacon block. */
      verified: VerifiedCall<
        | TrustedBeaconBlock
        | {
            /** keccak256 of its header, 32 bytes. */
            l1BlockHash: Hex
          },
        Kind
      >
    }
  : never
