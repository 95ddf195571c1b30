import { isUtf8 } from 'node:buffer'
import type { Hex } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { isArgumentError, isProofError } from '../../base/errors.ts'
import { lowerCase } from '../../base/hex.ts'
import { ExcessiveJson, parseBounded } from '../../base/json/parse.ts'
import type { Rollup } from '../../verify/anchor/rollup.ts'
import { verifyReachable } from '../../verify/evidence/head.ts'
import { decodeClaim } from '../../verify/evidence/kind.ts'
import { type AnyEvidence, type DecodedStateClaim, stateEvidence } from '../../verify/evidence/kinds/state.ts'
import type { Trusted } from '../../verify/evidence/trusted.ts'
import { verifyDecoded } from '../../verify/evidence/verify.ts'
import { poseidon2 } from '../../verify/scheme/poseidon2.ts'
import {
  type AnyState,
  createStateVerifier,
  type KindName,
  kindName,
  type StateScheme,
  type StateVerifier,
} from '../../verify/state/kind.ts'
import {
  type ClaimField,
  type ClaimProblem,
  completeClaim,
  isProblem,
  kindNamed,
  kindNames,
  type Source,
} from '../words/answer.ts'
import {
  type AnswerFile,
  type EvidenceFile,
  type EvidenceVector,
  evidenceNames,
  holdsTraces,
  readInputFile,
} from '../words/input-file.ts'
import { DocumentError, fieldIn } from '../words/value.ts'

/** What the user knows about all records. It overrides what a record says. What is left out, the record chooses. */
export interface RecordClaim {
  readonly stateRoot?: Hex | undefined
  readonly address?: Hex | undefined
  readonly storageKeys?: readonly Hex[] | undefined
  /** What bundles are proven from. Without it, they are unreadable. */
  readonly anchor?: { readonly rollup: Rollup; readonly trusted: Trusted } | undefined
}

export interface ProvenVerdict {
  readonly verdict: 'present' | 'absent'
  /**
   * On whose word: `user` if it follows from a root or hash that the user stated, so that it is verified. `file` if only the record
   * states the root, which anyone can invent: the record is consistent, and proves nothing until somebody confirms that root.
   */
  readonly trusted: 'user' | 'file'
  readonly scheme: KindName
  readonly stateRoot: Hex
  readonly address: Hex
  readonly l2BlockNumber?: bigint | undefined
  /** `L1` means that a bundle proves the state root. Nothing proves what only the record or the answer states. */
  readonly sources: Readonly<Record<ClaimField, Source | 'L1'>>
  readonly account: AnyState['account']
  readonly storage: AnyState['storage']
}

export type Verdict =
  | ProvenVerdict
  | { readonly verdict: 'refused'; readonly code: ProofErrorCode; readonly path: string }
  // It is not JSON, not a record, or its claim is incomplete or malformed. The reason quotes nothing from the record.
  | { readonly verdict: 'unreadable'; readonly reason: string }

/** Judges one record, as a line of JSON in UTF-8; null is a line that was too long. Does not throw. */
export type RecordVerifier = (line: Uint8Array | null) => Verdict

const unreadable = (reason: string): Verdict => ({ verdict: 'unreadable', reason })

export function createRecordVerifier(claim: RecordClaim): RecordVerifier {
  const { address = 'fromBundle', storageKeys = 'fromBundle' } = claim
  const subject = { l2BlockNumber: 'fromBundle', address, storageKeys } as const
  // Once, because each bundle would be refused otherwise. The scheme is that of each bundle.
  const anchor = claim.anchor && decodeClaim(stateEvidence, { scheme: poseidon2, ...claim.anchor, ...subject })
  const verifiers = new Map<StateScheme, StateVerifier>()
  const verifierOf = (scheme: StateScheme): StateVerifier => {
    const verifier = verifiers.get(scheme) ?? createStateVerifier(scheme)
    verifiers.set(scheme, verifier)
    return verifier
  }
  return line => {
    try {
      const content = parseRecord(line)
      if (holdsTraces(content)) return unreadable('traces of the state manager: use the command diff')
      const file = readInputFile(content)
      if (file.kind === 'function vector') return unreadable('not a record: it holds no proof')
      if (file.kind === 'evidence' || file.kind === 'evidence vector')
        return file.evidence === 'state' ? judgeBundle(file, claim, anchor) : byItself(file)
      return file.kind === 'unknown' ? unreadable('not a record') : judgeAnswer(file, claim, verifierOf)
    } catch (error) {
      if (isProofError(error)) return { verdict: 'refused', code: error.code, path: error.path }
      // The caller's own claim was validated above.
      if (isArgumentError(error)) return unreadable(`malformed: ${error.path}, which the record names`)
      if (error instanceof DocumentError) return unreadable(error.message)
      throw error
    }
  }
}

/** @throws DocumentError without the platform's message, which would quote the record */
function parseRecord(line: Uint8Array | null): unknown {
  if (line === null) throw new DocumentError('longer than a record may be')
  if (!isUtf8(line)) throw new DocumentError('not UTF-8')
  const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString()
  if (text.trim() === '') throw new DocumentError('empty')
  try {
    return parseBounded(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new DocumentError(error instanceof ExcessiveJson ? error.message : 'not JSON')
  }
}

const UNKNOWN_SCHEME = `the scheme is neither ${kindNames.join(' nor ')}`

function reasonOf({ problem, found }: ClaimProblem): string {
  if (problem === 'storageKeys') return `no storage key: storageProofs[${found}] names none`
  if (found !== undefined) return UNKNOWN_SCHEME
  return problem === 'scheme'
    ? 'an answer of no known form, such as an error'
    : 'no state root: neither you nor the record names one'
}

function judgeAnswer(file: AnswerFile, claim: RecordClaim, verifierOf: (scheme: StateScheme) => StateVerifier) {
  const { stateRoot, address, storageKeys } = claim
  const completed = completeClaim({ stateRoot, address, storageKeys }, file)
  if (isProblem(completed)) return unreadable(reasonOf(completed))
  const { sources } = completed
  const { scheme: known, ...asked } = completed.claim
  const state = verifierOf(known)(file.answer, asked)
  return proven(state, {
    scheme: kindName(known),
    // The verifier decoded both, so they are hexadecimal.
    stateRoot: lowerCase(asked.stateRoot),
    address: lowerCase(asked.address),
    sources,
  })
}

const FOR_BUNDLES = '--l1-block-hash (`verify --checkpoint` prints it), --l1-state-root or --state-root'

type AnyEvidenceFile = EvidenceFile | EvidenceVector

const byItself = ({ evidence }: AnyEvidenceFile): Verdict =>
  unreadable(`${evidenceNames[evidence]}: an audit takes evidence of state only, so use the command verify`)

function judgeBundle(
  { bundle }: AnyEvidenceFile,
  { address, storageKeys }: RecordClaim,
  anchor: DecodedStateClaim | undefined,
): Verdict {
  if (anchor === undefined) return unreadable(`an evidence bundle: state what you trust, with ${FOR_BUNDLES}`)
  const kind = kindNamed(fieldIn(bundle, 'scheme'))
  if (kind === undefined) return unreadable(UNKNOWN_SCHEME)
  const head = { ...anchor.head, l2: { scheme: kind, l2BlockNumber: undefined } }
  verifyReachable(head)
  // It is what this kind of evidence proves.
  const evidence = verifyDecoded(stateEvidence, bundle, { ...anchor, head }) as AnyEvidence
  const sourceOf = (stated: unknown): Source => (stated === undefined ? 'bundle' : 'user')
  const { l2BlockNumber } = evidence
  return proven(evidence, {
    scheme: kind.name,
    stateRoot: evidence.stateRoot,
    address: evidence.address,
    ...(l2BlockNumber !== undefined && { l2BlockNumber }),
    sources: {
      scheme: 'bundle',
      stateRoot: evidence.trustedInput === 'l2StateRoot' ? 'user' : 'L1',
      address: sourceOf(address),
      storageKeys: sourceOf(storageKeys),
    },
  })
}

const proven = (
  { account, storage }: AnyState,
  about: Omit<ProvenVerdict, 'verdict' | 'trusted' | 'account' | 'storage'>,
): ProvenVerdict => ({
  verdict: account === null ? 'absent' : 'present',
  // Of a bundle, the user has stated what it is proven from.
  trusted: about.sources.stateRoot === 'file' ? 'file' : 'user',
  ...about,
  account,
  storage,
})
