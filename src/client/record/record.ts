import { invalid, readKeys } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { readHex, readOptions, verifyFunction, verifyUint } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { createBundle, type EvidenceBundle, type VerifiedEvidence } from '../../verify/evidence/kinds/state.ts'
import type { Trusted } from '../../verify/evidence/trusted.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { kindName, type NameOf, type StateScheme } from '../../verify/state/kind.ts'
import { fetchConsensus, readBeaconSource } from '../beacon/beacon.ts'
import type { BeaconSource } from '../beacon/beacon-chain.ts'
import { stepBack, walkAnchors } from '../l1/finalizations.ts'
import { type Anchor, fetchL1Block, fetchNewest, fetchTimestamp, type L1BlockTag, openAnchor } from '../l1/l1.ts'
import { type Network, readNetwork } from '../network/network.ts'
import { type Endpoint, type OnFailure, only, openEndpoints } from '../sources/endpoints.ts'
import { fetchState, type RollupClientOptions, verifyClientOptions } from '../sources/fetch.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import { isFailure, isPassing, type Layer, orFailure } from '../transport/error.ts'
import { DEFAULT_FINALIZATIONS } from '../transport/limits.ts'
import { verifySignal } from '../transport/waiting.ts'

/** What to record evidence for, and how. */
export interface RecordOptions<Keys extends readonly Hex[] = readonly Hex[]>
  extends Pick<RollupClientOptions, 'maxKeysPerRequest'> {
  /** The rollup and its L1, such as `lineaMainnet` of `rollup-state-proof/networks`. */
  network: Network
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
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: Keys | undefined
  /** The last block of a finalization. Default: the newest of the last eight with proofs on an L2 endpoint. */
  l2BlockNumber?: bigint | undefined
}

/** Whom to ask, and where a recording starts. */
export type RecordingOptions = Omit<RecordOptions, 'address' | 'storageKeys' | 'maxKeysPerRequest' | 'l2BlockNumber'>

export const RECORDING_FIELDS = ['network', 'l1', 'l2', 'l1BlockNumber', 'beacon', 'onProgress', 'signal']

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

/** @param mayGoBack whether another L2 block may be asked for @throws ArgumentError */
export function openRecording(options: RecordingOptions, mayGoBack = false) {
  const network = readNetwork(options.network)
  const { l1BlockNumber = 'finalized', onProgress, signal } = options
  verifyFunction('onProgress', onProgress)
  verifySignal(signal)
  if (typeof l1BlockNumber === 'bigint') verifyUint('l1BlockNumber', l1BlockNumber, 64)
  else if (!L1_TAGS.includes(l1BlockNumber))
    throw invalid('l1BlockNumber', `a bigint such as 3n, or one of ${L1_TAGS.join(', ')}`, l1BlockNumber)
  if (options.beacon !== undefined && options.l1BlockNumber !== undefined) {
    throw invalid('l1BlockNumber', 'nothing beside beacon, which finds the L1 block', l1BlockNumber)
  }
  const given = options.beacon && readOptions('beacon', options.beacon, ['apis', 'trusted', 'maxTrustedAgeSeconds'])
  const tell = (progress: RecordProgress) => onProgress?.(progress)
  const onFailure: OnFailure = (layer, index, { code }) => tell({ step: 'endpointFailed', layer, index, code })
  const l1 = openEndpoints('l1', options.l1, 'L1', { onFailure, signal })
  const l2 = openEndpoints('l2', options.l2, 'L2', { onFailure, signal, mayGoBack })
  const beacon = given && readBeaconSource(given, 'beacon')
  return { ...network, l1, l2, l1BlockNumber, beacon, onFailure, tell, signal }
}

/** The L1 block of a recording, and on what it rests. */
export type RecordBlock = Awaited<ReturnType<typeof fetchRecordBlock>>

export async function fetchRecordBlock(source: ReturnType<typeof openRecording>) {
  const { l1, l1BlockNumber, beacon, onFailure, tell, signal } = source
  const onUpdate = (done: number, periods: number) => tell({ step: 'updates', done, periods })
  const fetched = beacon && (await fetchConsensus(beacon, { onFailure, onUpdate }, signal))
  const id = fetched?.proven.l1BlockHash ?? l1BlockNumber
  // Nothing but its own word says which block an endpoint names. It must at least be able to prove something in it.
  const found = await l1.run(async (provider, attempt) => {
    const alone = { ...source, l1: only(provider), signal: attempt.signal }
    const { block, l1Block } = await fetchL1Block(alone, id)
    attempt.heard()
    return { block, l1Block, newest: await fetchNewest(alone, l1Block, beacon !== undefined) }
  }, signal)
  tell({ step: 'l1Block', l1Block: found.l1Block })
  const trusted = beacon?.trusted ?? { l1BlockHash: found.l1Block.hash }
  return { ...found, consensus: fetched?.consensus, trusted }
}

/** What a recording rests on. */
export type TrustedL1Block = Extract<Trusted, { beaconBlockRoot: Hex } | { l1BlockHash: Hex }>

/** A bundle, and what it proves: `scheme` tells the two kinds apart. */
export type Recorded<
  Keys extends readonly Hex[] = readonly Hex[],
  Kind extends StateScheme = StateScheme,
> = Kind extends StateScheme
  ? {
      /** The kind of the state: that of Ethereum if L1 holds the hash of the block, and otherwise the hash scheme that you stated. */
      scheme: NameOf<Kind>
      /** The bundle, verified; plain JSON. */
      bundle: EvidenceBundle<Kind>
      /**
       * What the bundle proves to whoever trusts the beacon block, or the hash of its L1 block. An L1 endpoint names that hash, and
       * nothing proves it: compare it with a source that you trust.
       */
      verified: VerifiedEvidence<TrustedL1Block, bigint, Keys, Kind>
    }
  : never

/**
 * Records an evidence bundle: finds the newest finalized L2 block with proofs on the L2 endpoint, and fetches the L1 header,
 * the proof of the rollup contract and the answer. For the newest finalized block, the bundle also proves its timestamp if an
 * L1 endpoint serves the contract's logs. If L1 holds the hash of the block instead of a state root, the bundle has its header,
 * which proves the timestamp and the root of an Ethereum state, and the answer is that of `eth_getProof`. Everything is
 * verified on arrival; if an endpoint fails or lies, the next one is asked. The bundle holds known fields only.
 *
 * @param options what to record, from where, and how
 * @throws EndpointError with the `layer` of the endpoint that failed: `PROOF_UNAVAILABLE`, `L1_HISTORY_MISSING`,
 * `L1_CONTRADICTION`, ...; `ABORTED` with the signal's reason as its `cause`. ProofError if no answer verifies. ArgumentError
 * if an option is missing, unknown or wrong. None contains a URL or an API key
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { recordEvidence } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { name: 'devnet', address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url: l2, l1Url: l1 } = await service.listen()
 *
 * const address = `0x${'b2'.repeat(20)}` as const
 * const { verified } = await recordEvidence({ l1, l2, network: { rollup, scheme: poseidon2 }, address })
 * console.log(verified.account?.balance, verified.l2BlockNumber, verified.l1Block.number) // 13n 8n 63n
 * await service.close()
 * ```
 */
export async function recordEvidence<const Keys extends readonly Hex[] = []>(
  options: RecordOptions<Keys>,
): Promise<Recorded<Keys>> {
  const { scheme, bundle, verified } = await recordState(options)
  // The bundle and what it proves are of this kind, and the slots are those of the keys.
  return { scheme: kindName(scheme), bundle, verified } as Recorded<Keys>
}

/** Which slots of the block, if that depends on it. @throws ArgumentError if it is not the right one */
type KeysAt = (l2BlockNumber: bigint, scheme: StateScheme) => readonly Hex[]

/** Checks everything before the first request. @param keysAt in place of the storage keys of the options */
export async function recordState(options: RecordOptions, keysAt?: KeysAt) {
  const recording = readRecording(options, keysAt)
  return redactProofErrors(() => record(recording), ...recording.l1.sources, ...recording.l2.sources)
}

function readRecording(options: RecordOptions, keysAt?: KeysAt) {
  const names = ['address', 'storageKeys', 'maxKeysPerRequest', 'l2BlockNumber']
  const own = readOptions('', options, [...RECORDING_FIELDS, ...names])
  const { l2BlockNumber, maxKeysPerRequest } = own
  const recording = openRecording(own, l2BlockNumber === undefined)
  if (l2BlockNumber !== undefined) verifyUint('l2BlockNumber', l2BlockNumber, 64)
  const storageKeys = readKeys(own.storageKeys ?? []).map(({ text }) => text)
  return {
    ...recording,
    l2BlockNumber,
    address: readHex('address', own.address, 20),
    keysAt: keysAt ?? (() => storageKeys),
    how: verifyClientOptions({ rollup: recording.rollup, maxKeysPerRequest }),
  }
}

async function record(recording: ReturnType<typeof readRecording>) {
  const { rollup, l2, address, tell, l2BlockNumber: stated, keysAt, how, signal } = recording
  const { block, l1Block, newest, consensus, trusted } = await fetchRecordBlock(recording)
  const answerAt = async (anchor: Anchor) => {
    const { l2BlockNumber } = anchor
    const { scheme, stateRoot, block: l2Block } = await openAnchor(recording, anchor, recording.scheme)
    const storageKeys = keysAt(l2BlockNumber, scheme)
    const wanted = { address, storageKeys, scheme, stateRoot, l2BlockNumber }
    const { answer } = await fetchState(l2, wanted, { ...how, signal })
    return { scheme, l2Block, storageKeys, answer }
  }
  const most = stated === undefined ? DEFAULT_FINALIZATIONS : 1
  return stepBack(walkAnchors(recording, l1Block, most, stated ?? newest), async anchor => {
    const { l2BlockNumber } = anchor
    tell({ step: 'l2Block', l2BlockNumber })
    const found = await answerAt(anchor).catch(error => {
      // The L2 endpoints may hold an earlier block.
      if (stated !== undefined || !isPassing(error)) throw error
      const failure = orFailure(error)
      tell({ step: 'proofUnavailable', l2BlockNumber, code: failure.code })
      return failure
    })
    if (isFailure(found)) return found
    // Only now: the timestamp of a block that no L2 endpoint holds is of no use. A header has it.
    const { proof, finalizedState } = found.l2Block ? anchor : await fetchTimestamp(recording, l1Block, anchor)
    const { scheme, storageKeys } = found
    const claim = { scheme, rollup, l2BlockNumber, address, storageKeys }
    const bundle = createBundle({ ...claim, ...found, consensus, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    const verified = verifyEvidence(bundle, { ...claim, trusted })
    return { bundle, verified, scheme, rollup, trusted, l2 }
  })
}
