import { type EvidenceClaim, verifyEthProof, verifyEvidence } from '../anchor.ts'
import { formOf, leafProofAt, resultIn, schemeNamed, storageProofsIn } from '../document/answer.ts'
import type { ClaimField, Source } from '../document/claim.ts'
import { parseNumber } from '../document/evidence.ts'
import { brief, fieldIn, isGiven, isObject, itemsOf } from '../document/value.ts'
import { answerNotes, bundleNotes, capitalized, type Row, sourceWords, timeRow } from '../document/wording.ts'
import { meaningOf } from '../error-meanings.ts'
import type { Refusal } from '../errors.ts'
import { createVerifier, type Hex, safely, verifyProof } from '../index.ts'
import { poseidon2 } from '../poseidon2.ts'
import { drawState, drawUnverified, type StateChain, summarize } from './chain.ts'
import { failedProof, listSteps, type Shape, statusesOf } from './checks.ts'
import { findInputErrors, findMissing, rollupOf, trustedOf } from './inputs.ts'
import { judgeMessage } from './judge-message.ts'
import { judgeTraces } from './judge-traces.ts'
import { MAX_KEYS } from './limits.ts'
import type { OpenedFile } from './opened-file.ts'
import {
  basisOf,
  failedAt,
  type Judgement,
  refused,
  reportOf,
  type Said,
  unasked,
  verified,
  withoutProofs,
} from './report.ts'
import { type FieldName, isStated, keysIn, type Statement } from './statement.ts'
import {
  basisWords,
  constantSources,
  displayAccount,
  evidenceSourcesOf,
  type Form,
  type ProvenState,
  stateWords,
} from './wording.ts'

/** Verifies the file with the published functions, and reports their verdict. */
export function judge(file: OpenedFile, statement: Statement): Judgement {
  const { subject } = file
  if (subject === 'other') return judgeOther(file, statement)
  const inputErrors = findInputErrors(file, statement)
  const missing = findMissing(file, statement)
  const isAsked = missing === null && inputErrors.length === 0
  if (subject === 'message') return judgeMessage(file, statement, isAsked ? null : unasked(missing, inputErrors))
  if (subject === 'traces') return judgeTraces(file, statement, isAsked ? null : unasked(missing, inputErrors))
  if (isAsked && subject === 'bundle') return judgeBundle(file, statement)
  // The user says what the answer is to be.
  if (isAsked) return judgeAnswer({ ...file, isTrie: statement.scheme.value === 'ethereum' }, statement)
  const { address } = statement
  const basis = { file, statement, stateRoot: null, address: address.value, storageKeys: keysIn(statement) }
  return judgementOf(basis, noProof(file) ?? unasked(missing, inputErrors), {}, inputErrors.length > 0)
}

/** The file and the question, which every kind of verdict starts from. */
interface Question extends Pick<Judgement, 'stateRoot' | 'address' | 'storageKeys'> {
  readonly file: OpenedFile
  readonly statement: Statement
}

/** What the verifier found; empty if it was not asked. */
interface Finding {
  readonly error?: Refusal
  readonly state?: ProvenState
  readonly chain?: Partial<Pick<StateChain, 'l1Block' | 'beaconBlock' | 'l2'>>
}

/** @param isWrong whether the form is: that is the first check */
function judgementOf(question: Question, said: Said, finding: Finding, isWrong = false): Judgement {
  const { file, statement, address, storageKeys, stateRoot } = question
  const { error = null, state, chain = {} } = finding
  const isEthereum = statement.scheme.value === 'ethereum'
  const shape = shapeOf(file, statement, storageKeys)
  const { forms } = shape
  const steps = listSteps(shape)
  const failed = isWrong ? 0 : failedAt(file, steps, error, state !== undefined)
  const statuses = statusesOf(steps, failed)
  const proofs = forms.map((form, index) => {
    const key = index === 0 ? address : (storageKeys[index - 1] ?? '')
    return summarize(index, brief(key), form, state ?? null, statuses.get(index))
  })
  const existing = state?.storage.filter(({ exists }) => exists).length ?? 0
  const boxes = drawState({
    ...{ statement, steps, failed, isBundle: file.subject === 'bundle', isEthereum, address: brief(address) },
    ...{ account: state?.account, slots: { count: storageKeys.length, existing }, l2: null },
    ...chain,
  })
  const facts = state?.account ? displayAccount(state.account) : []
  const shown = error === null ? 0 : Math.min(failedProof(steps, failed), forms.length - 1)
  return {
    report: reportOf(file, { boxes, facts, proofs, shown, ...said }),
    ...{ scheme: schemeNamed(statement.scheme.value) ?? null, stateRoot, address, storageKeys },
    ...{ forms, steps, failed, error, changes: [] },
  }
}

/** Recognizes an answer that is no proof, whatever was requested: an endpoint's error. */
function noProof({ subject, answer, isTrie }: OpenedFile): Said | null {
  if (subject !== 'answer' || isTrie) return null
  const zeros = (length: number) => `0x${'00'.repeat(length)}` as const
  const outcome = safely(() => verifyProof(answer, { scheme: poseidon2, stateRoot: zeros(32), address: zeros(20) }))
  if (outcome.ok || outcome.error.code !== 'ANSWER_IS_ERROR') return null
  const { code, found } = outcome.error
  return {
    verdict: 'unjudged',
    badge: `No proof to verify: ${code}`,
    headline: meaningOf(code),
    text: brief(found ?? ''),
  }
}

function judgeOther(file: OpenedFile, statement: Statement): Judgement {
  const { kind, said = [], command } = file
  const isCall = kind.startsWith('call')
  const titles = isCall
    ? ['L1 block', 'L1 state', 'L2 state', 'Accounts', 'Call']
    : ['L1 block', 'L1 state', 'L2 state', 'Blocks', 'Logs']
  const why = isCall ? 'Verifying it takes an EVM, which this page does not have.' : 'This page does not verify it.'
  const progress = { statement, steps: [], failed: -1 }
  const boxes = kind.startsWith('vector') ? [] : drawUnverified(progress, titles)
  const headline = `This is a ${kind}: a command verifies it.`
  const text = `${why} Everything below is only what the file says.`
  const report = { verdict: 'unjudged', badge: 'Not verified here', headline, text, said, command, boxes } as const
  return withoutProofs({ report: reportOf(file, report) })
}

function judgeAnswer(file: OpenedFile, statement: Statement): Judgement {
  const storageKeys = keysIn(statement)
  const { trusted, address } = statement
  // Despite its type, the hexadecimal is unchecked: the verifiers refuse an invalid claim with an ArgumentError.
  const root = trusted.value as Hex
  const asked = { address: address.value as Hex, storageKeys: storageKeys as Hex[] }
  const scheme = schemeNamed(statement.scheme.value)
  const outcome = safely(() =>
    scheme === undefined
      ? verifyEthProof(resultIn(file.answer), { ...asked, l1StateRoot: root })
      : createVerifier(scheme).verifyProof(file.answer, { ...asked, stateRoot: root }),
  )
  const stateRoot = { value: trusted.value, source: `trusted, ${sourceWords[trusted.source]}` }
  const question = { file, statement, storageKeys, address: address.value, stateRoot }
  if (!outcome.ok) return judgementOf(question, refused(outcome.error), { error: outcome.error })
  const sources: Record<ClaimField, Source> = {
    ...{ scheme: statement.scheme.source, stateRoot: 'user', address: address.source },
    storageKeys: storageKeys.length === 0 ? 'user' : statement.storageKeys.source,
  }
  const isOwn = Object.values(sources).every(source => source === 'user')
  const notes = answerNotes(sources, storageKeys.length).map(capitalized)
  const said = verified(basisOf(trusted, isOwn), stateWords(outcome.value), basisWords(statement, isOwn))
  return judgementOf(question, { ...said, notes }, { state: outcome.value })
}

function judgeBundle(file: OpenedFile, statement: Statement): Judgement {
  const claim = evidenceClaim(file, statement)
  const requested = fieldIn(file.bundle, 'request')
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
  const named = itemsOf(fieldIn(requested, 'storageKeys')).map(textOf)
  const storageKeys = claim.storageKeys === 'fromBundle' ? named : claim.storageKeys
  const address = claim.address === 'fromBundle' ? textOf(fieldIn(requested, 'address')) : claim.address
  const { trustedKind, trusted } = statement
  const isTrusted = trustedKind.value === 'l2StateRoot'
  const question = { file, statement, storageKeys, address }
  const byContract = 'proven from L1'
  const outcome = safely(() => verifyEvidence(file.bundle, claim))
  if (!outcome.ok) {
    const { code, expected } = outcome.error
    // If the answer is refused for its root, the error contains the root that L1 proves.
    const provenRoot = code === 'STATE_ROOT_MISMATCH' && expected ? { value: expected, source: byContract } : null
    const stateRoot = isTrusted ? { value: trusted.value, source: 'trusted' } : provenRoot
    return judgementOf({ ...question, stateRoot }, refused(outcome.error), { error: outcome.error })
  }
  const proven = outcome.value
  const sources = evidenceSourcesOf(statement)
  const source = isTrusted ? `trusted, ${sourceWords[trusted.source]}` : byContract
  const others = { ...sources, trusted: 'user', ...constantSources(statement) }
  const isOwn = Object.values(others).every(each => each === 'user')
  const notes = bundleNotes({ ...sources, trusted: 'user' }, proven).map(capitalized)
  const said = verified(basisOf(trusted, isOwn), stateWords(proven), basisWords(statement, isOwn))
  const { l1Block, stateRoot, currentL2BlockNumber: newest, l2BlockNumber, implementation } = proven
  const { l2Block } = proven as { readonly l2Block?: { readonly hash: Hex } }
  const beaconBlock = proven.trustedInput === 'beaconBlockRoot' ? proven.beaconBlock : undefined
  const rows: (Row | false)[] = [
    l2BlockNumber !== undefined && ['L2 block', `${l2BlockNumber}`],
    ...(isTrusted ? [] : [timeRow(proven)]),
    newest !== undefined && ['Last finalized', `${newest}`],
    ['Contract', claim.rollup.address],
    implementation !== undefined && ['Code behind its proxy', implementation],
  ]
  const l2 = { stateRoot, blockHash: l2Block?.hash, rows: rows.filter(row => row !== false) }
  return judgementOf(
    { ...question, stateRoot: { value: stateRoot, source } },
    { ...said, notes },
    { state: proven, chain: { l1Block, beaconBlock, l2 } },
  )
}

/** The claim that the user stated. What came from the bundle itself is left to it. */
function evidenceClaim(file: OpenedFile, statement: Statement): EvidenceClaim {
  const { l2Block, address, scheme } = statement
  return {
    scheme: schemeNamed(scheme.value) ?? scheme.value,
    trusted: trustedOf(file, statement),
    rollup: rollupOf(statement),
    l2BlockNumber: isStated(statement, 'l2Block') ? parseNumber(l2Block.value, 64) : 'fromBundle',
    address: isStated(statement, 'address') ? address.value : 'fromBundle',
    storageKeys: isStated(statement, 'storageKeys') ? keysIn(statement) : 'fromBundle',
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
  } as unknown as EvidenceClaim
}

/** The properties of the answer and the question that determine the list of checks. */
function shapeOf(file: OpenedFile, statement: Statement, storageKeys: readonly string[]): Shape {
  const slots = storageProofsIn(file.answer)
  const l1 = fieldIn(file.bundle, 'l1')
  const storageProof = fieldIn(fieldIn(l1, 'proof'), 'storageProof')
  const finalizedState = fieldIn(l1, 'finalizedState')
  const states = (name: FieldName) => isStated(statement, name)
  const isEthereum = statement.scheme.value === 'ethereum'
  const formOfSlot = (_: string, index: number): Form =>
    isEthereum ? 'existence' : slots.length === 0 || slots[index] === null ? 'implied' : formOf(slots[index])
  const stated = !isObject(finalizedState) ? 0 : isGiven(fieldIn(finalizedState, 'forcedTransactionNumber')) ? 3 : 2
  return {
    forms: [
      isEthereum ? 'existence' : formOf(leafProofAt(file.answer, 0)),
      ...storageKeys.slice(0, MAX_KEYS).map(formOfSlot),
    ],
    chain:
      file.subject === 'bundle'
        ? {
            trustedKind: statement.trustedKind.value,
            states: {
              ...{ block: states('l2Block'), address: states('address'), keys: states('storageKeys') },
              implementation: statement.implementation.value !== '',
            },
            ...{ l1SlotCount: itemsOf(storageProof).length, l1StatedCount: stated },
          }
        : null,
    isEthereum,
  }
}
