import type { Rollup } from '../../anchor/rollup.ts'
import type { Hex } from '../../bytes.ts'
import type { Trusted, VerifiedEvidence } from '../../evidence/types.ts'
import type { Recorded, RecordOptions } from '../../rpc/record.ts'
import type { Scheme } from '../../scheme/scheme.ts'
import type { Environment, Hardfork } from '../environment.ts'

/** A call in a bundle. */
export interface CallStatement {
  /** The caller, 20 bytes. */
  from: Hex
  /** The contract, 20 bytes. */
  to: Hex
  /** At most 1 MiB. */
  data: Hex
  /** In wei, a quantity. */
  value: Hex
  /** Gas limit of the transaction, a quantity. */
  gas: Hex
}

/**
 * A call as evidence: one JSON document with everything that an execution reads, and every proof from an L1 block hash to it.
 * Its JSON Schema is `docs/call-evidence.schema.json`.
 */
export interface CallBundle {
  /** The version of this format. */
  version: 1
  /** Distinguishes it from evidence of accounts and slots. */
  kind: 'call'
  /** The hash scheme of the rollup at the L2 block. */
  scheme: Scheme['name']
  /** Whose state it is. */
  rollup: {
    /** A label for people. It proves nothing. */
    name?: string | undefined
    /** The contract on L1, 20 bytes. */
    address: Hex
  }
  /** The block in which the call is executed, a quantity. */
  l2BlockNumber: Hex
  /** As in an `Evidence`. */
  consensus?: unknown
  /** As in an `Evidence`. */
  l1?: unknown
  /** Chain id of the rollup, a quantity. */
  chainId: Hex
  /** Determines the available instructions and their gas costs. */
  hardfork: Hardfork
  /** The block values that the execution reads and no proof covers, as stated by the author of the bundle. */
  environment: {
    /** Seconds since 1970, a quantity. */
    timestamp?: Hex
    /** In wei, a quantity. */
    baseFee?: Hex
    /** In wei, a quantity. */
    blobBaseFee?: Hex
    /** Gas limit of the block, a quantity. */
    gasLimit?: Hex
    /** 20 bytes. */
    coinbase?: Hex
    /** 32 bytes. */
    prevRandao?: Hex
    /** Block hashes by decimal block number, 32 bytes each. */
    blockHashes?: Record<string, Hex>
  }
  /** What is executed. */
  call: CallStatement
  /** The answers of `rollup_getProof` for each account that the execution reads, with the slots that it reads. */
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

/** What you know yourself. A bundle for anything else is refused. */
export interface CallClaim {
  /** `mimc` or `poseidon2`: the hash scheme of the rollup at the L2 block. */
  scheme: Scheme
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The value that everything is proven from. */
  trusted: Trusted
  /** Chain id of the rollup. */
  chainId: bigint
  /** Required if you trust an L2 state root. Default: any finalized block; check the returned number. */
  l2BlockNumber?: bigint
  /** The hard fork of the rollup at the L2 block. Default: `prague`. Under another hard fork, a call can end differently. */
  hardfork?: Hardfork
  /**
   * The parts of the call that you know, hexadecimal in any case. Default: those of the bundle; check the returned ones. Of the
   * gas, the default is 50,000,000: the bundle never decides it, because with less gas, an inner call can fail that would
   * otherwise succeed.
   */
  call?: Partial<VerifiedCall['call']>
  /** The highest gas limit to accept. Default: 50,000,000. */
  maxGas?: bigint
}

/** What a bundle proves about the block of the call. */
export type CallAnchor = VerifiedEvidence extends infer One
  ? One extends VerifiedEvidence
    ? Omit<One, 'account' | 'storage' | 'address'>
    : never
  : never

/** The outcome of a call, and what it rests on. */
export type VerifiedCall = CallAnchor & {
  /** Chain id of the rollup, as you stated it. */
  chainId: bigint
  /** The hard fork under which it was executed. */
  hardfork: Hardfork
  /** The block values that the execution read and no proof covers, as stated by the author of the bundle. */
  environment: Environment
  /** What was executed. */
  call: {
    /** 20 bytes, lower case. */
    from: Hex
    /** 20 bytes, lower case. */
    to: Hex
    /** At most 1 MiB, lower case. */
    data: Hex
    /** In wei. */
    value: bigint
    /** Gas limit of the transaction. */
    gas: bigint
  }
  /** How it ended. A call that reverts or fails is proven to do so. */
  outcome: 'returned' | 'reverted' | 'failed'
  /** What it returned, or reverted with. */
  returnData: Hex
  /** Gas used by the transaction, less refunds. */
  gasUsed: bigint
}

/** What to record evidence of. */
export interface CallEvidenceRequest {
  /** The hash scheme of the rollup at the L2 block. */
  scheme: Scheme
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** Chain id of the rollup. */
  chainId: bigint
  /** What to execute. */
  call: {
    /** The caller, 20 bytes. Default: the zero address. */
    from?: Hex
    /** The contract, 20 bytes. */
    to: Hex
    /** At most 1 MiB. Default: empty. */
    data?: Hex
    /** In wei. Default: 0. */
    value?: bigint
    /** Gas limit of the transaction. Default: 50,000,000, which is also the maximum. */
    gas?: bigint
  }
  /** The last block of a finalization. Default: the newest one whose proof the L2 endpoint holds. */
  l2BlockNumber?: bigint
  /** The hard fork of the rollup at the L2 block. Default: `prague`. */
  hardfork?: Hardfork
  /**
   * Block values that no proof covers, as you state them. The bundle keeps them apart from what is proven. Your timestamp is
   * used only if L1 proves none. Default: none.
   */
  environment?: Environment
}

/** How to record. */
export interface CallRecordOptions extends Omit<RecordOptions, 'resumeFrom'> {
  /** Limit on the requests for the execution. Default: 1000. */
  maxRequests?: number
}

/** A bundle, and what it proves. */
export interface RecordedCall extends Pick<Recorded, 'l1BlockHashFrom'> {
  /** The verified bundle, as JSON. */
  bundle: CallBundle
  /** What the bundle proves if you trust the L1 block hash, or the checkpoint. */
  verified: Extract<VerifiedCall, { trustedInput: 'beaconBlockRoot' | 'l1BlockHash' }>
}
