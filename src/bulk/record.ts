import { type Trusted, verifyEvidence } from '../anchor/evidence.ts'
import type { Rollup } from '../anchor/rollup.ts'
import type { Hex } from '../bytes.ts'
import { schemeNamed } from '../document/answer.ts'
import { type ClaimProblem, completeClaim, type Source } from '../document/claim.ts'
import { DocumentError } from '../document/error.ts'
import { isProblem } from '../document/evidence.ts'
import {
  type AnswerFile,
  type BundleFile,
  isBundleFile,
  isCallBundle,
  isCallFile,
  readInputFile,
} from '../document/input-file.ts'
import { fieldIn } from '../document/value.ts'
import { type ErrorCode, ProofError } from '../errors.ts'
import type { Account, StorageSlot, VerifiedState } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { createVerifier, type Verifier } from '../verifier/verifier.ts'

/** What you state of all records. It wins over what a record says, and fills in what a record leaves out. */
export interface RecordClaim {
  /** The hash scheme of every record. */
  scheme?: Scheme['name']
  /** The trusted L2 state root of every answer, 32 bytes. */
  stateRoot?: Hex
  /** The address that every record is for, 20 bytes. */
  address?: Hex
  /** The storage keys that every record is for, 32 bytes each. */
  storageKeys?: readonly Hex[]
  /** For evidence bundles: the contract whose roots you trust. */
  rollup?: Rollup
  /** For evidence bundles: what everything else is proven from. */
  trusted?: Trusted
}

/**
 * Who said what a verdict is about: you, the record, or the very answer that is verified. `L1` stands for a state root that a
 * bundle proves. Nothing proves what only the record or the answer says.
 */
export type ClaimSource = 'user' | 'record' | 'answer' | 'L1'

/** A record that holds. */
export interface ProvenVerdict {
  /** Whether the account exists. */
  verdict: 'present' | 'absent'
  /** The hash scheme. */
  scheme: Scheme['name']
  /** The root that the record was verified against, 32 bytes. */
  stateRoot: Hex
  /** Whose account it is, 20 bytes, lower case. */
  address: Hex
  /** The L2 block, where a bundle proves it. */
  l2BlockNumber?: bigint
  /** Who said each part of the claim. */
  sources: {
    /** Of the hash scheme. */
    scheme: ClaimSource
    /** Of the state root. */
    stateRoot: ClaimSource
    /** Of the address. */
    address: ClaimSource
    /** Of the storage keys. */
    storageKeys: ClaimSource
  }
  /** null when proven absent. */
  account: Account | null
  /** One per requested key, in the order of the request. */
  storage: StorageSlot[]
}

/** A record that does not hold. */
export interface RefusedVerdict {
  /** Always `refused`. */
  verdict: 'refused'
  /** The check that failed: see `errorMeanings`. */
  code: ErrorCode
  /** Where inside the answer or bundle; empty for the whole. */
  path: string
}

/** A record that cannot be judged: not JSON, not a record, or a claim that nobody completed. */
export interface UnreadableVerdict {
  /** Always `unreadable`. */
  verdict: 'unreadable'
  /** Why, in a few words of this library's own. */
  reason: string
}

/** What became of one record. */
export type Verdict = ProvenVerdict | RefusedVerdict | UnreadableVerdict

/** Judges one record: its JSON text, or what was parsed from it. Throws nothing. */
export type RecordVerifier = (record: unknown) => Verdict

const unreadable = (reason: string): UnreadableVerdict => ({ verdict: 'unreadable', reason })

/**
 * Verifies many records, one after the other: recordings, answers and evidence bundles. Answers under one state root share
 * their work. One record at a time is in memory.
 *
 * A record is a JSON text, its bytes in UTF-8, or the value parsed from it. A bad record costs its own verdict and no other.
 *
 * @param records in any order, from an array, a generator or a stream of lines
 * @param claim what you state of all of them; what you leave out is the record's word, as `sources` in each verdict tells
 * @returns one verdict per record, in their order. Throws nothing of its own: what `records` throws ends it
 *
 * @example
 * ```ts
 * import { verifyRecords } from 'rollup-state-proof/bulk'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { demoWorld } from 'rollup-state-proof/service'
 *
 * const world = demoWorld(poseidon2)
 * const claim = { scheme: 'poseidon2', stateRoot: world.stateRoot() } as const
 * const answers = [`0x${'a1'.repeat(20)}`, `0x${'ff'.repeat(20)}`].map(address => world.getProof(address as `0x${string}`))
 * for await (const { verdict } of verifyRecords([...answers, 'no JSON'], claim)) console.log(verdict)
 * // present
 * // absent
 * // unreadable
 * ```
 */
export async function* verifyRecords(
  records: Iterable<unknown> | AsyncIterable<unknown>,
  claim: RecordClaim,
): AsyncGenerator<Verdict, void, undefined> {
  const verify = createRecordVerifier(claim)
  for await (const record of records) yield verify(record)
}

/** One verifier per scheme, whose memory the records share. */
export function createRecordVerifier(claim: RecordClaim): RecordVerifier {
  const verifiers = new Map<Scheme, Verifier>()
  const verifierOf = (scheme: Scheme): Verifier => {
    const verifier = verifiers.get(scheme) ?? createVerifier(scheme)
    verifiers.set(scheme, verifier)
    return verifier
  }
  return record => {
    try {
      const content = record instanceof Uint8Array || typeof record === 'string' ? parseRecord(record) : record
      const file = readInputFile(content)
      if (isCallBundle(file)) return unreadable('a call as evidence: verify it by itself')
      if (isCallFile(file)) return unreadable('not a record: it holds no proof')
      if (isBundleFile(file)) return judgeBundle(file, claim)
      return file.kind === 'unknown' ? unreadable('not a record') : judgeAnswer(file, claim, verifierOf)
    } catch (error) {
      if (error instanceof ProofError) return { verdict: 'refused', code: error.code, path: error.path }
      if (error instanceof DocumentError) return unreadable(error.message)
      throw error
    }
  }
}

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true })

function parseRecord(record: Uint8Array | string): unknown {
  const text = typeof record === 'string' ? record : attempt('not UTF-8', () => utf8.decode(record))
  if (text.trim() === '') throw new DocumentError('empty')
  return attempt('not JSON', () => JSON.parse(text))
}

/** The platform's own message would quote the record. @throws DocumentError with `reason` */
function attempt<T>(reason: string, work: () => T): T {
  try {
    return work()
  } catch {
    throw new DocumentError(reason)
  }
}

const UNKNOWN_SCHEME = 'the scheme is neither mimc nor poseidon2'

function reasonOf(problem: ClaimProblem): string {
  if ('unknownScheme' in problem) return UNKNOWN_SCHEME
  if ('unnamedSlot' in problem) return `no storage key: storageProofs[${problem.unnamedSlot}] names none`
  const name = problem.missing === 'scheme' ? 'scheme' : 'state root'
  return `no ${name}: neither you nor the record names one`
}

/** As `audit` says it. What is not from the user is the record's, or of the answer inside it. */
const sourceWords: Readonly<Record<Source, ClaimSource>> = {
  user: 'user',
  file: 'record',
  bundle: 'record',
  answer: 'answer',
}

function judgeAnswer(file: AnswerFile, claim: RecordClaim, verifierOf: (scheme: Scheme) => Verifier): Verdict {
  const { scheme, stateRoot, address, storageKeys } = claim
  const completed = completeClaim({ scheme, stateRoot, address, storageKeys }, file)
  if (isProblem(completed)) return unreadable(reasonOf(completed))
  const {
    sources,
    claim: { scheme: known, ...asked },
  } = completed
  const state = verifierOf(known).verifyProof(file.answer, asked)
  return proven(state, {
    scheme: known.name,
    // Both were decoded on the way, so they are hexadecimal.
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

const lowerCase = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`

function judgeBundle({ bundle }: BundleFile, claim: RecordClaim): Verdict {
  const { rollup, trusted, address, storageKeys } = claim
  if (rollup === undefined || trusted === undefined) {
    return unreadable('an evidence bundle: state the rollup, and what you trust')
  }
  const scheme = schemeNamed(claim.scheme ?? fieldIn(bundle, 'scheme'))
  if (scheme === undefined) return unreadable(UNKNOWN_SCHEME)
  const evidence = verifyEvidence(bundle, {
    ...{ scheme, rollup, trusted },
    ...(address !== undefined && { address }),
    ...(storageKeys !== undefined && { storageKeys }),
  })
  const sourceOf = (stated: unknown): ClaimSource => (stated === undefined ? 'record' : 'user')
  const { l2BlockNumber } = evidence
  return proven(evidence, {
    scheme: scheme.name,
    stateRoot: evidence.stateRoot,
    address: evidence.address,
    ...(l2BlockNumber !== null && { l2BlockNumber }),
    sources: {
      scheme: sourceOf(claim.scheme),
      stateRoot: evidence.reach === 'l2StateRoot' ? 'user' : 'L1',
      address: sourceOf(address),
      storageKeys: sourceOf(storageKeys),
    },
  })
}

const proven = (
  { account, storage }: VerifiedState,
  about: Omit<ProvenVerdict, 'verdict' | 'account' | 'storage'>,
): ProvenVerdict => ({ verdict: account === null ? 'absent' : 'present', ...about, account, storage })
