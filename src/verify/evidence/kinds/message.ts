import { decodeArgument } from '../../../base/arguments.ts'
import { equalBytes, type Hex } from '../../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../../base/errors.ts'
import { encodeQuantity } from '../../../base/hex.ts'
import { bytesUpTo, unread } from '../../../base/json/decoders.ts'
import type { L1Block } from '../../anchor/header.ts'
import { decodeContract } from '../../anchor/verify.ts'
import type { TrustedBeaconBlock } from '../../beacon/trusted-block.ts'
import { type MessageFromL2, verifyInL1 } from '../../messages/from-l2.ts'
import { MAX_MESSAGE_LENGTH } from '../../messages/limits.ts'
import {
  type DecodedMessage,
  type Message,
  type MessageLayout,
  readLayout,
  readMessage,
  toMessage,
  withHash,
} from '../../messages/message.ts'
import { type MessageToL2, verifySent } from '../../messages/to-l2.ts'
import { type MessageProof, openMessageProof } from '../../messages/tree.ts'
import { mismatch } from '../../tree/path.ts'
import { quantityOf, reader, unlessFromBundle } from '../fields.ts'
import {
  type BundleHeadOfL1,
  encodeEnvelope,
  encodeL1,
  type HeadClaimOnL1,
  type HeadParts,
  readParts,
} from '../head.ts'
import { createKind, type NamedEvidence } from '../kind.ts'
import type { ProvenBeaconBlock, Trusted } from '../trusted.ts'

/** A message as evidence: one JSON document with every proof from an L1 block hash to the status of a message. */
export interface MessageBundle extends BundleHeadOfL1 {
  /** What it proves. */
  kind: 'message'
  /** The message. Its numbers are quantities, and its data has at most 1 MiB. */
  message: { [Field in keyof Message]: Hex }
  /** Its place in a tree, if it is a message from L2. Without it, the message is one to L2. */
  messageProof?: MessageProof | undefined
  /** The answers of L1: that of `eth_getProof` is for `messageFromL2Keys` or `messageToL2Keys`. */
  l1: Omit<NonNullable<BundleHeadOfL1['l1']>, 'finalizedState'>
}

/** The parts of a bundle for {@link createMessageBundle}. */
export interface MessageBundleParts extends HeadParts {
  /** The message. */
  message: Message
  /** Its place in a tree, if it is a message from L2: one of those that `messageTrees` returns. */
  messageProof?: MessageProof | undefined
  /** The answers of L1: that of `eth_getProof` is for the keys of the message. */
  l1: Omit<NonNullable<HeadParts['l1']>, 'finalizedState'>
}

/** The one thing that you trust about L1. The higher in this list, the more is proven and the less you have to believe. */
export type TrustedL1 = Exclude<Trusted, Record<'l2StateRoot', Hex>>

/** What you know yourself. A bundle for anything else is refused. */
export interface MessageEvidenceClaim<Trust extends TrustedL1 = TrustedL1> extends HeadClaimOnL1<Trust> {
  /** The evidence that you expect: `messageEvidence`. */
  kind: NamedEvidence<'message'>
  /** The message, or its hash, 32 bytes; or `'fromBundle'`: whoever made the bundle chooses. Check the message that is returned. */
  message: Message | Hex | 'fromBundle'
  /** Where the contracts keep messages. Default: `lineaMessageLayout`. */
  layout?: MessageLayout | undefined
}

/** What a bundle proves about a message, at the L1 block. Its `status` says in which direction it goes: see its two types. */
export type VerifiedMessage<Trust extends TrustedL1 = TrustedL1> = (
  | (MessageFromL2 & {
      /** Its place in the tree: with it and the message, `encodeMessageClaim` makes the claim. */
      messageProof: MessageProof
    })
  | (MessageToL2 & {
      /** Messages to L2 are in no tree. */
      messageProof: undefined
    })
) & {
  /** Hexadecimal in lower case. */
  message: Message
  /** What all of this rests on. */
  trustedInput: 'beaconBlockRoot' | 'l1BlockHash' | 'l1StateRoot'
  /** The L1 block; undefined if you trust an L1 state root. */
  l1Block: Trust extends Record<'l1StateRoot', Hex> ? undefined : L1Block
  /** The finalized beacon block that holds the L1 block; undefined unless you trust a beacon block. */
  beaconBlock: Trust extends TrustedBeaconBlock ? ProvenBeaconBlock : undefined
}

/**
 * Puts a bundle together. This verifies nothing but the place in the tree, so verify the bundle before you keep it. Only known
 * fields of the answers are kept.
 *
 * @param parts the message, its place in a tree if it is one from L2, and the answers of L1
 * @throws ArgumentError; what `encodeHeader` throws; `MESSAGE_ROOT_MISMATCH`, `MESSAGE_INDEX`, `MESSAGE_MALFORMED` for the
 * place; `EVIDENCE_MALFORMED` if an answer is too large
 *
 * @example
 * ```ts
 * import { createMessageBundle } from 'rollup-state-proof/messages'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 9n, data: '0x' } as const
 * const proof = { accountProof: [], storageProof: [] } // in production: what eth_getProof answered
 * console.log(createMessageBundle({ rollup, message, l1: { proof } }).message.number) // 0x9
 * ```
 */
export function createMessageBundle(parts: MessageBundleParts): MessageBundle {
  const own = readParts(parts, 'L1', ['message', 'messageProof'])
  const message = readMessage('message', own.message)
  const { fee, value, number, ...rest } = toMessage(message)
  const numbers = { fee: encodeQuantity(fee), value: encodeQuantity(value), number: encodeQuantity(number) }
  const { messageProof } = own
  return {
    ...encodeEnvelope('message', own),
    message: { ...rest, ...numbers },
    ...(messageProof !== undefined && {
      messageProof: atPath('messageProof', () => openMessageProof(messageProof, message)),
    }),
    l1: encodeL1(own.l1),
  }
}

export const messageEvidence = /* @__PURE__ */ createKind({
  name: 'message',
  layer: 'L1',
  fields: ['message', 'messageProof'],
  stated: ['kind', 'message', 'layout'],
  decodeClaim(stated, head) {
    const { message, layout } = stated as MessageEvidenceClaim
    const hash = unlessFromBundle('message', message, expected =>
      typeof expected === 'string' ? decodeArgument('message', expected, 32) : readMessage('message', expected).hash,
    )
    return { head, message: hash, layout: readLayout(layout) }
  },
  decodeBody: field => ({ message: field('message', decodeMessage), place: field('messageProof', unread) }),
  compare: ({ message }, claim) =>
    atPath('message', () => {
      if (claim.message === undefined || equalBytes(claim.message, message.hash)) return
      throw mismatch('MESSAGE_MISMATCH', claim.message, message.hash)
    }),
  verify({ message, place }, { stateRoot, proof, ...block }, { head, layout }) {
    if (proof === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.proof', found: 'nothing' })
    const decoded = { contract: decodeContract(stateRoot, head.rollup), message, layout }
    const messageProof =
      place === undefined ? undefined : atPath('messageProof', () => openMessageProof(place, message))
    const verdict = atPath('l1.proof', () =>
      messageProof ? verifyInL1(proof, messageProof, decoded) : verifySent(proof, decoded),
    )
    return { ...verdict, messageProof, message: toMessage(message), beaconBlock: undefined, ...block }
  },
})

function decodeMessage(source: unknown): DecodedMessage {
  const field = reader.fieldsOf(source, ['from', 'to', 'fee', 'value', 'number', 'data'])
  return withHash({
    from: field('from', reader.bytesOf(20)),
    to: field('to', reader.bytesOf(20)),
    fee: field('fee', quantityOf(256)),
    value: field('value', quantityOf(256)),
    number: field('number', value => {
      const number = quantityOf(256)(value)
      if (number === 0n) throw refusal('EVIDENCE_MALFORMED', 'a number from 1', 0)
      return number
    }),
    data: field('data', bytesUpTo(reader, MAX_MESSAGE_LENGTH, 'EVIDENCE_MALFORMED')),
  })
}
