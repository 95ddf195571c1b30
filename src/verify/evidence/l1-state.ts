import { decodeArgument } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath, isProofError, ProofError } from '../../base/errors.ts'
import { type L1Block, verifyHeader } from '../anchor/header.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { type decodeTrusted, verifyLabel } from './claim.ts'
import { decodeConsensus } from './consensus.ts'
import type { DecodedEvidence } from './decode.ts'
import type { ProvenBeaconBlock } from './types.ts'

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

function verifyConsensus(
  consensus: unknown,
  { network, verifyConsensus }: Pick<TrustedBeaconBlock, 'network' | 'verifyConsensus'>,
  blockRoot: Hex,
): ProvenConsensus {
  if (consensus === undefined)
    throw new ProofError('EVIDENCE_CONSENSUS_MISSING', { path: 'consensus', found: 'nothing' })
  const proven = atPath('consensus', () => {
    const { network: label, ...answers } = decodeConsensus(consensus)
    verifyLabel('EVIDENCE_NETWORK_MISMATCH', 'network', network, label)
    return verifyConsensus(answers, blockRoot)
  })
  // Without this check, a function that returns nothing would let the beacon block root pass for an L1 state root.
  decodeArgument('trusted.verifyConsensus().l1BlockHash', proven?.l1BlockHash, 32)
  return proven
}

/** Copied field by field, because the function may return further fields. */
const toBeaconBlock = (proven: ProvenConsensus, trustedBlockRoot: Hex): ProvenBeaconBlock => {
  const { blockRoot, slot, slotTimestamp, trustedSlotTimestamp, signers, period } = proven
  return { trustedBlockRoot, trustedSlotTimestamp, blockRoot, slot, slotTimestamp, signers, period }
}

/** {@link verifyL1Header} for a proven hash. If the hash differs, the bundle has the header of another block. */
function verifyFinalizedL1Header(evidence: Pick<DecodedEvidence, 'l1'>, l1BlockHash: Hex): L1Block {
  try {
    return verifyL1Header(evidence, l1BlockHash)
  } catch (error) {
    if (!isProofError(error) || error.code !== 'HEADER_HASH_MISMATCH') throw error
    throw new ProofError('EVIDENCE_L1_BLOCK_MISMATCH', error)
  }
}

function verifyL1Header({ l1 }: Pick<DecodedEvidence, 'l1'>, l1BlockHash: Hex): L1Block {
  if (l1?.header === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.header', found: 'nothing' })
  return atPath('l1.header', () => verifyHeader(l1.header, l1BlockHash))
}
