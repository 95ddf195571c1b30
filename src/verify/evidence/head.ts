import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath, excerpt, ProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { hexOf, optional, unread } from '../../base/json/decoders.ts'
import type { FieldReader } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import { ETH_PROOF_SHAPE } from '../anchor/eth-proof.ts'
import { type FinalizedState, verifyFinalizedState } from '../anchor/finalized-state.ts'
import { encodeHeader } from '../anchor/header.ts'
import { type Rollup, readRollup, verifyBlockNumber } from '../anchor/rollup.ts'
import type { ConsensusAnswers } from '../beacon/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { stateKind } from '../state/kind.ts'
import { KIND_NAMES, type KindName, type NameOf, type StateScheme } from '../state/types.ts'
import { type BundleConsensus, encodeConsensus } from './consensus.ts'
import { knownFields, quantityOf, reader } from './fields.ts'

/** What all bundles begin with: its type, what reads it and what writes it. */

/**
 * What leads from a trusted value to a block: bundles of evidence of all kinds begin with it. Their JSON Schema is
 * `docs/evidence.schema.json`.
 */
export interface BundleHead<Kind extends StateScheme = Scheme> {
  /** Says that it is evidence. */
  format: 'rollup-state-proof/evidence'
  /** The version of this format. */
  version: 1
  /** The hash scheme of the rollup at the L2 block, or that its state is that of Ethereum. */
  scheme: NameOf<Kind>
  /** Whose state it is. */
  rollup: {
    /** A label for people. It proves nothing. */
    name?: string | undefined
    /** The contract on L1, 20 bytes. */
    address: Hex
  }
  /** A quantity, such as `0x1b4`. */
  l2BlockNumber: Hex
  /** Proves the L1 block hash from a beacon block root. Omitted if the verifier gets that hash elsewhere. */
  consensus?: BundleConsensus | undefined
  /** Proves the L2 state root, or the hash of the L2 block. Omitted if the verifier gets that root elsewhere. */
  l1?:
    | {
        /** RLP of the L1 block header. Omitted if the verifier gets the L1 state root elsewhere. */
        header?: Hex | undefined
        /** The `eth_getProof` result of the rollup contract for `anchorStorageKeys`, at that L1 block. */
        proof: unknown
        /** Quantities that prove the timestamp. Omitted if it is not proven. */
        finalizedState?:
          | {
              /** Number of the last message that L2 received. */
              messageNumber: Hex
              /** Number of the last forced transaction. Omitted for contracts before version 8. */
              forcedTransactionNumber?: Hex | undefined
              /** Time of the last finalized L2 block, in seconds since 1970. */
              timestamp: Hex
            }
          | undefined
      }
    | undefined
  /** RLP of the header of the L2 block, if L1 holds its hash. Omitted if the verifier gets the L2 state root elsewhere. */
  l2Header?: Hex | undefined
}

/** What the head of a bundle is made of. */
export interface HeadParts {
  /** Whose state it is. */
  rollup: Rollup
  /** The answers of a beacon API, for a verifier that trusts a beacon block. Only known fields are kept. */
  consensus?:
    | (ConsensusAnswers & {
        /** A label for people. It proves nothing. */
        network?: string | undefined
      })
    | undefined
  /** The answers of L1, for a verifier that trusts something other than an L2 state root. */
  l1?:
    | {
        /** What `eth_getBlockByNumber` answered, for a verifier that does not trust an L1 state root. */
        block?: unknown
        /** What `eth_getProof` answered for the rollup contract and `anchorStorageKeys`, at the L1 block. */
        proof: unknown
        /** The finalized state with which the storage keys were computed, if any. */
        finalizedState?: FinalizedState | undefined
      }
    | undefined
}

/** What it is made of if it leads on to L2. */
export interface HeadOfL2Parts<Kind extends StateScheme> extends HeadParts {
  /** The kind of the rollup's state at the L2 block. */
  scheme: Kind
  /** The L2 block: the last block of a finalization, if the bundle is to lead to L1. */
  l2BlockNumber: bigint
  /** What `eth_getBlockByNumber` answered on L2, for an Ethereum state and a verifier that does not trust its root. */
  l2Block?: unknown
}

export const HEAD_PARTS = ['rollup', 'consensus', 'l1', 'scheme', 'l2BlockNumber', 'l2Block']

/** What every bundle says that it is. */
export const FORMAT = 'rollup-state-proof/evidence' as const
const VERSION = 1 as const

/** The head of a bundle, with its own fields checked: hexadecimal in lower case, numbers as bigints. The proofs in it are not read yet. */
export type DecodedHead = ReturnType<typeof decodeHead>

const ENVELOPE = ['format', 'version', 'kind']
const HEAD_OF_L1 = ['rollup', 'consensus', 'l1']
const HEAD_OF_L2 = ['scheme', 'l2BlockNumber', 'l2Header']

/** Decodes the head of a bundle, and reads the fields of its body. The proofs in both are not read yet. */
export function openHead(bundle: unknown, { name, layer, fields }: BundleForm) {
  const isOfL1 = layer === 'L1'
  const names = [...ENVELOPE, ...HEAD_OF_L1, ...(isOfL1 ? [] : HEAD_OF_L2), ...fields]
  const field = reader.fieldsOf(bundle, names)
  if (field('format', unread) === undefined) refuseAnswer(bundle)
  field('format', format => verifyIs(FORMAT, format))
  field('version', verifyVersion)
  field('kind', kind => verifyIs(name, kind))
  return { head: decodeHead(field, isOfL1), field }
}

interface BundleForm {
  readonly name: string
  readonly layer: 'L1' | 'L2'
  readonly fields: readonly string[]
}

function verifyIs(expected: string, value: unknown): void {
  const stated = reader.string(value)
  if (stated !== expected) throw refusal('EVIDENCE_MALFORMED', expected, excerpt(stated))
}

function verifyVersion(version: unknown): void {
  if (version === undefined) throw refusal('EVIDENCE_MALFORMED', 'a version', 'none')
  if (version !== VERSION) throw new ProofError('EVIDENCE_VERSION', { expected: `${VERSION}` })
}

/** A bare answer, or the response around it, is what people pass most in the place of a bundle. */
function refuseAnswer(bundle: unknown): void {
  const { accountProof, result } = reader.fields(bundle, ['accountProof', 'result'])
  if (accountProof === undefined && result === undefined) return
  throw refusal('EVIDENCE_MALFORMED', 'an evidence bundle', 'an answer alone: use verifyProof, with its state root')
}

const decodeL1 = (l1: unknown) => reader.fields(l1, ['header', 'proof', 'finalizedState'])

function decodeHead(field: FieldReader, isOfL1: boolean) {
  return {
    rollup: field('rollup', decodeRollup),
    consensus: field('consensus', unread),
    l1: field('l1', isOfL1 ? decodeL1 : optional(decodeL1)),
    /** What leads on to L2; null if the head ends at L1. */
    l2: isOfL1
      ? null
      : {
          scheme: field('scheme', decodeKindName),
          number: field('l2BlockNumber', quantityOf(64)),
          header: field('l2Header', unread),
        },
  }
}

function decodeKindName(value: unknown): KindName {
  const stated = reader.string(value)
  const name = KIND_NAMES.find(known => known === stated)
  if (name === undefined) throw refusal('EVIDENCE_MALFORMED', KIND_NAMES.join(' or '), excerpt(stated))
  return name
}

function decodeRollup(rollup: unknown) {
  const field = reader.fieldsOf(rollup, ['name', 'address'])
  return { name: field('name', optional(reader.string)), address: field('address', hexOf(reader, 20)) }
}

export function decodeFinalizedState(state: unknown): FinalizedState {
  const field = reader.fieldsOf(state, ['messageNumber', 'forcedTransactionNumber', 'timestamp'])
  return {
    messageNumber: field('messageNumber', quantityOf(256)),
    forcedTransactionNumber: field('forcedTransactionNumber', optional(quantityOf(256))),
    timestamp: field('timestamp', quantityOf(64)),
  }
}

/** What every bundle begins with. @throws ArgumentError */
export function encodeEnvelope<Name extends string>(kind: Name, { rollup, consensus }: HeadParts) {
  const { name, address } = readRollup(rollup)
  return {
    format: FORMAT,
    version: VERSION,
    kind,
    rollup: { ...(name !== undefined && { name }), address },
    ...(consensus !== undefined && { consensus: encodeConsensus(consensus) }),
  }
}

/** The head of a bundle that leads on to L2. @throws ArgumentError; what `encodeHeader` throws */
export function encodeHead<Name extends string>(kind: Name, parts: HeadOfL2Parts<StateScheme>) {
  const { scheme, l2BlockNumber, l2Block, l1 } = parts
  const state = stateKind(scheme)
  if (l2Block !== undefined && state.held !== 'blockHash') {
    throw invalid('l2Block', 'nothing, unless L1 holds the hash of the block', l2Block)
  }
  return {
    ...encodeEnvelope(kind, parts),
    scheme: state.name,
    l2BlockNumber: encodeQuantity(verifyBlockNumber(l2BlockNumber)),
    ...(l1 !== undefined && { l1: encodeL1(l1) }),
    ...(l2Block !== undefined && { l2Header: encodeHeader(l2Block) }),
  }
}

export function encodeL1(l1: NonNullable<HeadParts['l1']>): NonNullable<BundleHead['l1']> {
  const { block, proof, finalizedState } = readOptions('l1', l1, ['block', 'proof', 'finalizedState'])
  if (proof === undefined) throw invalid('l1.proof', 'what eth_getProof answered', proof)
  return {
    ...(block !== undefined && { header: encodeHeader(block) }),
    proof: knownFields('l1.proof', proof, ETH_PROOF_SHAPE, 4),
    ...(finalizedState !== undefined && {
      finalizedState: encodeFinalizedState(atPath('l1', () => verifyFinalizedState(finalizedState))),
    }),
  }
}

const encodeFinalizedState = ({ messageNumber, forcedTransactionNumber: forced, timestamp }: FinalizedState) => ({
  messageNumber: encodeQuantity(messageNumber),
  ...(forced !== undefined && { forcedTransactionNumber: encodeQuantity(forced) }),
  timestamp: encodeQuantity(timestamp),
})
