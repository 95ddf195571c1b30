import { type EvidenceClaim, type Rollup, verifyEvidence } from '../anchor.ts'
import { type BeaconNetwork, trustBeaconBlock } from '../beacon.ts'
import { formOf, leafProofAt, schemeNamed, storageProofsIn } from '../document/answer.ts'
import type { ClaimField, Source } from '../document/claim.ts'
import { forkOf, networkNamed, parseNumber, rollupNamed } from '../document/evidence.ts'
import { attempt, isHexOf } from '../document/layout.ts'
import { brief, fieldIn, isGiven, isObject, itemsOf } from '../document/value.ts'
import {
  answerNotes,
  bundleNotes,
  capitalized,
  chainRows,
  type Row,
  sourceWords,
  type Verdict,
  verdictOf,
} from '../document/wording.ts'
import { meaningOf } from '../error-meanings.ts'
import type { Refusal } from '../errors.ts'
import { createVerifier, type Hex, safely, type VerifiedState, type VerifierClaim, verifyProof } from '../index.ts'
import { poseidon2 } from '../poseidon2.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { type ChainBox, type ChainInput, drawChain, type ProofSummary, summarize } from './chain.ts'
import { findFailed, groupsOf, listSteps, placeError, type Shape, type Step, statusesOf } from './checks.ts'
import { MAX_KEYS } from './limits.ts'
import type { OpenedFile } from './opened-file.ts'
import { type FieldName, isStated, keysIn, type Statement } from './statement.ts'
import {
  constantSources,
  displayAccount,
  displayRows,
  evidenceSourcesOf,
  type Form,
  fieldWords,
  isTrustedKind,
  questionRows,
  trustedName,
} from './wording.ts'

export interface Report {
  readonly verdict: 'verified' | 'refused' | 'unjudged'
  /** Whether the user stated everything that the verdict "verified" rests on. */
  readonly isStated: boolean
  readonly headline: string
  readonly text: string
  /** The invalid inputs in the form. */
  readonly inputErrors: readonly InputError[]
  readonly failure: { readonly code: string; readonly rows: readonly Row[] } | null
  readonly question: readonly Row[]
  readonly chain: readonly Row[]
  readonly boxes: readonly ChainBox[]
  readonly account: readonly Row[]
  readonly notes: readonly string[]
  readonly groups: ReturnType<typeof groupsOf>
  readonly proofs: readonly ProofSummary[]
  /** The proof to show first. */
  readonly shown: number
}

export interface InputError {
  readonly field: FieldName
  readonly message: string
}

/** A report, and what the view of a single proof needs. */
export interface Judgement {
  readonly report: Report
  readonly scheme: HashScheme | null
  /** The root that the account proof must lead to; null if it was neither stated nor proven. */
  readonly stateRoot: { readonly value: string; readonly source: string } | null
  readonly address: string
  readonly storageKeys: readonly string[]
  /** The claim of each leaf proof. */
  readonly forms: readonly Form[]
  readonly steps: readonly Step[]
  readonly failed: number
  readonly error: Refusal | null
}

/** Verifies the file with the published functions, and reports their verdict. */
export function judge(file: OpenedFile, statement: Statement): Judgement {
  const scheme = schemeNamed(statement.scheme.value) ?? null
  const inputErrors = findInputErrors(file, statement)
  const reason = missing(file, statement)
  if (scheme === null || reason !== null || inputErrors.length > 0) {
    const { address } = statement
    const basis = { file, statement, scheme, stateRoot: null, address: address.value, storageKeys: keysIn(statement) }
    return unjudged(basis, reason ?? '', inputErrors)
  }
  return file.isBundle ? judgeBundle(file, statement, scheme) : judgeAnswer(file, statement, scheme)
}

/** What the user still has to state before anything can be verified; null if nothing is missing. */
function missing(file: OpenedFile, statement: Statement): string | null {
  const { isBundle } = file
  const { scheme, trustedKind, trusted, network, address, rollup } = statement
  if (schemeNamed(scheme.value) === undefined) {
    return 'choose the hash scheme that the rollup used at the block of the proof'
  }
  const name = trustedName(trustedKind.value)
  if (!isBundle && trustedKind.value !== 'l2StateRoot') {
    return `an answer alone cannot be verified against an ${name}: that takes an evidence bundle`
  }
  if (trusted.value === '') return `enter the ${isBundle ? name : 'state root'} that you trust`
  const isFromBeacon = trustedKind.value === 'beaconBlockRoot'
  if (isFromBeacon && network.value === '' && networkOf(file, statement) === null) {
    return 'enter the network of the beacon block'
  }
  if (!isBundle && address.value === '') return 'enter the address that you asked for'
  if (isBundle && rollup.value === '') return 'enter the rollup: anyone can deploy a contract that holds any root'
  return null
}

/** The form fields with invalid text. An empty field is missing, not invalid. */
function findInputErrors(file: OpenedFile, statement: Statement): InputError[] {
  const check = (field: FieldName, isRight: (text: string) => boolean, message: string): InputError[] => {
    const { value } = statement[field]
    return value === '' || isRight(value) ? [] : [{ field, message }]
  }
  const hex = (field: FieldName, length: number) =>
    check(field, text => isHexOf(length, text), hexMessage(length, statement[field].value))
  const number = (field: FieldName, bits: number, message: string) =>
    check(field, text => parseNumber(text, bits) !== null, message)
  const keys = keysIn(statement)
  const wrong = keys.findIndex(key => !isHexOf(32, key))
  const ofAnswer = [
    ...check('trustedKind', isTrustedKind, 'Choose what you trust.'),
    ...hex('trusted', 32),
    ...hex('address', 20),
    ...check('storageKeys', () => wrong < 0, `Key ${wrong + 1}: ${hexMessage(32, keys[wrong] ?? '')}`),
  ]
  if (!file.isBundle) return ofAnswer
  return [
    ...ofAnswer,
    ...(statement.trustedKind.value === 'beaconBlockRoot'
      ? check('network', () => networkOf(file, statement) !== null, 'Expected mainnet, sepolia or hoodi.')
      : []),
    ...check(
      'rollup',
      text => rollupNamed(text) !== undefined || isHexOf(20, text),
      'Expected mainnet, sepolia, or the address of a contract on L1: 0x and 40 hexadecimal digits.',
    ),
    ...number('l2Block', 64, 'Expected a block number.'),
    ...number('rootsSlot', 256, 'Expected the number of a storage slot.'),
    ...number('currentSlot', 256, 'Expected the number of a storage slot.'),
  ]
}

function hexMessage(bytes: number, text: string): string {
  const found = !text.startsWith('0x')
    ? 'this does not begin with 0x'
    : /^0x[0-9a-fA-F]*$/.test(text)
      ? `there are ${text.length - 2} digits`
      : 'there are other characters'
  return `Expected 0x and ${2 * bytes} hexadecimal digits: ${found}.`
}

/** The file and the question, which every kind of verdict starts from. */
interface Basis extends Pick<Judgement, 'scheme' | 'stateRoot' | 'address' | 'storageKeys'> {
  readonly file: OpenedFile
  readonly statement: Statement
}

/** What only one kind of verdict says. */
type Said = Pick<Report, 'verdict' | 'headline' | 'text'> & Partial<Report>
/** What the verifier found; empty if it was not asked. */
type Finding = Partial<Pick<Judgement, 'error'> & Pick<ChainInput, 'state'>>

function judgementOf(basis: Basis, said: Said, { error = null, state = null }: Finding): Judgement {
  const { file, statement, address, storageKeys, scheme, stateRoot } = basis
  const shape = shapeOf(file, statement, storageKeys)
  const { forms } = shape
  const steps = listSteps(shape)
  const place = error && placeError(error, file)
  // The first check is that of the stated inputs.
  const unasked = said.inputErrors?.length ? 0 : -1
  const failed = place ? findFailed(steps, place) : state ? steps.length : unasked
  const statuses = statusesOf(steps, failed)
  const proofs = forms.map((form, index) => {
    const key = index === 0 ? address : (storageKeys[index - 1] ?? '')
    return summarize(index, brief(key), form, state, statuses.get(index))
  })
  return {
    report: {
      ...{ isStated: false, inputErrors: [], failure: null, chain: [], account: [], notes: file.notes },
      ...said,
      question: questionRows(file, statement),
      boxes: drawChain({ isBundle: file.isBundle, statement, statuses, state, proofs }),
      groups: groupsOf(steps, failed),
      proofs,
      shown: typeof place?.group === 'number' && place.group < forms.length ? place.group : 0,
    },
    ...{ scheme, stateRoot, address, storageKeys, forms, steps, failed, error },
  }
}

function unjudged(basis: Basis, reason: string, inputErrors: readonly InputError[]): Judgement {
  const said = (headline: string, text: string) =>
    judgementOf(basis, { verdict: 'unjudged', inputErrors, headline, text }, {})
  const [wrong] = inputErrors
  if (wrong !== undefined) {
    return said('Check your input', `Nothing was verified: ${fieldWords[wrong.field]} is wrong. ${wrong.message}`)
  }
  const other = basis.file.isBundle ? null : noProof(basis.file.answer)
  if (other !== null) {
    return said(`No proof to verify: ${other.code}`, `${meaningOf(other.code)} ${brief(other.found ?? '')}`)
  }
  return said('Not verified yet', `${capitalized(reason)}. Until then, everything below is only what the file claims.`)
}

/** Recognizes an answer that is no proof, whatever was requested: an endpoint's error, or the answer of another method. */
function noProof(answer: unknown): Refusal | null {
  const zeros = (length: number) => `0x${'00'.repeat(length)}` as const
  const outcome = safely(() => verifyProof(answer, { scheme: poseidon2, stateRoot: zeros(32), address: zeros(20) }))
  return !outcome.ok && ['ANSWER_IS_ERROR', 'FOREIGN_PROOF'].includes(outcome.error.code) ? outcome.error : null
}

function judgeAnswer(file: OpenedFile, statement: Statement, scheme: HashScheme): Judgement {
  const storageKeys = keysIn(statement)
  const { trusted, address } = statement
  // Despite its type, the hexadecimal is unchecked: the verifier refuses an invalid claim with an ArgumentError.
  const claim = { stateRoot: trusted.value, address: address.value, storageKeys } as VerifierClaim
  const outcome = safely(() => createVerifier(scheme).verifyProof(file.answer, claim))
  const stateRoot = { value: trusted.value, source: `trusted, ${sourceWords[trusted.source]}` }
  const basis = { file, statement, scheme, storageKeys, address: address.value, stateRoot }
  if (!outcome.ok) return refused(basis, outcome.error)
  const sources: Record<ClaimField, Source> = {
    ...{ scheme: statement.scheme.source, stateRoot: trusted.source, address: address.source },
    storageKeys: storageKeys.length === 0 ? 'user' : statement.storageKeys.source,
  }
  const notes = answerNotes(sources, storageKeys.length).map(capitalized)
  const verdict = verdictOf(outcome.value, 'l2StateRoot', sources)
  return verified(basis, outcome.value, verdict, { notes })
}

function judgeBundle(file: OpenedFile, statement: Statement, scheme: HashScheme): Judgement {
  const claim = evidenceClaim(file, statement, scheme)
  const requested = fieldIn(file.bundle, 'request')
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
  const named = itemsOf(fieldIn(requested, 'storageKeys')).map(textOf)
  const storageKeys = claim.storageKeys === 'fromBundle' ? named : claim.storageKeys
  const address = claim.address === 'fromBundle' ? textOf(fieldIn(requested, 'address')) : claim.address
  const { trustedKind, trusted, rollup } = statement
  const isTrusted = trustedKind.value === 'l2StateRoot'
  const basis = { file, statement, scheme, storageKeys, address }
  const byContract = 'proven by the rollup contract'
  const outcome = safely(() => verifyEvidence(file.bundle, claim))
  if (!outcome.ok) {
    const { code, expected } = outcome.error
    // If the answer is refused for its root, the error contains the root that L1 proves.
    const provenRoot = code === 'STATE_ROOT_MISMATCH' && expected ? { value: expected, source: byContract } : null
    const stateRoot = isTrusted ? { value: trusted.value, source: 'trusted' } : provenRoot
    return refused({ ...basis, stateRoot }, outcome.error)
  }
  const proven = outcome.value
  const sources = evidenceSourcesOf(statement)
  const source = isTrusted ? `trusted, ${sourceWords[trusted.source]}` : byContract
  const chain = { sources, scheme: scheme.name, rollup: rollup.value, trusted: trusted.value }
  return verified(
    { ...basis, stateRoot: { value: proven.stateRoot, source } },
    proven,
    verdictOf(proven, proven.trustedInput, { ...sources, ...constantSources(statement) }),
    { chain: displayRows(chainRows(chain, proven)), notes: bundleNotes(sources, proven).map(capitalized) },
  )
}

/** The claim that the user stated. What came from the bundle itself is left to it. */
function evidenceClaim(file: OpenedFile, statement: Statement, scheme: HashScheme): EvidenceClaim {
  const { l2Block, address, rollup } = statement
  return {
    scheme,
    trusted: trustedOf(file, statement),
    rollup: rollupOf(rollup.value, statement),
    l2BlockNumber: isStated(statement, 'l2Block') ? parseNumber(l2Block.value, 64) : 'fromBundle',
    address: isStated(statement, 'address') ? address.value : 'fromBundle',
    storageKeys: isStated(statement, 'storageKeys') ? keysIn(statement) : 'fromBundle',
    // Despite its type, the hexadecimal is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
  } as unknown as EvidenceClaim
}

function trustedOf(file: OpenedFile, statement: Statement): unknown {
  const { trustedKind, trusted } = statement
  const network = networkOf(file, statement)
  if (trustedKind.value !== 'beaconBlockRoot' || network === null) return { [trustedKind.value]: trusted.value }
  // Validation of the form has checked both.
  return (
    attempt(() => trustBeaconBlock({ network, blockRoot: trusted.value as Hex })) ?? { beaconBlockRoot: trusted.value }
  )
}

/** Finds the network by its name, or by that of the rollup if it is empty. A vector may define its own network. */
function networkOf(file: OpenedFile, { network, rollup }: Statement): BeaconNetwork | null {
  const name = network.value === '' ? rollup.value : network.value
  const isOfFile = network.source === 'file' && fieldIn(file.network, 'name') === name
  // Unchecked, despite its type: trustBeaconBlock refuses an invalid network with an ArgumentError.
  return isOfFile ? (file.network as BeaconNetwork) : (networkNamed(name) ?? null)
}

function rollupOf(name: string, { rootsSlot, currentSlot }: Statement): Rollup {
  const slot = (text: string) => parseNumber(text, 256) ?? undefined
  return rollupNamed(name) ?? forkOf(name, slot(rootsSlot.value), slot(currentSlot.value))
}

/** The properties of the answer and the question that determine the list of checks. */
function shapeOf(file: OpenedFile, statement: Statement, storageKeys: readonly string[]): Shape {
  const slots = storageProofsIn(file.answer)
  const l1 = fieldIn(file.bundle, 'l1')
  const storageProof = fieldIn(fieldIn(l1, 'proof'), 'storageProof')
  const finalizedState = fieldIn(l1, 'finalizedState')
  const states = (name: FieldName) => isStated(statement, name)
  const formOfSlot = (_: string, index: number): Form =>
    slots.length === 0 || slots[index] === null ? 'implied' : formOf(slots[index])
  return {
    forms: [formOf(leafProofAt(file.answer, 0)), ...storageKeys.slice(0, MAX_KEYS).map(formOfSlot)],
    chain: file.isBundle
      ? {
          trustedKind: statement.trustedKind.value,
          states: { block: states('l2Block'), address: states('address'), keys: states('storageKeys') },
          l1SlotCount: itemsOf(storageProof).length,
          l1StatedCount: !isObject(finalizedState)
            ? 0
            : isGiven(fieldIn(finalizedState, 'forcedTransactionNumber'))
              ? 3
              : 2,
        }
      : null,
  }
}

function verified(
  basis: Basis,
  state: VerifiedState,
  verdict: Verdict,
  rows: Partial<Pick<Report, 'chain' | 'notes'>>,
): Judgement {
  const text = verdict.isStated
    ? 'Every check passed, for the root, address and storage keys that you stated.'
    : 'Every check passed. But some inputs come from the file, not from you: see “The inputs, and who stated them”.'
  const account = state.account === null ? [] : displayAccount(state.account)
  return judgementOf(basis, { verdict: 'verified', ...verdict, text, ...rows, account }, { state })
}

function refused(basis: Basis, error: Refusal): Judgement {
  const { code, path, expected = '', found = '' } = error
  const rows = Object.entries({ at: path, expected, found }).filter(([, value]) => value !== '')
  const failure = { code, rows: displayRows(rows) }
  const words = { headline: `Refused: ${code}`, text: meaningOf(code) }
  return judgementOf(basis, { verdict: 'refused', ...words, failure }, { error })
}
