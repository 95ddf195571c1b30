import { dirname, join } from 'node:path'
import { safeVerifyEvidence } from '../../anchor.ts'
import { DocumentError } from '../../document/error.ts'
import { claimOfVector, parseNumber } from '../../document/evidence.ts'
import {
  compareEvidence,
  compareFields,
  compareRefusal,
  compareState,
  compareVerdict,
  runFunction,
  type VectorOutcome,
} from '../../document/expected.ts'
import {
  type AnswerFile,
  type Expected,
  type FunctionVector,
  type InputFile,
  isBundleFile,
  isCallEvidence,
  isFunctionVector,
  readExpected,
  readInputFile,
  type StatedClaim,
} from '../../document/input-file.ts'
import { applyPatches, baseNameOf } from '../../document/patches.ts'
import { fieldsOf, isGiven, show } from '../../document/value.ts'
import { encodeQuantity } from '../../hex.ts'
import { ProofError } from '../../index.ts'
import { type CallClaim, ProviderError, verifyCallEvidence } from '../../provider.ts'
import { UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { requireClaim, requireScheme, verifyAnswer } from '../options/flags.ts'
import { describeEvidence } from '../output/evidence-report.ts'
import { describeAnswer } from '../output/report.ts'

/** The result of one file. The summary counts it under `group`. */
export type FileResult = { file: string } & (Judged | { unusable: string } | { notRun: string })

/** Runs the vector or recording in a file. @param pinned what the user states; it overrides the file */
export async function runVector(file: string, pinned: StatedClaim): Promise<FileResult> {
  try {
    return { file, ...(await judge(await readVector(file), pinned)) }
  } catch (error) {
    if (error instanceof ProviderError) {
      return error.reason === 'EVM_MISSING' ? { file, notRun: error.message } : { file, unusable: error.message }
    }
    if (error instanceof UsageError || error instanceof DocumentError) return { file, unusable: error.message }
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

interface Judged {
  readonly group: string
  readonly asExpected: boolean
  /** `verified`, or the code of the failure. */
  readonly outcome: string
  readonly path: string
  readonly mismatches: readonly string[]
  /** Who stated the root or hash on which the verdict rests; null if it rests on none. */
  readonly rootFrom: 'flag' | 'file' | null
  /** For `--json`: what was asked and proven. */
  readonly details: object
}

/** @throws UsageError, DocumentError if there is nothing to run; ProviderError if a call cannot be executed */
async function judge(file: InputFile, pinned: StatedClaim): Promise<Judged> {
  if (isCallEvidence(file) || (isBundleFile(file) && file.claim === undefined)) {
    const what = isCallEvidence(file) ? 'a call as evidence' : 'an evidence bundle'
    throw new UsageError(`it is ${what}: verify it by itself, with --rollup and --l1-block-hash`)
  }
  if (!isBundleFile(file) && !isFunctionVector(file)) return judgeAnswer(file, pinned)
  if (Object.values(pinned).some(isGiven)) {
    throw new UsageError('it is a vector that states its own claim: run it without options')
  }
  const expected = readExpected(file.expected)
  const word = wordFor(expected)
  if (isBundleFile(file)) {
    const claim = claimOfVector(file)
    const outcome = safeVerifyEvidence(file.bundle, claim)
    const mismatches = compareEvidence(expected, outcome)
    const details = describeEvidence(claim, 'file', outcome)
    return judged(`${claim.scheme.name} evidence ${word}`, errorOf(outcome), mismatches, 'file', details)
  }
  if (file.operation === 'verifyCallEvidence') {
    const { error, mismatches } = await runCallVector(file, expected)
    return judged(`call ${word}`, error, mismatches, 'file')
  }
  const subject = subjects.get(file.operation) ?? `operation ${show(file.operation)}`
  const { error, mismatches } = runFunction(file, expected)
  return judged(`${subject} ${word}`, error, mismatches, null)
}

/** @throws UsageError if nobody states what to verify it against */
function judgeAnswer(file: AnswerFile, pinned: StatedClaim): Judged {
  const { kind } = file
  const isCase = kind === 'vector' || kind === 'recording'
  // A bare answer states no claim, but a pinned root says what to verify it against.
  if (!isCase && pinned.stateRoot === undefined) throw new UsageError('it is neither a vector nor a recording')
  const expected = isCase ? readExpected(file.expected) : { valid: true }
  const claim = requireClaim(pinned, file)
  const outcome = verifyAnswer(file, claim)
  const mismatches = (kind === 'vector' ? compareState : compareVerdict)(expected, outcome)
  const word = kind === 'vector' ? wordFor(expected) : isCase ? kind : 'answer'
  const rootFrom = claim.sources.stateRoot === 'user' ? 'flag' : 'file'
  const details = describeAnswer(file, claim, outcome)
  return judged(`${claim.claim.scheme.name} ${word}`, errorOf(outcome), mismatches, rootFrom, details)
}

const judged = (
  group: string,
  error: ProofError | null,
  mismatches: readonly string[],
  rootFrom: Judged['rootFrom'],
  details: object = {},
): Judged => ({
  ...{ group, asExpected: mismatches.length === 0, outcome: error?.code ?? 'verified', path: error?.path ?? '' },
  ...{ mismatches, rootFrom, details },
})

const errorOf = (outcome: { ok: true } | { ok: false; error: ProofError }): ProofError | null =>
  outcome.ok ? null : outcome.error

const wordFor = ({ valid }: Expected): string => (valid ? 'valid' : 'invalid')

/** What the vectors of each function are about. */
const subjects = new Map<unknown, string>([
  ['encodeHeader', 'L1 header'],
  ['verifyCode', 'contract code'],
  ['verifyCheckpoint', 'beacon'],
  ['verifyFinality', 'beacon'],
])

/** Makes the call that a vector is about. Its claim is unchecked: the verifier refuses a malformed one. */
async function runCallVector({ fields }: FunctionVector, expected: Expected): Promise<VectorOutcome> {
  const { scheme, claim, bundle } = fields
  const { chainId, l2BlockNumber, call, ...rest } = fieldsOf(claim)
  const { value, gas, ...others } = fieldsOf(call)
  const numbers = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, text]) =>
        text === undefined ? [] : [[name, parseNumber(text, 256) ?? undefined]],
      ),
    )
  const stated = {
    ...{ ...rest, scheme: requireScheme(scheme), chainId: undefined, ...numbers({ chainId, l2BlockNumber }) },
    ...(call !== undefined && { call: { ...others, ...numbers({ value, gas }) } }),
  } as unknown as CallClaim
  try {
    const { outcome, returnData, gasUsed, finalizedTimestamp } = await verifyCallEvidence(bundle, stated)
    const time = finalizedTimestamp === null ? null : encodeQuantity(finalizedTimestamp)
    const found = { outcome, returnData, gasUsed: encodeQuantity(gasUsed), finalizedTimestamp: time }
    return { error: null, mismatches: compareFields(expected, found) }
  } catch (error) {
    if (error instanceof ProofError) return { error, mismatches: compareRefusal(expected, error) }
    throw error
  }
}
