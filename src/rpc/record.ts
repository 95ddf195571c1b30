import type { L1Block } from '../anchor/header.ts'
import type { Rollup } from '../anchor/rollup.ts'
import { decodeArgument, decodeKeys, invalid, readOptions } from '../arguments.ts'
import type { TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ArgumentError } from '../errors.ts'
import { createBundle } from '../evidence/create.ts'
import type { EvidenceBundle, VerifiedEvidence } from '../evidence/types.ts'
import { verifyEvidence } from '../evidence/verify.ts'
import { encodeQuantity } from '../hex.ts'
import { hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import { verifyProof } from '../verifier/verify-proof.ts'
import { type ConsensusProgress, fetchConsensus } from './beacon.ts'
import { redactProofErrors } from './diagnose.ts'
import { type Endpoint, type Endpoints, openEndpoints } from './endpoints.ts'
import { EndpointError, isEndpointError, isMissing } from './error.ts'
import { fetchAnswer, type RollupClientOptions, verifyClientOptions } from './fetch.ts'
import type { BeaconApi } from './http.ts'
import {
  type Anchor,
  fetchAnchor,
  fetchL1Block,
  fetchTimestamp,
  type L1BlockTag,
  type L1Source,
  walkAnchors,
} from './l1.ts'
import { verifyFunction, verifySignal, verifyWhole } from './options.ts'
import { answerAdmission, type FetchProgress, fetchedMismatch, readFetched } from './partial-answers.ts'
import { parseQuantity } from './provider.ts'
import { type Redact, redactorFor } from './redact.ts'

/** What to record evidence for. */
export interface EvidenceRequest {
  /** The hash scheme of the rollup at that block. */
  scheme: Scheme
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[]
  /** The last block of a finalization. Default: the newest with proofs on the L2 endpoint. */
  l2BlockNumber?: bigint | undefined
}

/** How to record. */
export interface RecordOptions extends RollupClientOptions {
  /** The L1 block to prove from. Default: `finalized`. */
  l1BlockNumber?: bigint | L1BlockTag
  /** Also proves the L1 block, from a beacon block that you trust. The L1 block is then the newest finalized one. */
  beacon?:
    | {
        /** One or more beacon APIs, none of which is trusted. */
        apis: readonly BeaconApi[]
        /** What `checkpoint` of `rollup-state-proof/beacon` returns. */
        trusted: TrustedBeaconBlock
      }
    | undefined
  /** How many finalizations to try, from the newest back. Default: 8. */
  maxFinalizations?: number
  /**
   * The last checkpoint that `onProgress` received, to continue from there, at its L2 block. A checkpoint of another request
   * is ignored, and so is one whose first answer does not verify; `onProgress` reports this.
   */
  resumeFrom?: unknown
  /** Called at every step. */
  onProgress?: (progress: RecordProgress) => void
  /** Aborts the recording. */
  signal?: AbortSignal
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
      /** The rollup contract has the state root of this L2 block; the L2 endpoint is asked for its proof. */
      step: 'l2Block'
      /** The last block of a finalization. */
      l2BlockNumber: bigint
    }
  | {
      /** The L2 endpoint does not have the proofs of this block. */
      step: 'proofUnavailable'
      /** The last block of a finalization. */
      l2BlockNumber: bigint
    }
  | {
      /** The answer for some of the keys was fetched and verified. */
      step: 'keys'
      /** For how many keys. */
      keyCount: number
      /** Pass it to a later call to continue from here. */
      checkpoint: FetchProgress
    }
  | {
      /** The checkpoint in `resumeFrom` is not used: the recording starts over. */
      step: 'checkpointIgnored'
      /** Why, for people: in lower case, without a full stop. */
      reason: string
    }

/** A bundle, and what it proves. */
export interface Recorded {
  /** The bundle, verified; plain JSON. */
  bundle: EvidenceBundle
  /**
   * Where the hash in `l1Block` comes from. If it is the L1 endpoint's word, nothing proves it: compare the hash with a source
   * that you trust. From a beacon checkpoint, it is proven.
   */
  l1BlockHashFrom: 'l1Endpoint' | 'beaconCheckpoint'
  /** What the bundle proves to whoever trusts that hash, or the checkpoint. */
  verified: Extract<VerifiedEvidence, { trustedInput: 'beaconBlockRoot' | 'l1BlockHash' }>
}

/**
 * Records an evidence bundle: finds the newest finalized L2 block with proofs on the L2 endpoint, and fetches the L1 header,
 * the proof of the rollup contract and the answer. For the newest finalized block, the bundle also proves its timestamp if the
 * L1 endpoint serves the contract's logs. Everything is verified on arrival, and the whole bundle at the end. Only the L1 block
 * hash is taken on the L1 endpoint's word: compare it with a source that you trust. The bundle holds known fields only.
 *
 * @param l1 provider of the L1 on which the rollup is finalized
 * @param l2 provider of the rollup
 * @param request what to record evidence for
 * @param options from which L1 block, and how
 * @throws EndpointError with the `layer` of the endpoint that failed: `PROOF_UNAVAILABLE`, `L1_HISTORY_MISSING`, `L1_CONTRADICTION`,
 * ...; `ARGUMENT_INVALID` if an option is wrong or unknown. ProofError if an answer does not verify; ArgumentError if the
 * request itself is wrong. None contains a URL or an API key
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider, recordEvidence } from 'rollup-state-proof/rpc'
 * import { createService } from 'rollup-state-proof/service'
 * import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const rollup = { name: 'devnet', address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const address = `0x${'b2'.repeat(20)}` as const
 * const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
 * const { evidence } = await recordEvidence(l1, l2, { scheme: poseidon2, rollup, address })
 * console.log(evidence.account?.balance, evidence.l2BlockNumber, evidence.l1Block.number) // 13n 8n 63n
 * await service.close()
 * ```
 */
export async function recordEvidence(
  l1: Endpoint | readonly Endpoint[],
  l2: Endpoint | readonly Endpoint[],
  request: EvidenceRequest,
  options: RecordOptions = {},
): Promise<Recorded> {
  // Check everything before the first request.
  const [wanted, how] = [verifyRequest(request), verifyRecordOptions(options)]
  const { signal } = how
  const [l1s, l2s] = [openEndpoints('l1', l1, 'L1', { signal }), openEndpoints('l2', l2, 'L2', { signal })]
  return redactProofErrors(() => recordWith(l1s, l2s, wanted, how), ...l1s.providers, ...l2s.providers)
}

type VerifiedRequest = ReturnType<typeof verifyRequest>
type VerifiedOptions = ReturnType<typeof verifyRecordOptions>

function verifyRequest(request: EvidenceRequest) {
  const fields = ['scheme', 'rollup', 'address', 'storageKeys', 'l2BlockNumber']
  const { scheme, rollup, address, storageKeys = [], l2BlockNumber } = readOptions('', request, fields)
  hashSchemeOf(scheme)
  const rollupAddress = bytesToHex(decodeArgument('rollup.address', rollup?.address, 20))
  if (l2BlockNumber !== undefined && typeof l2BlockNumber !== 'bigint') {
    const found = `a ${typeof l2BlockNumber}`
    throw new ArgumentError({ path: 'l2BlockNumber', expected: 'a bigint, such as 3n', found })
  }
  const asked = {
    address: bytesToHex(decodeArgument('address', address, 20)),
    storageKeys: decodeKeys(storageKeys).map(bytesToHex),
  }
  const owner = { ...asked, rollup: rollupAddress, scheme: scheme.name }
  return { scheme, rollup, l2BlockNumber, ...asked, owner }
}

const L1_TAGS: readonly unknown[] = ['finalized', 'safe', 'latest'] satisfies L1BlockTag[]

function verifyRecordOptions(options: RecordOptions) {
  const names = ['l1BlockNumber', 'beacon', 'maxFinalizations', 'resumeFrom', 'onProgress', 'signal']
  const own = verifyClientOptions(options, names)
  const { l1BlockNumber = 'finalized', maxFinalizations = 8 } = own
  const isBlock =
    typeof l1BlockNumber === 'bigint'
      ? l1BlockNumber >= 0n && l1BlockNumber < 1n << 64n
      : L1_TAGS.includes(l1BlockNumber)
  if (!isBlock) throw invalid('l1BlockNumber', `a bigint such as 3n, or one of ${L1_TAGS.join(', ')}`, l1BlockNumber)
  if (own.beacon !== undefined && own.l1BlockNumber !== undefined) {
    throw invalid('l1BlockNumber', 'nothing beside beacon, which finds the L1 block', l1BlockNumber)
  }
  verifyWhole('maxFinalizations', maxFinalizations, 1)
  verifyFunction('onProgress', own.onProgress)
  verifySignal(own.signal)
  return Object.assign(own, { l1BlockNumber, maxFinalizations })
}

async function recordWith(
  l1: Endpoints,
  l2: Endpoints,
  request: VerifiedRequest,
  options: VerifiedOptions,
): Promise<Recorded> {
  const { scheme, rollup, address, storageKeys, owner } = request
  const { l1BlockNumber, beacon, maxFinalizations: _, resumeFrom, onProgress, signal, ...how } = options
  const source = { l1, rollup, signal }

  const tell = (progress: ConsensusProgress) => onProgress?.({ step: 'consensus', progress })
  const fetched = beacon && (await fetchConsensus(beacon.apis, beacon.trusted, { onProgress: tell, signal }))
  const { block, l1Block } = await fetchL1Block(source, fetched?.proven.l1BlockHash ?? l1BlockNumber)
  onProgress?.({ step: 'l1Block', l1Block })

  /** The bundle for this block; null if the L2 endpoint does not hold the block. */
  async function recordAt(anchor: Anchor): Promise<EvidenceBundle | null> {
    const { l2BlockNumber, stateRoot } = anchor
    let hasBegun = false
    const onMade = (made: FetchProgress, keyCount: number) => {
      hasBegun = true
      onProgress?.({ step: 'keys', keyCount, checkpoint: { ...made, rollup: owner.rollup, scheme: owner.scheme } })
    }
    const begun = fetchedMismatch(resumeFrom, owner) === null ? resumeFrom : undefined
    const fetching = { ...how, trusted: { scheme, stateRoot }, resumeFrom: begun, onProgress: onMade, signal }
    let answer: unknown
    try {
      answer = await fetchAnswer(l2, { address, storageKeys, l2BlockNumber }, fetching)
    } catch (error) {
      // An endpoint that has already sent an answer holds the block.
      if (!hasBegun && request.l2BlockNumber === undefined && isMissing(error)) return null
      throw error
    }
    // Only once the answer is here: the timestamp of a block that the L2 endpoint does not hold is of no use.
    const { proof, finalizedState } = await fetchTimestamp(source, l1Block, anchor)
    const parts = { scheme, rollup, l2BlockNumber, address, storageKeys, answer }
    return createBundle({ ...parts, consensus: fetched?.consensus, l1: { block, proof, finalizedState } })
  }

  const tried: bigint[] = []
  for await (const anchor of anchorsFor(
    source,
    l1Block,
    request,
    options,
    redactorFor(...l1.providers, ...l2.providers),
  )) {
    const { l2BlockNumber } = anchor
    if (tried.includes(l2BlockNumber)) continue
    onProgress?.({ step: 'l2Block', l2BlockNumber })
    const bundle = await recordAt(anchor)
    if (bundle) return verifyBundle(bundle, request, l1Block, l2BlockNumber, beacon?.trusted)
    onProgress?.({ step: 'proofUnavailable', l2BlockNumber })
    tried.push(l2BlockNumber)
  }
  throw new EndpointError('PROOF_UNAVAILABLE', { found: `tried ${tried.join(', ')}`, layer: 'L2' })
}

/** The parts were verified one by one. This verifies the whole. */
function verifyBundle(
  bundle: EvidenceBundle,
  { scheme, rollup, address, storageKeys }: VerifiedRequest,
  l1Block: L1Block,
  l2BlockNumber: bigint,
  beacon: TrustedBeaconBlock | undefined,
): Recorded {
  const trusted = beacon ?? { l1BlockHash: l1Block.hash }
  const evidence = verifyEvidence(bundle, { scheme, rollup, trusted, l2BlockNumber, address, storageKeys })
  if (evidence.trustedInput === 'beaconBlockRoot')
    return { bundle, l1BlockHashFrom: 'beaconCheckpoint', verified: evidence }
  const proven = { ...evidence, l1Block, l2BlockNumber, trustedInput: 'l1BlockHash' } as const
  return { bundle, l1BlockHashFrom: 'l1Endpoint', verified: proven }
}

/** The finalizations to try, in order: that of the request, or of the earlier recording, and the newest ones. */
async function* anchorsFor(
  source: L1Source,
  l1Block: L1Block,
  request: VerifiedRequest,
  { resumeFrom, maxFinalizations, onProgress }: VerifiedOptions,
  redact: Redact,
): AsyncGenerator<Anchor> {
  const { l2BlockNumber, owner } = request
  const ignore = (reason: string) => onProgress?.({ step: 'checkpointIgnored', reason })
  const block = l2BlockNumber === undefined ? {} : { l2BlockNumber: encodeQuantity(l2BlockNumber) }
  const mismatch = resumeFrom === undefined ? null : fetchedMismatch(resumeFrom, { ...owner, ...block })
  if (mismatch !== null) ignore(mismatch)
  if (l2BlockNumber !== undefined) return yield await fetchAnchor(source, l1Block, l2BlockNumber)
  if (resumeFrom !== undefined && mismatch === null) {
    const begun = await fetchBegun(source, l1Block, request, resumeFrom, redact)
    if (typeof begun === 'string') ignore(begun)
    else yield begun
  }
  yield* walkAnchors(source, l1Block, maxFinalizations)
}

/** The block of the earlier recording, or why nothing of it can be used. Its answers are useless for any other block. */
async function fetchBegun(
  source: L1Source,
  l1Block: L1Block,
  { scheme, address, storageKeys, owner }: VerifiedRequest,
  resumeFrom: unknown,
  redact: Redact,
): Promise<Anchor | string> {
  try {
    const anchor = await fetchAnchor(source, l1Block, parseQuantity(Reflect.get(Object(resumeFrom), 'block')))
    const verify = (answer: unknown, keys: readonly Hex[]) =>
      void verifyProof(answer, { scheme, stateRoot: anchor.stateRoot, address, storageKeys: keys })
    const admission = answerAdmission(storageKeys.length, storageKeys.length, redact)
    const held = { ...owner, l2BlockNumber: encodeQuantity(anchor.l2BlockNumber) }
    // Without an answer that verifies, anyone could have named this block.
    const isHeld = readFetched(resumeFrom, held, admission, redact, verify).length > 0
    return isHeld ? anchor : 'its answers do not verify'
  } catch (error) {
    if (isEndpointError(error) && error.layer === 'L1') throw error
    return 'its block is not the last one of a finalization'
  }
}
