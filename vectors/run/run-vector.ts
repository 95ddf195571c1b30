import { isRefusal } from '../../src/base/errors.ts'
import { UsageError } from '../../src/cli/errors.ts'
import { completeClaim, isProblem } from '../../src/cli/words/answer.ts'
import { type InputFile, readInputFile } from '../../src/cli/words/input-file.ts'
import { DocumentError, fieldsOf } from '../../src/cli/words/value.ts'
import { verifyEvidence } from '../../src/entry/anchor.ts'
import { type Outcome, safely } from '../../src/entry/index.ts'
import { type CallClaim, isProviderError, verifyCallEvidence } from '../../src/entry/provider.ts'
import { createStateVerifier, kindName } from '../../src/verify/state/kind.ts'
import { claimOfVector } from './claim.ts'
import { compare, type Expected, readExpected, spellState } from './expected.ts'
import { functionNamed } from './functions.ts'
import { readVector } from './read.ts'
import { evidenceVectors } from './spelling.ts'

/** The result of one file. The summary counts it under `group`. */
export type FileResult = { readonly file: string } & (Judged | { readonly unusable: string })

interface Judged {
  readonly group: string
  /** A code, or `verified`. */
  readonly outcome: string
  /** How it differs from what the file expects. */
  readonly mismatches: readonly string[]
}

/** Runs the vector or recording in a file. */
export async function runVector(file: string): Promise<FileResult> {
  try {
    return { file, ...(await judge(readInputFile(readVector(file)))) }
  } catch (error) {
    const isUnusable = isProviderError(error) || error instanceof UsageError || error instanceof DocumentError
    if (isUnusable) return { file, unusable: error.message }
    throw error
  }
}

/** @throws UsageError, DocumentError if there is nothing to run; ProviderError if a call cannot be executed */
async function judge(file: InputFile): Promise<Judged> {
  if (file.kind === 'function vector') {
    const { subject, run } = functionNamed(file.operation)
    return judged(subject, readExpected(file.expected), await outcomeOf(() => run(file.fields)), found => found)
  }
  if (file.kind !== 'evidence vector') return judgeAnswer(file)
  const { evidence, bundle, scheme, expected } = file
  const claim = claimOfVector(file)
  const outcome = await outcomeOf<object>(() =>
    // Despite the type, the claim is of the kind that the vector names.
    evidence === 'call' ? verifyCallEvidence(bundle, claim as unknown as CallClaim) : verifyEvidence(bundle, claim),
  )
  const { group = `${scheme} evidence`, spell } = evidenceVectors[evidence]
  return judged(group, readExpected(expected), outcome, verified => spell(fieldsOf(verified)))
}

/** @throws UsageError if nobody states what to verify it against */
function judgeAnswer(file: Exclude<InputFile, { kind: 'function vector' | 'evidence vector' }>): Judged {
  if (file.kind !== 'vector' && file.kind !== 'recording')
    throw new UsageError('it is neither a vector nor a recording')
  const found = completeClaim({}, file)
  if (isProblem(found)) throw new UsageError(`nobody states its ${found.problem}`)
  const { scheme, ...asked } = found.claim
  const name = kindName(scheme)
  const outcome = safely(() => createStateVerifier(scheme)(file.answer, asked))
  const expected = readExpected(file.expected)
  if (file.kind === 'vector') return judged(name, expected, outcome, spellState)
  // It expects only a verdict.
  return judged(`${name} recording`, expected, outcome, () => ({}))
}

function judged<T extends object>(
  group: string,
  expected: Expected,
  outcome: Outcome<T>,
  spell: (verified: T) => object,
): Judged {
  return {
    group: `${group} ${expected.valid ? 'valid' : 'invalid'}`,
    outcome: outcome.ok ? 'verified' : outcome.error.code,
    mismatches: compare(expected, outcome, spell),
  }
}

async function outcomeOf<T extends object>(run: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await run() }
  } catch (error) {
    if (isRefusal(error)) return { ok: false, error }
    throw error
  }
}
