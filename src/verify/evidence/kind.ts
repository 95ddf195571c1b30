import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import type { FieldReader } from '../../base/json/reader.ts'
import type { L1Block } from '../anchor/header.ts'
import type { BlockHeader } from '../blocks/header.ts'
import { type DecodedHeadClaim, type Layer, openClaim } from './head.ts'
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

/** Marks a kind of this package, in any copy of it. The number changes when the members of {@link EvidenceKind} do. */
const genuine: unique symbol = /* @__PURE__ */ Symbol.for('rollup-state-proof/evidence/1')

/** A kind of evidence, as a claim names it, such as `logsEvidence`. */
export interface NamedEvidence<Name extends string = string> {
  /** What a bundle of this kind says that it proves. */
  readonly name: Name
}

/** What a claim about a bundle states, decoded: of the head, and of what this kind adds to it. */
export interface DecodedClaim<Of extends Layer = Layer> {
  readonly head: DecodedHeadClaim<Of>
}

/** What bundles of a kind, and claims about them, look like. */
export interface EvidenceForm<Name extends string, Of extends Layer, Body, Claim extends DecodedClaim<Of>>
  extends NamedEvidence<Name> {
  /** Where its head leads. */
  readonly layer: Of
  /** The fields of the body. */
  readonly fields: readonly string[]
  /** Decodes these. The proofs in them are not read yet. @throws ProofError */
  decodeBody(field: FieldReader): Body
  /** What a claim states beside the head. */
  readonly stated: readonly string[]
  /** Validates that. @throws ArgumentError */
  decodeClaim(stated: object, head: DecodedHeadClaim<Of>): Claim
  /** Refuses a body for anything other than what the caller states, before any proof is read. @throws ProofError */
  compare(body: Body, claim: Claim): void
}

/**
 * A kind of evidence. Its bundles have a head, which all kinds share and which leads to a proven block, and a body, which is verified
 * against that block.
 */
export interface EvidenceKind<Name extends string, Of extends Layer, Body, Claim extends DecodedClaim<Of>>
  extends EvidenceForm<Name, Of, Body, Claim> {
  /** Verifies the body, and returns what is proven. @throws ProofError */
  verify(body: Body, block: ProvenBlock, claim: Claim): object
}

/** Makes a kind that {@link kindIn} accepts, and that nobody can change. */
export const createKind = <Name extends string, Of extends Layer, Body, Claim extends DecodedClaim<Of>>(
  parts: EvidenceKind<Name, Of, Body, Claim>,
): EvidenceKind<Name, Of, Body, Claim> => Object.freeze(Object.defineProperty(parts, genuine, { value: parts }))

/** Validates all that a caller states. @throws ArgumentError */
export function decodeClaim<Of extends Layer, Claim extends DecodedClaim<Of>>(
  kind: EvidenceForm<string, Of, unknown, Claim>,
  claim: object,
): Claim {
  const { own, head } = openClaim(claim, kind.layer, kind.stated)
  // The layer decides whether it leads on to L2.
  return kind.decodeClaim(own, head as DecodedHeadClaim<Of>)
}

type AnyKind = EvidenceKind<string, Layer, unknown, DecodedClaim>

/** The kind that a claim names. @throws ArgumentError */
export function kindIn(claim: unknown, otherwise: AnyKind): AnyKind {
  const kind = readOwn(Object(claim), 'kind')
  if (kind === undefined) return otherwise
  if (readOwn(Object(kind), genuine) === kind) return kind as AnyKind
  return atPath('kind', () => {
    throw invalid('', 'a kind of evidence, such as logsEvidence', kind)
  })
}
