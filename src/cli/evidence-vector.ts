import { type EvidenceClaim, encodeHeader, type VerifiedEvidence, verifyCode } from '../anchor.ts'
import { ProofError } from '../index.ts'
import { compareFields, compareRefusal, type Expected, readExpected, schemeNamed } from './case.ts'
import { UsageError } from './command.ts'
import { type EvidenceOutcome, safeVerifyEvidence, toInteger } from './evidence.ts'
import { isObject, show } from './value.ts'

/** A vector for the way from L1 to an answer: see vectors/evidence. */
export interface EvidenceVector {
  readonly kind: 'valid' | 'invalid'
  readonly expected: Expected
  /** What the summary counts it under. */
  readonly subject: string
  /** @returns the code and path of the failure, or null; and how that differs from what is expected */
  run(): { readonly error: ProofError | null; readonly surprises: string[] }
  /** What there is to report on, when it is a bundle. */
  readonly evidence?: { readonly bundle: unknown; readonly claim: EvidenceClaim }
}

export const isEvidenceVector = (content: unknown): content is Readonly<Record<string, unknown>> =>
  isObject(content) && Object.hasOwn(content, 'operation')

/** @throws UsageError when it is no vector that can be run */
export function readEvidenceVector(content: Readonly<Record<string, unknown>>): EvidenceVector {
  const { operation, scheme, claim, bundle, block, code, codeHash, expected: expectation } = content
  const { kind, expected } = readExpected(expectation)
  switch (operation) {
    case 'verifyEvidence': {
      const evidence = { bundle, claim: claimOfVector(scheme, claim) }
      return {
        kind,
        expected,
        evidence,
        subject: `${evidence.claim.scheme.name} evidence`,
        run() {
          const outcome = safeVerifyEvidence(bundle, evidence.claim)
          return { error: outcome.ok ? null : outcome.error, surprises: compareEvidence(expected, outcome) }
        },
      }
    }
    case 'encodeHeader':
      return { kind, expected, subject: 'L1 header', run: () => runCall(expected, () => encodeHeader(block)) }
    case 'verifyCode':
      // Unchecked, whatever the type says: verifyCode refuses a wrong hash with CLAIM_INVALID.
      return {
        kind,
        expected,
        subject: 'contract code',
        run: () => runCall(expected, () => verifyCode(code, codeHash as `0x${string}`)),
      }
    default:
      throw new UsageError(`it is no vector: unknown operation ${show(operation)}`)
  }
}

/** The claim of a vector, whose numbers are hexadecimal quantities. */
function claimOfVector(scheme: unknown, claim: unknown): EvidenceClaim {
  const { rollup, l2BlockNumber, ...rest } = isObject(claim) ? claim : {}
  const { layout, ...contract } = isObject(rollup) ? rollup : {}
  const slot = (name: string) => toInteger(`layout.${name}`, isObject(layout) ? layout[name] : undefined, 256)
  const slots = layout !== undefined && {
    layout: { stateRootHashes: slot('stateRootHashes'), currentL2BlockNumber: slot('currentL2BlockNumber') },
  }
  return {
    ...rest,
    scheme: schemeNamed(scheme),
    rollup: { ...contract, ...slots },
    ...(l2BlockNumber !== undefined && { l2BlockNumber: toInteger('l2BlockNumber', l2BlockNumber, 64) }),
    // The rest is unchecked, whatever the type says: verifyEvidence refuses with CLAIM_INVALID.
  } as unknown as EvidenceClaim
}

function runCall(expected: Expected, call: () => unknown): ReturnType<EvidenceVector['run']> {
  try {
    call()
    return { error: null, surprises: compareFields(expected, {}) }
  } catch (error) {
    if (error instanceof ProofError) return { error, surprises: compareRefusal(expected, error) }
    throw error
  }
}

/** How the outcome differs from what the vector expects; nothing when it is as expected. */
export const compareEvidence = (expected: Expected, outcome: EvidenceOutcome): string[] =>
  outcome.ok ? compareFields(expected, spell(outcome.evidence)) : compareRefusal(expected, outcome.error)

const quantity = (value: bigint): string => `0x${value.toString(16)}`

/** As vectors spell it: hexadecimal quantities, and of the account no more than nonce and balance. */
function spell({ account, l1Block, l2BlockNumber, currentL2BlockNumber, ...rest }: VerifiedEvidence): object {
  return {
    ...rest,
    l2BlockNumber: l2BlockNumber === null ? null : quantity(l2BlockNumber),
    currentL2BlockNumber: currentL2BlockNumber === null ? null : quantity(currentL2BlockNumber),
    account: account && { nonce: quantity(account.nonce), balance: quantity(account.balance) },
    l1Block: l1Block && { ...l1Block, number: quantity(l1Block.number), timestamp: quantity(l1Block.timestamp) },
  }
}
