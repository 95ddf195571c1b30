import { invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError, type ProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { hexOf, optional, unread } from '../../base/json/decoders.ts'
import { decodeKeys, readHex, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { quantityOf, reader } from '../../verify/evidence/fields.ts'
import type { Hint } from '../l1/finalizations.ts'
import { verifyHashSource } from '../l1/l1-block-hash.ts'
import { readNetwork } from '../network/network.ts'
import type { RecordOptions } from '../record/record.ts'
import { type OnFailure, openEndpoints } from '../sources/endpoints.ts'
import { verifyClientOptions } from '../sources/fetch.ts'
import type { EndpointError, Layer } from '../transport/error.ts'
import { MAX_INTERVAL } from '../transport/limits.ts'
import { verifySignal } from '../transport/waiting.ts'

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

export type L1Mark = Pick<L1Block, 'number' | 'hash'>

/** A finalization that was proven, and what the contract holds for it: the root of the state, or the hash of the block. */
interface Finalized {
  readonly l2BlockNumber: bigint
  readonly stateRoot: Hex | undefined
  readonly blockHash: Hex | undefined
  /** The code of the contract then. */
  readonly implementation: Hex
}

/** How far a follower is, as data: every step makes a new one. */
export interface Course {
  /** What was yielded last. */
  readonly last: Finalized | null
  /** The newest L1 block that was looked at. */
  readonly trusted: L1Mark | null
  /** Everything finalized up to this L1 block was yielded, or is to be. */
  readonly listedTo: bigint | null
  /** Not yielded yet, oldest first. */
  readonly pending: readonly Hint[]
  /** Rounds in a row without the proofs of the next finalization. */
  readonly missingRounds: number
}

export function writeState(rollup: Hex, last: Finalized, { number, hash }: L1Mark): FollowProgress {
  const { stateRoot, blockHash, implementation } = last
  return {
    version: 1,
    rollup,
    l2BlockNumber: encodeQuantity(last.l2BlockNumber),
    ...(stateRoot && { stateRoot }),
    ...(blockHash && { blockHash }),
    implementation,
    l1Block: { number: encodeQuantity(number), hash },
  }
}

const FIELDS = ['version', 'rollup', 'l2BlockNumber', 'stateRoot', 'blockHash', 'implementation', 'l1Block'] as const

/** Where to begin. @param state null for a new one @throws ArgumentError if it is not a state, or one of another rollup */
function readState(state: unknown, rollup: Hex): Course {
  const begun = { last: null, trusted: null, listedTo: null, pending: [], missingRounds: 0 }
  if (state === null) return begun
  const invalid = (found: string) => new ArgumentError({ path: 'resumeFrom', found })
  const foreign = invalid('it is not what followFinalizations handed out')
  const bytes = (length: number) => hexOf(reader, length)
  try {
    const field = reader.fieldsOf(state, FIELDS)
    if (field('version', reader.number) !== 1) throw invalid('it is of another version')
    if (field('rollup', bytes(20)) !== rollup) throw invalid('it is of another rollup')
    const [stateRoot, blockHash] = [field('stateRoot', optional(bytes(32))), field('blockHash', optional(bytes(32)))]
    if ((stateRoot === undefined) === (blockHash === undefined)) throw foreign
    const [l2BlockNumber, implementation] = [field('l2BlockNumber', quantityOf(64)), field('implementation', bytes(20))]
    const last = { l2BlockNumber, stateRoot, blockHash, implementation }
    const fieldOfL1 = reader.fieldsOf(field('l1Block', unread), ['number', 'hash'])
    const trusted = { number: fieldOfL1('number', quantityOf(64)), hash: fieldOfL1('hash', bytes(32)) }
    return { ...begun, last, trusted }
  } catch (error) {
    throw isProofError(error) ? foreign : error
  }
}

export type Settings = ReturnType<typeof verifyFollowOptions>

/** What all followers take. */
const SOURCES = ['l1', 'l2', 'network', 'l1BlockHash', 'maxKeysPerRequest', 'signal']
export const FOLLOWING = [...SOURCES, 'fromL2BlockNumber', 'resumeFrom', 'pollIntervalMs', 'onEvent']

export function verifyFollowOptions(options: FollowOptions) {
  const own = readOptions('', options, [...FOLLOWING, 'requests', 'skipUnavailable'])
  const { l1BlockHash, requests = [], fromL2BlockNumber: from, resumeFrom = null, onEvent, signal } = own
  const { skipUnavailable = false, pollIntervalMs = 60_000, maxKeysPerRequest } = own
  const network = readNetwork(own.network)
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
  const checked = { l1BlockHash, from, skipUnavailable, pollIntervalMs, onEvent, signal }
  return {
    ...network,
    ...checked,
    l1: openEndpoints('l1', own.l1, 'L1', { onFailure, signal }),
    l2: openEndpoints('l2', own.l2, 'L2', { onFailure, signal }),
    requests: readItems('requests', requests, readRequest),
    begun: readState(resumeFrom, network.rollup.address),
    how: verifyClientOptions({ rollup: network.rollup, maxKeysPerRequest }),
  }
}

function readRequest(request: FollowRequest) {
  const { address, storageKeys = [] } = readOptions('', request, ['address', 'storageKeys'])
  return { address: readHex('address', address, 20), storageKeys: decodeKeys(storageKeys).map(bytesToHex) }
}
