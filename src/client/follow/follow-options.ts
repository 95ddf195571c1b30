import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { decodeKeys, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import { readNetwork } from '../network/network.ts'
import type { RecordOptions } from '../record/record.ts'
import { openEndpoints } from '../sources/endpoints.ts'
import { type RollupClientOptions, verifyClientOptions } from '../sources/fetch.ts'
import type { OnFailure } from '../sources/pool.ts'
import type { EndpointError, Layer } from '../transport/error.ts'
import { MAX_INTERVAL } from '../transport/limits.ts'
import { verifyHashSource, verifySignal } from '../transport/waiting.ts'
import { readState } from './follow-state.ts'

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
export interface FollowOptions
  extends Pick<RollupClientOptions, 'maxKeysPerRequest'>,
    Pick<RecordOptions, 'l1' | 'l2' | 'network'> {
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

export type Settings = ReturnType<typeof verifyFollowOptions>

/** What all followers take. */
export const FOLLOWING = [
  'l1',
  'l2',
  'network',
  'l1BlockHash',
  'maxKeysPerRequest',
  'fromL2BlockNumber',
  'resumeFrom',
  'pollIntervalMs',
  'onEvent',
  'signal',
]

export function verifyFollowOptions(options: FollowOptions) {
  const own = readOptions('', options, [...FOLLOWING, 'requests', 'skipUnavailable'])
  const { l1BlockHash, requests = [], fromL2BlockNumber: from, resumeFrom = null, onEvent, signal } = own
  const { skipUnavailable = false, pollIntervalMs = 60_000, maxKeysPerRequest } = own
  const { rollup, scheme } = readNetwork(own.network)
  verifyHashSource(l1BlockHash)
  if (from !== undefined) verifyUint('fromL2BlockNumber', from, 64)
  if (typeof skipUnavailable !== 'boolean') throw invalid('skipUnavailable', 'true or false', skipUnavailable)
  verifyWhole('pollIntervalMs', pollIntervalMs, 1, MAX_INTERVAL)
  verifyFunction('onEvent', onEvent)
  verifySignal(signal)
  const onFailure: OnFailure = (layer, index, error) => {
    const attributes = { layer, 'endpoint.index': index, 'error.type': error.code }
    onEvent?.({ name: 'follow.request.failed', attributes, error })
  }
  return {
    l1: openEndpoints('l1', own.l1, 'L1', { onFailure, signal }),
    l2: openEndpoints('l2', own.l2, 'L2', { onFailure, signal }),
    rollup,
    scheme,
    l1BlockHash,
    requests: readItems('requests', requests, readRequest),
    from,
    begun: readState(resumeFrom, rollup.address),
    skipUnavailable,
    pollIntervalMs,
    onEvent,
    signal,
    how: verifyClientOptions({ rollup, maxKeysPerRequest }),
  }
}

function readRequest(request: FollowRequest) {
  const { address, storageKeys = [] } = readOptions('', request, ['address', 'storageKeys'])
  return {
    address: bytesToHex(decodeArgument('address', address, 20)),
    storageKeys: decodeKeys(storageKeys).map(bytesToHex),
  }
}
