import type { Hex } from '../../base/bytes.ts'
import { atPath, ProofError } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import { type HeldValue, type VerifiedAnchor, verifyAnchor } from '../anchor/rollup.ts'
import { type BlockHeader, openHeader } from '../blocks/header.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { StateScheme } from '../state/types.ts'
import { type DecodedStateClaim, decodeStateClaim, verifyExpected } from './claim.ts'
import { type DecodedEvidence, decodeEvidence, decodeFinalizedState } from './decode.ts'
import { verifyL1State } from './l1-state.ts'
import type { AnyEvidence, EthereumState, EvidenceClaim, EvidenceState, Trusted, VerifiedEvidence } from './types.ts'

/**
 * Verifies an evidence bundle against what you know and the one thing that you trust.
 *
 * The bundle must agree with everything that the claim states. A block, address or keys that are `'fromBundle'` were chosen by
 * whoever made the bundle. This is sound only if you use the returned `address`, `storage[].key` and `l2BlockNumber`, not the
 * ones that you expected.
 * If you trust an `l2StateRoot`, the rollup and the block are compared, but not proven.
 * Parts of the bundle that the trusted input makes unnecessary are not read.
 * If the claim says that the state is that of Ethereum, L1 has to hold the hash of the L2 block, whose header
 * has the root; otherwise L1 has to hold the root.
 *
 * @param bundle an untrusted {@link EvidenceBundle}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `EVIDENCE_*`; `BEACON_*` for the path from a beacon block; `HEADER_*`, `MPT_*`, `L1_*`, `ANCHOR_*`,
 * `RLP_NON_CANONICAL` for the path from L1; what `verifyBlockHeader` throws for the L2 header; what `verifyProof` throws for the
 * answer, or for that of Ethereum what `verifyEthProof` throws; ArgumentError for the claim
 *
 * @example
 * ```ts
 * import { createBundle, verifyEvidence } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
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
  Kind extends StateScheme = Scheme,
>(bundle: unknown, claim: EvidenceClaim<Trust, Block, Keys, Kind>): VerifiedEvidence<Trust, Block, Keys, Kind> {
  // The claim decides which case it is.
  return verifyBundle(bundle, decodeStateClaim(claim)) as VerifiedEvidence<Trust, Block, Keys, Kind>
}

/** {@link verifyEvidence} for a claim that is validated. */
export function verifyDecoded(bundle: unknown, claim: DecodedStateClaim): AnyEvidence {
  // The claim decides which case it is.
  return verifyBundle(bundle, claim) as AnyEvidence
}

/**
 * The L2 block whose hash L1 holds, and what leads to it: of a bundle of an Ethereum state, everything but the answer. The trusted
 * input is not an L2 state root.
 */
export function verifyL2Block(bundle: unknown, claim: DecodedStateClaim): { readonly l2Block: BlockHeader } {
  // The claim decides which case it is.
  return verifyBundle(bundle, claim, verifyHashed) as { readonly l2Block: BlockHeader }
}

/** @param verify what to make of the L1 state root */
function verifyBundle(
  bundle: unknown,
  claim: DecodedStateClaim,
  verify: (evidence: DecodedEvidence, claim: DecodedStateClaim, l1StateRoot: Hex) => object = verifyAnchored,
): object {
  const { kind, root } = claim.trusted
  const evidence = decodeEvidence(bundle)
  verifyExpected(evidence, claim)

  if (kind === 'l2StateRoot') {
    const answer = verifyAnswer(evidence, claim, root)
    // Without an anchor, the bundle's number is only a claim.
    const { kind: state, l2BlockNumber } = claim
    const header = state.held === 'blockHash' && { l2Block: undefined }
    return { ...answer, l2BlockNumber, ...UNPROVEN, ...header, trustedInput: kind }
  }
  const { l1StateRoot, l1Block, beaconBlock } = verifyL1State(evidence, claim.trusted)
  const state = verify(evidence, claim, l1StateRoot)
  return { ...state, l1Block, ...(beaconBlock && { beaconBlock }), trustedInput: kind }
}

const UNPROVEN = {
  ...{ currentL2BlockNumber: undefined, finalizedTimestamp: undefined, implementation: undefined },
  l1Block: undefined,
}

/** From the L1 state to the account and its slots. */
function verifyAnchored(evidence: DecodedEvidence, claim: DecodedStateClaim, l1StateRoot: Hex) {
  const { l2BlockNumber } = evidence
  if (claim.kind.held === 'stateRoot') {
    const { stateRoot, blockHash: _, ...contract } = verifyL1Proof(evidence, claim, l1StateRoot, 'stateRoot')
    return { ...verifyAnswer(evidence, claim, stateRoot), l2BlockNumber, ...contract }
  }
  const block = verifyHashed(evidence, claim, l1StateRoot)
  return { ...verifyAnswer(evidence, claim, block.stateRoot), ...block }
}

/** From the L1 state to the header of the L2 block. */
function verifyHashed(evidence: DecodedEvidence, claim: DecodedStateClaim, l1StateRoot: Hex) {
  const { stateRoot: _, blockHash, ...contract } = verifyL1Proof(evidence, claim, l1StateRoot, 'blockHash')
  const l2Block = verifyL2Header(evidence, blockHash)
  const { stateRoot, timestamp: finalizedTimestamp } = l2Block
  return { stateRoot, l2BlockNumber: l2Block.number, ...contract, finalizedTimestamp, l2Block }
}

function verifyL1Proof<Held extends HeldValue>(
  { l1, l2BlockNumber }: DecodedEvidence,
  { rollup }: DecodedStateClaim,
  l1StateRoot: Hex,
  holds: Held,
): VerifiedAnchor<Held> {
  if (l1?.proof === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.proof', found: 'nothing' })
  const finalizedState = atPath('l1.finalizedState', () => optional(decodeFinalizedState)(l1.finalizedState))
  return atPath('l1.proof', () => verifyAnchor(l1.proof, { l1StateRoot, rollup, l2BlockNumber, holds, finalizedState }))
}

function verifyL2Header({ l2Header, l2BlockNumber: number }: DecodedEvidence, hash: Hex): BlockHeader {
  if (l2Header === undefined) throw new ProofError('EVIDENCE_L2_MISSING', { path: 'l2Header', found: 'nothing' })
  return atPath('l2Header', () => openHeader(l2Header, { hash, number }))
}

function verifyAnswer(
  { request, answer }: DecodedEvidence,
  { kind, storageKeys }: DecodedStateClaim,
  stateRoot: Hex,
): EvidenceState | EthereumState {
  const { address } = request
  const asked = { stateRoot, address, storageKeys: storageKeys?.written ?? request.storageKeys }
  return { ...atPath('answer', () => kind.verify(answer, asked)), address, stateRoot }
}
