import type { Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import type { EvidenceBundle, VerifiedEvidence } from '../../verify/evidence/kinds/state.ts'
import type { Trusted } from '../../verify/evidence/trusted.ts'
import type { StateScheme } from '../../verify/state/kind.ts'
import type { RecordOptions } from '../record/record.ts'
import type { EndpointError, Layer } from '../transport/error.ts'

/** An account and its slots to prove at every finalization. */
export interface FollowRequest {
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[] | undefined
}

/** What events tell, in the style of OpenTelemetry: numbers are numbers. */
interface Attributes {
  /** Number of the L1 block. */
  'l1.block.number': number
  /** Number of the newest L1 block so far. */
  'l1.block.newest': number
  /** Number of the L2 block. */
  'l2.block.number': number
  /** What the endpoint serves. */
  layer: Layer
  /** Index of the endpoint, from 0. */
  'endpoint.index': number
  /** The code of the error. */
  'error.type': string
  /** The code of the contract before, 20 bytes. */
  'implementation.old': Hex
  /** The code now, 20 bytes. */
  'implementation.new': Hex
  /** Failures in a row, from 1. */
  'retry.count': number
  /** How long it waits, in milliseconds. */
  'retry.delay': number
}

/** An event, and what it tells. */
interface Event<Name extends string, Told extends keyof Attributes> {
  /** What happened. */
  name: Name
  /** About what. */
  attributes: Pick<Attributes, Told>
}

/** An event of a failure. */
interface Failure<Name extends string, Told extends keyof Attributes> extends Event<Name, Told | 'error.type'> {
  /** What failed. */
  error: EndpointError | ProofError
}

/**
 * What happened, for logs and metrics: `name` tells the events apart. No error holds a URL or an API key.
 *
 * - `follow.request.failed`: an endpoint failed, its answer was refused, or what it lists was: `L1_CONTRADICTION` if it lacks the
 *   newest finalization, or names one that never was.
 * - `follow.l1.behind`: the source of the L1 block hash names an older block than before: it lags, or it is of another chain.
 *   Nothing follows from it.
 * - `follow.skipped`: no L2 endpoint has the proofs of this block any longer, and `skipUnavailable` is set.
 * - `follow.implementation.changed`: the contract has other code than before: since the last item, or since the progress that it
 *   continues from. The L1 block is that in which it was seen.
 * - `follow.retry`: after a failure, it waits. With `BLOCK_MISSING`, no L2 endpoint has the proofs of a block yet.
 */
export type FollowEvent =
  | Failure<'follow.request.failed', 'layer' | 'endpoint.index'>
  | Event<'follow.l1.behind', 'l1.block.number' | 'l1.block.newest'>
  | Event<'follow.skipped', 'l2.block.number'>
  | Event<'follow.implementation.changed', 'l1.block.number' | 'implementation.old' | 'implementation.new'>
  | Failure<'follow.retry', 'retry.count' | 'retry.delay'>

/** The endpoints, the rollup and what to prove. */
export interface FollowOptions extends Pick<RecordOptions, 'l1' | 'l2' | 'network' | 'maxKeysPerRequest'> {
  /**
   * Returns the hash of a recent finalized L1 block. Every proof rests on it. See `finalizedBlockHash` and
   * `beaconBlockHash`, or ask a light client.
   */
  l1BlockHash: () => Promise<Hex> | Hex
  /** What to prove at every finalization. Default: only the state root. */
  requests?: readonly FollowRequest[] | undefined
  /** Start with the first finalization at or above this L2 block. Default: the newest. */
  fromL2BlockNumber?: bigint | undefined
  /**
   * The `progress` of the last item that you acted on, to continue after it; null counts as none. `fromL2BlockNumber` is then
   * ignored.
   */
  resumeFrom?: unknown
  /** Skip a finalization whose proofs no L2 endpoint has any longer, in 4 rounds. Default: false, which throws. */
  skipUnavailable?: boolean | undefined
  /** Milliseconds between polls, give or take a tenth. Default: 60,000. */
  pollIntervalMs?: number | undefined
  /** Called with every event. If it throws, the iteration ends with that error. */
  onEvent?: ((event: FollowEvent) => void) | undefined
  /** Aborts the iteration, which then throws the EndpointError `ABORTED`. */
  signal?: AbortSignal | undefined
}

/** How far a rollup has been followed: small, plain JSON. Store it, and pass it to `followFinalizations` to continue. */
export interface FollowProgress {
  /** The version of this format. */
  version: 1
  /** The rollup contract on L1, 20 bytes. */
  rollup: Hex
  /** The last L2 block of the newest finalization that was yielded. A quantity. */
  l2BlockNumber: Hex
  /** The root of its state, 32 bytes, which the contract must still name later. */
  stateRoot?: Hex
  /** In place of the root: the hash of the block, 32 bytes, if that is what the contract holds. */
  blockHash?: Hex
  /** The code of the contract, 20 bytes, as it was then. */
  implementation: Hex
  /** The L1 block from which it was proven. */
  l1Block: {
    /** A quantity. */
    number: Hex
    /** 32 bytes. It was trusted when it was stored, and stays true. */
    hash: Hex
  }
}

/** One finalization, proven. */
export interface FollowedFinalization {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes: of a tree with a hash scheme, or of an Ethereum state if there is a `blockHash`. */
  stateRoot: Hex
  /** Hash of the block, 32 bytes, if that is what L1 holds. The state is then that of Ethereum. */
  blockHash: Hex | undefined
  /** The block with this hash. */
  l2Block: BlockHeader | undefined
  /**
   * Time of that block, in seconds since 1970, which its header proves. If L1 holds its state root, undefined unless L1 proves it: it
   * was no longer the newest one, or no L1 endpoint serves the log.
   */
  finalizedTimestamp: bigint | undefined
  /** The last finalized L2 block at the L1 block. */
  currentL2BlockNumber: bigint
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** The code of the contract, 20 bytes, lower case; zero if the contract is no proxy (EIP-1967). */
  implementation: Hex
  /** What is proven for each request, in order. */
  verified: VerifiedEvidence<Extract<Trusted, { l1BlockHash: Hex }>, bigint, readonly Hex[], StateScheme>[]
  /** One bundle per request, in order: anyone can verify the same values with it. */
  bundles: EvidenceBundle<StateScheme>[]
  /** Save it once you have acted on the item. Pass it to a later call to continue with the next item. */
  progress: FollowProgress
}
