import { decodeArgument } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath, isProofError, ProofError } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import type { FinalizedState } from '../anchor/finalized-state.ts'
import { type L1Block, verifyHeader } from '../anchor/header.ts'
import { verifyAnchor } from '../anchor/verify.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { type BlockHeader, openHeader } from '../blocks/header.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { StateScheme } from '../state/kind.ts'
import { decodeConsensus } from './consensus.ts'
import { quantityOf, reader, verifyLabel } from './fields.ts'
import { type DecodedHead, type DecodedHeadClaim, type Layer, openHead, verifyHead } from './head.ts'
import {
  type DecodedClaim,
  decodeClaim,
  type EvidenceForm,
  type EvidenceKind,
  kindIn,
  type NamedEvidence,
  type ProvenBlock,
} from './kind.ts'
import type { LogsClaim, VerifiedLogs } from './kinds/logs.ts'
import type { MessageEvidenceClaim, TrustedL1, VerifiedMessage } from './kinds/message.ts'
import { type EvidenceClaim, stateEvidence, type VerifiedEvidence } from './kinds/state.ts'
import type { ProvenBeaconBlock, Trusted } from './trusted.ts'

/** The kinds of evidence that {@link verifyEvidence} takes: what is stated about each, and what it proves. */
interface EvidenceKinds<
  Trust extends Trusted = Trusted,
  Block extends bigint | 'fromBundle' = bigint | 'fromBundle',
  Keys extends readonly Hex[] | 'fromBundle' = readonly Hex[] | 'fromBundle',
  Kind extends StateScheme = Scheme,
> {
  state: { claim: EvidenceClaim<Trust, Block, Keys, Kind>; verified: VerifiedEvidence<Trust, Block, Keys, Kind> }
  logs: { claim: LogsClaim<Trust, Kind>; verified: VerifiedLogs<Trust, Kind> }
  message: {
    claim: MessageEvidenceClaim<Extract<Trust, TrustedL1>>
    verified: VerifiedMessage<Extract<Trust, TrustedL1>>
  }
}

/** What a bundle says that it proves. A call has a function of its own, which executes it. */
export type EvidenceName = keyof EvidenceKinds | 'call'

/**
 * Verifies an evidence bundle against what you know and the one thing that you trust. The claim names the kind of evidence; without a
 * name, it is one of a state.
 *
 * The bundle must agree with everything that the claim states. A block, address or keys that are `'fromBundle'` were chosen by
 * whoever made the bundle. This is sound only if you use the returned `address`, `storage[].key` and `l2BlockNumber`, not the
 * ones that you expected.
 * If you trust an `l2StateRoot`, the rollup and the block are compared, but not proven.
 * Parts of the bundle that the trusted input makes unnecessary are not read.
 * If the claim says that the state is that of Ethereum, L1 has to hold the hash of the L2 block, whose header
 * has the root; otherwise L1 has to hold the root.
 *
 * @param bundle an untrusted `EvidenceBundle`, `LogsBundle` or `MessageBundle`, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `EVIDENCE_*`; `BEACON_*` for the path from a beacon block; `HEADER_*`, `MPT_*`, `L1_*`, `ANCHOR_*`,
 * `RLP_NON_CANONICAL` for the path from L1; what `verifyBlockHeader` throws for the L2 header; what `verifyProof` throws for the
 * answer, or for that of Ethereum what `verifyEthProof` throws; for logs also `LOGS_*`, `HISTORY_*`, and what `verifyBlock` throws;
 * for a message also `MESSAGE_*`; ArgumentError for the claim
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
  Name extends keyof EvidenceKinds = 'state',
  Trust extends Trusted = Trusted,
  Block extends bigint | 'fromBundle' = bigint | 'fromBundle',
  const Keys extends readonly Hex[] | 'fromBundle' = readonly Hex[] | 'fromBundle',
  Kind extends StateScheme = Scheme,
>(
  bundle: unknown,
  claim: EvidenceKinds<Trust, Block, Keys, Kind>[keyof EvidenceKinds]['claim'] & {
    readonly kind?: NamedEvidence<Name> | undefined
  },
): EvidenceKinds<Trust, Block, Keys, Kind>[Name]['verified'] {
  const kind = kindIn(claim, stateEvidence)
  const verified = verifyDecoded(kind, bundle, decodeClaim(kind, claim))
  // The kind is the one that the claim names.
  return verified as EvidenceKinds<Trust, Block, Keys, Kind>[Name]['verified']
}

/** {@link verifyEvidence} for a claim that is validated. */
export function verifyDecoded<Of extends Layer, Claim extends DecodedClaim<Of>>(
  kind: EvidenceKind<string, Of, unknown, Claim>,
  bundle: unknown,
  claim: Claim,
): object {
  const { head, body } = openBundle(kind, bundle, claim)
  return kind.verify(body, verifyBlock(head, claim.head), claim)
}

/** A bundle that is for what the claim states. None of its proofs has been read. @throws ProofError */
export function openBundle<Of extends Layer, Body, Claim extends DecodedClaim<Of>>(
  kind: EvidenceForm<string, Of, Body, Claim>,
  bundle: unknown,
  claim: Claim,
) {
  const { head, field } = openHead(bundle, kind.name, kind.layer, kind.fields)
  const body = kind.decodeBody(field)
  verifyHead(head, claim.head)
  kind.compare(body, claim)
  return { head, body }
}

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
function verifyL1State(head: DecodedHead, { kind, root, beaconBlock: trusted }: DecodedHeadClaim['trusted']) {
  const proven = trusted && verifyConsensus(head.consensus, trusted, root)
  if (proven) {
    const l1Block = verifyFinalizedL1Header(head, proven.l1BlockHash)
    const beaconBlock = toBeaconBlock(proven, root)
    return { stateRoot: l1Block.stateRoot, l1Block, beaconBlock, trustedInput: kind }
  }
  const l1Block = kind === 'l1BlockHash' ? verifyL1Header(head, root) : undefined
  return { stateRoot: l1Block?.stateRoot ?? root, l1Block, trustedInput: kind }
}

type BeaconTrust = Pick<TrustedBeaconBlock, 'network' | 'verifyConsensus'>

function verifyConsensus(consensus: unknown, { network, verifyConsensus }: BeaconTrust, blockRoot: Hex) {
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
