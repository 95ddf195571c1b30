import { readdirSync, readFileSync } from 'node:fs'
import { bytesToHex, type Hex } from '../../src/base/bytes.ts'
import { hasherOf } from '../../src/verify/hash/hasher.ts'
import { createScheme } from '../../src/verify/scheme/genuine.ts'
import { mimc } from '../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../src/verify/scheme/poseidon2.ts'
import type { HashScheme } from '../../src/verify/scheme/scheme.ts'
import { askAnswer, askMadeAnswers } from './answers.ts'
import { besideOf, lengthOf } from './beside.ts'
import { askFiles, askTransitionVectors } from './corpus.ts'
import { askLeaf, askMadeLeaves } from './leaves.ts'
import { askMadeReceipts } from './receipts.ts'
import { askMadeTransitions } from './transitions.ts'
import { askMadeEthProofs, askMadeLists, askMadeMessages, askMadeTries } from './tries.ts'

/** Runs the models extracted from Coq beside the verifiers, on made proofs under toy hashes and on the corpus. */
const [, , program = '', size = '20000'] = process.argv

const LEAF_OUTCOMES = [
  ...['present', 'absent', 'WRONG_LENGTH', 'NOT_ADJACENT', 'LEAF_KEY_MISMATCH', 'KEY_NOT_BETWEEN', 'VALUE_MISMATCH'],
  ...['INDEX_OUT_OF_RANGE', 'WRONG_NODE_COUNT', 'SENTINEL_MISPLACED', 'NON_CANONICAL', 'KEY_MISMATCH', 'ZERO_OPENING'],
  ...['SUB_ROOT_MISMATCH', 'SCHEME_MISMATCH', 'ZERO_VALUE', 'VALUE_OUT_OF_RANGE', 'STORAGE_ROOT_MISMATCH'],
  'STATE_ROOT_MISMATCH',
]
const made = besideOf(program)
askMadeLeaves(made, Number(size))
made.expectOutcomes(LEAF_OUTCOMES)
await made.compare('made leaf proofs')

const whole = besideOf(program)
askMadeAnswers(whole, Number(size) / 5)
whole.expectOutcomes([
  ...['present', 'absent', 'STORAGE_PROOF_MISSING', 'STORAGE_PROOF_UNEXPECTED', 'WRONG_LENGTH', 'WRONG_NODE_COUNT'],
  ...['INDEX_OUT_OF_RANGE', 'KEY_MISMATCH', 'STORAGE_ROOT_MISMATCH', 'NON_CANONICAL', 'VALUE_MISMATCH', 'ZERO_OPENING'],
  ...['SUB_ROOT_MISMATCH', 'SCHEME_MISMATCH', 'SENTINEL_MISPLACED', 'STATE_ROOT_MISMATCH', 'NOT_ADJACENT'],
])
await whole.compare('made answers')

const tries = besideOf(program)
askMadeTries(tries, Number(size))
tries.expectOutcomes([
  ...['present', 'absent', 'RLP_NON_CANONICAL', 'MPT_NODES_MISSING', 'MPT_HASH_MISMATCH', 'MPT_NODES_UNUSED'],
  ...['MPT_NODE_MALFORMED', 'MPT_PATH_NON_CANONICAL'],
])
await tries.compare('made trie proofs')

const ethereum = besideOf(program)
askMadeEthProofs(ethereum, Number(size))
ethereum.expectOutcomes([
  ...['present', 'absent', 'RLP_NON_CANONICAL', 'MPT_NODES_MISSING', 'MPT_HASH_MISMATCH', 'MPT_NODES_UNUSED'],
  ...['MPT_NODE_MALFORMED', 'MPT_PATH_NON_CANONICAL', 'L1_ACCOUNT_MALFORMED', 'L1_VALUE_MALFORMED'],
])
await ethereum.compare('made answers of Ethereum')

const lists = besideOf(program)
askMadeLists(lists, Number(size) / 50)
await lists.compare('made lists')

const receipts = besideOf(program)
askMadeReceipts(receipts, Number(size))
receipts.expectOutcomes([...['accepted', 'RECEIPT_STATUS', 'RECEIPTS_ROOT_MISMATCH', 'RECEIPT_GAS', 'RECEIPT_BLOOM']])
await receipts.compare('made receipts')

const messages = besideOf(program)
askMadeMessages(messages, Number(size))
messages.expectOutcomes(['present', 'MESSAGE_MALFORMED', 'MESSAGE_INDEX', 'MESSAGE_ROOT_MISMATCH'])
await messages.compare('made places of messages')

const transitions = besideOf(program)
askMadeTransitions(transitions, Number(size))
transitions.expectOutcomes([
  ...['accepted', 'WRONG_LENGTH', 'NON_CANONICAL', 'INDEX_OUT_OF_RANGE', 'TRACE_SIBLING_COUNT', 'TRACE_KEY_MISMATCH'],
  ...['TRACE_VALUE_MISMATCH', 'TRACE_NOT_NEIGHBOURS', 'TRACE_KEY_NOT_BETWEEN', 'TRACE_PATH_MISMATCH'],
  ...['TRACE_INDEX_NOT_NEXT', 'TRACE_RESULT_MISMATCH', 'TRACE_NOT_CONTINUOUS', 'TRACE_NOT_ALLOWED'],
  ...['TRANSITION_PARENT_NOT_OPENED', 'TRANSITION_END_MISMATCH', 'SEGMENT_STORAGE_BEFORE', 'SEGMENT_STORAGE_AFTER'],
  ...['SEGMENT_ORDER', 'SEGMENT_INCOMPLETE', 'VALUE_OUT_OF_RANGE', 'ZERO_VALUE'],
])
await transitions.compare('made transitions')

// The corpus, with the real hashes. The model asks for a digest, and gets the one that was computed here: it must ask for no
// other message.

const hashed = new Map<string, string>()
const recorded = [mimc, poseidon2].map(scheme => {
  const hash = (message: Uint8Array) => {
    const digest = scheme.hasher.hash(message)
    hashed.set(`${scheme.name} ${bytesToHex(message).slice(2)}`, bytesToHex(digest).slice(2))
    return digest
  }
  return createScheme({ ...scheme, hasher: hasherOf(hash) })
})
const real = besideOf(program, () => [...hashed].map(([message, digest]) => `H ${message} ${digest}`))

interface Vector {
  stateRoot: Hex
  address: Hex
  storageKeys: Hex[]
  answer: { result?: unknown }
  expected: { valid: boolean; code?: string }
}

/** The only vector with a rule of the model that the model cannot express. */
const INEXPRESSIBLE = 'index-fractional.json'
const judged = { valid: 0, invalid: 0, elsewhere: 0 }
for (const scheme of recorded) {
  for (const folder of ['valid', 'invalid'] as const) {
    for (const file of readdirSync(`vectors/${scheme.name}/${folder}`)) {
      const vector: Vector = JSON.parse(readFileSync(`vectors/${scheme.name}/${folder}/${file}`, 'utf8'))
      count(file, vector.expected.code, askVector(scheme, vector))
    }
  }
}

/** The verdict on one of the leaf proofs must be that of the vector, unless its code is that of another layer. */
function count(file: string, code: string | undefined, outcomes: readonly (string | null)[]): void {
  if (code === undefined) judged.valid += 1
  else if (outcomes.includes(code)) judged.invalid += 1
  else judged.elsewhere += 1
  const isRight = (outcome: string | null) => outcome === null || outcome === 'present' || outcome === 'absent'
  const isKnown = code !== undefined && made.counts.has(code) && file !== INEXPRESSIBLE
  if (code === undefined ? !outcomes.every(isRight) : isKnown && !outcomes.includes(code)) {
    throw new Error(`${file}: ${outcomes.join()}`)
  }
}

/** The outcome of each leaf proof in the answer that the model can express. */
function askVector(scheme: HashScheme, { answer, stateRoot, address, storageKeys }: Vector): (string | null)[] {
  if (lengthOf(stateRoot) !== 32 || lengthOf(address) !== 20 || storageKeys.some(key => lengthOf(key) !== 32)) return []
  const { accountProof, storageProofs } = Object(answer?.result ?? answer)
  const account = Object(accountProof)
  const outcomes = [
    askLeaf(real, scheme.name, { scheme, kind: 'account', root: stateRoot, key: address, proof: account }),
  ]
  const value: unknown = account.proof?.value
  if (typeof value !== 'string' || lengthOf(value) !== 192 || !Array.isArray(storageProofs)) return outcomes
  const root: Hex = `0x${value.slice(2 + 128, 2 + 192)}`
  const asked = storageKeys.slice(0, storageProofs.length)
  askAnswer(real, scheme.name, { scheme, stateRoot, address, storageKeys, answer: { accountProof, storageProofs } })
  return [
    ...outcomes,
    ...asked.map((key, index) =>
      askLeaf(real, scheme.name, { scheme, kind: 'storage', root, key, proof: Object(storageProofs[index]) }),
    ),
  ]
}

askTransitionVectors(real, recorded, transitions.counts)
const known = [receipts, messages].flatMap(({ counts }) => [...counts.keys()])
const codes = known.filter(outcome => /^[A-Z]/.test(outcome))
askFiles(real, ['vectors', '../shared/vectors'], new Set(codes))
await real.compare('the corpus')
console.log(
  `vectors: ${judged.valid} valid, ${judged.invalid} invalid for a rule of the model, ${judged.elsewhere} for another`,
)
