import { decodeArgument, readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { createBundle, type EvidenceBundle } from '../../verify/evidence/kinds/state.ts'
import type { VerifiedEvidence } from '../../verify/evidence/types.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { kindName } from '../../verify/state/kind.ts'
import type { NameOf, StateScheme } from '../../verify/state/types.ts'
import type { ConsensusProgress } from '../beacon/beacon.ts'
import { type Anchor, fetchAnchor, fetchTimestamp, stepBack, walkAnchors } from '../l1/l1.ts'
import { openAnchor } from '../l1/l2-header.ts'
import { type Network, readNetwork } from '../network/network.ts'
import { type Endpoint, openEndpoints } from '../sources/endpoints.ts'
import { fetchState, type RollupClientOptions, verifyClientOptions } from '../sources/fetch.ts'
import type { OnFailure, OnWait } from '../sources/pool.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import { isFailure, isPassing, type Layer } from '../transport/error.ts'
import { DEFAULT_FINALIZATIONS } from '../transport/limits.ts'
import { verifySignal } from '../transport/options.ts'
import type { QueueState } from '../transport/queue.ts'
import { fetchRecordBlock, type RecordBlock, type RecordBlockOptions, verifyBlockOptions } from './record-block.ts'

/** What to record evidence for, and how. */
export interface RecordOptions<Keys extends readonly Hex[] = readonly Hex[]>
  extends Pick<RollupClientOptions, 'maxKeysPerRequest'>,
    RecordBlockOptions {
  /** One or more endpoints of the L1 on which the rollup is finalized. If one fails, the next is asked. */
  l1: Endpoint | readonly Endpoint[]
  /** One or more endpoints of the rollup. */
  l2: Endpoint | readonly Endpoint[]
  /** The rollup and its L1, such as `lineaMainnet` of `rollup-state-proof/networks`. */
  network: Network
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: Keys | undefined
  /** The last block of a finalization. Default: the newest with proofs on an L2 endpoint. */
  l2BlockNumber?: bigint | undefined
  /** How many finalizations to try, from the newest back. Default: 8. */
  maxFinalizations?: number | undefined
  /** Called at every step. If it throws, the recording ends with that error. */
  onProgress?: ((progress: RecordProgress) => void) | undefined
  /** Aborts the recording. */
  signal?: AbortSignal | undefined
}

/** A step of a recording. */
export type RecordProgress =
  | {
      /** The consensus part is being fetched. */
      step: 'consensus'
      /** How far it is. */
      progress: ConsensusProgress
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
      /** The answer for some of the keys was fetched and verified. */
      step: 'keys'
      /** For how many keys. */
      keyCount: number
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
  | ({
      /** An endpoint limits the rate, so requests wait. Told every five seconds at most. */
      step: 'waiting'
      /** The layer of the endpoint. */
      layer: Layer
      /** Index of the endpoint, from 0. */
      index: number
    } & QueueState)

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
      /** What the bundle proves to whoever trusts the hash of its L1 block, or the beacon block. */
      verified: VerifiedEvidence<
        | TrustedBeaconBlock
        | {
            /** Hash of its L1 block. */
            l1BlockHash: Hex
          },
        bigint,
        Keys,
        Kind
      >
      /**
       * Where the hash of the L1 block comes from. If it comes from an L1 endpoint, nothing proves it: compare the hash with a
       * source that you trust. From a trusted beacon block, it is proven.
       */
      l1BlockHashFrom: 'l1Endpoint' | 'beaconBlock'
    }
  : never

/**
 * Records an evidence bundle: finds the newest finalized L2 block with proofs on the L2 endpoint, and fetches the L1 header,
 * the proof of the rollup contract and the answer. For the newest finalized block, the bundle also proves its timestamp if an
 * L1 endpoint serves the contract's logs. If L1 holds the hash of the block instead of a state root, the bundle has its header,
 * which proves the timestamp and the root of an Ethereum state, and the answer is that of `eth_getProof`. Everything is verified on arrival, and the whole bundle at the end. Only the L1 block
 * hash is taken on an L1 endpoint's word: compare it with a source that you trust. The bundle holds known fields only.
 *
 * If an endpoint fails or lies, the next one is asked.
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
  // Check everything before the first request.
  const recording = readRecording(options)
  const { l1, l2 } = recording.source
  const recorded = await redactProofErrors(() => record(recording), ...l1.sources, ...l2.sources)
  // The slots are those of the keys.
  return recorded as Recorded<Keys>
}

type Recording = ReturnType<typeof readRecording>

const FIELDS = [
  ...['l1', 'l2', 'network', 'address', 'storageKeys', 'maxKeysPerRequest', 'l2BlockNumber', 'l1BlockNumber', 'beacon'],
  ...['maxFinalizations', 'onProgress', 'signal'],
]

function readRecording(options: RecordOptions) {
  const own = readOptions('', options, FIELDS)
  const { storageKeys = [], maxFinalizations = DEFAULT_FINALIZATIONS, l2BlockNumber, signal } = own
  const { rollup, schemeAt } = readNetwork(own.network)
  const how = verifyClientOptions({ rollup, maxKeysPerRequest: own.maxKeysPerRequest })
  if (l2BlockNumber !== undefined) verifyUint('l2BlockNumber', l2BlockNumber, 64)
  verifyWhole('maxFinalizations', maxFinalizations, 1)
  const keys = readKeys(storageKeys)
  const asked = {
    address: bytesToHex(decodeArgument('address', own.address, 20)),
    storageKeys: keys.map(({ bytes }) => bytesToHex(bytes)),
  }
  const { tell, ...endpoints } = openRecorded(own, l2BlockNumber === undefined)
  return {
    source: { ...endpoints, rollup, signal, schemeAt },
    how,
    start: verifyBlockOptions(own),
    keysAsWritten: keys.map(({ text }) => text),
    ...{ asked, l2BlockNumber, maxFinalizations, tell },
  }
}

/**
 * The endpoints of a recording, which tells what becomes of them.
 *
 * @param mayGoBack whether another block may be asked for
 */
export function openRecorded(
  { l1, l2, onProgress, signal }: Pick<RecordOptions, 'l1' | 'l2' | 'onProgress' | 'signal'>,
  mayGoBack = false,
) {
  verifyFunction('onProgress', onProgress)
  verifySignal(signal)
  const tell = (progress: RecordProgress) => onProgress?.(progress)
  const onFailure: OnFailure = (layer, index, { code }) => tell({ step: 'endpointFailed', layer, index, code })
  const onWait: OnWait = (layer, index, state) => tell({ step: 'waiting', layer, index, ...state })
  return {
    l1: openEndpoints('l1', l1, 'L1', { onFailure, onWait, signal }),
    l2: openEndpoints('l2', l2, 'L2', { onFailure, onWait, signal, mayGoBack }),
    tell,
  }
}

async function record(recording: Recording): Promise<Recorded> {
  const { source, start, asked, tell } = recording
  const recorded = await fetchRecordBlock(source, start, tell)
  const { block, l1Block, consensus } = recorded
  return stepBack(anchorsFor(recording, recorded), async anchor => {
    const { l2BlockNumber } = anchor
    tell({ step: 'l2Block', l2BlockNumber })
    const found = await answerAt(recording, anchor)
    if (isFailure(found)) {
      tell({ step: 'proofUnavailable', l2BlockNumber, code: found.code })
      return found
    }
    // Only now: the timestamp of a block that no L2 endpoint holds is of no use. A header has it.
    const { proof, finalizedState } = found.l2Block ? anchor : await fetchTimestamp(source, l1Block, anchor)
    const { scheme } = found
    const claim = { scheme, rollup: source.rollup, l2BlockNumber, ...asked }
    const bundle = createBundle<StateScheme>({ ...found, ...claim, consensus, l1: { block, proof, finalizedState } })
    const trusted = start.beacon?.trusted ?? { l1BlockHash: l1Block.hash }
    // The parts were verified one by one. This verifies the whole.
    const verified = verifyEvidence(bundle, { ...claim, storageKeys: recording.keysAsWritten, trusted })
    const l1BlockHashFrom = start.beacon === undefined ? 'l1Endpoint' : 'beaconBlock'
    // The bundle and what it proves are of the same kind.
    return { scheme: kindName(scheme), bundle, verified, l1BlockHashFrom } as Recorded
  })
}

/** The answer at this block, and the kind of its state; the failure if the L2 endpoints may hold an earlier block. */
async function answerAt({ source, how, asked, tell, ...recording }: Recording, anchor: Anchor) {
  const { l2, schemeAt, signal } = source
  const { l2BlockNumber } = anchor
  let hasBegun = false
  try {
    const { scheme, stateRoot, block: l2Block } = await openAnchor({ l2, signal }, anchor, schemeAt)
    const onKeys = (keyCount: number) => {
      hasBegun = true
      tell({ step: 'keys', keyCount })
    }
    const wanted = { ...asked, scheme, stateRoot, l2BlockNumber }
    const { answer } = await fetchState(l2, wanted, { ...how, onKeys, signal })
    return { scheme, l2Block, answer }
  } catch (error) {
    // An endpoint that has already sent an answer holds the block.
    if (hasBegun || recording.l2BlockNumber !== undefined || !isFailure(error) || !isPassing(error)) throw error
    return error
  }
}

async function* anchorsFor(
  { source, l2BlockNumber, maxFinalizations }: Recording,
  { l1Block, newest }: RecordBlock,
): AsyncGenerator<Anchor> {
  if (l2BlockNumber !== undefined) yield await fetchAnchor(source, l1Block, l2BlockNumber)
  else yield* walkAnchors(source, l1Block, maxFinalizations, newest)
}
