import {
  type EvidenceClaim,
  lineaLayout,
  lineaMainnet,
  lineaSepolia,
  type Rollup,
  type VerifiedEvidence,
  verifyEvidence,
} from '../../../src/anchor.ts'
import {
  type Account,
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
import type { FieldName, ProofSummary, Report, Row, Source, Statement } from './messages.ts'
import { fieldIn, fieldsOf, isGiven, isObject, itemsOf, printable } from './value.ts'

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

const sourceWords: Readonly<Record<Source, string>> = {
  you: 'stated by you',
  file: 'from the file',
  answer: 'taken from the answer, not stated by you',
  bundle: 'from the bundle, not stated by you',
}

const schemes = new Map<string, Scheme>([
  ['mimc', mimc],
  ['poseidon2', poseidon2],
])

const trustedNames = new Map([
  ['l1BlockHash', 'L1 block hash'],
  ['l1StateRoot', 'L1 state root'],
  ['l2StateRoot', 'L2 state root'],
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

const keysIn = ({ storageKeys }: Statement): string[] => storageKeys.value.split(/[\s,]+/).filter(key => key !== '')

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
    if (claim.rollup.layout === null)
      throw new ProofError('CLAIM_INVALID', { path: 'rollup.layout', expected: 'two numbers' })
    const state = verifyEvidence(document.bundle, { ...claim, rollup: claim.rollup as Rollup })
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

type LooseClaim = Omit<EvidenceClaim, 'rollup'> & { rollup: { address: string; name?: string; layout?: unknown } }

/** What the person stated; what came from the bundle itself is left to it. */
function evidenceClaim(statement: Statement, scheme: Scheme): LooseClaim {
  const { trustedKind, trusted, l2Block, address, rollup } = statement
  const isStated = (name: FieldName) => statement[name].source !== 'bundle' && statement[name].value !== ''
  return {
    scheme,
    trusted: { [trustedKind.value]: trusted.value },
    rollup: rollupOf(rollup.value, statement),
    ...(isStated('l2Block') && { l2BlockNumber: toInteger(l2Block.value, 64) }),
    ...(isStated('address') && { address: address.value }),
    ...(isStated('storageKeys') && { storageKeys: keysIn(statement) }),
    // The hexadecimal is unchecked, whatever the type says: verifyEvidence refuses with CLAIM_INVALID.
  } as unknown as LooseClaim
}

function rollupOf(name: string, { rootsSlot, currentSlot }: Statement): LooseClaim['rollup'] {
  if (name === 'mainnet') return lineaMainnet
  if (name === 'sepolia') return lineaSepolia
  if (rootsSlot.value === '' && currentSlot.value === '') return { address: name }
  const slot = (text: string, usual: bigint) => (text === '' ? usual : toInteger(text, 256))
  const stateRootHashes = slot(rootsSlot.value, lineaLayout.stateRootHashes)
  const currentL2BlockNumber = slot(currentSlot.value, lineaLayout.currentL2BlockNumber)
  const isKnown = stateRootHashes !== null && currentL2BlockNumber !== null
  return { address: name, layout: isKnown ? { stateRootHashes, currentL2BlockNumber } : null }
}

/** Decimal, or hexadecimal after 0x; null when it is neither, or too large. */
function toInteger(text: string, bits: number): bigint | null {
  if (!/^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) return null
  const value = BigInt(text)
  return value < 1n << BigInt(bits) ? value : null
}

function bundleRequest({ bundle }: ExplorerDocument): { address: string; storageKeys: string[] } {
  const { request } = fieldsOf(bundle)
  const { address, storageKeys } = fieldsOf(request)
  return {
    address: typeof address === 'string' ? printable(address) : '',
    storageKeys: itemsOf(storageKeys).map(key => (typeof key === 'string' ? key : '')),
  }
}

/** What the answer and the question look like, as far as the list of checks depends on it. */
function shapeOf(document: ExplorerDocument, statement: Statement, storageKeys: readonly string[]): Shape {
  const { accountProof, storageProofs } = resultIn(document.answer)
  const slots = itemsOf(storageProofs)
  const { l1 } = fieldsOf(document.bundle)
  const { storageProof } = fieldsOf(fieldIn(l1, 'proof'))
  const isStated = (name: FieldName) => statement[name].source !== 'bundle' && statement[name].value !== ''
  return {
    forms: [
      formOf(accountProof, false),
      ...storageKeys.map((_, index) => formOf(slots[index], slots.length === 0 || slots[index] === null)),
    ],
    chain: document.isBundle
      ? {
          reach: statement.trustedKind.value,
          states: { block: isStated('l2Block'), address: isStated('address'), keys: isStated('storageKeys') },
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

function slotWords(storage: VerifiedState['storage']): string {
  const present = storage.filter(({ exists }) => exists).length
  const absent = storage.length - present
  if (storage.length === 0) return ''
  if (storage.length === 1) return `, this slot is ${present === 1 ? 'present' : 'absent'}`
  return `, ${present} of its ${storage.length} slots ${present === 1 ? 'is' : 'are'} present, ${absent} absent`
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
    const proven = (index === 0 ? state?.account != null : slot?.exists) ? 'present' : 'absent'
    return {
      name: index === 0 ? 'Account' : `Slot ${index}`,
      key: printable(index === 0 ? address : (storageKeys[index - 1] ?? '')),
      status,
      outcome: state !== null ? proven : isFailed ? 'refused' : `claims ${claimWords[form]}`,
      value: slot?.exists ? slot.value : '',
    }
  })
}

export const claimWords: Readonly<Record<Form, string>> = {
  existence: 'presence',
  absence: 'absence',
  implied: 'absence, without a proof',
  unknown: 'nothing that can be read',
}

const accountRows = (account: Account): Row[] => [
  ['Nonce', `${account.nonce}`],
  ['Balance', `${account.balance} wei${account.balance >= 10n ** 9n ? ` (${toEther(account.balance)} ether)` : ''}`],
  ['Storage root', account.storageRoot],
  ['Code hash', account.codeHash],
  ['SNARK code hash', account.snarkCodeHash],
  ['Code size', `${account.codeSize} bytes`],
  ['Leaf index', `${account.leafIndex}`],
]

function toEther(wei: bigint): string {
  const digits = wei.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '')
}

function questionRows({ isBundle }: ExplorerDocument, statement: Statement): Row[] {
  const { trustedKind, scheme, trusted, rollup, l2Block, address } = statement
  const row = (name: string, value: string, source: Source): Row[] =>
    value === '' ? [] : [[name, printable(value), sourceWords[source]]]
  const keys = keysIn(statement)
  return [
    ...row(trustedNames.get(trustedKind.value) ?? 'Root', trusted.value, trusted.source),
    ...row('Scheme', scheme.value, scheme.source),
    ...(isBundle
      ? [...row('Rollup', rollup.value, rollup.source), ...row('L2 block', l2Block.value, l2Block.source)]
      : []),
    ...row('Address', address.value, address.source),
    ['Storage keys', `${keys.length}`, keys.length === 0 ? '' : sourceWords[statement.storageKeys.source]],
  ]
}

/** What the verdict is worth depends on who stated the question. */
function answerNotes({ trusted, scheme, address, storageKeys }: Statement, keys: readonly string[]): string[] {
  const taken = [
    address.source === 'answer' && 'address',
    storageKeys.source === 'answer' && keys.length > 0 && 'storage keys',
    scheme.source === 'answer' && 'scheme',
  ].filter(name => name !== false)
  return [
    ...(trusted.source === 'file' ? ['The state root is what the file says; compare it with L1.'] : []),
    ...(taken.length > 0 ? [`The ${listed(taken)} came from the answer: check that this is what you asked for.`] : []),
  ]
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** From the trusted input down: each row says what it rests on. */
function chainRows(statement: Statement, evidence: VerifiedEvidence): Row[] {
  const { l1Block, reach, l2BlockNumber, currentL2BlockNumber, stateRoot, address, storage } = evidence
  const words = (name: FieldName) => sourceWords[statement[name].source]
  const isAnchored = reach !== 'l2StateRoot'
  const unproven = isAnchored ? '' : ', not proven'
  return [
    ...(l1Block === null
      ? []
      : ([
          ['L1 block hash', l1Block.hash, 'trusted'],
          ['L1 block', `${l1Block.number}, of ${formatTime(l1Block.timestamp)}`, 'proven by the hash'],
          ['L1 state root', l1Block.stateRoot, 'proven by the header'],
        ] as const)),
    ...(reach === 'l1StateRoot' ? ([['L1 state root', statement.trusted.value, 'trusted']] as const) : []),
    ['Rollup', statement.rollup.value, `${words('rollup')}${unproven}`],
    ...(l2BlockNumber === null ? [] : ([['L2 block', `${l2BlockNumber}`, `${words('l2Block')}${unproven}`]] as const)),
    ...(currentL2BlockNumber === null
      ? []
      : ([['Last finalized L2 block', `${currentL2BlockNumber}`, 'proven by the rollup contract']] as const)),
    ['L2 state root', stateRoot, isAnchored ? 'proven by the rollup contract' : 'trusted'],
    ['Address', address, words('address')],
    ['Storage keys', `${storage.length}`, words('storageKeys')],
  ]
}

function bundleNotes(statement: Statement, evidence: VerifiedEvidence): string[] {
  const { reach, l2BlockNumber, currentL2BlockNumber, storage } = evidence
  const isFromBundle = (name: FieldName) => statement[name].source === 'bundle'
  const isAnchored = reach !== 'l2StateRoot'
  const taken = [
    isFromBundle('scheme') && 'scheme',
    isFromBundle('rollup') && 'rollup',
    isAnchored && isFromBundle('l2Block') && 'L2 block',
    isFromBundle('address') && 'address',
    isFromBundle('storageKeys') && storage.length > 0 && 'storage keys',
  ].filter(name => name !== false)
  const isOld = l2BlockNumber !== null && currentL2BlockNumber !== null && l2BlockNumber < currentL2BlockNumber
  const trustedName = trustedNames.get(reach)
  return [
    ...(statement.trusted.source === 'file'
      ? [`The ${trustedName} is what the file says: compare it with one that you trust.`]
      : []),
    ...(taken.length > 0
      ? [`Whoever made the bundle chose the ${listed(taken)}: check that this is what you want.`]
      : []),
    ...(isOld ? [`The L2 had been finalized up to block ${currentL2BlockNumber}: this is an older state.`] : []),
    ...(isAnchored ? [] : ['Nothing here proves that the state root is of this rollup, or of which block.']),
  ]
}

/** A header can hold any 64-bit number, and a Date cannot. */
function formatTime(seconds: bigint): string {
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString().replace('.000', '')
}
