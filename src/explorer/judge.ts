import {
  type EvidenceClaim,
  lineaLayout,
  lineaMainnet,
  lineaSepolia,
  type Rollup,
  verifyEvidence,
} from '../../../src/anchor.ts'
import {
  createVerifier,
  errorMeanings,
  ProofError,
  type Scheme,
  safeVerifyProof,
  type VerifiedState,
  type VerifierClaim,
} from '../../../src/index.ts'
import { mimc } from '../../../src/mimc.ts'
import { poseidon2 } from '../../../src/poseidon2.ts'
import { type Form, findFailed, groupsOf, listSteps, placeError, type Shape, type Step } from './checks.ts'
import { type ExplorerDocument, resultIn } from './document.ts'
import type { FieldName, ProofSummary, Report, Row, Statement } from './messages.ts'
import { fieldIn, fieldsOf, isGiven, isObject, itemsOf, printable } from './value.ts'
import {
  accountRows,
  answerNotes,
  bundleNotes,
  chainRows,
  claimWords,
  isStated,
  keysIn,
  questionRows,
  slotWords,
  sourceWords,
  trustedNames,
} from './wording.ts'

/** A report, and what the view of a single proof needs of it. */
export interface Judgement {
  readonly report: Report
  readonly scheme: Scheme | null
  /** What the account proof must lead to; null when nobody said it, or nothing was proven. */
  readonly stateRoot: { readonly value: string; readonly source: string } | null
  readonly address: string
  readonly storageKeys: readonly string[]
  readonly steps: readonly Step[]
  readonly failed: number
  readonly error: ProofError | null
  readonly accountIsProven: boolean
}

const schemes = new Map<string, Scheme>([
  ['mimc', mimc],
  ['poseidon2', poseidon2],
])

/** Verifies the document with the published functions, and tells what they said. */
export function judge(document: ExplorerDocument, statement: Statement): Judgement {
  const scheme = schemes.get(statement.scheme.value) ?? null
  const reason = missing(document, statement)
  if (scheme === null || reason !== null) return unjudged(document, statement, scheme, reason ?? '')
  return document.isBundle ? judgeBundle(document, statement, scheme) : judgeAnswer(document, statement, scheme)
}

/** What has to be stated before anything can be judged; null when all of it is. */
function missing({ isBundle }: ExplorerDocument, statement: Statement): string | null {
  const { scheme, trustedKind, trusted, address, rollup } = statement
  if (!schemes.has(scheme.value)) return 'no scheme is chosen, the one that the rollup used at the block of the proof'
  const name = trustedNames.get(trustedKind.value) ?? 'root'
  if (!isBundle && trustedKind.value !== 'l2StateRoot') {
    return `an answer alone does not lead from an ${name} to the account, as an evidence bundle does`
  }
  if (trusted.value === '')
    return `no ${isBundle ? name : 'root'} is given, so nothing says what the proof must lead to`
  if (!isBundle && address.value === '') return 'no address is given, and an answer does not say what was asked'
  if (isBundle && rollup.value === '') return 'no rollup is given, and anyone can deploy a contract that holds any root'
  return null
}

function unjudged(document: ExplorerDocument, statement: Statement, scheme: Scheme | null, reason: string): Judgement {
  const storageKeys = keysIn(statement)
  const shape = shapeOf(document, statement, storageKeys)
  const steps = listSteps(shape)
  const other = document.isBundle ? null : noProof(document.answer)
  return {
    report: {
      verdict: 'unjudged',
      headline: other === null ? 'Cannot judge' : `No proof to judge: ${other.code}`,
      text:
        other === null
          ? `Not verified: ${reason}. What is shown below is what the file says: all of it can be made up.`
          : `${errorMeanings[other.code]} ${printable(other.found ?? '')}`,
      failure: null,
      question: questionRows(document, statement),
      chain: [],
      account: [],
      notes: document.notes,
      groups: groupsOf(steps, -1),
      proofs: summarize(shape.forms, statement.address.value, storageKeys, null, steps, -1),
      shown: 0,
    },
    scheme,
    stateRoot: null,
    address: statement.address.value,
    storageKeys,
    steps,
    failed: -1,
    error: null,
    accountIsProven: false,
  }
}

/** What is no proof at all is so whatever was asked: an endpoint's error, or an answer of another method. */
function noProof(answer: unknown): ProofError | null {
  const zeros = (length: number) => `0x${'00'.repeat(length)}` as const
  const outcome = safeVerifyProof(answer, { scheme: poseidon2, stateRoot: zeros(32), address: zeros(20) })
  return !outcome.ok && ['RPC_ERROR', 'FOREIGN_PROOF'].includes(outcome.error.code) ? outcome.error : null
}

function judgeAnswer(document: ExplorerDocument, statement: Statement, scheme: Scheme): Judgement {
  const storageKeys = keysIn(statement)
  const { trusted, address } = statement
  const shape = shapeOf(document, statement, storageKeys)
  // The hexadecimal is unchecked, whatever the type says: the verifier refuses a wrong claim with CLAIM_INVALID.
  const claim = { stateRoot: trusted.value, address: address.value, storageKeys } as VerifierClaim
  const outcome = createVerifier(scheme).safeVerifyProof(document.answer, claim)
  const stateRoot = { value: trusted.value, source: `trusted, ${sourceWords[trusted.source]}` }
  const common = { document, statement, scheme, shape, storageKeys, address: address.value, stateRoot }
  return outcome.ok
    ? verified({ ...common, state: outcome, chain: [], notes: answerNotes(statement, storageKeys) })
    : refused({ ...common, error: outcome.error })
}

function judgeBundle(document: ExplorerDocument, statement: Statement, scheme: Scheme): Judgement {
  const claim = evidenceClaim(statement, scheme)
  const requested = bundleRequest(document)
  const storageKeys = claim.storageKeys === undefined ? requested.storageKeys : [...claim.storageKeys]
  const address = claim.address ?? requested.address
  const shape = shapeOf(document, statement, storageKeys)
  const isTrusted = statement.trustedKind.value === 'l2StateRoot'
  const common = { document, statement, scheme, shape, storageKeys, address }
  try {
    const state = verifyEvidence(document.bundle, claim)
    return verified({
      ...common,
      state,
      stateRoot: {
        value: state.stateRoot,
        source: isTrusted ? `trusted, ${sourceWords[statement.trusted.source]}` : 'proven by the rollup contract',
      },
      chain: chainRows(statement, state),
      notes: bundleNotes(statement, state),
    })
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    const stateRoot = isTrusted ? { value: statement.trusted.value, source: 'trusted' } : provenRoot(error)
    return refused({ ...common, error, stateRoot })
  }
}

/** When the answer is refused for its root, the error names the one that L1 led to. */
function provenRoot({ code, expected }: ProofError): Judgement['stateRoot'] {
  return code === 'STATE_ROOT_MISMATCH' && expected !== undefined
    ? { value: expected, source: 'proven by the rollup contract' }
    : null
}

/** What the person stated; what came from the bundle itself is left to it. */
function evidenceClaim(statement: Statement, scheme: Scheme): EvidenceClaim {
  const { trustedKind, trusted, l2Block, address, rollup } = statement
  return {
    scheme,
    trusted: { [trustedKind.value]: trusted.value },
    rollup: rollupOf(rollup.value, statement),
    ...(isStated(statement, 'l2Block') && { l2BlockNumber: toInteger(l2Block.value) }),
    ...(isStated(statement, 'address') && { address: address.value }),
    ...(isStated(statement, 'storageKeys') && { storageKeys: keysIn(statement) }),
    // The hexadecimal is unchecked, whatever the type says: verifyEvidence refuses with CLAIM_INVALID.
  } as unknown as EvidenceClaim
}

function rollupOf(name: string, { rootsSlot, currentSlot }: Statement): Rollup {
  if (name === 'mainnet') return lineaMainnet
  if (name === 'sepolia') return lineaSepolia
  const layout = { ...lineaLayout }
  if (rootsSlot.value !== '') layout.stateRootHashes = toInteger(rootsSlot.value)
  if (currentSlot.value !== '') layout.currentL2BlockNumber = toInteger(currentSlot.value)
  // As above.
  return { address: name, layout } as Rollup
}

/** Decimal, or hexadecimal after 0x. What is neither becomes a number that no claim may have. */
const toInteger = (text: string): bigint => (/^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text) ? BigInt(text) : -1n)

function bundleRequest({ bundle }: ExplorerDocument): { address: string; storageKeys: string[] } {
  const { request } = fieldsOf(bundle)
  const { address, storageKeys } = fieldsOf(request)
  return {
    address: typeof address === 'string' ? printable(address) : '',
    storageKeys: itemsOf(storageKeys).map(key => (typeof key === 'string' ? key : '')),
  }
}

/** A file of 16 MiB has no room for as many proofs of slots; what needs no proof is verified, but not listed. */
const MAX_LISTED = 4096

/** What the answer and the question look like, as far as the list of checks depends on it. */
function shapeOf(document: ExplorerDocument, statement: Statement, storageKeys: readonly string[]): Shape {
  const { accountProof, storageProofs } = resultIn(document.answer)
  const slots = itemsOf(storageProofs)
  const { l1 } = fieldsOf(document.bundle)
  const { storageProof } = fieldsOf(fieldIn(l1, 'proof'))
  const states = (name: FieldName) => isStated(statement, name)
  return {
    forms: [
      formOf(accountProof, false),
      ...storageKeys
        .slice(0, MAX_LISTED)
        .map((_, index) => formOf(slots[index], slots.length === 0 || slots[index] === null)),
    ],
    chain: document.isBundle
      ? {
          reach: statement.trustedKind.value,
          states: { block: states('l2Block'), address: states('address'), keys: states('storageKeys') },
          l1SlotCount: itemsOf(storageProof).length,
        }
      : null,
  }
}

function formOf(leafProof: unknown, isImplied: boolean): Form {
  if (isImplied) return 'implied'
  if (!isObject(leafProof)) return 'unknown'
  const { leafIndex, proof, leftLeafIndex, leftProof, rightLeafIndex, rightProof } = leafProof
  const exists = isGiven(leafIndex) || isGiven(proof)
  const isAbsent = [leftLeafIndex, leftProof, rightLeafIndex, rightProof].some(isGiven)
  return exists === isAbsent ? 'unknown' : exists ? 'existence' : 'absence'
}

interface Common {
  readonly document: ExplorerDocument
  readonly statement: Statement
  readonly scheme: Scheme
  readonly shape: Shape
  readonly storageKeys: readonly string[]
  readonly address: string
  readonly stateRoot: Judgement['stateRoot']
}

function verified(
  input: Common & { state: VerifiedState; chain: readonly Row[]; notes: readonly string[] },
): Judgement {
  const { document, statement, scheme, shape, state, storageKeys, address, stateRoot, chain, notes } = input
  const steps = listSteps(shape)
  const failed = steps.length
  const { account, storage } = state
  return {
    report: {
      verdict: 'verified',
      headline: `Verified: this account ${account === null ? 'does not exist' : 'exists'}${slotWords(storage)}`,
      text: 'Every check passed, for the root, address and storage keys shown here.',
      failure: null,
      question: questionRows(document, statement),
      chain,
      account: account === null ? [] : accountRows(account),
      notes,
      groups: groupsOf(steps, failed),
      proofs: summarize(shape.forms, address, storageKeys, state, steps, failed),
      shown: 0,
    },
    scheme,
    stateRoot,
    address,
    storageKeys,
    steps,
    failed,
    error: null,
    accountIsProven: account !== null,
  }
}

function refused(input: Common & { error: ProofError }): Judgement {
  const { document, statement, scheme, shape, error, storageKeys, address, stateRoot } = input
  const steps = listSteps(shape)
  const place = placeError(error, document.isBundle)
  const failed = findFailed(steps, place)
  const { code, path, expected, found } = error
  // The account is proven when what failed stands after its last check.
  const lastOfAccount = steps.findLastIndex(({ group }) => group === 0)
  return {
    report: {
      verdict: 'refused',
      headline: `Refused: ${code}`,
      text: errorMeanings[code],
      failure: {
        code,
        path: printable(path),
        meaning: errorMeanings[code],
        expected: expected && printable(expected),
        found: found && printable(found),
      },
      question: questionRows(document, statement),
      chain: [],
      account: [],
      notes: document.notes,
      groups: groupsOf(steps, failed),
      proofs: summarize(shape.forms, address, storageKeys, null, steps, failed),
      shown: typeof place.group === 'number' && place.group < shape.forms.length ? place.group : 0,
    },
    scheme,
    stateRoot,
    address,
    storageKeys,
    steps,
    failed,
    error,
    accountIsProven: failed > lastOfAccount && shape.forms[0] === 'existence',
  }
}

/** The state of each leaf proof: it failed, or all of its checks passed, or some were not reached. */
function summarize(
  forms: readonly Form[],
  address: string,
  storageKeys: readonly string[],
  state: VerifiedState | null,
  steps: readonly Step[],
  failed: number,
): ProofSummary[] {
  const last = new Map(steps.map(({ group }, index) => [group, index]))
  const failedGroup = steps[failed]?.group
  return forms.map((form, index) => {
    const isFailed = failedGroup === index
    const status = isFailed ? 'failed' : failed > (last.get(index) ?? -1) ? 'passed' : 'not reached'
    const slot = state?.storage[index - 1]
    const proven = (index === 0 ? (state?.account ?? null) !== null : slot?.exists) ? 'present' : 'absent'
    return {
      name: index === 0 ? 'Account' : `Slot ${index}`,
      key: printable(index === 0 ? address : (storageKeys[index - 1] ?? '')),
      status,
      outcome: state !== null ? proven : isFailed ? 'refused' : `claims ${claimWords[form]}`,
      value: slot?.exists ? slot.value : '',
    }
  })
}
