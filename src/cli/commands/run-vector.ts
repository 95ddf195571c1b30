import { dirname, join } from 'node:path'
import { isRefusal } from '../../base/errors.ts'
import { verifyEvidence } from '../../entry/anchor.ts'
import { type Outcome, safely } from '../../entry/index.ts'
import { type CallClaim, isProviderError, verifyCallEvidence } from '../../entry/provider.ts'
import { kindName } from '../../verify/state/kind.ts'
import { UsageError } from '../errors.ts'
import { readRegularJson } from '../files/input.ts'
import { requireClaim, requireKind, verifyAnswer } from '../options/flags.ts'
import { reportOnBundle } from '../output/evidence-report.ts'
import { reportOnAnswer } from '../output/report.ts'
import { DocumentError } from '../words/error.ts'
import { claimOfVector, parseNumber } from '../words/evidence.ts'
import { compare, runFunction, spellEvidence, spellNumbers, spellState } from '../words/expected.ts'
import {
  type AnswerFile,
  type Expected,
  type FunctionVector,
  type InputFile,
  isBundleFile,
  readExpected,
  readInputFile,
  type StatedClaim,
} from '../words/input-file.ts'
import { applyPatches, baseNameOf } from '../words/patches.ts'
import { type Fields, fieldsOf, isGiven, isObject } from '../words/value.ts'
import { type Verdict, verdictOf } from '../words/verdict.ts'

/** The result of one file. The summary counts it under `group`. */
export type FileResult = { file: string } & (Judged | { unusable: string } | { notRun: string })

type Judged = ReturnType<typeof judged>

/** For `--json`: what was asked and proven. */
type Details = { readonly details?: object }

/** Runs the vector or recording in a file. @param pinned what the user states; it overrides the file */
export async function runVector(file: string, pinned: StatedClaim): Promise<FileResult & Details> {
  try {
    return { file, ...(await judge(await readVector(file), pinned)) }
  } catch (error) {
    if (isProviderError(error) && error.reason === 'EVM_MISSING') return { file, notRun: error.message }
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
async function judge(file: InputFile, pinned: StatedClaim): Promise<Judged & Details> {
  const { kind } = file
  if (
    kind === 'call evidence' ||
    kind === 'logs evidence' ||
    kind === 'message evidence' ||
    kind === 'evidence bundle'
  ) {
    const named = {
      ...{ 'call evidence': 'a call as evidence', 'logs evidence': 'logs as evidence' },
      ...{ 'message evidence': 'a message as evidence', 'evidence bundle': 'an evidence bundle' },
    }[kind]
    throw new UsageError(`it is ${named}: verify it by itself, with --rollup and --l1-block-hash`)
  }
  if (!isBundleFile(file) && file.kind !== 'function vector') return judgeAnswer(file, pinned)
  if (Object.values(pinned).some(isGiven)) {
    throw new UsageError('it is a vector that states its own claim: run it without options')
  }
  const expected = readExpected(file.expected)
  if (!isBundleFile(file)) {
    const subject = `${subjects.get(file.operation)} ${wordFor(expected)}`
    const outcome = await outcomeOf(file)
    // Whatever root or hash it rests on, the vector itself states.
    const verdict = file.operation === 'encodeHeader' ? null : verdictOf(outcome.ok, { l1BlockHash: 'file' })
    return judged(subject, expected, outcome, ({ found }) => found, verdict)
  }
  const claim = claimOfVector(file)
  const outcome = safely(() => verifyEvidence(file.bundle, claim))
  const { verdict, json } = reportOnBundle(outcome, file.bundle, claim, 'file')
  const group = `${claim.scheme.name} evidence ${wordFor(expected)}`
  return { ...judged(group, expected, outcome, spellEvidence, verdict), details: json }
}

/** @throws UsageError if nobody states what to verify it against */
function judgeAnswer(file: AnswerFile, pinned: StatedClaim): Judged & Details {
  const { kind } = file
  const isCase = kind === 'vector' || kind === 'recording'
  // A bare answer states no claim, but a pinned root says what to verify it against.
  if (!isCase && pinned.stateRoot === undefined) throw new UsageError('it is neither a vector nor a recording')
  const expected = isCase ? readExpected(file.expected) : { valid: true }
  const claim = requireClaim(pinned, file)
  const outcome = verifyAnswer(file, claim)
  const word = kind === 'vector' ? wordFor(expected) : isCase ? kind : 'answer'
  const spell = kind === 'vector' ? spellState : undefined
  const { verdict, json } = reportOnAnswer(outcome, file, claim)
  return { ...judged(`${kindName(claim.claim.scheme)} ${word}`, expected, outcome, spell, verdict), details: json }
}

/** @param verdict null for a function that verifies nothing */
function judged<T extends object>(
  group: string,
  expected: Expected,
  outcome: Outcome<T>,
  spell: ((verified: T) => object) | undefined,
  verdict: Verdict | null,
) {
  const mismatches = compare(expected, outcome, spell)
  const { code, path } = outcome.ok ? { code: 'verified', path: '' } : outcome.error
  const said = verdict && { verdict: verdict.word }
  return { group, asExpected: mismatches.length === 0, outcome: code, path, mismatches, ...said }
}

const wordFor = ({ valid }: Expected): string => (valid ? 'valid' : 'invalid')

/** What the vectors of each function are about. */
const subjects = new Map<unknown, string>([
  ['verifyAnchor', 'L1 contract'],
  ['verifyEthereumEvidence', 'ethereum evidence'],
  ['encodeHeader', 'L1 header'],
  ['verifyCode', 'contract code'],
  ['verifyConsensus', 'beacon'],
  ['verifyFinality', 'beacon'],
  ['verifyCallEvidence', 'call'],
  ['readBlockHash', 'block hash'],
  ['verifyHeaderChain', 'block headers'],
  ['verifyTransactions', 'transactions'],
  ['verifyReceipts', 'receipts'],
  ['verifyBlock', 'block'],
  ['verifyTransition', 'transition'],
  ['verifyLogs', 'logs'],
  ['verifyMessageFromL2', 'message from L2'],
  ['verifyMessageToL2', 'message to L2'],
  ['readMessageArrival', 'arrival of a message'],
  ['verifyMessageEvidence', 'message evidence'],
])

async function outcomeOf(file: FunctionVector): Promise<Outcome<{ readonly found: object }>> {
  try {
    const isCall = file.operation === 'verifyCallEvidence'
    return { ok: true, value: { found: isCall ? await runCall(file.fields) : runFunction(file) } }
  } catch (error) {
    if (isRefusal(error)) return { ok: false, error }
    throw error
  }
}

/** Makes the call that a vector is about. Its claim is unchecked: the verifier refuses a malformed one. */
async function runCall({ scheme, claim, bundle }: Fields): Promise<object> {
  const { chainId, l2BlockNumber, call, ...rest } = fieldsOf(claim)
  // What is no number, such as 'fromBundle', is left to the verifier.
  const number = (text: unknown) => parseNumber(text, 256) ?? text
  const { value, gas, ...others } = fieldsOf(call)
  const stated = {
    ...{ ...rest, scheme: requireKind(scheme), chainId: number(chainId), l2BlockNumber: number(l2BlockNumber) },
    call: isObject(call) ? { ...others, value: number(value), gas: number(gas) } : call,
  } as unknown as CallClaim
  const verified = fieldsOf(await verifyCallEvidence(bundle, stated))
  const { outcome, returnData, revertData, gasUsed, finalizedTimestamp } = verified
  return spellNumbers({ outcome, returnData, revertData, gasUsed, finalizedTimestamp })
}
