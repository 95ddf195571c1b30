import { decodeArgument } from '../../base/arguments.ts'
import { equalBytes, type Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath, excerpt, ProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { bytesUpTo, unread } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import type { L1Block } from '../anchor/header.ts'
import { type Rollup, readRollup } from '../anchor/rollup.ts'
import type { TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { decodeTrusted, unlessFromBundle, verifyLabel, verifySame } from '../evidence/claim.ts'
import { type BundleParts, encodeConsensus, encodeL1 } from '../evidence/create.ts'
import { decodeRollup, quantityOf, verifyVersion } from '../evidence/decode.ts'
import { verifyL1State } from '../evidence/l1-state.ts'
import type { EvidenceBundle, ProvenBeaconBlock, Trusted } from '../evidence/types.ts'
import { mismatch } from '../tree/path.ts'
import { decodeContract, type MessageFromL2, verifyInL1 } from './from-l2.ts'
import { type MessageLayout, readLayout } from './layout.ts'
import { MAX_MESSAGE_LENGTH } from './limits.ts'
import { type DecodedMessage, type Message, readMessage, toMessage, withHash } from './message.ts'
import { type MessageToL2, verifySent } from './to-l2.ts'
import { type MessageProof, openMessageProof } from './tree.ts'

/** What a document of this kind says that it proves. */
const KIND = 'message'

/**
 * A message as evidence: one JSON document with every proof from an L1 block hash to the status of a message. Its JSON Schema is
 * `docs/message-evidence.schema.json`.
 */
export interface MessageBundle extends Pick<EvidenceBundle, 'rollup' | 'consensus'> {
  /** The version of this format. */
  version: 1
  /** Distinguishes it from other evidence. */
  kind: 'message'
  /** The message. Its numbers are quantities. */
  message: {
    /** Who sent it, 20 bytes. */
    from: Hex
    /** Who receives it, 20 bytes. */
    to: Hex
    /** In wei. */
    fee: Hex
    /** In wei. */
    value: Hex
    /** From 1. */
    number: Hex
    /** At most 1 MiB. */
    data: Hex
  }
  /** Its place in a tree, if it is a message from L2. Without it, the message is one to L2. */
  messageProof?: MessageProof | undefined
  /** The answers of L1. */
  l1: {
    /** RLP of the L1 block header. Omitted if the verifier gets the L1 state root elsewhere. */
    header?: Hex | undefined
    /** The `eth_getProof` result of the rollup contract for `messageFromL2Keys` or `messageToL2Keys`, at that L1 block. */
    proof: unknown
  }
}

/** The parts of a bundle for {@link createMessageBundle}. */
export interface MessageBundleParts {
  /** Whose contract it is. */
  rollup: Rollup
  /** The message. */
  message: Message
  /** Its place in a tree, if it is a message from L2: one of those that `messageTrees` returns. */
  messageProof?: MessageProof | undefined
  /** The answers of a beacon API, for a verifier that trusts a beacon block. Only known fields are kept. */
  consensus?: BundleParts['consensus']
  /** The answers of L1. */
  l1: {
    /** What `eth_getBlockByNumber` answered, for a verifier that does not trust an L1 state root. */
    block?: unknown
    /** What `eth_getProof` answered for the rollup contract and the keys of the message, at the L1 block. */
    proof: unknown
  }
}

/** The one thing that you trust about L1. The higher in this list, the more is proven and the less you have to believe. */
export type TrustedL1 = Exclude<Trusted, Record<'l2StateRoot', Hex>>

/** What you know yourself. A bundle for anything else is refused. */
export interface MessageEvidenceClaim<Trust extends TrustedL1 = TrustedL1> {
  /** The contract that you trust. */
  rollup: Rollup
  /** The one value that everything is proven from. */
  trusted: Trust
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
  const own = readOptions('', parts, ['rollup', 'message', 'messageProof', 'consensus', 'l1'])
  const { name, address } = readRollup(own.rollup)
  const message = readMessage('message', own.message)
  const { fee, value, number, ...rest } = toMessage(message)
  const numbers = { fee: encodeQuantity(fee), value: encodeQuantity(value), number: encodeQuantity(number) }
  const { messageProof, consensus } = own
  return {
    version: 1,
    kind: KIND,
    rollup: { ...(name !== undefined && { name }), address },
    message: { ...rest, ...numbers },
    ...(messageProof !== undefined && {
      messageProof: atPath('messageProof', () => openMessageProof(messageProof, message)),
    }),
    ...(consensus !== undefined && { consensus: encodeConsensus(consensus) }),
    l1: encodeL1(own.l1),
  }
}

/**
 * Verifies the evidence of a message, in either direction, against what you know and the one thing that you trust.
 *
 * @param bundle an untrusted {@link MessageBundle}, parsed from JSON
 * @param claim what you know, and the one thing that you trust
 * @throws ProofError `MESSAGE_*`, `EVIDENCE_*`, `ANCHOR_NO_CONTRACT`, `ANCHOR_IMPLEMENTATION_MISMATCH`; `BEACON_*` for the path from a beacon block; `HEADER_*`,
 * `MPT_*`, `L1_*`, `RLP_NON_CANONICAL` for the path from L1; ArgumentError
 *
 * @example
 * ```ts
 * import { createMessageBundle, messageToL2Keys, verifyMessageEvidence } from 'rollup-state-proof/messages'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { l1 } = createService({ genesis: demoWorld(poseidon2), rollup }).chain
 *
 * const [from, to] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`] as const
 * const message = { from, to, fee: 0n, value: 1n, number: 9n, data: '0x' } as const
 * const [block, proof] = [l1.getBlock(0n), l1.getProof(rollup.address, messageToL2Keys({ message }), 0n)]
 * const bundle = createMessageBundle({ rollup, message, l1: { block, proof } })
 *
 * const trusted = { l1BlockHash: Object(block).hash } // in production: from a source that you trust
 * console.log(verifyMessageEvidence(bundle, { rollup, trusted, message }).status) // notSent
 * ```
 */
export function verifyMessageEvidence<Trust extends TrustedL1>(
  bundle: unknown,
  claim: MessageEvidenceClaim<Trust>,
): VerifiedMessage<Trust> {
  const { rollup, trusted, message: expected, layout } = decodeClaim(claim)
  const evidence = decodeBundle(bundle)
  verifySame('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollup.address, evidence.rollup.address)
  verifyLabel('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollup.name, evidence.rollup.name)
  const { message } = evidence
  atPath('message', () => {
    if (expected && !equalBytes(expected, message.hash)) throw mismatch('MESSAGE_MISMATCH', expected, message.hash)
  })
  const { l1StateRoot, l1Block, beaconBlock } = verifyL1State(evidence, trusted)
  const { proof } = evidence.l1
  if (proof === undefined) throw new ProofError('EVIDENCE_L1_MISSING', { path: 'l1.proof', found: 'nothing' })
  const decoded = { contract: decodeContract(l1StateRoot, rollup), message, layout }
  const { messageProof: place } = evidence
  const messageProof = place === undefined ? undefined : atPath('messageProof', () => openMessageProof(place, message))
  const verdict = atPath('l1.proof', () =>
    messageProof ? verifyInL1(proof, messageProof, decoded) : verifySent(proof, decoded),
  )
  // The claim decides which case it is.
  return {
    ...{ ...verdict, messageProof, message: toMessage(message) },
    ...{ trustedInput: trusted.kind, l1Block, beaconBlock },
  } as VerifiedMessage<Trust>
}

/** @throws ArgumentError */
function decodeClaim(claim: MessageEvidenceClaim) {
  const { rollup, trusted, message, layout } = readOptions('', claim, ['rollup', 'trusted', 'message', 'layout'])
  const decoded = decodeTrusted(trusted)
  if (decoded.kind === 'l2StateRoot') {
    throw new ArgumentError({ path: 'trusted.l2StateRoot', expected: 'something about L1, which holds the messages' })
  }
  return {
    rollup: readRollup(rollup),
    trusted: decoded,
    message: unlessFromBundle('message', message, stated =>
      typeof stated === 'string' ? decodeArgument('message', stated, 32) : readMessage('message', stated).hash,
    ),
    layout: readLayout(layout),
  }
}

const reader = /* @__PURE__ */ readerOf('EVIDENCE_MALFORMED')

const FIELDS = ['version', 'kind', 'rollup', 'message', 'messageProof', 'consensus', 'l1'] as const

/** @throws ProofError `EVIDENCE_MALFORMED`, `EVIDENCE_VERSION`, `BAD_HEX`, `WRONG_LENGTH` */
function decodeBundle(bundle: unknown) {
  const field = reader.fieldsOf(bundle, FIELDS)
  field('version', verifyVersion)
  field('kind', kind => {
    const stated = reader.string(kind)
    if (stated !== KIND) throw refusal('EVIDENCE_MALFORMED', `the kind ${KIND}`, excerpt(stated))
  })
  return {
    rollup: field('rollup', decodeRollup),
    message: field('message', decodeMessage),
    messageProof: field('messageProof', unread),
    consensus: field('consensus', unread),
    l1: field('l1', l1 => reader.fields(l1, ['header', 'proof'])),
  }
}

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
