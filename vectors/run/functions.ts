import type { Hex } from '../../src/base/bytes.ts'
import { schemeNamed } from '../../src/cli/words/answer.ts'
import { DocumentError, type Fields, fieldIn, fieldsOf, isObject, show } from '../../src/cli/words/value.ts'
import { verifyCode } from '../../src/verify/anchor/contract.ts'
import { encodeHeader } from '../../src/verify/anchor/header.ts'
import { type AnchorClaim, verifyAnchor } from '../../src/verify/anchor/verify.ts'
import type { Committee } from '../../src/verify/beacon/committee.ts'
import {
  type ConsensusAnswers,
  type TrustedBlock,
  verifyConsensus,
  verifyFinality,
} from '../../src/verify/beacon/verify.ts'
import { verifyBlock } from '../../src/verify/blocks/block.ts'
import {
  type BlockClaim,
  type HistoryClaim,
  type ProvenHistory,
  readBlockHash,
  verifyBlockHeader,
} from '../../src/verify/blocks/header.ts'
import { verifyReceipts } from '../../src/verify/blocks/receipts.ts'
import { verifyTransactions } from '../../src/verify/blocks/transactions.ts'
import { type MessageClaim, type MessageRequest, verifyMessageFromL2 } from '../../src/verify/messages/from-l2.ts'
import { readMessageArrival, verifyMessageToL2 } from '../../src/verify/messages/to-l2.ts'
import { type TransitionClaim, verifyTransition } from '../../src/verify/transition/verify.ts'
import { claimOfVector, MESSAGE_NUMBERS, toNumbers, trustedOfVector } from './claim.ts'
import { spellNumbers } from './spelling.ts'

/** A function that vectors are for, beside those that verify answers and evidence. */
interface VectorFunction {
  /** What its vectors are about. */
  readonly subject: string
  /** Calls it. Despite the types, its arguments are unchecked. @returns the part of its result that a vector states */
  run(vector: Fields): object
}

/** A function over blocks. */
const overBlocks = <Claim>(subject: string, verify: (input: never, claim: Claim) => unknown): VectorFunction => ({
  subject,
  run: ({ input, claim }) =>
    spellNumbers({ verified: verify(input as never, toNumbers(claim, ['number', 'stateBlock']) as Claim) }),
})

/** A function over messages, whose numbers are quantities. */
const overMessages = <Claim>(subject: string, verify: (input: never, claim: Claim) => unknown): VectorFunction => ({
  subject,
  run({ input, claim }) {
    const { message, trusted, ...rest } = fieldsOf(claim)
    const stated: unknown = {
      ...rest,
      ...(trusted !== undefined && { trusted: trustedOfVector(trusted) }),
      message: isObject(message) ? toNumbers(message, MESSAGE_NUMBERS) : message,
    }
    return spellNumbers({ verified: verify(input as never, stated as Claim) })
  },
})

const functions: Readonly<Record<string, VectorFunction>> = {
  verifyCode: {
    subject: 'contract code',
    run: ({ code, codeHash }) => nothing(verifyCode(code, codeHash as Hex)),
  },
  encodeHeader: { subject: 'L1 header', run: ({ block }) => nothing(encodeHeader(block)) },
  verifyAnchor: {
    subject: 'L1 contract',
    run({ proof, claim }) {
      // Its claim states no scheme; any will do.
      const { rollup, l2BlockNumber } = fieldsOf(claimOfVector({ evidence: 'state', scheme: 'poseidon2', claim }))
      const stated: unknown = { ...fieldsOf(claim), rollup, l2BlockNumber }
      return nothing(verifyAnchor(proof, stated as AnchorClaim))
    },
  },
  verifyConsensus: {
    subject: 'beacon',
    run({ input }) {
      const { answers, network, blockRoot } = fieldsOf(input)
      const { committee: last, ...verified } = verifyConsensus(
        answers as ConsensusAnswers,
        { network, blockRoot } as TrustedBlock,
      )
      return { ...verified, committeeRoot: last.root }
    },
  },
  verifyFinality: {
    subject: 'beacon',
    run({ input }) {
      const { answers, committee } = fieldsOf(input)
      return verifyFinality(fieldIn(answers, 'finality'), committee as Committee)
    },
  },
  readBlockHash: overBlocks<HistoryClaim>('block hash', (input: ProvenHistory, claim) => readBlockHash(input, claim)),
  verifyBlockHeader: overBlocks<BlockClaim>('block header', verifyBlockHeader),
  verifyTransactions: overBlocks<{ transactionsRoot: Hex }>('transactions', verifyTransactions),
  verifyReceipts: overBlocks<{ receiptsRoot: Hex }>('receipts', verifyReceipts),
  verifyBlock: overBlocks<BlockClaim>('block', verifyBlock),
  verifyTransition: {
    subject: 'transition',
    run({ input }) {
      const { scheme, answer, ...claim } = fieldsOf(input)
      const stated: unknown = { ...claim, scheme: schemeNamed(scheme) }
      return spellNumbers(verifyTransition(answer, stated as TransitionClaim))
    },
  },
  verifyMessageFromL2: overMessages<MessageClaim>('message from L2', verifyMessageFromL2),
  verifyMessageToL2: overMessages<MessageClaim>('message to L2', verifyMessageToL2),
  readMessageArrival: overMessages<MessageRequest>('arrival of a message', (input: ProvenHistory, claim) =>
    readMessageArrival(input, claim),
  ),
}

/** For a vector that expects only a verdict. */
const nothing = (_: unknown): object => ({})

/** @throws DocumentError if there is none with this name */
export function functionNamed(operation: unknown): VectorFunction {
  if (typeof operation === 'string' && Object.hasOwn(functions, operation))
    return functions[operation] as VectorFunction
  throw new DocumentError(`it is not a vector: unknown operation ${show(operation)}`)
}
