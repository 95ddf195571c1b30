import type { FailureCode } from '../base/errors.ts'
import { attempt, decodeHex, readRlp, toNumber } from '../cli/words/layout.ts'
import { fieldIn } from '../cli/words/value.ts'
import type { OpenedFile } from './opened-file.ts'

/** What to do about a refusal. */

const ANOTHER = 'Ask another server, or ask again: this file proves nothing, whatever it says.'
const QUESTION =
  'Compare it with your question: this file is about something else. If the question is right, ask again.'

const steps: Readonly<Partial<Record<FailureCode, string>>> = {
  ARGUMENT_INVALID: 'Correct what you entered: the file was not examined.',
  ANSWER_IS_ERROR: 'Ask again, or another server: this one sent an error, and no proof.',
  FOREIGN_PROOF:
    'Ask for linea_getProof or rollup_getProof. If you mean the state of Ethereum, choose it as the state.',
  SCHEME_MISMATCH: 'Choose the other hash scheme: the proof is of the other one.',
  STATE_ROOT_MISMATCH:
    'The proof leads to another root. If that is the root of another block, ask for the block of yours; if it is the root of no block, the file is forged. Look both up.',
  ANCHOR_BLOCK_AHEAD: 'Wait until L1 has finalized the block, and ask again.',
  ANCHOR_NO_ROOT: 'Ask for the last block of a finalization: L1 keeps the roots of those alone.',
  ANCHOR_NO_CONTRACT: 'Check the rollup: L1 has no such contract at this block.',
  ANCHOR_IMPLEMENTATION_MISMATCH: 'Find out whether the contract was upgraded, before you trust either.',
  EVIDENCE_VERSION: 'Ask for evidence of the version that this page reads, or use a later page.',
  BEACON_FORK_UNKNOWN: 'Check the network, or use a later page: this one does not know the fork.',
}

/** @param found what the check found, in words or in full */
export function nextStep(code: FailureCode, { bundle }: OpenedFile, found: string): string {
  if (code === 'HEADER_HASH_MISMATCH') return stepOfHeader(bundle, found)
  return steps[code] ?? (/^EVIDENCE_\w+_MISMATCH$|^(LOGS|MESSAGE|KEY)_MISMATCH$/.test(code) ? QUESTION : ANOTHER)
}

/** A whole header of another block, or none at all. */
function stepOfHeader(bundle: unknown, found: string): string {
  const items = attempt(() => readRlp(decodeHex(fieldIn(fieldIn(bundle, 'l1'), 'header'))))
  const number = Array.isArray(items) && items.length > 14 ? items[NUMBER] : undefined
  if (!(number instanceof Uint8Array) || number.length > 8) return ANOTHER
  return `The file has a header that says L1 block ${toNumber(number)} and hashes to ${found}. Look that block up: if this is its hash, the file is of another block than the hash that you trust; if not, it is forged.`
}

/** The place of the number in a header. */
const NUMBER = 8
