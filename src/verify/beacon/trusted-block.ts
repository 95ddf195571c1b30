import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { BeaconNetwork } from './network.ts'
import {
  type ConsensusAnswers,
  consensusSteps,
  decodeTrustedBlock,
  type TrustedBlock,
  type VerifiedConsensus,
  verifyBootstrap,
  verifyConsensus,
  verifyFinality,
  verifyUpdate,
} from './verify.ts'

/**
 * A beacon block that you trust, together with the functions that prove an L1 block from it. Create it with `trustBeaconBlock`
 * of `rollup-state-proof/beacon`: only programs that do so carry the cryptography of the consensus layer.
 */
export interface TrustedBeaconBlock {
  /** Root of a finalized beacon block, 32 bytes. */
  beaconBlockRoot: Hex
  /** Name of its network, such as `mainnet`. A bundle that names another network is refused. */
  network: string
  /**
   * Proves an L1 block from the consensus part of a bundle, or throws a ProofError. It is part of what you trust.
   *
   * @param consensus an untrusted `BundleConsensus`, parsed from JSON
   * @param blockRoot the `beaconBlockRoot`, 32 bytes. It is an argument so that whoever copies this object and states another
   * root gets proofs from that root
   */
  verifyConsensus: ConsensusVerifier
  /** What it takes to follow the chain from this block: for `beaconBlockHash` of `rollup-state-proof/rpc`. */
  lightClient: BeaconLightClient
}

/** What proves an L1 block from the consensus part of a bundle. */
export interface ConsensusVerifier {
  (consensus: Required<ConsensusAnswers>, blockRoot: Hex): ProvenConsensus
  /** The same, with a pause after each committee update, for `verifyCallEvidence`. Without it, there is none. */
  inSteps?: (consensus: Required<ConsensusAnswers>, blockRoot: Hex) => Generator<undefined, ProvenConsensus, undefined>
}

/** A network, and the functions that verify its chain step by step. */
export interface BeaconLightClient {
  /** The network of the trusted block. */
  network: BeaconNetwork
  /** {@link verifyBootstrap} */
  verifyBootstrap: typeof verifyBootstrap
  /** {@link verifyUpdate} */
  verifyUpdate: typeof verifyUpdate
  /** {@link verifyFinality} */
  verifyFinality: typeof verifyFinality
}

/** What the consensus part of a bundle proves. */
export type ProvenConsensus = Omit<VerifiedConsensus, 'committee' | 'l1BlockNumber' | 'l1Timestamp'>

/**
 * A beacon block that you trust, as the trusted input of `verifyEvidence`: everything from its root to an L2 slot is proven.
 *
 * @param block the network, and the root of a finalized beacon block, 32 bytes, from a source that you trust and not older than
 * the weak-subjectivity period, about two weeks on mainnet
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { safely } from 'rollup-state-proof'
 * import { lineaRollup, verifyEvidence } from 'rollup-state-proof/anchor'
 * import { mainnetBeacon, trustBeaconBlock } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const trusted = trustBeaconBlock({ network: mainnetBeacon, blockRoot: `0x${'11'.repeat(32)}` })
 * const known = { scheme: poseidon2, rollup: lineaRollup, trusted, l2BlockNumber: 436n } as const
 * const outcome = safely(() => verifyEvidence({}, { ...known, address: 'fromBundle', storageKeys: [] }))
 * console.log(outcome.ok ? outcome.value.beaconBlock.slot : outcome.error.code) // EVIDENCE_MALFORMED
 * ```
 */
export function trustBeaconBlock(block: TrustedBlock): TrustedBeaconBlock {
  const { network, root } = decodeTrustedBlock(block)
  const { source } = network
  const verify: ConsensusVerifier = (answers, blockRoot) => verifyConsensus(answers, { network: source, blockRoot })
  verify.inSteps = (answers, blockRoot) => consensusSteps(answers, { network: source, blockRoot })
  return {
    beaconBlockRoot: bytesToHex(root),
    network: source.name,
    verifyConsensus: verify,
    lightClient: { network: source, verifyBootstrap, verifyUpdate, verifyFinality },
  }
}
