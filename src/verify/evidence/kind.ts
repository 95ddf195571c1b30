import { invalid } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import type { FieldReader } from '../../base/json/reader.ts'
import type { ProvenBlock } from './chain.ts'
import type { DecodedHeadClaim } from './claim.ts'
import type { NamedEvidence } from './types.ts'

/** Marks a kind of this package, in any copy of it. The number changes when the members of {@link EvidenceKind} do. */
const genuine: unique symbol = /* @__PURE__ */ Symbol.for('rollup-state-proof/evidence/1')

/** What a claim about a bundle states, decoded: of the head, and of what this kind adds to it. */
export interface DecodedClaim {
  readonly head: DecodedHeadClaim
}

/** What bundles of a kind, and claims about them, look like. */
export interface EvidenceForm<Name extends string = string, Body = unknown, Claim extends DecodedClaim = DecodedClaim>
  extends NamedEvidence<Name> {
  /** Where its head leads: to a block of L1, or on to one of L2. */
  readonly layer: 'L1' | 'L2'
  readonly fields: readonly string[]
  /** Decodes these. The proofs in them are not read yet. @throws ProofError */
  decodeBody(field: FieldReader, claim: Claim): Body
  /** Validates all that a caller states. @throws ArgumentError */
  decodeClaim(claim: object): Claim
  /** Refuses a body for anything other than what the caller states, before any proof is read. @throws ProofError */
  compare(body: Body, claim: Claim): void
}

/**
 * A kind of evidence. Its bundles have a head, which all kinds share and which leads to a proven block, and a body, which is verified
 * against that block.
 */
export interface EvidenceKind<Name extends string = string, Body = unknown, Claim extends DecodedClaim = DecodedClaim>
  extends EvidenceForm<Name, Body, Claim> {
  /** Verifies the body, and returns what is proven. @throws ProofError */
  verify(body: Body, block: ProvenBlock, claim: Claim): object
}

/** Makes a kind that {@link kindIn} accepts, and that nobody can change. */
export const createKind = <Name extends string, Body, Claim extends DecodedClaim>(
  parts: EvidenceKind<Name, Body, Claim>,
): EvidenceKind<Name, Body, Claim> => Object.freeze(Object.defineProperty(parts, genuine, { value: parts }))

/** The kind that a claim names. @throws ArgumentError */
export function kindIn(claim: unknown, otherwise: EvidenceKind): EvidenceKind {
  const kind = readOwn(Object(claim), 'kind')
  if (kind === undefined) return otherwise
  if (readOwn(Object(kind), genuine) === kind) return kind as EvidenceKind
  return atPath('kind', () => {
    throw invalid('', 'a kind of evidence, such as logsEvidence', kind)
  })
}
