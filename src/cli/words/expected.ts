import type { Hex } from '../../base/bytes.ts'
import { verifyCode } from '../../verify/anchor/code.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import { type AnchorClaim, verifyAnchor } from '../../verify/anchor/rollup.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import {
  type ConsensusAnswers,
  type TrustedBlock,
  verifyConsensus,
  verifyFinality,
} from '../../verify/beacon/verify.ts'
import { verifyBlock } from '../../verify/blocks/block.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { verifyHeaderChain } from '../../verify/blocks/header-chain.ts'
import { type HistoryClaim, type ProvenHistory, readBlockHash } from '../../verify/blocks/history.ts'
import { verifyReceipts } from '../../verify/blocks/receipts.ts'
import { verifyTransactions } from '../../verify/blocks/transactions.ts'
import { type MessageClaim, verifyMessageFromL2 } from '../../verify/messages/from-l2.ts'
import {
  type MessageRequest,
  type ProvenInbox,
  readMessageArrival,
  verifyMessageToL2,
} from '../../verify/messages/to-l2.ts'
import type { AnyState } from '../../verify/state/types.ts'
import { type TransitionClaim, verifyTransition } from '../../verify/transition/verify.ts'
import type { Outcome } from '../../verify/verifier/safe.ts'
import { schemeNamed } from './answer.ts'
import { DocumentError } from './error.ts'
import { MESSAGE_NUMBERS } from './evidence.ts'
import type { Expected, FunctionVector } from './input-file.ts'
import { spellNumbers } from './spelling.ts'
import { type Fields, fieldIn, fieldsOf, isObject, show } from './value.ts'
import { claimOfVector, toNumbers, trustedOfVector } from './vector-claim.ts'

/**
 * Compares an outcome with what a file expects: one sentence per mismatch, none if the outcome is as expected.
 *
 * @param spell what was proven, as the file writes it. Default: nothing, for a file that expects only a verdict
 */
export function compare<T extends object>(
  { valid, code: wantedCode, path: wantedPath, ...wanted }: Expected,
  outcome: Outcome<T>,
  spell: (verified: T) => object = () => ({}),
): string[] {
  if (outcome.ok) {
    if (!valid) return [`expected ${show(wantedCode)}, but it verified`]
    return Object.entries(spell(outcome.value)).flatMap(([name, value]) =>
      differences(name, fieldIn(wanted, name), value),
    )
  }
  const { code, path } = outcome.error
  if (valid) return [`expected to verify, got ${placed(code, path)}`]
  const isAsExpected = code === wantedCode && (wantedPath === undefined || wantedPath === path)
  return isAsExpected ? [] : [`expected ${placed(wantedCode, wantedPath)}, got ${placed(code, path)}`]
}

export const spellState = ({ account, storage }: AnyState): object => ({ account, storage })

/**
 * Calls the function that the vector is for. Despite the types, its arguments are unchecked.
 *
 * @returns the part of its result that a vector states
 * @throws ProofError as the function does; DocumentError if the operation is unknown
 */
export function runFunction({ operation, fields }: FunctionVector): object {
  const { code, codeHash, block, input, claim, proof } = fields
  const { answers, committee, network, blockRoot } = fieldsOf(input)
  switch (operation) {
    case 'verifyCode':
      verifyCode(code, codeHash as Hex)
      return {}
    case 'encodeHeader':
      encodeHeader(block)
      return {}
    case 'verifyAnchor': {
      const { rollup, l2BlockNumber } = claimOf(claim)
      verifyAnchor(proof, { ...fieldsOf(claim), rollup, l2BlockNumber } as AnchorClaim)
      return {}
    }
    case 'verifyConsensus': {
      const trusted = { network, blockRoot } as TrustedBlock
      const { committee: last, ...verified } = verifyConsensus(answers as ConsensusAnswers, trusted)
      return { ...verified, committeeRoot: last.root }
    }
    case 'verifyFinality':
      return verifyFinality(fieldIn(answers, 'finality'), committee as Committee)
    case 'readBlockHash':
    case 'verifyHeaderChain':
    case 'verifyTransactions':
    case 'verifyReceipts':
    case 'verifyBlock':
      return spellNumbers({ verified: runOverBlocks(operation, input, fieldsOf(claim)) })
    case 'verifyMessageFromL2':
    case 'verifyMessageToL2':
    case 'readMessageArrival':
      return spellNumbers({ verified: runOverMessages(operation, input, fieldsOf(claim)) })
    case 'verifyTransition':
      return spellNumbers(runTransition(fieldsOf(input)))
    default:
      throw new DocumentError(`it is not a vector: unknown operation ${show(operation)}`)
  }
}

/** Its input names the scheme. */
function runTransition({ scheme, answer, ...claim }: Fields): object {
  const stated: unknown = { ...claim, scheme: schemeNamed(scheme) }
  return verifyTransition(answer, stated as TransitionClaim)
}

/** The claim of a vector that states no scheme; any will do. */
const claimOf = (claim: unknown) => fieldsOf(claimOfVector({ evidence: 'state', scheme: 'poseidon2', claim }))

/** Calls a function over blocks. */
function runOverBlocks(operation: string, input: unknown, claim: Fields): unknown {
  const stated: unknown = toNumbers(claim, ['number', 'stateBlock'])
  if (operation === 'readBlockHash') return readBlockHash(input as ProvenHistory, stated as HistoryClaim)
  if (operation === 'verifyHeaderChain') return verifyHeaderChain(input, stated as BlockClaim)
  if (operation === 'verifyTransactions') return verifyTransactions(input, stated as { transactionsRoot: Hex })
  if (operation === 'verifyReceipts') return verifyReceipts(input, stated as { receiptsRoot: Hex })
  return verifyBlock(input, stated as BlockClaim)
}

/** Calls a function over messages. The numbers of a message are quantities. */
function runOverMessages(operation: string, input: unknown, { message, trusted, ...rest }: Fields): unknown {
  const stated: unknown = {
    ...rest,
    ...(trusted !== undefined && { trusted: trustedOfVector(trusted) }),
    message: isObject(message) ? toNumbers(message, MESSAGE_NUMBERS) : message,
  }
  if (operation === 'verifyMessageFromL2') return verifyMessageFromL2(input, stated as MessageClaim)
  if (operation === 'verifyMessageToL2') return verifyMessageToL2(input, stated as MessageClaim)
  return readMessageArrival(input as ProvenInbox, stated as MessageRequest)
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
