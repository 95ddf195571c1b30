import { meaningOf } from '../base/error-meanings.ts'
import { resultIn, schemeNamed } from '../cli/words/answer.ts'
import type { ClaimField, Source } from '../cli/words/claim.ts'
import { brief, fieldIn, itemsOf } from '../cli/words/value.ts'
import type { PartSources } from '../cli/words/verdict.ts'
import { answerNotes, bundleNotes, capitalized } from '../cli/words/wording.ts'
import { type EvidenceClaim, verifyEthProof, verifyEvidence } from '../entry/anchor.ts'
import { createVerifier, type Hex, safely, verifyProof } from '../entry/index.ts'
import { poseidon2 } from '../entry/poseidon2.ts'
import type { AnyEvidence } from '../verify/evidence/types.ts'
import { drawUnverified } from './chain.ts'
import { MISASKED, UNCHECKED, watch } from './checks.ts'
import { findInputErrors, findMissing, stateClaimOf } from './inputs.ts'
import { judgeLogs } from './judge-logs.ts'
import { judgeMessage } from './judge-message.ts'
import { judgementOf, provenChain } from './judge-state.ts'
import { judgeTraces } from './judge-traces.ts'
import { isTrieOf, type OpenedFile } from './opened-file.ts'
import { established, type Judgement, refused, reportOf, type Said, unasked, withoutProofs } from './report.ts'
import { isStated, keysIn, type Statement } from './statement.ts'
import { evidenceSourcesOf, premiseSources, rootWords, stateWords, trustedName } from './wording.ts'

/** Verifies the file with the published functions, and reports their verdict. */
export function judge(file: OpenedFile, statement: Statement): Judgement {
  const { subject } = file
  if (subject === 'call' || subject === 'vector') return judgeOther(file, statement)
  const inputErrors = findInputErrors(file, statement)
  const missing = findMissing(file, statement)
  const isAsked = missing === null && inputErrors.length === 0
  if (subject === 'message') return judgeMessage(file, statement, isAsked ? null : unasked(missing, inputErrors))
  if (subject === 'traces') return judgeTraces(file, statement, isAsked ? null : unasked(missing, inputErrors))
  if (subject === 'logs') return judgeLogs(file, statement, isAsked ? null : unasked(missing, inputErrors))
  if (isAsked && subject === 'bundle') return judgeBundle(file, statement)
  // The user says what the answer is to be.
  if (isAsked) return judgeAnswer({ ...file, isTrie: isTrieOf(statement.scheme.value) }, statement)
  const { address } = statement
  const none = noProof(file)
  if (none !== null) return withoutProofs({ report: reportOf(file, none) })
  const basis = { file, statement, stateRoot: null, address: address.value, storageKeys: keysIn(statement) }
  return judgementOf(basis, unasked(missing, inputErrors), {
    checked: inputErrors.length > 0 ? MISASKED : UNCHECKED,
  })
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
    failure: { code, rows: [] },
  }
}

function judgeOther(file: OpenedFile, statement: Statement): Judgement {
  const { kind, subject, said = [] } = file
  const isCall = subject === 'call'
  const why = isCall ? 'Verifying it takes an EVM, which this page does not have.' : 'This page does not verify it.'
  const progress = { statement, checked: UNCHECKED }
  const boxes = isCall ? drawUnverified(progress, ['L1 block', 'L1 state', 'L2 state', 'Accounts', 'Call']) : []
  const headline = `This is a ${kind}: a command verifies it.`
  const text = `${why} Everything below is only what the file says.`
  const report = { verdict: 'unjudged', badge: 'Not verified here', headline, text, said, boxes } as const
  return withoutProofs({ report: reportOf(file, report) })
}

function judgeAnswer(file: OpenedFile, statement: Statement): Judgement {
  const storageKeys = keysIn(statement)
  const { trusted, address } = statement
  // Despite its type, the hexadecimal is unchecked: the verifiers refuse an invalid claim with an ArgumentError.
  const root = trusted.value as Hex
  const asked = { address: address.value as Hex, storageKeys: storageKeys as Hex[] }
  const scheme = schemeNamed(statement.scheme.value)
  const { outcome, checked } = watch(file, () =>
    scheme === undefined
      ? verifyEthProof(resultIn(file.answer), { ...asked, l1StateRoot: root })
      : createVerifier(scheme).verifyProof(file.answer, { ...asked, stateRoot: root }),
  )
  const stateRoot = { value: trusted.value, source: rootWords(trusted) }
  const question = { file, statement, storageKeys, address: address.value, stateRoot }
  if (!outcome.ok) return judgementOf(question, refused(outcome.error), { error: outcome.error, checked })
  const sources: Record<ClaimField, Source> = {
    ...{ scheme: statement.scheme.source, stateRoot: 'user', address: address.source },
    storageKeys: storageKeys.length === 0 ? 'user' : statement.storageKeys.source,
  }
  const notes = answerNotes(sources, storageKeys.length).map(capitalized)
  const said = established(statement, { ...sources, stateRoot: trusted.source }, stateWords(outcome.value))
  return judgementOf(question, { ...said, notes }, { state: outcome.value, checked })
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
  const follows = `follows from the ${trustedName(trustedKind.value)}`
  const { outcome, checked } = watch(file, () => verifyEvidence(file.bundle, claim))
  if (!outcome.ok) {
    const { code, expected } = outcome.error
    // If the answer is refused for its root, the error contains the root that L1 proves.
    const provenRoot = code === 'STATE_ROOT_MISMATCH' && expected ? { value: expected, source: byContract } : null
    const stateRoot = isTrusted ? { value: trusted.value, source: 'trusted' } : provenRoot
    return judgementOf({ ...question, stateRoot }, refused(outcome.error), { error: outcome.error, checked })
  }
  const proven = outcome.value
  const sources = evidenceSourcesOf(statement)
  const source = isTrusted ? rootWords(trusted) : byContract
  const notes = bundleNotes({ ...sources, trusted: 'user' }, proven).map(capitalized)
  const said = established(statement, bundleParts(statement, proven), stateWords(proven), proven)
  const ofRoot = said.verdict === 'verified' || isTrusted ? source : follows
  return judgementOf(
    { ...question, stateRoot: { value: proven.stateRoot, source: ofRoot } },
    { ...said, notes },
    { state: proven, chain: provenChain(proven, claim.rollup.address), checked },
  )
}

/** Who stated the parts of a claim on a bundle. */
function bundleParts(statement: Statement, { storage }: Pick<AnyEvidence, 'storage'>): PartSources {
  const { l2BlockNumber, address, storageKeys } = evidenceSourcesOf(statement)
  const isFromL1 = statement.trustedKind.value !== 'l2StateRoot'
  return {
    ...{ ...premiseSources(statement), address },
    ...(storage.length > 0 && { storageKeys }),
    ...(isFromL1 && { l2BlockNumber }),
  }
}

/** The claim that the user stated. What came from the bundle itself is left to it. */
function evidenceClaim(file: OpenedFile, statement: Statement): EvidenceClaim {
  const { address } = statement
  return {
    ...stateClaimOf(file, statement),
    address: isStated(statement, 'address') ? address.value : 'fromBundle',
    storageKeys: isStated(statement, 'storageKeys') ? keysIn(statement) : 'fromBundle',
    // Despite its type, it is unchecked: verifyEvidence refuses an invalid claim with an ArgumentError.
  } as unknown as EvidenceClaim
}
