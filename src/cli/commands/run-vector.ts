import { dirname, join } from 'node:path'
import { isRefusal } from '../../base/errors.ts'
import { verifyEvidence } from '../../entry/anchor.ts'
import type { Outcome } from '../../entry/index.ts'
import { type CallClaim, isProviderError, verifyCallEvidence } from '../../entry/provider.ts'
import { kindName } from '../../verify/state/kind.ts'
import { UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { requireClaim, verifyAnswer } from '../options/flags.ts'
import { DocumentError } from '../words/error.ts'
import { compare, runFunction, spellState } from '../words/expected.ts'
import { type AnswerFile, type Expected, type InputFile, readExpected, readInputFile } from '../words/input-file.ts'
import { evidenceKinds } from '../words/kinds.ts'
import { applyPatches, baseNameOf } from '../words/patches.ts'
import { fieldsOf } from '../words/value.ts'
import { claimOfVector } from '../words/vector-claim.ts'
import type { Word } from '../words/verdict.ts'

/** The result of one file. The summary counts it under `group`. */
export type FileResult = { file: string } & (Judged | { unusable: string })

/** Runs the vector or recording in a file. */
export async function runVector(file: string): Promise<FileResult> {
  try {
    return { file, ...(await judge(await readVector(file))) }
  } catch (error) {
    const isUnusable = isProviderError(error) || error instanceof UsageError || error instanceof DocumentError
    if (isUnusable) return { file, unusable: error.message }
    throw error
  }
}

/** Reads a file. A vector with a base gets the input of the base, with its own changes. */
async function readVector(file: string): Promise<InputFile> {
  const content = await readRegularJson(file)
  const base = baseNameOf(content)
  if (base === null) return readInputFile(content)
  const path = join(dirname(file), '..', 'valid', `${base}.json`)
  return readInputFile(applyPatches(content, await readRegularJson(path)))
}

/** @throws UsageError, DocumentError if there is nothing to run; ProviderError if a call cannot be executed */
async function judge(file: InputFile): Promise<Judged> {
  if (file.kind === 'evidence') {
    throw new UsageError(`it is ${evidenceKinds[file.evidence].name}: verify it by itself, with --l1-block-hash`)
  }
  if (file.kind !== 'evidence vector' && file.kind !== 'function vector') return judgeAnswer(file)
  const expected = readExpected(file.expected)
  if (file.kind === 'function vector') {
    const outcome = await outcomeOf(() => ({ found: runFunction(file) }))
    const { verdict, ...result } = judged(`${subjects.get(file.operation)}`, expected, outcome, ({ found }) => found)
    // It verifies nothing.
    return file.operation === 'encodeHeader' ? result : { ...result, verdict }
  }
  const { evidence, bundle, scheme } = file
  const claim = claimOfVector(file)
  const outcome = await outcomeOf<object>(() =>
    // Despite the type, the claim is of the kind that the vector names.
    evidence === 'call' ? verifyCallEvidence(bundle, claim as unknown as CallClaim) : verifyEvidence(bundle, claim),
  )
  const { vectors = `${scheme} evidence`, spell } = evidenceKinds[evidence]
  return judged(vectors, expected, outcome, verified => spell(fieldsOf(verified)))
}

/** @throws UsageError if nobody states what to verify it against */
function judgeAnswer(file: AnswerFile): Judged {
  const { kind } = file
  if (kind !== 'vector' && kind !== 'recording') throw new UsageError('it is neither a vector nor a recording')
  const claim = requireClaim({}, file)
  const outcome = verifyAnswer(file, claim)
  const name = kindName(claim.claim.scheme)
  if (kind === 'vector') return judged(name, readExpected(file.expected), outcome, spellState)
  return { ...judged(name, { valid: true }, outcome), group: `${name} recording` }
}

interface Judged {
  readonly group: string
  readonly asExpected: boolean
  /** A code, or `verified`. */
  readonly outcome: string
  readonly path: string
  readonly mismatches: readonly string[]
  /** Whatever root or hash it rests on, the vector itself states. */
  readonly verdict?: Extract<Word, 'consistent' | 'refused'> | undefined
}

function judged<T extends object>(
  group: string,
  expected: Expected,
  outcome: Outcome<T>,
  spell?: (verified: T) => object,
): Judged {
  const mismatches = compare(expected, outcome, spell)
  const { code, path } = outcome.ok ? { code: 'verified', path: '' } : outcome.error
  return {
    group: `${group} ${expected.valid ? 'valid' : 'invalid'}`,
    ...{ asExpected: mismatches.length === 0, outcome: code, path, mismatches },
    verdict: outcome.ok ? 'consistent' : 'refused',
  }
}

/** What the vectors of each function are about. */
const subjects = new Map<unknown, string>([
  ['verifyAnchor', 'L1 contract'],
  ['encodeHeader', 'L1 header'],
  ['verifyCode', 'contract code'],
  ['verifyConsensus', 'beacon'],
  ['verifyFinality', 'beacon'],
  ['readBlockHash', 'block hash'],
  ['verifyHeaderChain', 'block headers'],
  ['verifyTransactions', 'transactions'],
  ['verifyReceipts', 'receipts'],
  ['verifyBlock', 'block'],
  ['verifyTransition', 'transition'],
  ['verifyMessageFromL2', 'message from L2'],
  ['verifyMessageToL2', 'message to L2'],
  ['readMessageArrival', 'arrival of a message'],
])

async function outcomeOf<T extends object>(run: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await run() }
  } catch (error) {
    if (isRefusal(error)) return { ok: false, error }
    throw error
  }
}
