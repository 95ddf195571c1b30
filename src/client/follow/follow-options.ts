import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { decodeKeys, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import { readNetwork } from '../network/network.ts'
import type { RecordOptions } from '../record/record.ts'
import { type OnFailure, type OnWait, openEndpoints } from '../sources/endpoints.ts'
import { type RollupClientOptions, verifyClientOptions } from '../sources/fetch.ts'
import type { EndpointError, Layer } from '../transport/error.ts'
import { MAX_INTERVAL } from '../transport/limits.ts'
import { verifyHashSource, verifySignal } from '../transport/options.ts'
import { readState } from './follow-state.ts'

/** An account and its slots to prove at every finalization. */
export interface FollowRequest {
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[] | undefined
}

/**
 * What happened, for logs and metrics: `name` tells the events apart. The attributes are in the style of OpenTelemetry: numbers
 * are numbers, and `error.type` is the code of the error. No error holds a URL or an API key.
 */
export type FollowEvent =
  | {
      /** It asked for the trusted L1 block hash. */
      name: 'follow.poll'
      /** The L1 block, if it is new. */
      attributes: {
        /** Number of the L1 block. */
        'l1.block.number'?: number | undefined
      }
    }
  | {
      /** It yields an item. */
      name: 'follow.finalization'
      /** The two blocks, and the time of the L2 block in seconds since 1970, if it is proven. */
      attributes: {
        /** Number of the L2 block. */
        'l2.block.number': number
        /** Number of the L1 block. */
        'l1.block.number': number
        /** In seconds since 1970. */
        'l2.block.timestamp'?: number | undefined
      }
    }
  | {
      /** An endpoint failed, or its answer was refused. */
      name: 'follow.request.failed'
      /** Which endpoint: its layer, and its index from 0. */
      attributes: {
        /** What it serves. */
        layer: Layer
        /** From 0. */
        'endpoint.index': number
        /** The code of the error. */
        'error.type': string
      }
      /** What failed. */
      error: EndpointError | ProofError
    }
  | {
      /** An endpoint limits the rate, so requests wait. Told every five seconds at most. */
      name: 'follow.waiting'
      /** The endpoint, and what is known of its rate. */
      attributes: {
        /** Of the endpoint. */
        layer: Layer
        /** From 0. */
        'endpoint.index': number
        /** Requests that wait for their turn. */
        'queue.waiting': number
        /** How many requests per second the endpoint seems to allow. Undefined as long as that is not known. */
        'queue.requests_per_second': number | undefined
        /** Milliseconds until the next request, because the endpoint is busy. */
        'queue.pause': number
      }
    }
  | {
      /** The source of the L1 block hash names an older block than before: it lags, or it is of another chain. Nothing follows from it. */
      name: 'follow.l1.behind'
      /** Both blocks. */
      attributes: {
        /** Number of the L1 block. */
        'l1.block.number': number
        /** Number of the newest L1 block so far. */
        'l1.block.newest': number
      }
    }
  | {
      /** The logs of an L1 endpoint lack the newest finalization. */
      name: 'follow.logs.unusable'
      /** The index of the L1 endpoint, from 0. */
      attributes: {
        /** From 0. */
        'endpoint.index': number
      }
    }
  | {
      /**
       * - `follow.hint.refused`: an endpoint named a finalization that never was.
       * - `follow.proof.unavailable`: no L2 endpoint has the proofs of the block.
       * - `follow.skipped`: no L2 endpoint has these proofs any longer, and `skipUnavailable` is set.
       */
      name: 'follow.hint.refused' | 'follow.proof.unavailable' | 'follow.skipped'
      /** The L2 block. */
      attributes: {
        /** Number of the L2 block. */
        'l2.block.number': number
      }
    }
  | {
      /** The contract has other code than before: since the last item, or since the progress that it continues from. */
      name: 'follow.implementation.changed'
      /** The addresses of the code, 20 bytes each, and the L1 block in which it was seen. */
      attributes: {
        /** Number of the L1 block. */
        'l1.block.number': number
        /** The code before. */
        'implementation.old': Hex
        /** The code now. */
        'implementation.new': Hex
      }
    }
  | {
      /** After a failure, it waits. */
      name: 'follow.retry'
      /** How many failures in a row, and how long it waits, in milliseconds. */
      attributes: {
        /** From 1. */
        'retry.count': number
        /** In milliseconds. */
        'retry.delay': number
        /** The code of the error. */
        'error.type': string
      }
      /** What failed. */
      error: EndpointError | ProofError
    }

/** The endpoints, the rollup and what to prove. */
export interface FollowOptions<Requests extends readonly FollowRequest[] = readonly FollowRequest[]>
  extends Pick<RollupClientOptions, 'maxKeysPerRequest'>,
    Pick<RecordOptions, 'l1' | 'l2' | 'network'> {
  /**
   * Returns the hash of a recent finalized L1 block. Every proof rests on it. See `finalizedBlockHash`, `agreeingBlockHash` and
   * `beaconBlockHash`, or ask a light client.
   */
  l1BlockHash: () => Promise<Hex> | Hex
  /** What to prove at every finalization. Default: only the state root. */
  requests?: Requests | undefined
  /** Start with the first finalization at or above this L2 block. Default: the newest. */
  fromL2BlockNumber?: bigint | undefined
  /**
   * The `progress` of the last item that you acted on, to continue after it; null counts as none. `fromL2BlockNumber` is then
   * ignored.
   */
  resumeFrom?: unknown
  /** Yield only the newest finalization that has proofs, not all of them. Default: false. */
  newestOnly?: boolean | undefined
  /** Skip a finalization whose proofs no L2 endpoint has any longer, in 4 rounds. Default: false, which throws. */
  skipUnavailable?: boolean | undefined
  /** Milliseconds between polls, give or take a tenth. Default: 60,000. */
  pollIntervalMs?: number | undefined
  /** The longest pause after failures, in milliseconds. Pauses start at about a second and double. Default: 300,000. */
  maxBackoffMs?: number | undefined
  /** Called with every event. If it throws, the iteration ends with that error. */
  onEvent?: ((event: FollowEvent) => void) | undefined
  /** Aborts the iteration, which then throws the EndpointError `ABORTED`. */
  signal?: AbortSignal | undefined
}

export type Settings = ReturnType<typeof verifyFollowOptions>

/** Checks everything before the first request. */
export function verifyFollowOptions(options: FollowOptions) {
  const own = readOptions('', options, [
    ...['l1', 'l2', 'network', 'maxKeysPerRequest', 'l1BlockHash', 'requests', 'fromL2BlockNumber', 'resumeFrom'],
    ...['newestOnly', 'skipUnavailable', 'pollIntervalMs', 'maxBackoffMs', 'onEvent', 'signal'],
  ])
  const { l1BlockHash, requests = [], fromL2BlockNumber: from, onEvent, signal } = own
  const { newestOnly = false, skipUnavailable = false } = own
  const { pollIntervalMs: pollInterval = 60_000, maxBackoffMs: maxBackoff = 300_000 } = own
  const resumeFrom = own.resumeFrom ?? undefined
  const { rollup, schemeAt } = readNetwork(own.network)
  const { method, maxKeysPerRequest } = verifyClientOptions({ rollup, maxKeysPerRequest: own.maxKeysPerRequest })
  verifyHashSource(l1BlockHash)
  if (from !== undefined) verifyUint('fromL2BlockNumber', from, 64)
  for (const [name, value] of Object.entries({ newestOnly, skipUnavailable })) {
    if (typeof value !== 'boolean') throw invalid(name, 'true or false', value)
  }
  verifyWhole('pollIntervalMs', pollInterval, 1, MAX_INTERVAL)
  verifyWhole('maxBackoffMs', maxBackoff, 1, MAX_INTERVAL)
  verifyFunction('onEvent', onEvent)
  verifySignal(signal)
  const onFailure: OnFailure = (layer, index, error) => {
    const attributes = { layer, 'endpoint.index': index, 'error.type': error.code }
    onEvent?.({ name: 'follow.request.failed', attributes, error })
  }
  const onWait: OnWait = (layer, index, { waiting, requestsPerSecond, pauseMs }) => {
    const queue = { 'queue.waiting': waiting, 'queue.requests_per_second': requestsPerSecond, 'queue.pause': pauseMs }
    onEvent?.({ name: 'follow.waiting', attributes: { layer, 'endpoint.index': index, ...queue } })
  }
  return {
    l1: openEndpoints('l1', own.l1, 'L1', { onFailure, onWait, signal }),
    l2: openEndpoints('l2', own.l2, 'L2', { onFailure, onWait, signal }),
    rollup,
    schemeAt,
    l1BlockHash,
    requests: readItems('requests', requests, readRequest),
    from,
    position: resumeFrom === undefined ? null : readState(resumeFrom, rollup.address),
    ...{ newestOnly, skipUnavailable, pollInterval, maxBackoff, onEvent, signal },
    how: { method, maxKeysPerRequest },
  }
}

function readRequest(request: FollowRequest) {
  const { address, storageKeys = [] } = readOptions('', request, ['address', 'storageKeys'])
  return {
    address: bytesToHex(decodeArgument('address', address, 20)),
    storageKeys: decodeKeys(storageKeys).map(bytesToHex),
  }
}
