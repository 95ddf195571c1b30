import { verifyCode } from '../anchor/code.ts'
import { encodeHeader } from '../anchor/header.ts'
import type { Committee } from '../beacon/committee.ts'
import { type Checkpoint, type CheckpointAnswers, verifyCheckpoint, verifyFinality } from '../beacon/verify.ts'
import type { Hex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import type { SafeVerifiedEvidence, VerifiedEvidence } from '../evidence/types.ts'
import { encodeQuantity } from '../hex.ts'
import type { SafeVerifiedState } from '../verifier/safe.ts'
import { DocumentError } from './error.ts'
import type { Expected, FunctionVector } from './input-file.ts'
import { type Fields, fieldIn, fieldsOf, show } from './value.ts'

/** Compares outcomes with what files expect: one sentence per mismatch, none if the outcome is as expected. */

export function compareState(expected: Expected, outcome: SafeVerifiedState): string[] {
  if (!outcome.ok) return compareRefusal(expected, outcome.error)
  const { account, storage } = outcome
  return compareFields(expected, { account, storage })
}

/** {@link compareState}, for a file that expects only a verdict. */
export const compareVerdict = (expected: Expected, outcome: SafeVerifiedState): string[] =>
  outcome.ok ? compareFields(expected, {}) : compareRefusal(expected, outcome.error)

export const compareEvidence = (expected: Expected, outcome: SafeVerifiedEvidence): string[] =>
  outcome.ok ? compareFields(expected, spell(outcome)) : compareRefusal(expected, outcome.error)

/** The evidence as vectors write it: numbers as hexadecimal quantities, and only the account's nonce and balance. */
function spell({ ok: _, ...evidence }: VerifiedEvidence & { ok: true }): object {
  const { account, l1Block, l2BlockNumber, currentL2BlockNumber, finalizedTimestamp, ...rest } = evidence
  const quantities = (numbers: Readonly<Record<string, bigint | null>>) =>
    Object.fromEntries(
      Object.entries(numbers).map(([name, value]) => [name, value === null ? null : encodeQuantity(value)]),
    )
  const block = evidence.reach === 'beaconBlockRoot' ? evidence.beaconBlock : null
  return {
    ...rest,
    ...(block && {
      beaconBlock: { ...block, ...quantities({ slot: block.slot, slotTimestamp: block.slotTimestamp }) },
    }),
    ...quantities({ l2BlockNumber, currentL2BlockNumber, finalizedTimestamp }),
    account: account && quantities({ nonce: account.nonce, balance: account.balance }),
    l1Block: l1Block && { ...l1Block, ...quantities({ number: l1Block.number, timestamp: l1Block.timestamp }) },
  }
}

export interface VectorOutcome {
  /** What the function threw; null if it returned. */
  readonly error: ProofError | null
  readonly mismatches: string[]
}

/** Calls the function that the vector is for. @throws DocumentError if its operation is unknown */
export function runFunction({ operation, fields }: FunctionVector, expected: Expected): VectorOutcome {
  try {
    return { error: null, mismatches: compareFields(expected, resultOf(operation, fields)) }
  } catch (error) {
    if (error instanceof ProofError) return { error, mismatches: compareRefusal(expected, error) }
    throw error
  }
}

/** The part of the function's result that a vector states. Despite the types, arguments are unchecked. */
function resultOf(operation: unknown, { code, codeHash, block, input }: Fields): object {
  const { answers, committee, network, blockRoot } = fieldsOf(input)
  switch (operation) {
    case 'verifyCode':
      verifyCode(code, codeHash as Hex)
      return {}
    case 'encodeHeader':
      encodeHeader(block)
      return {}
    case 'verifyCheckpoint': {
      const checkpoint = { network, blockRoot } as Checkpoint
      const { committee: last, ...verified } = verifyCheckpoint(answers as CheckpointAnswers, checkpoint)
      return { ...verified, committeeRoot: last.root }
    }
    case 'verifyFinality':
      return verifyFinality(fieldIn(answers, 'finality'), committee as Committee)
    default:
      throw new DocumentError(`it is not a vector: unknown operation ${show(operation)}`)
  }
}

/** How the verdict "valid", with the fields of `found`, differs from what the file expects. */
export function compareFields({ valid, code, ...expected }: Expected, found: object): string[] {
  if (!valid) return [`expected ${show(code)}, but it verified`]
  const wanted = fieldsOf(expected)
  return Object.entries(found).flatMap(([name, value]) => differences(name, wanted[name], value))
}

/** How the verdict "invalid" differs from what the file expects. */
export function compareRefusal(
  { valid, code: wanted, path: wantedPath }: Expected,
  { code, path }: ProofError,
): string[] {
  if (valid) return [`expected to verify, got ${placed(code, path)}`]
  const isAsExpected = code === wanted && (wantedPath === undefined || wantedPath === path)
  return isAsExpected ? [] : [`expected ${placed(wanted, wantedPath)}, got ${placed(code, path)}`]
}

const placed = (code: unknown, path: unknown): string => (path ? `${show(code)} at ${show(path)}` : show(code))

/** Compares field by field, no deeper than `found`, because `expected` comes from a file and can be anything. */
function differences(path: string, expected: unknown, found: unknown): string[] {
  if (typeof found === 'object' && found !== null && typeof expected === 'object' && expected !== null) {
    const [wanted, got] = [Array.isArray(expected) ? { ...expected } : expected, { ...found }].map(fieldsOf)
    return Object.keys({ ...wanted, ...got }).flatMap(name =>
      differences(`${path}.${name}`, wanted?.[name], got?.[name]),
    )
  }
  // A JSON number cannot hold every bigint, so vectors use decimal strings.
  const plain = typeof found === 'bigint' ? found.toString() : found
  return plain === expected ? [] : [`${path}: expected ${show(expected)}, got ${show(plain)}`]
}
