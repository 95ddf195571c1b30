import type { Hex } from '../../base/bytes.ts'
import { isArgumentError, isProofError, type ProofErrorCode } from '../../base/errors.ts'
import { lowerCase } from '../../base/hex.ts'
import { parseBounded } from '../../base/json/parse.ts'
import { verifyReachable } from '../../verify/evidence/claim.ts'
import { stateEvidence } from '../../verify/evidence/kinds/state.ts'
import type { EvidenceName } from '../../verify/evidence/names.ts'
import type { AnyEvidence } from '../../verify/evidence/types.ts'
import { verifyDecoded } from '../../verify/evidence/verify.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import { createStateVerifier, kindName, type StateVerifier } from '../../verify/state/kind.ts'
import type { AnyState, Ethereum, KindName, NameOf, StateOfKind, StateScheme } from '../../verify/state/types.ts'
import { kindNamed, kindNames } from '../words/answer.ts'
import { type ClaimProblem, completeClaim, isProblem, type Source } from '../words/claim.ts'
import { DocumentError } from '../words/error.ts'
import { type AnswerFile, type EvidenceFile, type EvidenceVector, readInputFile } from '../words/input-file.ts'
import { evidenceKinds } from '../words/kinds.ts'
import { fieldIn } from '../words/value.ts'
import { type DecodedRecordClaim, type RecordClaim, readRecordClaim } from './record-claim.ts'

/**
 * Who stated a part of the claim: you, the record, or the answer itself. `L1` means that a bundle proves the state root.
 * Nothing proves a part that only the record or the answer states.
 */
export type ClaimSource = 'user' | 'record' | 'answer' | 'L1'

/** The verdict on a record that verifies. If the compiler knows the `scheme`, it knows what an account and a slot consist of. */
export type ProvenVerdict = VerdictOn<Scheme> | VerdictOn<Ethereum>

/** The verdict on a record that verifies, of a state of this kind. */
export interface VerdictOn<Kind extends StateScheme> {
  /** Whether the account exists. */
  verdict: 'present' | 'absent'
  /**
   * On whose word: `user` if it follows from a root or hash that you stated, so that it is verified. `record` if only the record
   * states the root, which anyone can invent: the record is consistent, and proves nothing until you confirm that root.
   */
  trusted: 'user' | 'record'
  /** The hash scheme; or that the state is that of Ethereum. */
  scheme: NameOf<Kind>
  /** The root that the record was verified against, 32 bytes. */
  stateRoot: Hex
  /** The address of the account, 20 bytes, lower case. */
  address: Hex
  /** The L2 block, if a bundle proves it. */
  l2BlockNumber?: bigint | undefined
  /** Who stated each part of the claim. */
  sources: {
    /** Source of the hash scheme. */
    scheme: ClaimSource
    /** Source of the state root. */
    stateRoot: ClaimSource
    /** Source of the address. */
    address: ClaimSource
    /** Source of the storage keys. */
    storageKeys: ClaimSource
  }
  /** null if proven absent. */
  account: StateOfKind<Hex[], Kind>['account']
  /** One per requested key, in the order of the request. */
  storage: StateOfKind<Hex[], Kind>['storage']
}

/** The verdict on a record that does not verify. */
export interface RefusedVerdict {
  /** Always `refused`. */
  verdict: 'refused'
  /** The check that failed: see `errorMeanings`. */
  code: ProofErrorCode
  /** Where it failed, inside the answer or bundle; empty for the whole. */
  path: string
}

/** The verdict on input that cannot be judged: it is not JSON, not a record, or its claim is incomplete or malformed. */
export interface UnreadableVerdict {
  /** Always `unreadable`. */
  verdict: 'unreadable'
  /** Why, in a few words that quote nothing from the record. */
  reason: string
}

/** The verdict on one record. */
export type Verdict = ProvenVerdict | RefusedVerdict | UnreadableVerdict

/** A record as parsed, or why it cannot be parsed. */
export type ReadRecord = { readonly content: unknown } | UnreadableVerdict

/** Judges one record. Does not throw. */
export type RecordVerifier = (record: ReadRecord) => Verdict

const unreadable = (reason: string): UnreadableVerdict => ({ verdict: 'unreadable', reason })

/** @param record its JSON text, as a string or UTF-8 bytes, or the value parsed from it */
export function readRecord(record: unknown): ReadRecord {
  try {
    return { content: record instanceof Uint8Array || typeof record === 'string' ? parseRecord(record) : record }
  } catch (error) {
    if (error instanceof DocumentError) return unreadable(error.message)
    throw error
  }
}

/** Keeps one verifier per scheme, whose cache all records share. @throws ArgumentError */
export function createRecordVerifier(recordClaim: RecordClaim): RecordVerifier {
  const claim = readRecordClaim(recordClaim)
  const verifiers = new Map<StateScheme, StateVerifier>()
  const verifierOf = (scheme: StateScheme): StateVerifier => {
    const verifier = verifiers.get(scheme) ?? createStateVerifier(scheme)
    verifiers.set(scheme, verifier)
    return verifier
  }
  return record => {
    if (!('content' in record)) return record
    try {
      const file = readInputFile(record.content)
      if (file.kind === 'function vector') return unreadable('not a record: it holds no proof')
      if (file.kind === 'evidence' || file.kind === 'evidence vector') return judges[file.evidence](file, claim)
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

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true })

function parseRecord(record: Uint8Array | string): unknown {
  const text = typeof record === 'string' ? record : attempt('not UTF-8', () => utf8.decode(record))
  if (text.trim() === '') throw new DocumentError('empty')
  return attempt('not JSON', () => parseBounded(text))
}

/** Hides the platform's message, which would quote the record. @throws DocumentError with `reason` */
function attempt<T>(reason: string, work: () => T): T {
  try {
    return work()
  } catch {
    throw new DocumentError(reason)
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

/** The sources as verdicts name them. What the user does not state comes from the record, or from the answer in it. */
const sourceWords: Readonly<Record<Source, ClaimSource>> = {
  user: 'user',
  confirmed: 'user',
  file: 'record',
  bundle: 'record',
  endpoint: 'record',
  answer: 'answer',
  lengths: 'answer',
}

function judgeAnswer(
  file: AnswerFile,
  claim: DecodedRecordClaim,
  verifierOf: (scheme: StateScheme) => StateVerifier,
): Verdict {
  const { scheme, root, address, storageKeys } = claim
  if (root === null) return unreadable('an answer: state its state root')
  const completed = completeClaim({ scheme, ...root, address, storageKeys }, file)
  if (isProblem(completed)) return unreadable(reasonOf(completed))
  const { sources } = completed
  const { scheme: known, ...asked } = completed.claim
  const state = verifierOf(known)(file.answer, asked)
  return proven(state, {
    scheme: kindName(known),
    // The verifier decoded both, so they are hexadecimal.
    stateRoot: lowerCase(asked.stateRoot),
    address: lowerCase(asked.address),
    sources: {
      scheme: sourceWords[sources.scheme],
      stateRoot: sourceWords[sources.stateRoot],
      address: sourceWords[sources.address],
      storageKeys: sourceWords[sources.storageKeys],
    },
  })
}

type AnyEvidenceFile = EvidenceFile | EvidenceVector

const byItself = ({ evidence }: AnyEvidenceFile): Verdict =>
  unreadable(`${evidenceKinds[evidence].name}: verify ${evidence === 'logs' ? 'them by themselves' : 'it by itself'}`)

/** What becomes of a record that is evidence, by its kind. */
const judges: Readonly<Record<EvidenceName, (file: AnyEvidenceFile, claim: DecodedRecordClaim) => Verdict>> = {
  state: judgeBundle,
  ...{ logs: byItself, message: byItself, call: byItself },
}

function judgeBundle({ bundle }: AnyEvidenceFile, claim: DecodedRecordClaim): Verdict {
  const { anchor, address, storageKeys } = claim
  if (anchor === null) return unreadable('an evidence bundle: state the rollup, and what you trust')
  const kind = kindNamed(claim.scheme ?? fieldIn(bundle, 'scheme'))
  if (kind === undefined) return unreadable(UNKNOWN_SCHEME)
  const head = { ...anchor.head, l2: { state: kind, number: undefined } }
  verifyReachable(head)
  // It is what this kind of evidence proves.
  const evidence = verifyDecoded(stateEvidence, bundle, { ...anchor, head }) as AnyEvidence
  const sourceOf = (stated: unknown): ClaimSource => (stated === undefined ? 'record' : 'user')
  const { l2BlockNumber } = evidence
  return proven(evidence, {
    scheme: kind.name,
    stateRoot: evidence.stateRoot,
    address: evidence.address,
    ...(l2BlockNumber !== undefined && { l2BlockNumber }),
    sources: {
      scheme: sourceOf(claim.scheme),
      stateRoot: evidence.trustedInput === 'l2StateRoot' ? 'user' : 'L1',
      address: sourceOf(address),
      storageKeys: sourceOf(storageKeys),
    },
  })
}

const proven = (
  { account, storage }: AnyState,
  about: Omit<ProvenVerdict, 'verdict' | 'trusted' | 'scheme' | 'account' | 'storage'> & { readonly scheme: KindName },
): ProvenVerdict =>
  // The account and the slots are of the kind that the scheme names.
  ({
    verdict: account === null ? 'absent' : 'present',
    // Of a bundle, the user has stated what it is proven from.
    trusted: about.sources.stateRoot === 'record' ? 'record' : 'user',
    ...about,
    account,
    storage,
  }) as ProvenVerdict
