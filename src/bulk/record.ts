import { type Rollup, type Trusted, type VerifiedEvidence, verifyEvidence } from '../anchor/evidence.ts'
import type { Hex } from '../bytes.ts'
import { addressIn, schemeNamed, storageKeysIn } from '../document/answer.ts'
import { type AnswerFile, type BundleFile, isBundleFile, isCallFile, readInputFile } from '../document/input-file.ts'
import { parseJson } from '../document/value.ts'
import { DocumentError } from '../document/error.ts'
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
  /** For evidence bundles: the contract whose roots you believe. */
  rollup?: Rollup
  /** For evidence bundles: what all else is proven from. */
  trusted?: Trusted
}

/** Who said what a verdict is about: you, the record, or the very answer that is verified; a bundle can prove it from L1. */
export type ClaimOrigin = 'stated' | 'record' | 'answer' | 'L1'

/** A record that holds. */
export interface ProvenVerdict {
  /** Of the account. */
  verdict: 'present' | 'absent'
  /** The hash scheme. */
  scheme: Scheme['name']
  /** The root that the record was verified against, 32 bytes. */
  stateRoot: Hex
  /** Whose account it is, 20 bytes, lower case. */
  address: Hex
  /** The L2 block, where a bundle proves it. */
  l2BlockNumber?: bigint
  /** Who said so: nothing proves what only the record or the answer says. */
  origin: { scheme: ClaimOrigin; stateRoot: ClaimOrigin; address: ClaimOrigin; storageKeys: ClaimOrigin }
  /** null when proven absent. */
  account: Account | null
  /** One per requested key, in the order of the request. */
  storage: StorageSlot[]
}

/** A record that does not hold. */
export interface RefusedVerdict {
  verdict: 'refused'
  /** The check that failed: see `errorMeanings`. */
  code: ErrorCode
  /** Where inside the answer or bundle; empty for the whole. */
  path: string
}

/** A record that cannot be judged: not JSON, not a record, or a claim that nobody completed. */
export interface UnreadableVerdict {
  verdict: 'unreadable'
  /** Why, in a few words of this library's own. */
  reason: string
}

/** What became of one record. */
export type Verdict = ProvenVerdict | RefusedVerdict | UnreadableVerdict

const unreadable = (reason: string): UnreadableVerdict => ({ verdict: 'unreadable', reason })

/** Judges one record: its JSON text, or what was parsed from it. Throws nothing. */
export type RecordVerifier = (record: unknown) => Verdict

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

function parseRecord(record: Uint8Array | string): unknown {
  if (record.length === 0) throw new DocumentError('empty')
  return typeof record === 'string' ? parseText(record) : parseText(decodeText(record))
}

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true })

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new DocumentError('not UTF-8')
  }
}

/** The parser's own message would quote the text. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new DocumentError('not JSON')
  }
}

interface Origin<T> {
  readonly value: T
  readonly origin: ClaimOrigin
}

/** Your word first, then the record's, and the answer's own last. */
function pick(stated: unknown, recorded: unknown, served: () => unknown): Origin<unknown> {
  if (stated !== undefined) return { value: stated, origin: 'stated' }
  if (isGiven(recorded)) return { value: recorded, origin: 'record' }
  return { value: served(), origin: 'answer' }
}

function judgeAnswer(
  { stated, answer }: AnswerFile,
  claim: RecordClaim,
  verifierOf: (scheme: Scheme) => Verifier,
): Verdict {
  const scheme = pick(claim.scheme, stated.scheme, () => {
    throw new DocumentError('no scheme: neither you nor the record names one')
  })
  const known = schemeNamed(scheme.value)
  if (known === undefined) throw new DocumentError('the scheme is neither mimc nor poseidon2')
  const stateRoot = pick(claim.stateRoot, stated.stateRoot, () => {
    throw new DocumentError('no state root: neither you nor the record names one')
  })
  const address = pick(claim.address, stated.address, () => addressIn(answer) ?? NO_ADDRESS)
  const storageKeys = pick(claim.storageKeys, stated.storageKeys, () => {
    const keys = storageKeysIn(answer)
    if (typeof keys === 'number') throw new DocumentError(`no storage key: storageProofs[${keys}] names none`)
    return keys
  })
  // Unchecked, whatever the type says: the verifier refuses a wrong claim with CLAIM_INVALID.
  const verifierClaim = {
    stateRoot: stateRoot.value,
    address: address.value,
    storageKeys: storageKeys.value,
  } as VerifierClaim
  const state = verifierOf(known).verifyProof(answer, verifierClaim)
  const origin = {
    scheme: scheme.origin,
    stateRoot: stateRoot.origin,
    address: address.origin,
    storageKeys: storageKeys.origin,
  }
  // Both were decoded on the way, so they are hexadecimal.
  return proven(state, known, lowerCase(verifierClaim.stateRoot), lowerCase(verifierClaim.address), origin)
}

/** Any address will do for an answer that names none: it is decoded, and refused, before the keys are compared. */
const NO_ADDRESS: Hex = `0x${'00'.repeat(20)}`

const lowerCase = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`

function judgeBundle({ bundle }: BundleFile, claim: RecordClaim): Verdict {
  const { rollup, trusted, address, storageKeys } = claim
  if (rollup === undefined || trusted === undefined) {
    throw new DocumentError('an evidence bundle: state the rollup, and what you trust')
  }
  const { scheme: name } = fieldsOf(bundle)
  const scheme = pick(claim.scheme, name, () => {
    throw new DocumentError('no scheme: neither you nor the bundle names one')
  })
  const known = schemeNamed(scheme.value)
  if (known === undefined) throw new DocumentError('the scheme is neither mimc nor poseidon2')
  const evidence = verifyEvidence(bundle, {
    scheme: known,
    rollup,
    trusted,
    ...(address !== undefined && { address }),
    ...(storageKeys !== undefined && { storageKeys }),
  })
  const originOf = (stated: unknown): ClaimOrigin => (stated === undefined ? 'record' : 'stated')
  const origin = {
    scheme: scheme.origin,
    stateRoot: evidence.reach === 'l2StateRoot' ? ('stated' as const) : ('L1' as const),
    address: originOf(address),
    storageKeys: originOf(storageKeys),
  }
  const { l2BlockNumber } = evidence
  const verdict = proven(evidence, known, evidence.stateRoot, evidence.address, origin)
  return l2BlockNumber === null ? verdict : { ...verdict, l2BlockNumber }
}

function proven(
  { account, storage }: VerifiedState,
  { name }: Scheme,
  stateRoot: Hex,
  address: Hex,
  origin: ProvenVerdict['origin'],
): ProvenVerdict {
  return { verdict: account === null ? 'absent' : 'present', scheme: name, stateRoot, address, origin, account, storage }
}
