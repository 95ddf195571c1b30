import { guessSchemeOfPath, type LeafForm, leafProofAt } from '../document/answer.ts'
import {
  DIGEST_BYTES,
  hasTooManyNodes,
  isHexOf,
  isLeafIndex,
  LEAF_NODE,
  readLeaf,
  treeLengths,
} from '../document/layout.ts'
import { fieldIn, fieldsOf, itemsOf } from '../document/value.ts'
import type { ErrorCode, ProofError } from '../index.ts'
import type { Check, CheckGroup, Status } from './messages.ts'
import type { OpenedFile } from './opened-file.ts'

/**
 * A check of the verifier. They are listed in the verifier's order. It stops at the first check that fails: those before it
 * have passed, those after it were not reached. This list decides nothing. It finds the failed check by the code and path of
 * the thrown error and, if two checks share these, by the part of the file that they cover. Tests keep the list in sync with
 * the verifier.
 */
export interface Step {
  readonly group: GroupKey
  readonly title: string
  readonly codes: readonly ErrorCode[]
  /** Whether this check raised an error that has one of the `codes` and is in this group. `path` is relative to the group. */
  readonly raises: (error: PlacedError) => boolean
}

/** A number stands for a leaf proof: 0 is the account's, 1 the first slot's. */
export type GroupKey = 'question' | 'bundle' | 'consensus' | 'header' | 'contract' | 'answer' | number

export interface PlacedError {
  readonly code: ErrorCode
  readonly path: string
  /** For people. It decides nothing. */
  readonly found: string
  /** The part of the file that the group is about: a leaf proof, the L1 header or the L1 proof. */
  readonly served: unknown
}

/** The claim that a leaf proof makes; `implied` if none is needed or sent. */
export type Form = LeafForm | 'implied'

export interface Shape {
  /** Of the account and of each requested key. */
  readonly forms: readonly Form[]
  /** What a bundle is verified from, and which parts of the claim the user stated; null for a bare answer. */
  readonly chain: Chain | null
}

export interface Chain {
  readonly reach: string
  readonly states: { readonly block: boolean; readonly address: boolean; readonly keys: boolean }
  /** How many slots of the rollup contract the bundle proves: one or two, or more with the finalized state. */
  readonly l1SlotCount: number
}

const anywhere = () => true
const at =
  (...paths: readonly string[]) =>
  ({ path }: PlacedError) =>
    paths.includes(path)
const below =
  (...starts: readonly string[]) =>
  ({ path }: PlacedError) =>
    starts.some(start => path.startsWith(start))

export function listSteps({ forms, chain }: Shape): Step[] {
  const [accountForm = 'neither', ...slotForms] = forms
  return [
    {
      group: 'question',
      title: 'The root, address and keys that you state have the right lengths',
      codes: ['CLAIM_INVALID'],
      raises: anywhere,
    },
    ...(chain === null ? [] : chainSteps(chain)),
    ...envelopeSteps,
    ...decodeSteps(0, accountForm),
    ...listingSteps,
    ...slotForms.flatMap((form, index) => decodeSteps(index + 1, form)),
    ...verifySteps(0, accountForm),
    ...slotForms.flatMap((form, index) => verifySteps(index + 1, form)),
  ]
}

const envelopeSteps: readonly Step[] = [
  {
    group: 'answer',
    title: 'It is an answer, not an error',
    codes: ['RPC_ERROR', 'MALFORMED_RESPONSE'],
    raises: at('', 'error'),
  },
  { group: 'answer', title: 'It is not an eth_getProof answer', codes: ['FOREIGN_PROOF'], raises: anywhere },
]

const listingSteps: readonly Step[] = [
  {
    group: 'answer',
    title: 'The storage proofs are a list',
    codes: ['MALFORMED_RESPONSE'],
    raises: at('storageProofs'),
  },
  {
    group: 'answer',
    title: 'There is one for each requested key, or none at all',
    codes: ['STORAGE_PROOF_UNEXPECTED', 'STORAGE_PROOF_MISSING'],
    raises: anywhere,
  },
]

interface Part {
  readonly proof: string
  readonly index: string
  readonly label: string
}
const partsOf: Readonly<Record<Form, readonly Part[]>> = {
  existence: [{ proof: 'proof', index: 'leafIndex', label: '' }],
  'non-existence': [
    { proof: 'leftProof', index: 'leftLeafIndex', label: 'Left neighbour: ' },
    { proof: 'rightProof', index: 'rightLeafIndex', label: 'Right neighbour: ' },
  ],
  implied: [],
  neither: [],
  both: [],
}

/** Decoding one leaf proof: everything has its exact length and is canonical. */
function decodeSteps(group: number, form: Form): Step[] {
  if (form === 'implied') return []
  const isAccount = group === 0
  return [
    {
      group,
      title: 'It has one of the two forms: existence or non-existence',
      codes: ['MALFORMED_RESPONSE'],
      raises: at(''),
    },
    {
      group,
      title: `The key is ${isAccount ? '20' : '32'} bytes of hexadecimal`,
      codes: ['MALFORMED_RESPONSE', 'BAD_HEX', 'WRONG_LENGTH'],
      raises: at('key'),
    },
    ...partsOf[form].flatMap(part => decodePartSteps(group, form, part)),
  ]
}

function decodePartSteps(group: number, form: Form, { proof, index, label }: Part): Step[] {
  const nodes = `${proof}.proofRelatedNodes`
  const value = `${proof}.value`
  const step = (title: string, codes: readonly ErrorCode[], raises: Step['raises']): Step => ({
    group,
    title: `${label}${title}`,
    codes,
    raises,
  })
  const hexCodes = ['MALFORMED_RESPONSE', 'BAD_HEX', 'WRONG_LENGTH', 'NON_CANONICAL'] as const
  const leafCodes = [...hexCodes, 'INDEX_OUT_OF_RANGE'] as const
  const isOuter = at(`${nodes}[0]`, `${nodes}[40]`, `${nodes}[41]`)
  return [
    step(
      'the leaf index is an integer below 2^40',
      ['MALFORMED_RESPONSE', 'INDEX_OUT_OF_RANGE'],
      error => error.path === index && !isLeafIndex(fieldIn(error.served, index)),
    ),
    step('there are 42 nodes', ['MALFORMED_RESPONSE', 'WRONG_NODE_COUNT'], at(proof, nodes)),
    step('the nodes have the lengths of the stated scheme', ['SCHEME_MISMATCH'], at(nodes)),
    step('node 0, nextFreeNode and the sub-root, has its length and is canonical', leafCodes, at(`${nodes}[0]`)),
    step(
      'nodes 1 to 39, two digests each, have their length and are canonical',
      hexCodes,
      error => below(`${nodes}[`)(error) && !isOuter(error),
    ),
    step(
      'node 40, the sibling leaf, has its length and is canonical, or is 32 zero bytes',
      [...leafCodes, 'ZERO_OPENING'],
      at(`${nodes}[40]`),
    ),
    step('node 41, the leaf, has its length and is canonical', leafCodes, at(`${nodes}[41]`)),
    step(
      'the value is hexadecimal of the right length',
      ['MALFORMED_RESPONSE', 'BAD_HEX', 'WRONG_LENGTH'],
      error =>
        error.path === value &&
        // The exact length of a neighbour's value is checked later, because HEAD and TAIL have another.
        (error.code !== 'WRONG_LENGTH' || form === 'existence' || !isNeighbourValue(group, proof, error)),
    ),
    ...(group === 0 ? [step('the elements of the value are canonical', ['NON_CANONICAL'], at(value))] : []),
    step(
      'the leaf index is below nextFreeNode',
      ['INDEX_OUT_OF_RANGE'],
      error => error.path === index && isLeafIndex(fieldIn(error.served, index)),
    ),
  ]
}

/** Hashing and comparing one leaf proof. */
function verifySteps(group: number, form: Form): Step[] {
  const isAccount = group === 0
  const needed: Step = {
    group,
    title:
      form === 'implied'
        ? 'No proof is needed: the account does not exist, or has no storage'
        : 'The account exists, so the proof is allowed',
    codes: [form === 'implied' ? 'STORAGE_PROOF_MISSING' : 'STORAGE_PROOF_UNEXPECTED'],
    raises: at(''),
  }
  if (form === 'implied') return [needed]
  const rootMismatch = isAccount ? 'STATE_ROOT_MISMATCH' : 'STORAGE_ROOT_MISMATCH'
  const rootName = isAccount ? 'the trusted state root' : "the account's storage root"
  const pathSteps = ({ proof, label }: Part): Step[] => [
    {
      group,
      title: `${label}the keys of HEAD and TAIL are at index 0 and 1, and nowhere else`,
      codes: ['SENTINEL_MISPLACED'],
      raises: at(proof),
    },
    {
      group,
      title: `${label}the 40 levels lead from the leaf to the sub-root in node 0`,
      codes: ['SUB_ROOT_MISMATCH'],
      raises: at(proof),
    },
    { group, title: `${label}node 0 hashes to ${rootName}`, codes: [rootMismatch], raises: at(proof) },
  ]
  return [
    ...(isAccount ? [] : [needed]),
    {
      group,
      title: `The key is the ${isAccount ? 'address' : 'storage key'} that you asked for`,
      codes: ['KEY_MISMATCH'],
      raises: at('key'),
    },
    ...partsOf[form].flatMap(part => [
      ...pathSteps(part),
      ...(form === 'existence' ? presentSteps(group) : [neighbourStep(group, part)]),
    ]),
    ...(form === 'non-existence' ? absentSteps(group) : []),
  ]
}

const presentSteps = (group: number): Step[] => [
  {
    group,
    title: "the leaf's hKey is the hash of the key",
    codes: ['LEAF_KEY_MISMATCH'],
    raises: at('proof'),
  },
  {
    group,
    title: "the value hashes to the leaf's hVal",
    codes: ['VALUE_MISMATCH'],
    raises: at('proof.value'),
  },
  group === 0
    ? {
        group,
        title: 'nonce and code size fit 64 bits',
        codes: ['VALUE_OUT_OF_RANGE'],
        raises: at('proof.value'),
      }
    : { group, title: 'the value is not zero', codes: ['ZERO_VALUE'], raises: at('proof.value') },
]

const neighbourStep = (group: number, { proof, label }: Part): Step => ({
  group,
  title: `${label}the value hashes to the leaf's hVal, or is zero for HEAD and TAIL`,
  codes: ['VALUE_MISMATCH', 'WRONG_LENGTH'],
  raises: error =>
    error.path === `${proof}.value` && (error.code !== 'WRONG_LENGTH' || isNeighbourValue(group, proof, error)),
})

/** Whether the value has the length of this tree's values, or of those of HEAD and TAIL. A later check decides between them. */
function isNeighbourValue(group: number, proof: Part['proof'], { served }: PlacedError): boolean {
  const value = fieldIn(fieldIn(served, proof), 'value')
  return isHexOf(treeLengths[group === 0 ? 'account' : 'slot'].value, value) || isHexOf(DIGEST_BYTES, value)
}

const absentSteps = (group: number): Step[] => [
  {
    group,
    title: "the left neighbour's next is the right neighbour",
    codes: ['NOT_ADJACENT'],
    raises: error => !pointsRight(error),
  },
  {
    group,
    title: "the right neighbour's prev is the left neighbour",
    codes: ['NOT_ADJACENT'],
    raises: error => pointsRight(error),
  },
  {
    group,
    title: "the key's hash lies strictly between those of the neighbours",
    codes: ['KEY_NOT_BETWEEN'],
    raises: at(''),
  },
]

/** Whether the left neighbour's next is the right one. */
function pointsRight({ served }: PlacedError): boolean {
  const { leftProof, rightLeafIndex } = fieldsOf(served)
  const scheme = guessSchemeOfPath(leftProof)
  const leaf = scheme && readLeaf(scheme, itemsOf(fieldIn(leftProof, 'proofRelatedNodes'))[LEAF_NODE])
  return leaf?.next === rightLeafIndex
}

const NODES_OF_TRIE: readonly ErrorCode[] = [
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
function chainSteps({ reach, states, l1SlotCount }: Chain): Step[] {
  const stated = (title: string, code: ErrorCode): Step => ({
    group: 'bundle',
    title,
    codes: [code],
    raises: anywhere,
  })
  return [
    { group: 'bundle', title: 'It is an evidence bundle', codes: ['EVIDENCE_MALFORMED'], raises: at('') },
    stated('Its version is known', 'EVIDENCE_VERSION'),
    {
      group: 'bundle',
      title: 'Its parts have the right shapes',
      codes: ['EVIDENCE_MALFORMED', 'BAD_HEX', 'WRONG_LENGTH'],
      raises: ({ path }) => path !== '',
    },
    stated('It is for the scheme that you stated', 'EVIDENCE_SCHEME_MISMATCH'),
    stated('It is for the rollup that you stated', 'EVIDENCE_ROLLUP_MISMATCH'),
    ...(states.block ? [stated('It is for the L2 block that you stated', 'EVIDENCE_BLOCK_MISMATCH')] : []),
    ...(states.address ? [stated('It is for the address that you stated', 'EVIDENCE_ADDRESS_MISMATCH')] : []),
    ...(states.keys ? [stated('It is for the storage keys that you stated', 'EVIDENCE_KEYS_MISMATCH')] : []),
    ...(reach === 'beaconBlockRoot' ? consensusSteps : []),
    ...(reach === 'beaconBlockRoot' || reach === 'l1BlockHash' ? headerSteps : []),
    ...(reach === 'l2StateRoot' ? [] : contractSteps(l1SlotCount)),
  ]
}

const PART_SHAPE: readonly ErrorCode[] = [
  'BEACON_MALFORMED',
  'BEACON_INTEGER',
  'BEACON_FORK_UNKNOWN',
  'BEACON_BRANCH_LENGTH',
  'BAD_HEX',
  'WRONG_LENGTH',
]
const COMMITTEE_SHAPE: readonly ErrorCode[] = ['BEACON_COMMITTEE_SIZE', 'BEACON_KEY_ENCODING']
const SIGNED: readonly ErrorCode[] = [
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
const UPDATED: readonly ErrorCode[] = [
  'BEACON_TOO_MANY_UPDATES',
  'BEACON_ATTESTED_PERIOD',
  'BEACON_FINALIZED_PERIOD',
  'BEACON_NEXT_COMMITTEE_MISMATCH',
]

/** The parts are verified one after the other, each by the same checks. */
const consensusSteps: readonly Step[] = [
  {
    group: 'consensus',
    title: 'The bundle has the consensus part',
    codes: ['EVIDENCE_CONSENSUS_MISSING', 'EVIDENCE_MALFORMED'],
    raises: anywhere,
  },
  {
    group: 'consensus',
    title: 'It is for the network that you stated',
    codes: ['EVIDENCE_NETWORK_MISMATCH'],
    raises: anywhere,
  },
  {
    group: 'consensus',
    title: 'The beacon checkpoint commits to its sync committee',
    codes: [
      ...PART_SHAPE,
      ...COMMITTEE_SHAPE,
      'BEACON_ROOT_MISMATCH',
      'BEACON_EXECUTION_MISMATCH',
      'BEACON_COMMITTEE_MISMATCH',
    ],
    raises: below('bootstrap'),
  },
  {
    group: 'consensus',
    title: 'Each committee signs for the next one',
    codes: [...PART_SHAPE, ...COMMITTEE_SHAPE, ...SIGNED, ...UPDATED],
    raises: below('updates'),
  },
  {
    group: 'consensus',
    title: 'The last committee signs for a finalized beacon block',
    codes: [...PART_SHAPE, ...SIGNED],
    raises: below('finality'),
  },
  {
    group: 'consensus',
    title: 'It is no older than the checkpoint',
    codes: ['BEACON_OLDER_THAN_CHECKPOINT'],
    raises: anywhere,
  },
]

const headerSteps: readonly Step[] = [
  { group: 'header', title: 'The bundle has the L1 header', codes: ['EVIDENCE_L1_MISSING'], raises: anywhere },
  {
    group: 'header',
    title: 'It is hexadecimal, and not too long',
    codes: ['HEADER_MALFORMED', 'BAD_HEX', 'WRONG_LENGTH'],
    raises: ({ code, path, served }) => path === '' && (code !== 'HEADER_MALFORMED' || typeof served !== 'string'),
  },
  {
    group: 'header',
    title: 'It hashes to the L1 block hash above',
    codes: ['HEADER_HASH_MISMATCH', 'EVIDENCE_L1_BLOCK_MISMATCH'],
    raises: anywhere,
  },
  {
    group: 'header',
    title: 'What was hashed is a block header',
    codes: ['RLP_NON_CANONICAL', 'HEADER_MALFORMED', 'HEADER_QUANTITY'],
    raises: ({ code, path, served }) => code !== 'HEADER_MALFORMED' || path !== '' || typeof served === 'string',
  },
]

const L1_SLOTS = [
  'the root of the L2 block',
  'the last finalized L2 block',
  'currentFinalizedState',
  'the message’s rolling hash',
  'the forced transaction’s rolling hash',
]

const contractSteps = (slotCount: number): Step[] => [
  { group: 'contract', title: 'The bundle has the L1 proof', codes: ['EVIDENCE_L1_MISSING'], raises: anywhere },
  {
    group: 'contract',
    title: 'It has the shape of an eth_getProof result, for one slot or two',
    codes: ['L1_PROOF_MALFORMED', 'L1_STORAGE_PROOF_COUNT', 'BAD_HEX', 'WRONG_LENGTH', 'MPT_NODES_UNUSED'],
    raises: error => error.code !== 'MPT_NODES_UNUSED' || isOverlong(error),
  },
  {
    group: 'contract',
    title: 'Its nodes lead from the L1 state root to the contract',
    codes: NODES_OF_TRIE,
    raises: error => below('accountProof')(error) && !isOverlong(error),
  },
  {
    group: 'contract',
    title: 'What is there, if anything, is an account',
    codes: ['L1_ACCOUNT_MALFORMED'],
    raises: anywhere,
  },
  {
    group: 'contract',
    title: 'The redundant fields agree with what the nodes prove',
    codes: ['L1_KEY_MISMATCH', 'L1_PROOF_DISAGREES'],
    raises: at('address', 'nonce', 'balance', 'storageHash', 'codeHash'),
  },
  ...L1_SLOTS.slice(0, slotCount).flatMap((what, index): Step[] => [
    {
      group: 'contract',
      title: `Slot of ${what}: it is the requested one`,
      codes: ['L1_KEY_MISMATCH'],
      raises: at(`storageProof[${index}].key`),
    },
    {
      group: 'contract',
      title: `Slot of ${what}: its nodes lead from the contract's storage root to it`,
      codes: NODES_OF_TRIE,
      raises: error => below(`storageProof[${index}].proof`)(error) && !isOverlong(error),
    },
    {
      group: 'contract',
      title: `Slot of ${what}: its value is a canonical number, and the redundant field agrees`,
      codes: ['L1_VALUE_MALFORMED', 'L1_PROOF_DISAGREES'],
      raises: below(`storageProof[${index}].`),
    },
  ]),
  { group: 'contract', title: 'The rollup contract exists', codes: ['ANCHOR_NO_CONTRACT'], raises: anywhere },
  ...(slotCount < 2
    ? []
    : [
        {
          group: 'contract',
          title: 'The L2 block is not above the last finalized one',
          codes: ['ANCHOR_BLOCK_AHEAD'],
          raises: anywhere,
        } as const,
      ]),
  {
    group: 'contract',
    title: 'The contract holds a root for the L2 block',
    codes: ['ANCHOR_NO_ROOT'],
    raises: anywhere,
  },
  ...(slotCount <= 2
    ? []
    : [
        {
          group: 'contract',
          title: 'The stated numbers and timestamp hash to what the contract keeps for its newest finalization',
          codes: ['ANCHOR_FINALIZED_STATE_MISMATCH'],
          raises: anywhere,
        } as const,
      ]),
]

export type Placed = PlacedError & { readonly group: GroupKey }

/** The group of an error, and its path in the group. */
export function placeError(error: ProofError, { bundle, answer, isBundle }: OpenedFile): Placed {
  const { code, found = '' } = error
  const placed = (group: GroupKey, path: string, served: unknown) => ({ group, code, path, found, served })
  if (code === 'CLAIM_INVALID') return placed('question', error.path, undefined)
  if (isBundle && /^consensus(\.|$)/.test(error.path)) {
    return placed('consensus', error.path.replace(/^consensus\.?/, ''), fieldIn(bundle, 'consensus'))
  }
  if (isBundle && !/^answer(\.|$)/.test(error.path)) {
    const [, link, rest = ''] = /^l1\.(header|proof)(?:\.|(?=\[)|$)(.*)$/s.exec(error.path) ?? []
    if (link === undefined) return placed('bundle', error.path, bundle)
    const { header, proof } = fieldsOf(fieldIn(bundle, 'l1'))
    return link === 'header' ? placed('header', rest, header) : placed('contract', rest, proof)
  }
  const path = isBundle ? error.path.replace(/^answer\.?/, '') : error.path
  const [, slot, rest = ''] = /^(?:accountProof|storageProofs\[(\d{1,9})\])\.?(.*)$/s.exec(path) ?? [path]
  if (path.startsWith('accountProof')) return placed(0, rest, leafProofAt(answer, 0))
  if (slot === undefined) return placed('answer', path, answer)
  return placed(Number(slot) + 1, rest, leafProofAt(answer, Number(slot) + 1))
}

/** The index of the check that raised the error; -1 if none in the list did. */
export function findFailed(steps: readonly Step[], error: Placed): number {
  return steps.findIndex(step => step.group === error.group && step.codes.includes(error.code) && step.raises(error))
}

/** @param failed index of the check that failed; the length of the list if none did */
export function checksOf(steps: readonly Step[], failed: number, group: GroupKey): Check[] {
  return steps.flatMap((step, index) =>
    step.group === group ? [{ title: sentence(step.title), codes: step.codes, status: statusAt(index, failed) }] : [],
  )
}

const statusAt = (index: number, failed: number): Status =>
  index < failed ? 'passed' : index === failed ? 'failed' : 'not reached'

const sentence = (title: string): string => title.charAt(0).toUpperCase() + title.slice(1)

const groupTitles = {
  question: 'What you state',
  bundle: 'The bundle is for what you stated',
  consensus: 'Beacon checkpoint → sync committees → L1 block hash',
  header: 'L1 block hash → L1 header',
  contract: 'L1 state root → rollup contract → L2 state root',
  answer: 'The answer as a whole',
} as const

/** All groups but the leaf proofs, which have their own lists. */
export function groupsOf(steps: readonly Step[], failed: number): CheckGroup[] {
  return (Object.keys(groupTitles) as (keyof typeof groupTitles)[])
    .map(group => ({ title: groupTitles[group], checks: checksOf(steps, failed, group) }))
    .filter(({ checks }) => checks.length > 0)
}
