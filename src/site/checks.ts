import { blocksErrorMeanings } from '../base/error-meanings.ts'
import type { FailureCode, Refusal } from '../base/errors.ts'
import { guessSchemeOfPath, type LeafPath, leafPaths, leafProofAt } from '../cli/words/answer.ts'
import { type Link, linkOf } from '../cli/words/evidence.ts'
import {
  DIGEST_LENGTH,
  hasTooManyNodes,
  isHexOf,
  isLeafIndex,
  LEAF_NODE,
  readLeaf,
  treeLengths,
} from '../cli/words/layout.ts'
import { fieldIn, fieldsOf, itemsOf } from '../cli/words/value.ts'
import { capitalized } from '../cli/words/wording.ts'
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
  /** The proof that it belongs to, if errors do not tell it by their group. */
  readonly proof?: number | undefined
  readonly title: string
  readonly codes: readonly FailureCode[]
  /** Whether this check raised an error that has one of the `codes` and is in this group. `path` is relative to the group. */
  readonly raises: (error: PlacedError) => boolean
}

/** A number stands for a leaf proof: 0 is the account's, 1 the first slot's. `place` is that of a message in its tree,
 * `history` the hash of the newest block, and `blocks` what follows from it. */
export type GroupKey = 'question' | Link | 'place' | 'history' | 'blocks' | number

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

export const marks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '–' }

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
    readonly states: {
      readonly block: boolean
      readonly address: boolean
      readonly keys: boolean
      readonly implementation: boolean
    }
    /** How many slots of the rollup contract the bundle proves. */
    readonly l1SlotCount: number
    /** How many of them the finalized state takes. */
    readonly l1StatedCount: number
  } | null
  /** Whether the state is that of Ethereum. */
  readonly isEthereum: boolean
  /** Whether it is about logs. Then there are no leaf proofs if L1 holds the hash of the newest block. */
  readonly isOfLogs?: boolean
}

/** What determines the list of checks of a message. */
export interface MessageShape {
  readonly trustedKind: string
  readonly states: { readonly message: boolean; readonly implementation: boolean }
  readonly isFromL2: boolean
  readonly l1SlotCount: number
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
  (group: GroupKey, label = '', proof?: number) =>
  (title: string, codes: readonly FailureCode[], raises: Raises = () => true): Step => ({
    ...{ group, proof },
    title: `${label}${title}`,
    codes,
    raises,
  })

/** The codes of hexadecimal that has the wrong shape. */
const HEX: readonly FailureCode[] = ['BAD_HEX', 'WRONG_LENGTH']
/** {@link HEX}, in an answer. */
const ANSWER_HEX: readonly FailureCode[] = ['MALFORMED_RESPONSE', ...HEX]

export function listSteps({ forms, chain, isEthereum, isOfLogs = false }: Shape): Step[] {
  const [, ...slotForms] = forms
  const question = stepIn('question')
  return [
    question('What you state has the right lengths', ['ARGUMENT_INVALID']),
    ...(chain === null ? [] : chainSteps(chain, isEthereum, isOfLogs)),
    ...(forms.length === 0 ? [] : isEthereum ? trieSteps(slotForms.length) : sparseSteps(forms)),
    ...(isOfLogs ? blocksSteps(forms.length) : []),
  ]
}

function sparseSteps([accountForm = 'neither', ...slotForms]: readonly Form[]): Step[] {
  const answer = stepIn('answer')
  return [
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
function chainSteps(chain: NonNullable<Shape['chain']>, isEthereum: boolean, isOfLogs: boolean): Step[] {
  const { trustedKind, states } = chain
  const step = stepIn('bundle')
  return [
    ...bundleSteps(isOfLogs ? 'It is of logs' : 'It is of a state, not of a call', isOfLogs ? rangeSteps() : []),
    step('It is for the scheme that you stated', ['EVIDENCE_SCHEME_MISMATCH']),
    step('It is for the rollup that you stated', ['EVIDENCE_ROLLUP_MISMATCH']),
    ...(states.block ? [step('It is for the L2 block that you stated', ['EVIDENCE_BLOCK_MISMATCH'])] : []),
    ...(states.address ? [step('It is for the address that you stated', ['EVIDENCE_ADDRESS_MISMATCH'])] : []),
    ...(states.keys ? [step('It is for the storage keys that you stated', ['EVIDENCE_KEYS_MISMATCH'])] : []),
    ...(trustedKind === 'l2StateRoot' ? [] : [...l1Steps(trustedKind), ...contractSteps(chain, isEthereum)]),
    ...(trustedKind !== 'l2StateRoot' && isEthereum ? l2HeaderSteps() : []),
  ]
}

/** @param own of a bundle that has more parts than those that all bundles have */
function bundleSteps(kindTitle: string, own: readonly Step[] = []): Step[] {
  const step = stepIn('bundle')
  // What has no version is not a bundle.
  const isWhole = at('', 'version')
  const isKind = at('kind')
  return [
    step('It is an evidence bundle', ['EVIDENCE_MALFORMED'], isWhole),
    step('Its version is known', ['EVIDENCE_VERSION']),
    step(kindTitle, ['EVIDENCE_MALFORMED'], isKind),
    ...own,
    step(
      'Its parts have the right shapes',
      ['EVIDENCE_MALFORMED', ...HEX],
      error => !isWhole(error) && !isKind(error) && findFailed(own, error) < 0,
    ),
  ]
}

/** From the trusted input to a state of L1. */
const l1Steps = (trustedKind: string): Step[] => [
  ...(trustedKind === 'beaconBlockRoot' ? consensusSteps() : []),
  ...(trustedKind === 'l1StateRoot' ? [] : headerSteps()),
]

/** What a bundle of logs says that it proves. */
function rangeSteps(): Step[] {
  const step = stepIn('bundle')
  const isOwn: Raises = ({ path }) => /^(l2BlockNumber|fromBlock|toBlock|filter|blocks)\b/.test(path)
  return [
    step('It names a range and a filter', ['EVIDENCE_MALFORMED', ...HEX], isOwn),
    step('They are those that the file states', ['LOGS_MISMATCH']),
    step('The range is not empty', ['LOGS_RANGE']),
  ]
}

/**
 * From the hash of the newest block to the logs. Of the rules of `blocks`, each block has to meet all before the next one is read.
 *
 * @param proof where the page shows the blocks
 */
function blocksSteps(proof: number): Step[] {
  const history = stepIn('history', '', proof)
  const block = stepIn('blocks', '', proof)
  const codes = Object.keys(blocksErrorMeanings) as FailureCode[]
  const of = (...starts: readonly string[]) => codes.filter(code => starts.some(start => code.startsWith(start)))
  const isIn =
    (part: string): Raises =>
    ({ code, path }) =>
      // A block that is no object has no parts: then it has no header.
      (/^blocks\[\d+\]\.(\w+)/.exec(path)?.[1] ?? 'header') === part && !code.startsWith('LOGS_')
  const shape: readonly FailureCode[] = [...of('BLOCK_'), ...HEX]
  return [
    history('The state holds the hash of the newest block', of('HISTORY_')),
    history('There is one block for each number of the range', ['LOGS_RANGE', 'BLOCK_TOO_LARGE', ...SHAPE_OF_LIST]),
    block(
      'Each header hashes to what the block after it names as its parent',
      ['HEADER_HASH_MISMATCH', 'BLOCK_NUMBER_MISMATCH', 'BLOCK_MALFORMED', ...HEADER_SHAPE, ...HEX],
      isIn('header'),
    ),
    block('A block has receipts unless its header rules such logs out, and no more than it needs', of('LOGS_CONTENT')),
    block('All its receipts hash to what its header names', [...of('RECEIPT'), ...shape], isIn('receipts')),
    block('All its transactions hash to what its header names', [...of('TRANSACTION'), ...shape], isIn('transactions')),
  ]
}

const SHAPE_OF_LIST: readonly FailureCode[] = ['EVIDENCE_MALFORMED', 'BLOCK_MALFORMED']

/** From the message to what L1 holds of it. */
export function listMessageSteps({ trustedKind, states, isFromL2, l1SlotCount }: MessageShape): Step[] {
  const bundle = stepIn('bundle')
  const place = stepIn('place')
  const contract = stepIn('rollupContract')
  const [own, ...others] = isFromL2
    ? ['the depth of the tree', 'the claimed messages']
    : ['the rolling hash before', 'the rolling hash of the message', 'the number of the next message']
  const slots = [own ?? '', ...others, 'the code behind the proxy'].slice(0, l1SlotCount)
  return [
    stepIn('question')('What you state has the right lengths', ['ARGUMENT_INVALID']),
    ...bundleSteps('It is of a message'),
    bundle('It is for the rollup that you stated', ['EVIDENCE_ROLLUP_MISMATCH']),
    ...(states.message ? [bundle('It is for the message that you stated', ['MESSAGE_MISMATCH'])] : []),
    ...l1Steps(trustedKind),
    contract('The bundle has the L1 proof', ['EVIDENCE_L1_MISSING']),
    ...(isFromL2
      ? [
          place('It is a path in a tree', ['MESSAGE_MALFORMED', ...HEX]),
          place('The tree has that leaf', ['MESSAGE_INDEX']),
          place('The path leads from the message to the root', ['MESSAGE_ROOT_MISMATCH']),
        ]
      : []),
    ...ethProofSteps('rollupContract', slots, () => undefined),
    contract('The rollup contract exists', ['ANCHOR_NO_CONTRACT']),
    ...(states.implementation ? [contract(IMPLEMENTATION, ['ANCHOR_IMPLEMENTATION_MISMATCH'])] : []),
    ...(isFromL2
      ? [
          contract('The number is not that of another claimed message', ['MESSAGE_NUMBER_CLAIMED']),
          contract('The path is as long as the tree is deep', ['MESSAGE_DEPTH_MISMATCH']),
        ]
      : [contract('L1 gave the number to this message', ['MESSAGE_ROLLING_HASH_MISMATCH'])]),
  ]
}

const IMPLEMENTATION = 'The code behind its proxy is the one that you stated'

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
  return [
    step('The bundle has the L1 header', ['EVIDENCE_L1_MISSING']),
    ...openingSteps('l1Header', 'It hashes to the L1 block hash above', 'EVIDENCE_L1_BLOCK_MISMATCH'),
  ]
}

function l2HeaderSteps(): Step[] {
  const step = stepIn('l2Header')
  return [
    step('The bundle has the L2 header', ['EVIDENCE_L2_MISSING']),
    ...openingSteps('l2Header', 'It hashes to the L2 block hash that the contract holds'),
    step('It is the header of that L2 block', ['BLOCK_NUMBER_MISMATCH']),
  ]
}

const HEADER_SHAPE: readonly FailureCode[] = ['RLP_NON_CANONICAL', 'HEADER_MALFORMED', 'HEADER_QUANTITY']

function openingSteps(group: GroupKey, hashTitle: string, ...more: readonly FailureCode[]): Step[] {
  const step = stepIn(group)
  /** Two checks raise HEADER_MALFORMED: the first only for what is no text, the second only for a text. */
  const isOfText =
    (isText: boolean): Raises =>
    ({ code, path, served }) =>
      code !== 'HEADER_MALFORMED' || (path !== '' || typeof served === 'string') === isText
  return [
    step('It is hexadecimal, and not too long', ['HEADER_MALFORMED', ...HEX], isOfText(false)),
    step(hashTitle, ['HEADER_HASH_MISMATCH', ...more]),
    step('What was hashed is a block header', HEADER_SHAPE, isOfText(true)),
  ]
}

const STATED_SLOTS = ['currentFinalizedState', 'the message’s rolling hash', 'the forced transaction’s rolling hash']

/** In the order of `anchorStorageKeys`. */
const l1Slots = (statedCount: number): string[] => [
  ...['the root of the L2 block', 'the last finalized L2 block'],
  ...STATED_SLOTS.slice(0, statedCount),
  ...['the hash of the L2 block', 'the code behind the proxy'],
]

function contractSteps(
  { states, l1SlotCount, l1StatedCount }: NonNullable<Shape['chain']>,
  isEthereum: boolean,
): Step[] {
  const step = stepIn('rollupContract')
  return [
    step('The bundle has the L1 proof', ['EVIDENCE_L1_MISSING']),
    ...ethProofSteps('rollupContract', l1Slots(l1StatedCount).slice(0, l1SlotCount), () => undefined),
    step('The rollup contract exists', ['ANCHOR_NO_CONTRACT']),
    ...(states.implementation ? [step(IMPLEMENTATION, ['ANCHOR_IMPLEMENTATION_MISMATCH'])] : []),
    ...(l1SlotCount < 2 ? [] : [step('The L2 block is not above the last finalized one', ['ANCHOR_BLOCK_AHEAD'])]),
    step(`The contract holds a ${isEthereum ? 'hash' : 'root'} for the L2 block`, ['ANCHOR_NO_ROOT']),
    ...(l1StatedCount === 0 ? [] : [step(FINALIZED_STATE, ['ANCHOR_FINALIZED_STATE_MISMATCH'])]),
  ]
}

const FINALIZED_STATE = 'The stated numbers and timestamp hash to what the contract keeps for its newest finalization'

/** An Ethereum state: the account, and each slot. */
const trieSteps = (slotCount: number): Step[] =>
  ethProofSteps(
    'answer',
    Array.from({ length: slotCount }, () => ''),
    index => index + 1,
  )

/**
 * The checks of an `eth_getProof` result: the account, and each slot.
 *
 * @param slots what each slot is
 * @param proofOf the leaf proof of the slot at an index; -1 for the account
 */
function ethProofSteps(
  group: GroupKey,
  slots: readonly string[],
  proofOf: (index: number) => number | undefined,
): Step[] {
  const step = stepIn(group)
  const account = stepIn(group, '', proofOf(-1))
  const what = group === 'answer' ? 'the account' : 'the contract'
  return [
    step(
      'It has the shape of an eth_getProof result, for the slots that are asked for',
      ['L1_PROOF_MALFORMED', 'L1_STORAGE_PROOF_COUNT', ...HEX, 'MPT_NODES_UNUSED'],
      error => error.code !== 'MPT_NODES_UNUSED' || isOverlong(error),
    ),
    account(`its nodes lead from the state root to ${what}`, NODES_OF_TRIE, trieBelow('accountProof')),
    account('what is there, if anything, is an account', ['L1_ACCOUNT_MALFORMED']),
    account(
      'the redundant fields agree with what the nodes prove',
      ['L1_KEY_MISMATCH', 'L1_PROOF_DISAGREES'],
      at('address', 'nonce', 'balance', 'storageHash', 'codeHash'),
    ),
    ...slots.flatMap((slot, index) => {
      const path = `storageProof[${index}]`
      const ofSlot = stepIn(group, slot === '' ? '' : `Slot of ${slot}: `, proofOf(index))
      return [
        ofSlot('it is the requested one', ['L1_KEY_MISMATCH'], at(`${path}.key`)),
        ofSlot(`its nodes lead from the storage root of ${what} to it`, NODES_OF_TRIE, trieBelow(`${path}.proof`)),
        ofSlot(
          'its value is a canonical number, and the redundant field agrees',
          ['L1_VALUE_MALFORMED', 'L1_PROOF_DISAGREES'],
          below(`${path}.`),
        ),
      ]
    }),
  ]
}

const trieBelow =
  (start: string): Raises =>
  error =>
    below(start)(error) && !isOverlong(error)

/** The rules that every trace has to meet, wherever it is: their order is that of the traces, not of this list. */
export function listTraceSteps(hasEnd: boolean): Step[] {
  const step = stepIn('answer')
  return [
    stepIn('question')('What you state has the right lengths', ['ARGUMENT_INVALID']),
    step('It is an answer, not an error', ['ANSWER_IS_ERROR']),
    step('It is a list of traces, of not too many blocks', ['TRANSITION_MALFORMED', 'TRANSITION_TOO_LARGE']),
    step('Its hexadecimal has the right lengths and is canonical', [...HEX, 'NON_CANONICAL', 'INDEX_OUT_OF_RANGE']),
    step('The roots that it states itself are those of the traces', ['TRANSITION_ROOT_CONTRADICTED']),
    step('The first trace starts at the state before', ['TRANSITION_PARENT_NOT_OPENED']),
    step('Each trace starts where the one before it ended', ['TRACE_NOT_CONTINUOUS']),
    step('The accounts of a block are in order, each once', ['SEGMENT_ORDER']),
    step('Each trace is of a kind that can be at its place', ['TRACE_TYPE_UNKNOWN', 'TRACE_NOT_ALLOWED']),
    step('Each path has 40 siblings and leads to the sub-root', ['TRACE_SIBLING_COUNT', 'TRACE_PATH_MISMATCH']),
    step('Each leaf belongs to its key and holds its value', [
      ...(['TRACE_KEY_MISMATCH', 'TRACE_VALUE_MISMATCH', 'VALUE_OUT_OF_RANGE', 'ZERO_VALUE'] as const),
      'SENTINEL_MISPLACED',
    ]),
    step('An absent key lies between two neighbours that link to each other', [
      ...(['TRACE_NOT_NEIGHBOURS', 'TRACE_KEY_NOT_BETWEEN'] as const),
    ]),
    step('A new leaf takes the next free node', ['TRACE_INDEX_NOT_NEXT']),
    step('Each change leads to the sub-root that it states', ['TRACE_RESULT_MISMATCH']),
    step('The storage of an account starts and ends at its storage roots', [
      ...(['SEGMENT_INCOMPLETE', 'SEGMENT_STORAGE_BEFORE', 'SEGMENT_STORAGE_AFTER'] as const),
    ]),
    ...(hasEnd ? [step('The traces lead to the state after', ['TRANSITION_END_MISMATCH'])] : []),
  ]
}

/**
 * The rule that a trace or a block breaks comes first in its group, because those before it in the list may be broken by a later
 * one.
 */
export function blameRule(steps: readonly Step[], failed: number): { steps: Step[]; failed: number } {
  const broken = steps[failed]
  const first = steps.findIndex(({ group }) => group === broken?.group)
  if (broken === undefined) return { steps: [...steps], failed }
  return {
    steps: [...steps.slice(0, first), broken, ...steps.slice(first).filter(step => step !== broken)],
    failed: first,
  }
}

/** Finds the group of an error. */
export function placeError(error: Refusal, { bundle, answer, subject, isTrie }: OpenedFile): PlacedError {
  const { code, found = '' } = error
  const isBundle = subject !== 'answer'
  const link = !isBundle ? 'answer' : (ownGroup(error, subject) ?? linkOf(error))
  if (link === null || code === 'ARGUMENT_INVALID') {
    return { group: 'question', code, path: error.path, found, served: undefined }
  }
  const { header, proof } = fieldsOf(fieldIn(bundle, 'l1'))
  const roots: Readonly<Record<Exclude<GroupKey, number | 'question'>, readonly [path: string, served: unknown]>> = {
    bundle: ['', bundle],
    consensus: ['consensus', fieldIn(bundle, 'consensus')],
    l1Header: ['l1.header', header],
    rollupContract: ['l1.proof', proof],
    l2Header: ['l2Header', fieldIn(bundle, 'l2Header')],
    place: ['messageProof', fieldIn(bundle, 'messageProof')],
    history: ['', undefined],
    blocks: ['', undefined],
    answer: [isBundle ? 'answer' : '', answer],
  }
  const [root, served] = roots[link]
  const path = error.path.slice(root.length).replace(/^\./, '')
  const [, slot, rest] = /^(?:accountProof|storageProofs\[(\d{1,9})\])\.?(.*)$/s.exec(path) ?? []
  // The checks of an Ethereum state are told by their whole paths.
  if (link !== 'answer' || rest === undefined || isTrie) return { group: link, code, path, found, served }
  const group = slot === undefined ? 0 : Number(slot) + 1
  return { group, code, path: rest, found, served: leafProofAt(answer, group) }
}

/** The group of an error about what only bundles of messages or logs have. */
function ownGroup({ code, path }: Refusal, subject: OpenedFile['subject']): 'place' | 'history' | 'blocks' | null {
  if (path.startsWith('messageProof')) return 'place'
  if (subject !== 'logs') return null
  if (/^blocks\[/.test(path)) return 'blocks'
  const isOfRange = code === 'LOGS_RANGE' && path !== 'fromBlock'
  return isOfRange || code.startsWith('HISTORY_') || code === 'BLOCK_TOO_LARGE' ? 'history' : null
}

/** The index of the check that raised the error; -1 if none in the list did. */
export function findFailed(steps: readonly Step[], error: PlacedError): number {
  return steps.findIndex(step => step.group === error.group && step.codes.includes(error.code) && step.raises(error))
}

/** Where the page lists a check. */
const listedIn = ({ group, proof }: Step): GroupKey => proof ?? group

/** @param failed index of the check that failed; the length of the list if none did */
export function checksOf(steps: readonly Step[], failed: number, ...groups: readonly GroupKey[]): Check[] {
  return steps.flatMap((step, index) =>
    groups.includes(listedIn(step))
      ? [{ title: capitalized(step.title), codes: step.codes, status: statusAt(index, failed) }]
      : [],
  )
}

const statusAt = (index: number, failed: number): Status =>
  index < failed ? 'passed' : index === failed ? 'failed' : 'not reached'

/** Of each group: one of its checks failed, all of them passed, or some were not reached. */
export function statusesOf(steps: readonly Step[], failed: number): ReadonlyMap<GroupKey, Status> {
  // The last check of each group decides, unless an earlier one failed.
  const statuses = new Map(steps.map((step, index) => [listedIn(step), statusAt(index, failed)]))
  const step = steps[failed]
  return step === undefined ? statuses : statuses.set(listedIn(step), 'failed')
}

/** The proof with the check that failed; 0 if the check is of none. */
export function failedProof(steps: readonly Step[], failed: number): number {
  const step = steps[failed]
  const group = step === undefined ? 0 : listedIn(step)
  return typeof group === 'number' ? group : 0
}
