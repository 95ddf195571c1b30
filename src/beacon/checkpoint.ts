import { decodeArgument } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import type { TrustedBeaconBlock } from '../evidence/types.ts'
import { type BeaconNetwork, decodeNetwork } from './network.ts'
import { verifyConsensus } from './verify.ts'

/**
 * A beacon block that you trust, as the trusted input of `verifyEvidence`: everything from its root to an L2 slot is proven.
 *
 * @param blockRoot root of a finalized beacon block, 32 bytes, from a source that you trust and not older than the
 * weak-subjectivity period, about two weeks on mainnet
 * @param network `mainnet`, `sepolia` or your own
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { lineaRollup, safeVerifyEvidence } from 'rollup-state-proof/anchor'
 * import { checkpoint, mainnet } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const trusted = checkpoint(`0x${'11'.repeat(32)}`, mainnet)
 * const outcome = safeVerifyEvidence({}, { scheme: poseidon2, rollup: lineaRollup, trusted })
 * console.log(outcome.ok ? outcome.reach : outcome.error.code) // EVIDENCE_MALFORMED
 * ```
 */
export function trustBeaconBlock(blockRoot: Hex, network: BeaconNetwork): TrustedBeaconBlock {
  const beaconBlockRoot = bytesToHex(decodeArgument('blockRoot', blockRoot, 32))
  const { source } = decodeNetwork(network)
  return {
    beaconBlockRoot,
    network: source.name,
    verifyConsensus: answers => verifyConsensus(answers, { network: source, blockRoot: beaconBlockRoot }),
  }
}
