import { invalid } from '../../base/arguments.ts'
import { readOptions, verifyFunction, verifyUint } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { fetchConsensus, readBeaconSource } from '../beacon/beacon.ts'
import type { BeaconSource } from '../beacon/beacon-chain.ts'
import { fetchL1Block, fetchNewest, type L1BlockTag, type L1Source } from '../l1/l1.ts'
import { type Endpoint, only, openEndpoints } from '../sources/endpoints.ts'
import type { OnFailure } from '../sources/pool.ts'
import type { Layer } from '../transport/error.ts'
import { verifySignal } from '../transport/waiting.ts'

/** Whom to ask, and where a recording starts. */
export interface RecordingOptions {
  /** One or more endpoints of the L1 on which the rollup is finalized. If one fails, the next is asked. */
  l1: Endpoint | readonly Endpoint[]
  /** One or more endpoints of the rollup. */
  l2: Endpoint | readonly Endpoint[]
  /** The L1 block to prove from. Default: `finalized`. */
  l1BlockNumber?: bigint | L1BlockTag | undefined
  /** Also proves the L1 block, from a beacon block that you trust. The L1 block is then the newest finalized one. */
  beacon?: BeaconSource | undefined
  /** Called at every step. If it throws, the recording ends with that error. */
  onProgress?: ((progress: RecordProgress) => void) | undefined
  /** Aborts the recording. */
  signal?: AbortSignal | undefined
}

export const RECORDING_FIELDS = ['l1', 'l2', 'l1BlockNumber', 'beacon', 'onProgress', 'signal']

/** A step of a recording. */
export type RecordProgress =
  | {
      /** Updates of the sync committee are fetched, about 60 kB each. Some of them are verified. */
      step: 'updates'
      /** How many so far. */
      done: number
      /** How many in total, as far as is known. */
      periods: number
    }
  | {
      /** The L1 block was fetched. */
      step: 'l1Block'
      /** Everything is proven from this block. */
      l1Block: L1Block
    }
  | {
      /** The rollup contract has the state root of this L2 block, or its hash; the L2 endpoint is asked for its proof. */
      step: 'l2Block'
      /** The last block of a finalization. */
      l2BlockNumber: bigint
    }
  | {
      /** No L2 endpoint has the proofs of this block, or says why not. The finalization before is tried. */
      step: 'proofUnavailable'
      /** The last block of a finalization. */
      l2BlockNumber: bigint
      /** The code of the error. */
      code: string
    }
  | {
      /** An endpoint failed, or its answer was refused. The next is asked, if there is one. */
      step: 'endpointFailed'
      /** The layer of the endpoint. */
      layer: Layer
      /** Index of the endpoint, from 0. */
      index: number
      /** The code of its error. */
      code: string
    }

const L1_TAGS: readonly unknown[] = ['finalized', 'safe', 'latest'] satisfies L1BlockTag[]

type Recording = ReturnType<typeof openRecording>

/** @param mayGoBack whether another L2 block may be asked for @throws ArgumentError */
export function openRecording(options: RecordingOptions, mayGoBack = false) {
  const { l1BlockNumber = 'finalized', onProgress, signal } = options
  verifyFunction('onProgress', onProgress)
  verifySignal(signal)
  if (typeof l1BlockNumber === 'bigint') verifyUint('l1BlockNumber', l1BlockNumber, 64)
  else if (!L1_TAGS.includes(l1BlockNumber))
    throw invalid('l1BlockNumber', `a bigint such as 3n, or one of ${L1_TAGS.join(', ')}`, l1BlockNumber)
  if (options.beacon !== undefined && options.l1BlockNumber !== undefined) {
    throw invalid('l1BlockNumber', 'nothing beside beacon, which finds the L1 block', l1BlockNumber)
  }
  const beacon = options.beacon && readOptions('beacon', options.beacon, ['apis', 'trusted', 'maxTrustedAgeSeconds'])
  const tell = (progress: RecordProgress) => onProgress?.(progress)
  const onFailure: OnFailure = (layer, index, { code }) => tell({ step: 'endpointFailed', layer, index, code })
  const l1 = openEndpoints('l1', options.l1, 'L1', { onFailure, signal })
  const l2 = openEndpoints('l2', options.l2, 'L2', { onFailure, signal, mayGoBack })
  return { l1, l2, l1BlockNumber, beacon: beacon && readBeaconSource(beacon, 'beacon'), onFailure, tell, signal }
}

/** The L1 block of a recording, and on what it rests. */
export type RecordBlock = Awaited<ReturnType<typeof fetchRecordBlock>>

export async function fetchRecordBlock(source: Recording & L1Source) {
  const { l1, l1BlockNumber, beacon, onFailure, tell, signal } = source
  const onUpdate = (done: number, periods: number) => tell({ step: 'updates', done, periods })
  const fetched = beacon && (await fetchConsensus(beacon, { onFailure, onUpdate }, signal))
  const id = fetched?.proven.l1BlockHash ?? l1BlockNumber
  // Nothing but its own word says which block an endpoint names. It must at least be able to prove something in it.
  const { newest, ...found } = await l1.run(async (provider, attempt) => {
    const alone = { ...source, l1: only(provider), signal: attempt.signal }
    const { block, l1Block } = await fetchL1Block(alone, id)
    attempt.heard()
    return { block, l1Block, newest: await fetchNewest(alone, l1Block) }
  }, signal)
  tell({ step: 'l1Block', l1Block: found.l1Block })
  return {
    ...found,
    /** The last finalized L2 block, proven. */
    newest,
    consensus: fetched?.consensus,
    trusted: beacon?.trusted ?? { l1BlockHash: found.l1Block.hash },
  }
}
