import { askMadeAnswers } from './answers.ts'
import type { Beside } from './beside.ts'
import { askFiles, askTransitionVectors, type FileKind } from './corpus.ts'
import { askMadeLeaves } from './leaves.ts'
import { askMadeReceipts } from './receipts.ts'
import { askMadeTransitions } from './transitions.ts'
import { askMadeEthProofs, askMadeLists, askMadeMessages, askMadeTries } from './tries.ts'
import { askAnswerVectors, recorded } from './vectors.ts'

/** A model, and the verifier that it is compared with. */
interface Part {
  readonly title: string
  /** Of the questions that a whole model is asked. */
  readonly share: number
  /** What the made questions come to: all of it, and nothing else. Empty if a verdict is no word. */
  readonly outcomes: readonly string[]
  readonly ask: (beside: Beside, size: number) => void
}

const OF_TRIES = [
  ...['present', 'absent', 'RLP_NON_CANONICAL', 'MPT_NODES_MISSING', 'MPT_HASH_MISMATCH', 'MPT_NODES_UNUSED'],
  ...['MPT_NODE_MALFORMED', 'MPT_PATH_NON_CANONICAL'],
]

const leaves: Part = {
  ...{ title: 'made leaf proofs', share: 1, ask: askMadeLeaves },
  outcomes: [
    ...['present', 'absent', 'WRONG_LENGTH', 'NOT_ADJACENT', 'LEAF_KEY_MISMATCH', 'KEY_NOT_BETWEEN', 'VALUE_MISMATCH'],
    ...['INDEX_OUT_OF_RANGE', 'WRONG_NODE_COUNT', 'SENTINEL_MISPLACED', 'NON_CANONICAL', 'KEY_MISMATCH'],
    ...['ZERO_OPENING', 'SUB_ROOT_MISMATCH', 'SCHEME_MISMATCH', 'ZERO_VALUE', 'VALUE_OUT_OF_RANGE'],
    ...['STORAGE_ROOT_MISMATCH', 'STATE_ROOT_MISMATCH'],
  ],
}

const answers: Part = {
  ...{ title: 'made answers', share: 1 / 5, ask: askMadeAnswers },
  outcomes: [
    ...['present', 'absent', 'STORAGE_PROOF_MISSING', 'STORAGE_PROOF_UNEXPECTED', 'WRONG_LENGTH', 'WRONG_NODE_COUNT'],
    ...['INDEX_OUT_OF_RANGE', 'KEY_MISMATCH', 'STORAGE_ROOT_MISMATCH', 'NON_CANONICAL', 'VALUE_MISMATCH'],
    ...['ZERO_OPENING', 'SUB_ROOT_MISMATCH', 'SCHEME_MISMATCH', 'SENTINEL_MISPLACED', 'STATE_ROOT_MISMATCH'],
    'NOT_ADJACENT',
  ],
}

const tries: Part = { title: 'made trie proofs', share: 1, ask: askMadeTries, outcomes: OF_TRIES }

const ethereum: Part = {
  ...{ title: 'made answers of Ethereum', share: 1, ask: askMadeEthProofs },
  outcomes: [...OF_TRIES, 'L1_ACCOUNT_MALFORMED', 'L1_VALUE_MALFORMED'],
}

const lists: Part = { title: 'made lists', share: 1 / 50, ask: askMadeLists, outcomes: [] }

const receipts: Part = {
  ...{ title: 'made receipts', share: 1, ask: askMadeReceipts },
  outcomes: ['accepted', 'RECEIPT_STATUS', 'RECEIPTS_ROOT_MISMATCH', 'RECEIPT_GAS', 'RECEIPT_BLOOM'],
}

const messages: Part = {
  ...{ title: 'made places of messages', share: 1, ask: askMadeMessages },
  outcomes: ['present', 'MESSAGE_MALFORMED', 'MESSAGE_INDEX', 'MESSAGE_ROOT_MISMATCH'],
}

const transitions: Part = {
  ...{ title: 'made transitions', share: 1, ask: askMadeTransitions },
  outcomes: [
    ...['accepted', 'WRONG_LENGTH', 'NON_CANONICAL', 'INDEX_OUT_OF_RANGE', 'TRACE_SIBLING_COUNT', 'TRACE_KEY_MISMATCH'],
    ...['TRACE_VALUE_MISMATCH', 'TRACE_NOT_NEIGHBOURS', 'TRACE_KEY_NOT_BETWEEN', 'TRACE_PATH_MISMATCH'],
    ...['TRACE_INDEX_NOT_NEXT', 'TRACE_RESULT_MISMATCH', 'TRACE_NOT_CONTINUOUS', 'TRACE_NOT_ALLOWED'],
    ...['TRANSITION_PARENT_NOT_OPENED', 'TRANSITION_END_MISMATCH', 'SEGMENT_STORAGE_BEFORE', 'SEGMENT_STORAGE_AFTER'],
    ...['SEGMENT_ORDER', 'SEGMENT_INCOMPLETE', 'VALUE_OUT_OF_RANGE', 'ZERO_VALUE'],
  ],
}

/** The models, in the order of `docs/soundness.md`. */
export const PARTS = { leaves, answers, tries, ethereum, lists, receipts, messages, transitions }

const askVectors = (beside: Beside) => askAnswerVectors(beside, leaves.outcomes)
const askTransitions = (beside: Beside) => askTransitionVectors(beside, recorded, transitions.outcomes)

/** Asks about everything of these kinds in the files of the corpus. Default: of all. */
const askAllFiles = (beside: Beside, ...kinds: FileKind[]) => {
  const codes = [...receipts.outcomes, ...messages.outcomes].filter(outcome => /^[A-Z]/.test(outcome))
  askFiles(beside, ['vectors', '../shared/vectors'], new Set(codes), kinds)
}

/** What the corpus has for each model. */
export const VECTORS: Readonly<Record<keyof typeof PARTS, (beside: Beside) => void>> = {
  leaves: askVectors,
  answers: askVectors,
  tries: beside => askAllFiles(beside, 'trie proofs'),
  ethereum: beside => askAllFiles(beside, 'answers of eth_getProof'),
  lists: beside => askAllFiles(beside, 'ordered lists'),
  receipts: beside => askAllFiles(beside, 'blocks of receipts'),
  messages: beside => askAllFiles(beside, 'places of messages'),
  transitions: askTransitions,
}

/** The whole corpus, everything once. */
export function askCorpus(beside: Beside): void {
  askVectors(beside)
  askTransitions(beside)
  askAllFiles(beside)
}
