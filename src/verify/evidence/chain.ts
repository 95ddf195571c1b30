import { decodeArgument } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath, isProofError, ProofError } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import type { FinalizedState } from '../anchor/finalized-state.ts'
import { type L1Block, verifyHeader } from '../anchor/header.ts'
import { verifyAnchor } from '../anchor/rollup.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { type BlockHeader, openHeader } from '../blocks/header.ts'
import { decodeConsensus } from './consensus.ts'
import { quantityOf, reader, verifyLabel } from './fields.ts'
import type { DecodedHead, DecodedHeadClaim } from './head.ts'
import type { ProvenBeaconBlock, Reach } from './trusted.ts'

/** The block to which the head of a bundle leads: of L1, or of L2. Nothing about L1 is proven from an L2 state root. */
export interface ProvenBlock {
  readonly trustedInput: Reach
  /** Undefined unless a beacon block is trusted. */
  readonly beaconBlock?: ProvenBeaconBlock
  /** Undefined if a state root is trusted. */
  readonly l1Block: L1Block | undefined
  /** The root of its state: of L1 if the head ends there. */
  readonly stateRoot: Hex
  /** What an L1 endpoint served of the rollup contract, if the head ends at L1: not verified yet. */
  readonly proof?: unknown
  /** The block; undefined if the trusted input is an L2 state root and the caller states none. */
  readonly l2BlockNumber?: bigint | undefined
  /** Missing unless L1 holds hashes of blocks. */
  readonly l2Block?: BlockHeader | undefined
  readonly currentL2BlockNumber?: bigint | undefined
  readonly finalizedTimestamp?: bigint | undefined
  readonly implementation?: Hex | undefined
}

/** Its header, if L1 holds its hash. Read as its own: a prototype may have a field of this name. */
export const headerOf = (block: Pick<ProvenBlock, 'stateRoot' | 'l2Block'>): BlockHeader | undefined =>
  Object.hasOwn(block, 'l2Block') ? block.l2Block : undefined

/** Verifies what leads from the trusted value to a block. @throws ProofError */
export function verifyBlock(head: DecodedHead, claim: DecodedHeadClaim): ProvenBlock {
  const { trusted, l2 } = claim
  if (head.l2 === null || l2 === null) return { ...verifyL1State(head, trusted), proof: head.l1?.proof }
  if (trusted.kind === 'l2StateRoot') {
    return {
      stateRoot: trusted.root,
      // Without an anchor, the bundle's number is only a claim.
      l2BlockNumber: l2.l2BlockNumber,
      currentL2BlockNumber: undefined,
      finalizedTimestamp: undefined,
      implementation: undefined,
      l1Block: undefined,
      ...(l2.scheme.held === 'blockHash' && { l2Block: undefined }),
      trustedInput: trusted.kind,
    }
  }
  const { stateRoot: l1StateRoot, ...l1 } = verifyL1State(head, trusted)
  const { stateRoot, blockHash, ...contract } = verifyContract(head, claim, head.l2.l2BlockNumber, l1StateRoot)
  // One of them is what the contract was to hold.
  if (blockHash === undefined)
    return { stateRoot: stateRoot as Hex, l2BlockNumber: head.l2.l2BlockNumber, ...contract, ...l1 }
  const l2Block = verifyL2Header(head.l2, blockHash)
  const { number: l2BlockNumber, timestamp: finalizedTimestamp } = l2Block
  return { stateRoot: l2Block.stateRoot, l2BlockNumber, ...contract, finalizedTimestamp, l2Block, ...l1 }
}

function verifyContract({ l1 }: DecodedHead, claim: DecodedHeadClaim, l2BlockNumber: bigint, l1StateRoot: Hex) {
  if (l1?.proof === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.proof', found: 'nothing' })
  const finalizedState = atPath('l1.finalizedState', () => optional(decodeFinalizedState)(l1.finalizedState))
  const { rollup, l2 } = claim
  const asked = { l1StateRoot, rollup, l2BlockNumber, holds: l2?.scheme.held, finalizedState }
  return atPath('l1.proof', () => verifyAnchor(l1.proof, asked))
}

function decodeFinalizedState(state: unknown): FinalizedState {
  const field = reader.fieldsOf(state, ['messageNumber', 'forcedTransactionNumber', 'timestamp'])
  return {
    messageNumber: field('messageNumber', quantityOf(256)),
    forcedTransactionNumber: field('forcedTransactionNumber', optional(quantityOf(256))),
    timestamp: field('timestamp', quantityOf(64)),
  }
}

function verifyL2Header({ l2Header, l2BlockNumber: number }: NonNullable<DecodedHead['l2']>, hash: Hex): BlockHeader {
  if (l2Header === undefined) throw new ProofError('EVIDENCE_L2_MISSING', { path: 'l2Header', found: 'nothing' })
  return atPath('l2Header', () => openHeader(l2Header, { hash, number }))
}

/** Verifies what leads from the trusted value to a state of L1. */
function verifyL1State(
  head: DecodedHead,
  { kind, root, beaconBlock: trusted }: DecodedHeadClaim['trusted'],
): ProvenBlock {
  const proven = trusted && verifyConsensus(head.consensus, trusted, root)
  if (proven) {
    const l1Block = verifyFinalizedL1Header(head, proven.l1BlockHash)
    const beaconBlock = toBeaconBlock(proven, root)
    return { stateRoot: l1Block.stateRoot, l1Block, beaconBlock, trustedInput: kind }
  }
  const l1Block = kind === 'l1BlockHash' ? verifyL1Header(head, root) : undefined
  return { stateRoot: l1Block?.stateRoot ?? root, l1Block, trustedInput: kind }
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
function verifyFinalizedL1Header(head: DecodedHead, l1BlockHash: Hex): L1Block {
  try {
    return verifyL1Header(head, l1BlockHash)
  } catch (error) {
    if (!isProofError(error) || error.code !== 'HEADER_HASH_MISMATCH') throw error
    throw new ProofError('EVIDENCE_L1_BLOCK_MISMATCH', error)
  }
}

function verifyL1Header({ l1 }: DecodedHead, l1BlockHash: Hex): L1Block {
  if (l1?.header === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.header', found: 'nothing' })
  return atPath('l1.header', () => verifyHeader(l1.header, l1BlockHash))
}
