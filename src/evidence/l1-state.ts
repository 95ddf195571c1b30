import type { L1Block } from '../anchor/header.ts'
import type { Hex } from '../bytes.ts'
import type { decodeTrusted } from './claim.ts'
import type { DecodedEvidence } from './decode.ts'
import type { ProvenBeaconBlock } from './types.ts'
import { toBeaconBlock, verifyConsensus, verifyFinalizedL1Header, verifyL1Header } from './verify.ts'

/** A state of L1, and what leads to it. */
interface ProvenL1State {
  readonly l1StateRoot: Hex
  /** Undefined if the state root is trusted. */
  readonly l1Block: L1Block | undefined
  /** Undefined unless a beacon block is trusted. */
  readonly beaconBlock: ProvenBeaconBlock | undefined
}

/** Verifies what leads from the trusted value to a state of L1. */
export function verifyL1State(
  evidence: Pick<DecodedEvidence, 'consensus' | 'l1'>,
  { kind, root, beaconBlock: trusted }: ReturnType<typeof decodeTrusted>,
): ProvenL1State {
  const proven = trusted && verifyConsensus(evidence.consensus, trusted, root)
  if (proven) {
    const l1Block = verifyFinalizedL1Header(evidence, proven.l1BlockHash)
    return { l1StateRoot: l1Block.stateRoot, l1Block, beaconBlock: toBeaconBlock(proven, root) }
  }
  const l1Block = kind === 'l1BlockHash' ? verifyL1Header(evidence, root) : undefined
  return { l1StateRoot: l1Block?.stateRoot ?? root, l1Block, beaconBlock: undefined }
}
