import { type L1Block, verifyHeader } from '../anchor/header.ts'
import { type Rollup, type VerifiedAnchor, verifyAnchor } from '../anchor/rollup.ts'
import { decodeArgument } from '../arguments.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import type { Hex } from '../bytes.ts'
import { atPath, isProofError, ProofError } from '../errors.ts'
import { optional } from '../json/decoders.ts'
import { verifyProof } from '../verifier/verify-proof.ts'
import { type DecodedEvidenceClaim, decodeClaim, verifyExpected, verifyLabel } from './claim.ts'
import { decodeConsensus } from './consensus.ts'
import { type DecodedEvidence, decodeEvidence, decodeFinalizedState } from './decode.ts'
import type { EvidenceClaim, EvidenceState, ProvenBeaconBlock, Trusted, VerifiedEvidence } from './types.ts'

/**
 * Verifies an evidence bundle against what you know and the one thing that you trust.
 *
 * The bundle must agree with everything that the claim states. A block, address or keys that are `'fromBundle'` were chosen by
 * whoever made the bundle. This is sound only if you use the returned `address`, `storage[].key` and `l2BlockNumber`, not the
 * ones that you expected.
 * If you trust an `l2StateRoot`, the rollup and the block are compared, but not proven.
 * Parts of the bundle that the trusted input makes unnecessary are not read.
 *
 * @param bundle an untrusted {@link EvidenceBundle}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `EVIDENCE_*`; `BEACON_*` for the path from a beacon block; `HEADER_*`, `MPT_*`, `L1_*`, `ANCHOR_*`,
 * `RLP_NON_CANONICAL` for the path from L1; what `verifyProof` throws for the answer; ArgumentError for the claim
 *
 * @example
 * ```ts
 * import { createBundle, verifyEvidence } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof/world'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * const rollup = { name: 'devnet', address: '0x00000000000000000000000000000000000000ff' } as const
 * const answer = world.getProof(address, [])
 * const bundle = createBundle({ scheme: poseidon2, rollup, l2BlockNumber: 7n, address, answer })
 *
 * const trusted = { l2StateRoot: world.stateRoot() }
 * const known = { scheme: poseidon2, rollup, trusted, l2BlockNumber: 7n }
 * const { account, trustedInput } = verifyEvidence(bundle, { ...known, address, storageKeys: [] })
 * console.log(account?.balance, trustedInput) // 5n l2StateRoot
 * ```
 */
export function verifyEvidence<
  Trust extends Trusted,
  Block extends bigint | 'fromBundle',
  const Keys extends readonly Hex[] | 'fromBundle',
>(bundle: unknown, claim: EvidenceClaim<Trust, Block, Keys>): VerifiedEvidence<Trust, Block, Keys> {
  // The claim decides which case it is.
  return verifyDecoded(bundle, decodeClaim(claim)) as VerifiedEvidence<Trust, Block, Keys>
}

/** {@link verifyEvidence} for a claim that is validated. */
export function verifyDecoded(bundle: unknown, claim: DecodedEvidenceClaim): VerifiedEvidence {
  const { kind, root, beaconBlock } = claim.trusted
  const evidence = decodeEvidence(bundle)
  verifyExpected(evidence, claim)

  if (kind === 'l2StateRoot') {
    const state = verifyState(evidence, claim, root)
    // Without an anchor, the bundle's number is only a claim.
    const unproven = { currentL2BlockNumber: undefined, finalizedTimestamp: undefined, l1Block: undefined }
    return { ...state, l2BlockNumber: claim.l2BlockNumber, ...unproven, trustedInput: kind }
  }
  const proven = beaconBlock && verifyConsensus(evidence.consensus, beaconBlock, root)
  const l1Block = proven
    ? verifyFinalizedL1Header(evidence, proven.l1BlockHash)
    : kind === 'l1BlockHash'
      ? verifyL1Header(evidence, root)
      : undefined
  const { stateRoot, ...anchor } = verifyL1Proof(evidence, l1Block?.stateRoot ?? root, claim.rollup)
  const state = { ...verifyState(evidence, claim, stateRoot), l2BlockNumber: evidence.l2BlockNumber, ...anchor }
  if (l1Block === undefined) return { ...state, l1Block, trustedInput: 'l1StateRoot' }
  return proven
    ? { ...state, l1Block, beaconBlock: toBeaconBlock(proven, root), trustedInput: 'beaconBlockRoot' }
    : { ...state, l1Block, trustedInput: 'l1BlockHash' }
}

export function verifyConsensus(
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
export const toBeaconBlock = (proven: ProvenConsensus, trustedBlockRoot: Hex): ProvenBeaconBlock => {
  const { blockRoot, slot, slotTimestamp, trustedSlotTimestamp, signers, period } = proven
  return { trustedBlockRoot, trustedSlotTimestamp, blockRoot, slot, slotTimestamp, signers, period }
}

/** {@link verifyL1Header} for a proven hash. If the hash differs, the bundle has the header of another block. */
export function verifyFinalizedL1Header(evidence: Pick<DecodedEvidence, 'l1'>, l1BlockHash: Hex): L1Block {
  try {
    return verifyL1Header(evidence, l1BlockHash)
  } catch (error) {
    if (!isProofError(error) || error.code !== 'HEADER_HASH_MISMATCH') throw error
    throw new ProofError('EVIDENCE_L1_BLOCK_MISMATCH', error)
  }
}

export function verifyL1Header({ l1 }: Pick<DecodedEvidence, 'l1'>, l1BlockHash: Hex): L1Block {
  if (l1?.header === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.header', found: 'nothing' })
  return atPath('l1.header', () => verifyHeader(l1.header, l1BlockHash))
}

function verifyL1Proof({ l1, l2BlockNumber }: DecodedEvidence, l1StateRoot: Hex, rollup: Rollup): VerifiedAnchor {
  if (l1?.proof === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.proof', found: 'nothing' })
  const finalizedState = atPath('l1.finalizedState', () => optional(decodeFinalizedState)(l1.finalizedState))
  return atPath('l1.proof', () => verifyAnchor(l1.proof, { l1StateRoot, rollup, l2BlockNumber, finalizedState }))
}

function verifyState(
  { request, answer }: DecodedEvidence,
  { scheme, storageKeys }: DecodedEvidenceClaim,
  stateRoot: Hex,
): EvidenceState {
  const asked = { address: request.address, storageKeys: storageKeys?.written ?? request.storageKeys }
  const state = atPath('answer', () => verifyProof(answer, { scheme, stateRoot, ...asked }))
  return { ...state, address: request.address, stateRoot }
}
