import { decodeArgument, readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { createBundle, type EvidenceBundle, type VerifiedEvidence } from '../../verify/evidence/kinds/state.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { kindName, type NameOf, type StateScheme } from '../../verify/state/kind.ts'
import { walkAnchors } from '../l1/finalizations.ts'
import { openAnchor } from '../l1/headers.ts'
import { type Anchor, fetchAnchor, fetchTimestamp, stepBack } from '../l1/l1.ts'
import { type Network, readNetwork } from '../network/network.ts'
import { fetchState, type RollupClientOptions, verifyClientOptions } from '../sources/fetch.ts'
import { redactProofErrors } from '../transport/diagnose.ts'
import { isFailure, isPassing } from '../transport/error.ts'
import { DEFAULT_FINALIZATIONS } from '../transport/limits.ts'
import {
  fetchRecordBlock,
  openRecording,
  RECORDING_FIELDS,
  type RecordBlock,
  type RecordingOptions,
} from './recording.ts'

/** What to record evidence for, and how. */
export interface RecordOptions<Keys extends readonly Hex[] = readonly Hex[]>
  extends Pick<RollupClientOptions, 'maxKeysPerRequest'>,
    RecordingOptions {
  /** The rollup and its L1, such as `lineaMainnet` of `rollup-state-proof/networks`. */
  network: Network
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: Keys | undefined
  /** The last block of a finalization. Default: the newest of the last eight with proofs on an L2 endpoint. */
  l2BlockNumber?: bigint | undefined
}

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
  const { scheme, recorded } = await recordState(options)
  // The bundle and what it proves are of this kind, and the slots are those of the keys.
  return { scheme: kindName(scheme), ...recorded } as Recorded<Keys>
}

/** Which slots of the block, if that depends on it. @throws ArgumentError if it is not the right one */
type KeysAt = (l2BlockNumber: bigint, scheme: StateScheme) => readonly Hex[]

/** Checks everything before the first request. @param keysAt in place of the storage keys of the options */
export async function recordState(options: RecordOptions, keysAt?: KeysAt) {
  const recording = readRecording(options)
  const { l1, l2 } = recording
  return redactProofErrors(() => record({ ...recording, keysAt }), ...l1.sources, ...l2.sources)
}

type Recording = ReturnType<typeof readRecording> & { readonly keysAt: KeysAt | undefined }

const FIELDS = [...RECORDING_FIELDS, 'network', 'address', 'storageKeys', 'maxKeysPerRequest', 'l2BlockNumber']

function readRecording(options: RecordOptions) {
  const own = readOptions('', options, FIELDS)
  const { l2BlockNumber, maxKeysPerRequest } = own
  const { rollup, scheme } = readNetwork(own.network)
  const how = verifyClientOptions({ rollup, maxKeysPerRequest })
  if (l2BlockNumber !== undefined) verifyUint('l2BlockNumber', l2BlockNumber, 64)
  const storageKeys = readKeys(own.storageKeys ?? []).map(({ text }) => text)
  const address = bytesToHex(decodeArgument('address', own.address, 20))
  const recording = openRecording(own, l2BlockNumber === undefined)
  return { ...recording, rollup, scheme, how, address, storageKeys, l2BlockNumber }
}

async function record(recording: Recording) {
  const { rollup, l2, address, tell } = recording
  const recorded = await fetchRecordBlock(recording)
  const { block, l1Block, consensus, trusted } = recorded
  return stepBack(anchorsFor(recording, recorded), async anchor => {
    const { l2BlockNumber } = anchor
    tell({ step: 'l2Block', l2BlockNumber })
    const found = await answerAt(recording, anchor)
    if (isFailure(found)) {
      tell({ step: 'proofUnavailable', l2BlockNumber, code: found.code })
      return found
    }
    // Only now: the timestamp of a block that no L2 endpoint holds is of no use. A header has it.
    const { proof, finalizedState } = found.l2Block ? anchor : await fetchTimestamp(recording, l1Block, anchor)
    const { scheme, storageKeys } = found
    const claim = { scheme, rollup, l2BlockNumber, address, storageKeys }
    const bundle = createBundle({ ...claim, ...found, consensus, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    const verified = verifyEvidence(bundle, { ...claim, trusted })
    return { recorded: { bundle, verified }, scheme, rollup, trusted, l2 }
  })
}

/** The answer at this block, and the kind of its state; the failure if the L2 endpoints may hold an earlier block. */
async function answerAt({ l2, signal, scheme: stated, how, address, ...recording }: Recording, anchor: Anchor) {
  const { l2BlockNumber } = anchor
  try {
    const { scheme, stateRoot, block: l2Block } = await openAnchor({ l2, signal }, anchor, stated)
    const storageKeys = recording.keysAt?.(l2BlockNumber, scheme) ?? recording.storageKeys
    const wanted = { address, storageKeys, scheme, stateRoot, l2BlockNumber }
    const { answer } = await fetchState(l2, wanted, { ...how, signal })
    return { scheme, l2Block, storageKeys, answer }
  } catch (error) {
    if (recording.l2BlockNumber !== undefined || !isFailure(error) || !isPassing(error)) throw error
    return error
  }
}

async function* anchorsFor(recording: Recording, { l1Block, newest }: RecordBlock): AsyncGenerator<Anchor> {
  const { l2BlockNumber } = recording
  if (l2BlockNumber !== undefined) yield await fetchAnchor(recording, l1Block, l2BlockNumber)
  else yield* walkAnchors(recording, l1Block, DEFAULT_FINALIZATIONS, newest)
}
