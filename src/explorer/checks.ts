import { guessSchemeOfPath, type LeafPath, leafPaths, leafProofAt } from '../document/answer.ts'
import { type Link, linkOf, links } from '../document/evidence.ts'
import {
  DIGEST_LENGTH,
  hasTooManyNodes,
  isHexOf,
  isLeafIndex,
  LEAF_NODE,
  readLeaf,
  treeLengths,
} from '../document/layout.ts'
import { fieldIn, fieldsOf, itemsOf } from '../document/value.ts'
import { capitalized } from '../document/wording.ts'
import type { FailureCode, Refusal } from '../errors.ts'
import type { OpenedFile } from './opened-file.ts'
import { type Form, partNames } from './wording.ts'

/**
 * A check of the verifier. They are listed in the verifier's order. It stops at the first check that fails: those before it
 * have passed, those after it were not reached. This list decides nothing. It finds the failed check by the code and path of
 * the thrown error and, if two checks share these, by the part of the file that they cover. Tests keep the list in sync with
 * the verifier.
 */
export interface Step {
  readonly group: GroupKey
  readonly title: string
  readonly codes: readonly FailureCode[]
  /** Whether this check raised an error that has one of the `codes` and is in this group. `path` is relative to the group. */
  readonly raises: (error: PlacedError) => boolean
}

/** A number stands for a leaf proof: 0 is the account's, 1 the first slot's. */
export type GroupKey = 'question' | Link | number

/** An error, with its group and its path in the group. */
export interface PlacedError {
  readonly group: GroupKey
  readonly code: FailureCode
  readonly path: string
  /** For people. It decides nothing. */
  readonly found: string
  /** The part of the file that the group is about: a leaf proof, the L1 header or the L1 proof. */
  readonly served: unknown
}

export type Status = 'passed' | 'failed' | 'not reached'

/** A check as the page shows it. */
export interface Check extends Pick<Step, 'title' | 'codes'> {
  readonly status: Status
}

/** What determines the list of checks. */
export interface Shape {
  /** Of the account and of each requested key. */
  readonly forms: readonly Form[]
  /** What a bundle is verified from, and which parts of the claim the user stated; null for a bare answer. */
  readonly chain: {
    /** Which kind of input is trusted. */
    readonly trustedKind: string
    readonly states: { readonly block: boolean; readonly address: boolean; readonly keys: boolean }
    /** How many slots of the rollup contract the bundle proves. */
    readonly l1SlotCount: number
    /** How many of them the finalized state takes. */
    readonly l1StatedCount: number
  } | null
}

type Raises = Step['raises']
const at =
  (...paths: readonly string[]): Raises =>
  ({ path }) =>
    paths.includes(path)
const below =
  (start: string): Raises =>
  ({ path }) =>
    path.startsWith(start)

/** Makes checks of one group. Without `raises`, the code alone identifies the check. */
const stepIn =
  (group: GroupKey, label = '') =>
  (title: string, codes: readonly FailureCode[], raises: Raises = () => true): Step => ({
    group,
    title: `${label}${title}`,
    codes,
    raises,
  })

/** The codes of hexadecimal that has the wrong shape. */
const HEX: readonly FailureCode[] = ['BAD_HEX', 'WRONG_LENGTH']
/** {@link HEX}, in an answer. */
const ANSWER_HEX: readonly FailureCode[] = ['MALFORMED_RESPONSE', ...HEX]

export function listSteps({ forms, chain }: Shape): Step[] {
  const [accountForm = 'neither', ...slotForms] = forms
  const question = stepIn('question')
  const answer = stepIn('answer')
  return [
    question('The root, address and keys that you state have the right lengths', ['ARGUMENT_INVALID']),
    ...(chain === null ? [] : chainSteps(chain)),
    answer('It is an answer, not an error', ['ANSWER_IS_ERROR', 'MALFORMED_RESPONSE'], at('', 'error')),
    answer('It is not an eth_getProof answer', ['FOREIGN_PROOF']),
    ...decodeSteps(0, accountForm),
    answer('The storage proofs are a list', ['MALFORMED_RESPONSE'], at('storageProofs')),
    answer('There is one for each requested key, or none at all', [
      'STORAGE_PROOF_UNEXPECTED',
      'STORAGE_PROOF_MISSING',
    ]),
    ...slotForms.flatMap((form, index) => decodeSteps(index + 1, form)),
    ...verifySteps(0, accountForm),
    ...slotForms.flatMap((form, index) => verifySteps(index + 1, form)),
  ]
}

const [leaf, ...neighbours] = leafPaths
const partsOf = (form: Form): readonly LeafPath[] =>
  form === 'existence' ? [leaf] : form === 'non-existence' ? neighbours : []

const labelOf = (proof: LeafPath['proof']): string => (proof === 'proof' ? '' : `${capitalized(partNames[proof])}: `)

/** Decoding one leaf proof: everything has its exact length and is canonical. */
function decodeSteps(group: number, form: Form): Step[] {
  if (form === 'implied') return []
  const step = stepIn(group)
  return [
    step('It has one of the two forms: existence or non-existence', ['MALFORMED_RESPONSE'], at('')),
    step(`The key is ${group === 0 ? '20' : '32'} bytes of hexadecimal`, ANSWER_HEX, at('key')),
    ...partsOf(form).flatMap(part => decodePartSteps(group, form, part)),
  ]
}

function decodePartSteps(group: number, form: Form, { proof, index }: LeafPath): Step[] {
  const nodes = `${proof}.proofRelatedNodes`
  const step = stepIn(group, labelOf(proof))
  const innerCodes = [...ANSWER_HEX, 'NON_CANONICAL'] as const
  const leafCodes = [...innerCodes, 'INDEX_OUT_OF_RANGE'] as const
  const siblingCodes = [...leafCodes, 'ZERO_OPENING'] as const
  const node = (...entries: readonly number[]) => at(...entries.map(entry => `${nodes}[${entry}]`))
  const isInner: Raises = error => below(`${nodes}[`)(error) && !node(0, 40, 41)(error)
  const isIndex =
    (isDecoded: boolean): Raises =>
    ({ path, served }) =>
      path === index && isLeafIndex(fieldIn(served, index)) === isDecoded
  const isValue = at(`${proof}.value`)
  // The exact length of a neighbour's value is checked later, because HEAD and TAIL have another.
  const isWrongHex: Raises = error =>
    error.code !== 'WRONG_LENGTH' || form === 'existence' || !isNeighbourValue(group, proof, error)
  return [
    step('the leaf index is an integer below 2^40', ['MALFORMED_RESPONSE', 'INDEX_OUT_OF_RANGE'], isIndex(false)),
    step('there are 42 nodes', ['MALFORMED_RESPONSE', 'WRONG_NODE_COUNT'], at(proof, nodes)),
    step('the nodes have the lengths of the stated scheme', ['SCHEME_MISMATCH'], at(nodes)),
    step('node 0, nextFreeNode and the sub-root, has its length and is canonical', leafCodes, node(0)),
    step('nodes 1 to 39, two digests each, have their length and are canonical', innerCodes, isInner),
    step('node 40, the sibling leaf, has its length and is canonical, or is 32 zero bytes', siblingCodes, node(40)),
    step('node 41, the leaf, has its length and is canonical', leafCodes, node(41)),
    step('the value is hexadecimal of the right length', ANSWER_HEX, error => isValue(error) && isWrongHex(error)),
    ...(group === 0 ? [step('the elements of the value are canonical', ['NON_CANONICAL'], isValue)] : []),
    step('the leaf index is below nextFreeNode', ['INDEX_OUT_OF_RANGE'], isIndex(true)),
  ]
}

/** Hashing and comparing one leaf proof. */
function verifySteps(group: number, form: Form): Step[] {
  const step = stepIn(group)
  if (form === 'implied') {
    const title = 'No proof is needed: the account does not exist, or has no storage'
    return [step(title, ['STORAGE_PROOF_MISSING'], at(''))]
  }
  const key = group === 0 ? 'address' : 'storage key'
  return [
    ...(group === 0 ? [] : [step('The account exists, so the proof is allowed', ['STORAGE_PROOF_UNEXPECTED'], at(''))]),
    step(`The key is the ${key} that you asked for`, ['KEY_MISMATCH'], at('key')),
    ...partsOf(form).flatMap(({ proof }) => [...pathSteps(group, proof), ...leafSteps(group, proof)]),
    ...(form === 'non-existence' ? absentSteps(group) : []),
  ]
}

function pathSteps(group: number, proof: LeafPath['proof']): Step[] {
  const step = stepIn(group, labelOf(proof))
  const isHere = at(proof)
  return [
    step('the keys of HEAD and TAIL are at index 0 and 1, and nowhere else', ['SENTINEL_MISPLACED'], isHere),
    step('the 40 levels lead from the leaf to the sub-root in node 0', ['SUB_ROOT_MISMATCH'], isHere),
    group === 0
      ? step('node 0 hashes to the trusted state root', ['STATE_ROOT_MISMATCH'], isHere)
      : step("node 0 hashes to the account's storage root", ['STORAGE_ROOT_MISMATCH'], isHere),
  ]
}

/** The fields of the leaf at the key, or of a neighbour. */
function leafSteps(group: number, proof: LeafPath['proof']): Step[] {
  const step = stepIn(group, labelOf(proof))
  const isValue = at(`${proof}.value`)
  if (proof !== 'proof') {
    const title = "the value hashes to the leaf's hVal, or is zero for HEAD and TAIL"
    const isHashed = (error: PlacedError) => error.code !== 'WRONG_LENGTH' || isNeighbourValue(group, proof, error)
    return [step(title, ['VALUE_MISMATCH', 'WRONG_LENGTH'], error => isValue(error) && isHashed(error))]
  }
  return [
    step("the leaf's hKey is the hash of the key", ['LEAF_KEY_MISMATCH'], at('proof')),
    step("the value hashes to the leaf's hVal", ['VALUE_MISMATCH'], isValue),
    group === 0
      ? step('nonce and code size fit 64 bits', ['VALUE_OUT_OF_RANGE'], isValue)
      : step('the value is not zero', ['ZERO_VALUE'], isValue),
  ]
}

/** Whether the value has the length of this tree's values, or of those of HEAD and TAIL. A later check decides between them. */
function isNeighbourValue(group: number, proof: LeafPath['proof'], { served }: PlacedError): boolean {
  const value = fieldIn(fieldIn(served, proof), 'value')
  return isHexOf(treeLengths[group === 0 ? 'account' : 'slot'].value, value) || isHexOf(DIGEST_LENGTH, value)
}

function absentSteps(group: number): Step[] {
  const step = stepIn(group)
  return [
    step("the left neighbour's next is the right neighbour", ['NOT_ADJACENT'], error => !pointsRight(error)),
    step("the right neighbour's prev is the left neighbour", ['NOT_ADJACENT'], pointsRight),
    step("the key's hash lies strictly between those of the neighbours", ['KEY_NOT_BETWEEN'], at('')),
  ]
}

/** Whether the left neighbour's next is the right one. */
function pointsRight({ served }: PlacedError): boolean {
  const { leftProof, rightLeafIndex } = fieldsOf(served)
  const scheme = guessSchemeOfPath(leftProof)
  const leaf = scheme && readLeaf(scheme, itemsOf(fieldIn(leftProof, 'proofRelatedNodes'))[LEAF_NODE])
  return leaf?.next === rightLeafIndex
}

const NODES_OF_TRIE: readonly FailureCode[] = [
  'MPT_HASH_MISMATCH',
  'MPT_NODE_MALFORMED',
  'MPT_PATH_NON_CANONICAL',
  'MPT_NODES_MISSING',
  'MPT_NODES_UNUSED',
  'RLP_NON_CANONICAL',
]

/** Whether a proof was refused, before any node was read, because it has more nodes than any key can have. */
function isOverlong({ code, path, served }: PlacedError): boolean {
  const [, slot] = /^(?:accountProof|storageProof\[(\d{1,6})\]\.proof)$/.exec(path) ?? []
  const { accountProof, storageProof } = fieldsOf(served)
  const nodes = slot === undefined ? accountProof : fieldIn(itemsOf(storageProof)[Number(slot)], 'proof')
  return code === 'MPT_NODES_UNUSED' && hasTooManyNodes(nodes)
}

/** From the bundle and the trusted input to the L2 state root. */
function chainSteps({ trustedKind, states, l1SlotCount, l1StatedCount }: NonNullable<Shape['chain']>): Step[] {
  const step = stepIn('bundle')
  const isFromBeacon = trustedKind === 'beaconBlockRoot'
  // What has no version is not a bundle.
  const isWhole = at('', 'version')
  const isKind = at('kind')
  return [
    step('It is an evidence bundle', ['EVIDENCE_MALFORMED'], isWhole),
    step('Its version is known', ['EVIDENCE_VERSION']),
    step('It is of a state, not of a call', ['EVIDENCE_MALFORMED'], isKind),
    step('Its parts have the right shapes', ['EVIDENCE_MALFORMED', ...HEX], error => !isWhole(error) && !isKind(error)),
    step('It is for the scheme that you stated', ['EVIDENCE_SCHEME_MISMATCH']),
    step('It is for the rollup that you stated', ['EVIDENCE_ROLLUP_MISMATCH']),
    ...(states.block ? [step('It is for the L2 block that you stated', ['EVIDENCE_BLOCK_MISMATCH'])] : []),
    ...(states.address ? [step('It is for the address that you stated', ['EVIDENCE_ADDRESS_MISMATCH'])] : []),
    ...(states.keys ? [step('It is for the storage keys that you stated', ['EVIDENCE_KEYS_MISMATCH'])] : []),
    ...(isFromBeacon ? consensusSteps() : []),
    ...(isFromBeacon || trustedKind === 'l1BlockHash' ? headerSteps() : []),
    ...(trustedKind === 'l2StateRoot' ? [] : contractSteps(l1SlotCount, l1StatedCount)),
  ]
}

const PART_SHAPE: readonly FailureCode[] = [
  'BEACON_MALFORMED',
  'BEACON_INTEGER',
  'BEACON_FORK_UNKNOWN',
  'BEACON_BRANCH_LENGTH',
  ...HEX,
]
const COMMITTEE_SHAPE: readonly FailureCode[] = ['BEACON_COMMITTEE_SIZE', 'BEACON_KEY_ENCODING']
const BOOTSTRAP: readonly FailureCode[] = [
  'BEACON_ROOT_MISMATCH',
  'BEACON_EXECUTION_MISMATCH',
  'BEACON_COMMITTEE_MISMATCH',
]
const SIGNED: readonly FailureCode[] = [
  'BEACON_FINALITY_MISSING',
  'BEACON_SLOT_ORDER',
  'BEACON_SIGNATURE_PERIOD',
  'BEACON_EXECUTION_MISMATCH',
  'BEACON_FINALITY_MISMATCH',
  'BEACON_TOO_FEW_SIGNERS',
  'BEACON_KEY_POINT',
  'BEACON_SIGNATURE_POINT',
  'BEACON_SIGNATURE_MISMATCH',
]
const UPDATED: readonly FailureCode[] = [
  'BEACON_TOO_MANY_UPDATES',
  'BEACON_ATTESTED_PERIOD',
  'BEACON_FINALIZED_PERIOD',
  'BEACON_NEXT_COMMITTEE_MISMATCH',
]

/** The parts are verified one after the other, each by the same checks. */
function consensusSteps(): Step[] {
  const step = stepIn('consensus')
  const shape = [...PART_SHAPE, ...COMMITTEE_SHAPE]
  return [
    step('The bundle has the consensus part', ['EVIDENCE_CONSENSUS_MISSING', 'EVIDENCE_MALFORMED']),
    step('It is for the network that you stated', ['EVIDENCE_NETWORK_MISMATCH']),
    step('The trusted beacon block commits to its sync committee', [...shape, ...BOOTSTRAP], below('bootstrap')),
    step('Each committee signs for the next one', [...shape, ...SIGNED, ...UPDATED], below('updates')),
    step('The last committee signs for a finalized beacon block', [...PART_SHAPE, ...SIGNED], below('finality')),
    step('It is no older than the trusted one', ['BEACON_OLDER_THAN_CHECKPOINT']),
  ]
}

function headerSteps(): Step[] {
  const step = stepIn('l1Header')
  /** Two checks raise HEADER_MALFORMED: the first only for what is no text, the second only for a text. */
  const isOfText =
    (isText: boolean): Raises =>
    ({ code, path, served }) =>
      code !== 'HEADER_MALFORMED' || (path !== '' || typeof served === 'string') === isText
  return [
    step('The bundle has the L1 header', ['EVIDENCE_L1_MISSING']),
    step('It is hexadecimal, and not too long', ['HEADER_MALFORMED', ...HEX], isOfText(false)),
    step('It hashes to the L1 block hash above', ['HEADER_HASH_MISMATCH', 'EVIDENCE_L1_BLOCK_MISMATCH']),
    step(
      'What was hashed is a block header',
      ['RLP_NON_CANONICAL', 'HEADER_MALFORMED', 'HEADER_QUANTITY'],
      isOfText(true),
    ),
  ]
}

const STATED_SLOTS = ['currentFinalizedState', 'the message’s rolling hash', 'the forced transaction’s rolling hash']

/** In the order of `anchorStorageKeys`. */
const l1Slots = (statedCount: number): string[] => [
  ...['the root of the L2 block', 'the last finalized L2 block'],
  ...STATED_SLOTS.slice(0, statedCount),
  ...['the hash of the L2 block', 'the code behind the proxy'],
]

function contractSteps(slotCount: number, statedCount: number): Step[] {
  const step = stepIn('rollupContract')
  return [
    step('The bundle has the L1 proof', ['EVIDENCE_L1_MISSING']),
    step(
      'It has the shape of an eth_getProof result, for the slots that are asked for',
      ['L1_PROOF_MALFORMED', 'L1_STORAGE_PROOF_COUNT', ...HEX, 'MPT_NODES_UNUSED'],
      error => error.code !== 'MPT_NODES_UNUSED' || isOverlong(error),
    ),
    step('Its nodes lead from the L1 state root to the contract', NODES_OF_TRIE, trieBelow('accountProof')),
    step('What is there, if anything, is an account', ['L1_ACCOUNT_MALFORMED']),
    step(
      'The redundant fields agree with what the nodes prove',
      ['L1_KEY_MISMATCH', 'L1_PROOF_DISAGREES'],
      at('address', 'nonce', 'balance', 'storageHash', 'codeHash'),
    ),
    ...l1Slots(statedCount)
      .slice(0, slotCount)
      .flatMap((what, index) => l1SlotSteps(what, `storageProof[${index}]`)),
    step('The rollup contract exists', ['ANCHOR_NO_CONTRACT']),
    ...(slotCount < 2 ? [] : [step('The L2 block is not above the last finalized one', ['ANCHOR_BLOCK_AHEAD'])]),
    step('The contract holds a root for the L2 block', ['ANCHOR_NO_ROOT']),
    ...(statedCount === 0 ? [] : [step(FINALIZED_STATE, ['ANCHOR_FINALIZED_STATE_MISMATCH'])]),
  ]
}

const FINALIZED_STATE = 'The stated numbers and timestamp hash to what the contract keeps for its newest finalization'

function l1SlotSteps(what: string, path: string): Step[] {
  const step = stepIn('rollupContract', `Slot of ${what}: `)
  return [
    step('it is the requested one', ['L1_KEY_MISMATCH'], at(`${path}.key`)),
    step("its nodes lead from the contract's storage root to it", NODES_OF_TRIE, trieBelow(`${path}.proof`)),
    step(
      'its value is a canonical number, and the redundant field agrees',
      ['L1_VALUE_MALFORMED', 'L1_PROOF_DISAGREES'],
      below(`${path}.`),
    ),
  ]
}

const trieBelow =
  (start: string): Raises =>
  error =>
    below(start)(error) && !isOverlong(error)

/** Finds the group of an error. */
export function placeError(error: Refusal, { bundle, answer, isBundle }: OpenedFile): PlacedError {
  const { code, found = '' } = error
  const link = isBundle ? linkOf(error) : 'answer'
  if (link === null || code === 'ARGUMENT_INVALID') {
    return { group: 'question', code, path: error.path, found, served: undefined }
  }
  const { header, proof } = fieldsOf(fieldIn(bundle, 'l1'))
  const roots: Readonly<Record<Link, readonly [path: string, served: unknown]>> = {
    bundle: ['', bundle],
    consensus: ['consensus', fieldIn(bundle, 'consensus')],
    l1Header: ['l1.header', header],
    rollupContract: ['l1.proof', proof],
    l2Header: ['l2Header', fieldIn(bundle, 'l2Header')],
    answer: [isBundle ? 'answer' : '', answer],
  }
  const [root, served] = roots[link]
  const path = error.path.slice(root.length).replace(/^\./, '')
  const [, slot, rest] = /^(?:accountProof|storageProofs\[(\d{1,9})\])\.?(.*)$/s.exec(path) ?? []
  if (link !== 'answer' || rest === undefined) return { group: link, code, path, found, served }
  const group = slot === undefined ? 0 : Number(slot) + 1
  return { group, code, path: rest, found, served: leafProofAt(answer, group) }
}

/** The index of the check that raised the error; -1 if none in the list did. */
export function findFailed(steps: readonly Step[], error: PlacedError): number {
  return steps.findIndex(step => step.group === error.group && step.codes.includes(error.code) && step.raises(error))
}

/** @param failed index of the check that failed; the length of the list if none did */
export function checksOf(steps: readonly Step[], failed: number, group: GroupKey): Check[] {
  return steps.flatMap((step, index) =>
    step.group === group
      ? [{ title: capitalized(step.title), codes: step.codes, status: statusAt(index, failed) }]
      : [],
  )
}

const statusAt = (index: number, failed: number): Status =>
  index < failed ? 'passed' : index === failed ? 'failed' : 'not reached'

/** Of each group: one of its checks failed, all of them passed, or some were not reached. */
export function statusesOf(steps: readonly Step[], failed: number): ReadonlyMap<GroupKey, Status> {
  // The last check of each group decides, unless an earlier one failed.
  const statuses = new Map(steps.map(({ group }, index) => [group, statusAt(index, failed)]))
  const step = steps[failed]
  return step === undefined ? statuses : statuses.set(step.group, 'failed')
}

const groupTitles = { question: 'what you state', ...links, answer: 'the answer as a whole' } as const

/** All groups but the leaf proofs, which have their own lists. */
export const groupsOf = (steps: readonly Step[], failed: number) =>
  (Object.keys(groupTitles) as (keyof typeof groupTitles)[])
    .map(group => ({
      title: capitalized(groupTitles[group].replaceAll('->', '→')),
      checks: checksOf(steps, failed, group),
    }))
    .filter(({ checks }) => checks.length > 0)
