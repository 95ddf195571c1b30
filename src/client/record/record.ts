import { decodeArgument, readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { type Rollup, readRollup } from '../../verify/anchor/rollup.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { createBundle } from '../../verify/evidence/create.ts'
import type { EvidenceBundle, VerifiedEvidence } from '../../verify/evidence/types.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { decidedKind, kindName, stateKind, verifyState } from '../../verify/state/kind.ts'
import type { NameOf, StateScheme } from '../../verify/state/types.ts'
import type { ConsensusProgress } from '../beacon/beacon.ts'
import { type Anchor, fetchAnchor, fetchTimestamp, type L1Source, steppingBack, walkAnchors } from '../l1/l1.ts'
import { openAnchor } from '../l1/l2-header.ts'
import { type Endpoint, type OnFailure, type OnWait, openEndpoints } from '../sources/endpoints.ts'
import { fetchAnswer, type RollupClientOptions, verifyClientOptions } from '../sources/fetch.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import {
  type EndpointError,
  isEndpointError,
  isFailure,
  isMissing,
  isOfBlock,
  isPassing,
  type Layer,
} from '../transport/error.ts'
import { readSchemes, verifySignal } from '../transport/options.ts'
import { answerAdmission, type FetchProgress, fetchedMismatch, readFetched } from '../transport/partial-answers.ts'
import { parseQuantity } from '../transport/provider.ts'
import type { QueueState } from '../transport/queue.ts'
import { redactorFor } from '../transport/redact.ts'
import { fetchRecordBlock, type RecordBlockOptions, verifyBlockOptions } from './record-block.ts'

/** What to record evidence for, and how. */
export interface RecordOptions<Keys extends readonly Hex[] = readonly Hex[]>
  extends RollupClientOptions,
    RecordBlockOptions {
  /** One or more endpoints of the L1 on which the rollup is finalized. If one fails, the next is asked. */
  l1: Endpoint | readonly Endpoint[]
  /** One or more endpoints of the rollup. */
  l2: Endpoint | readonly Endpoint[]
  /**
   * The hash scheme of the rollup's state roots. Where L1 holds the hash of the block instead, its state is that of Ethereum,
   * whatever you state. If you name that kind, L1 has to hold the hash.
   */
  scheme: StateScheme
  /** The contract whose roots and hashes you trust. */
  rollup: Rollup
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: Keys | undefined
  /** The last block of a finalization. Default: the newest with proofs on an L2 endpoint. */
  l2BlockNumber?: bigint | undefined
  /** How many finalizations to try, from the newest back. Default: 8. */
  maxFinalizations?: number | undefined
  /**
   * The last `progress` that `onProgress` received, to continue from there, at its L2 block. That of another request is
   * ignored, and so is one whose first answer does not verify; `onProgress` reports this. null counts as none.
   */
  resumeFrom?: unknown
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
      /** Pass it to a later call as `resumeFrom` to continue from here. */
      progress: FetchProgress
    }
  | {
      /** The progress in `resumeFrom` is not used: the recording starts over. */
      step: 'progressIgnored'
      /** Why, for people: in lower case, without a full stop. */
      reason: string
    }
  | {
      /** The rollup contract has other code than when the progress in `resumeFrom` was made. */
      step: 'implementationChanged'
      /** The code behind the proxy then, as the progress says: 20 bytes. */
      before: string
      /** The code now, 20 bytes: proven. */
      after: Hex
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
 * const { verified } = await recordEvidence({ l1, l2, scheme: poseidon2, rollup, address })
 * console.log(verified.account?.balance, verified.l2BlockNumber, verified.l1Block.number) // 13n 8n 63n
 * await service.close()
 * ```
 */
export async function recordEvidence<const Keys extends readonly Hex[] = []>(
  options: RecordOptions<Keys>,
): Promise<Recorded<Keys>> {
  // Check everything before the first request.
  const settings = verifyRecordOptions(options)
  const { l1, l2 } = settings
  const recorded = await redactProofErrors(() => createRecorder(settings).record(), ...l1.sources, ...l2.sources)
  // The slots are those of the keys.
  return recorded as Recorded<Keys>
}

type Settings = ReturnType<typeof verifyRecordOptions>

const FIELDS = [
  ...['l1', 'l2', 'scheme', 'rollup', 'address', 'storageKeys', 'l2BlockNumber', 'l1BlockNumber', 'beacon'],
  ...['maxFinalizations', 'resumeFrom', 'onProgress', 'signal'],
]

function verifyRecordOptions(options: RecordOptions) {
  const own = verifyClientOptions(options, FIELDS)
  const { scheme, storageKeys = [], maxFinalizations = 8, onProgress, signal } = own
  const { method, maxKeysPerRequest, l2BlockNumber } = own
  const rollup = readRollup(own.rollup)
  const kind = readSchemes(scheme, rollup)(0n)
  if (l2BlockNumber !== undefined) verifyUint('l2BlockNumber', l2BlockNumber, 64)
  verifyWhole('maxFinalizations', maxFinalizations, 1)
  verifyFunction('onProgress', onProgress)
  verifySignal(signal)
  const { l1BlockNumber, beacon } = verifyBlockOptions(own)
  const keys = readKeys(storageKeys)
  const asked = {
    address: bytesToHex(decodeArgument('address', own.address, 20)),
    storageKeys: keys.map(({ bytes }) => bytesToHex(bytes)),
  }
  /** What an L2 endpoint said of a block that it does not hold, since this was last reset. */
  const missed: { error?: EndpointError | ProofError | undefined } = {}
  const onFailure: OnFailure = (layer, index, error) => {
    if (layer === 'L2' && isOfBlock(error) && !isMissing(missed.error)) missed.error = error
    onProgress?.({ step: 'endpointFailed', layer, index, code: error.code })
  }
  const onWait: OnWait = (layer, index, state) => onProgress?.({ step: 'waiting', layer, index, ...state })
  return {
    l1: openEndpoints('l1', own.l1, 'L1', { onFailure, onWait, signal }),
    l2: openEndpoints('l2', own.l2, 'L2', { onFailure, onWait, signal }),
    ...{ kind, rollup, ...asked, keysAsWritten: keys.map(({ text }) => text), l2BlockNumber, l1BlockNumber, beacon },
    ...{ maxFinalizations, onProgress, signal, missed, resumeFrom: own.resumeFrom ?? undefined },
    how: { method, maxKeysPerRequest },
    owner: { ...asked, rollup: rollup.address },
  }
}

function createRecorder(settings: Settings) {
  const { l1, l2, kind, rollup, address, storageKeys, resumeFrom, onProgress, signal, owner } = settings
  const source = { l1, rollup, signal, schemeAt: () => kind }

  /** The answer at this block, and the kind of its state; the failure if the L2 endpoints may hold an earlier block. */
  async function answerAt(anchor: Anchor) {
    const { l2BlockNumber, implementation } = anchor
    let hasBegun = false
    const isResumed = readOwn(Object(resumeFrom), 'l2BlockNumber') === encodeQuantity(l2BlockNumber)
    settings.missed.error = undefined
    try {
      const { scheme, stateRoot, block: l2Block } = await openAnchor({ l2, signal }, anchor, source.schemeAt)
      const held = { ...owner, scheme: kindName(scheme) }
      const tell = (made: FetchProgress, keyCount: number) => {
        hasBegun = true
        const progress = { ...made, rollup: held.rollup, scheme: held.scheme, implementation }
        onProgress?.({ step: 'keys', keyCount, progress })
      }
      const begun = fetchedMismatch(resumeFrom, held) === null ? resumeFrom : undefined
      const how = { ...settings.how, trusted: { scheme, stateRoot }, resumeFrom: begun, onProgress: tell, signal }
      return { scheme, l2Block, answer: await fetchAnswer(l2, { address, storageKeys, l2BlockNumber }, how) }
    } catch (error) {
      // An endpoint that has already sent an answer holds the block.
      const isElsewhere = !hasBegun && settings.l2BlockNumber === undefined && isFailure(error)
      const failure = isElsewhere ? (settings.missed.error ?? error) : null
      // What an earlier recording has fetched of this block is worth waiting for.
      if (failure !== null && (isResumed ? isMissing(failure) : isPassing(failure))) return { failure }
      throw error
    }
  }

  return {
    async record(): Promise<Recorded> {
      const { block, l1Block, consensus } = await fetchRecordBlock(source, settings, onProgress)
      const back = steppingBack()
      for await (const anchor of back.through(anchorsFor(source, l1Block, settings))) {
        const { l2BlockNumber } = anchor
        if (back.tried.length === 0) tellOfChange(anchor, settings)
        onProgress?.({ step: 'l2Block', l2BlockNumber })
        const found = await answerAt(anchor)
        if (!('failure' in found)) {
          // Only now: the timestamp of a block that no L2 endpoint holds is of no use. A header has it.
          const { proof, finalizedState } = found.l2Block ? anchor : await fetchTimestamp(source, l1Block, anchor)
          const parts = { ...found, rollup, l2BlockNumber, address, storageKeys, consensus }
          const bundle = createBundle<StateScheme>({ ...parts, l1: { block, proof, finalizedState } })
          return verifyBundle(bundle, found.scheme, settings, l1Block, l2BlockNumber)
        }
        onProgress?.({ step: 'proofUnavailable', l2BlockNumber, code: found.failure.code })
        back.add(l2BlockNumber, found.failure)
      }
      throw back.error()
    },
  }
}

/** Tells that the contract has other code than when the stored progress was made, which may be any value. */
function tellOfChange({ implementation: after }: Anchor, { resumeFrom, onProgress }: Settings): void {
  const before = readOwn(Object(resumeFrom), 'implementation')
  if (typeof before !== 'string' || !/^0x[0-9a-f]{40}$/.test(before)) return
  if (after !== undefined && after !== before) onProgress?.({ step: 'implementationChanged', before, after })
}

/** The parts were verified one by one. This verifies the whole. */
function verifyBundle(
  bundle: EvidenceBundle<StateScheme>,
  scheme: StateScheme,
  { rollup, address, keysAsWritten: storageKeys, beacon }: Settings,
  l1Block: L1Block,
  l2BlockNumber: bigint,
): Recorded {
  const trusted = beacon?.trusted ?? { l1BlockHash: l1Block.hash }
  const verified = verifyEvidence(bundle, { scheme, rollup, l2BlockNumber, address, storageKeys, trusted })
  const l1BlockHashFrom = beacon === undefined ? 'l1Endpoint' : 'beaconBlock'
  // The bundle and what it proves are of the same kind.
  return { scheme: kindName(scheme), bundle, verified, l1BlockHashFrom } as Recorded
}

/** The finalizations to try, in order: that of the request, or of the earlier recording, and the newest ones. */
async function* anchorsFor(source: L1Source, l1Block: L1Block, settings: Settings): AsyncGenerator<Anchor> {
  const { l2BlockNumber, kind, owner, resumeFrom, maxFinalizations, onProgress } = settings
  const ignore = (reason: string) => onProgress?.({ step: 'progressIgnored', reason })
  const block = l2BlockNumber === undefined ? {} : { l2BlockNumber: encodeQuantity(l2BlockNumber) }
  const begun = decidedKind(readOwn(Object(resumeFrom), 'scheme'), kind)
  const wanted = { ...owner, ...block, scheme: kindName(begun) }
  const mismatch = resumeFrom === undefined ? null : fetchedMismatch(resumeFrom, wanted)
  if (mismatch !== null) ignore(mismatch)
  if (l2BlockNumber !== undefined) return yield await fetchAnchor(source, l1Block, l2BlockNumber)
  if (resumeFrom !== undefined && mismatch === null) {
    const begun = await fetchBegun(source, l1Block, settings)
    if (typeof begun === 'string') ignore(begun)
    else yield begun
  }
  yield* walkAnchors(source, l1Block, maxFinalizations)
}

/** The block of the earlier recording, or why nothing of it can be used. Its answers are useless for any other block. */
async function fetchBegun(
  source: L1Source,
  l1Block: L1Block,
  { l1, l2, kind, address, storageKeys, owner, resumeFrom, signal }: Settings,
): Promise<Anchor | string> {
  const redact = redactorFor(...l1.sources, ...l2.sources)
  try {
    const anchor = await fetchAnchor(source, l1Block, parseQuantity(readOwn(Object(resumeFrom), 'l2BlockNumber')))
    const { scheme, stateRoot } = await openAnchor({ l2, signal }, anchor, () => kind)
    const verify = (answer: unknown, keys: readonly Hex[]) =>
      void verifyState(answer, { scheme, stateRoot, address, storageKeys: keys })
    const admission = answerAdmission(storageKeys.length, storageKeys.length, redact)
    const held = { ...owner, scheme: kindName(scheme), l2BlockNumber: encodeQuantity(anchor.l2BlockNumber) }
    // Without an answer that verifies, anyone could have named this block.
    const isHeld = readFetched(resumeFrom, held, admission, redact, verify, stateKind(scheme)).length > 0
    return isHeld ? anchor : 'its answers do not verify'
  } catch (error) {
    // An endpoint without the block fails when its answer is asked for.
    if (isEndpointError(error) && error.layer !== undefined && !(error.layer === 'L2' && isMissing(error))) throw error
    return 'its block is not the last one of a finalization'
  }
}
