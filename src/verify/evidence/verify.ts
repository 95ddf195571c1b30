import type { Hex } from '../../base/bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { StateScheme } from '../state/kind.ts'
import { verifyBlock } from './chain.ts'
import { type Layer, openHead, verifyHead } from './head.ts'
import {
  type DecodedClaim,
  decodeClaim,
  type EvidenceForm,
  type EvidenceKind,
  kindIn,
  type NamedEvidence,
} from './kind.ts'
import type { LogsClaim, VerifiedLogs } from './kinds/logs.ts'
import type { MessageEvidenceClaim, TrustedL1, VerifiedMessage } from './kinds/message.ts'
import { type EvidenceClaim, stateEvidence, type VerifiedEvidence } from './kinds/state.ts'
import type { Trusted } from './trusted.ts'

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
