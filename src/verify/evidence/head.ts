import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath, excerpt, ProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { hexOf, optional, unread } from '../../base/json/decoders.ts'
import type { FieldReader } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import { ETH_PROOF_SHAPE } from '../anchor/eth-proof.ts'
import { type FinalizedState, verifyFinalizedState } from '../anchor/finalized-state.ts'
import { encodeHeader } from '../anchor/header.ts'
import { type Rollup, readRollup, verifyBlockNumber, verifyHasHashes } from '../anchor/rollup.ts'
import type { ConsensusAnswers } from '../beacon/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { KIND_NAMES, type KindName, type NameOf, type StateKind, type StateScheme, stateKind } from '../state/kind.ts'
import { type BundleConsensus, encodeConsensus } from './consensus.ts'
import { knownFields, quantityOf, reader, unlessFromBundle, verifyLabel, verifySame } from './fields.ts'
import { decodeTrusted, type Trusted } from './trusted.ts'

/** Where a head leads: to a block of L1, or on to one of L2. */
export type Layer = 'L1' | 'L2'

/**
 * What leads from a trusted value to a block of L1: bundles of evidence of all kinds begin with it. Their JSON Schema is
 * `docs/evidence.schema.json`.
 */
export interface BundleHeadOfL1 {
  /** Says that it is evidence. */
  format: 'rollup-state-proof/evidence'
  /** The version of this format. */
  version: 1
  /** Whose state it is. */
  rollup: {
    /** A label for people. It proves nothing. */
    name?: string | undefined
    /** The contract on L1, 20 bytes. */
    address: Hex
  }
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
}

/** What leads on to a block of L2. */
export interface BundleHead<Kind extends StateScheme = Scheme> extends BundleHeadOfL1 {
  /** The hash scheme of the rollup at the L2 block, or that its state is that of Ethereum. */
  scheme: NameOf<Kind>
  /** A quantity, such as `0x1b4`. */
  l2BlockNumber: Hex
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

/** What every claim says. A bundle for anything else is refused. */
export interface HeadClaimOnL1<Trust extends Trusted = Trusted> {
  /** The contract whose roots, or hashes of blocks, you trust. */
  rollup: Rollup
  /** The one value that everything is proven from. */
  trusted: Trust
}

/** What every claim about L2 says. */
export interface HeadClaim<
  Trust extends Trusted = Trusted,
  Block extends bigint | 'fromBundle' = bigint | 'fromBundle',
  Kind extends StateScheme = Scheme,
> extends HeadClaimOnL1<Trust> {
  /** The kind of the rollup's state at the L2 block. */
  scheme: Kind
  /** The block of the proven state, from 0 to 2^64 - 1; or `'fromBundle'`: any finalized block. An old state passes then too. */
  l2BlockNumber: Block
}

/** The fields of bundles, of what they are made of, and of claims: of all, and of those about L2. */
const FIELDS = {
  all: ['format', 'version', 'kind', 'rollup', 'consensus', 'l1'],
  ofL2: ['scheme', 'l2BlockNumber', 'l2Header'],
}
const PARTS = { all: ['rollup', 'consensus', 'l1'], ofL2: ['scheme', 'l2BlockNumber', 'l2Block'] }
const CLAIM = { all: ['rollup', 'trusted'], ofL2: ['scheme', 'l2BlockNumber'] }

/** Their names, and those of what a kind of evidence adds. */
const namesOf = ({ all, ofL2 }: typeof FIELDS, layer: Layer, more: readonly string[]): readonly string[] =>
  layer === 'L2' ? [...all, ...ofL2, ...more] : [...all, ...more]

/** A copy of what a bundle is made of. @throws ArgumentError */
export const readParts = <Parts extends HeadParts>(parts: Parts, layer: Layer, more: readonly string[]): Parts =>
  readOptions('', parts, namesOf(PARTS, layer, more))

export const FORMAT = 'rollup-state-proof/evidence' as const
const VERSION = 1 as const

/** The head of a bundle, with its own fields checked: hexadecimal in lower case, numbers as bigints. The proofs in it are not read yet. */
export type DecodedHead = ReturnType<typeof decodeHead>

/** Decodes the head of a bundle, and reads the fields of its body. The proofs in both are not read yet. */
export function openHead(bundle: unknown, name: string, layer: Layer, fields: readonly string[]) {
  const field = reader.fieldsOf(bundle, namesOf(FIELDS, layer, fields))
  if (field('format', unread) === undefined) refuseAnswer(bundle)
  field('format', format => verifyIs(FORMAT, format))
  field('version', verifyVersion)
  field('kind', kind => verifyIs(name, kind))
  return { head: decodeHead(field, layer), field }
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

function decodeHead(field: FieldReader, layer: Layer) {
  const decodeL2 = () => ({
    scheme: field('scheme', decodeKindName),
    l2BlockNumber: field('l2BlockNumber', quantityOf(64)),
    l2Header: field('l2Header', unread),
  })
  return {
    rollup: field('rollup', decodeRollup),
    consensus: field('consensus', unread),
    l1: field('l1', layer === 'L1' ? decodeL1 : optional(decodeL1)),
    /** What leads on to L2; null if the head ends at L1. */
    l2: layer === 'L1' ? null : decodeL2(),
  }
}

/** What a caller states about the head of a bundle, validated. What is left to the bundle is undefined. */
export interface DecodedHeadClaim<Of extends Layer = Layer> {
  readonly rollup: ReturnType<typeof readRollup>
  readonly trusted: ReturnType<typeof decodeTrusted>
  /** Null for evidence that L1 alone proves. */
  readonly l2: Of extends 'L2' ? { readonly scheme: StateKind; readonly l2BlockNumber: bigint | undefined } : null
}

/** A claim, of which its head is decoded. @param more what a claim of this kind states besides @throws ArgumentError */
export function openClaim(claim: object, layer: Layer, more: readonly string[]) {
  // The caller's type says what the fields are.
  const stated = claim as HeadClaim<Trusted, bigint | 'fromBundle', StateScheme>
  const own = readOptions('', stated, namesOf(CLAIM, layer, more))
  const [rollup, trusted] = [readRollup(own.rollup), decodeTrusted(own.trusted)]
  const decodeL2 = () => ({
    scheme: stateKind(own.scheme),
    l2BlockNumber: unlessFromBundle('l2BlockNumber', own.l2BlockNumber, verifyBlockNumber),
  })
  const head = { rollup, trusted, l2: layer === 'L1' ? null : decodeL2() }
  verifyReachable(head)
  return { own, head }
}

/** Whether what is trusted leads to what is claimed, and to nothing that it cannot prove. @throws ArgumentError */
export function verifyReachable({ rollup, trusted, l2 }: DecodedHeadClaim): void {
  if (trusted.kind !== 'l2StateRoot') {
    // Where L1 holds the hash of a block, its state is reached through that.
    if (l2?.scheme.held === 'blockHash') verifyHasHashes(rollup.layout)
  } else if (l2 === null) {
    throw new ArgumentError({ path: 'trusted.l2StateRoot', expected: 'something about L1, which proves all of it' })
  } else if (rollup.implementation !== undefined) {
    // Whoever states it thinks that it is proven.
    throw new ArgumentError({ path: 'rollup.implementation', expected: 'nothing: an L2 state root proves no code' })
  }
}

/** Nothing else says which block a trusted L2 state root is of. @throws ArgumentError */
export function verifyNumberKnown({ trusted, l2 }: DecodedHeadClaim<'L2'>): void {
  if (trusted.kind !== 'l2StateRoot' || l2.l2BlockNumber !== undefined) return
  throw new ArgumentError({ path: 'l2BlockNumber', expected: 'the number of the block of this state root' })
}

/** Refuses a bundle whose head is for anything other than what the caller states. @throws ProofError `EVIDENCE_*` */
export function verifyHead({ rollup, l2 }: DecodedHead, claim: DecodedHeadClaim): void {
  if (l2) verifySame('EVIDENCE_SCHEME_MISMATCH', 'scheme', claim.l2?.scheme.name, l2.scheme)
  verifySame('EVIDENCE_ROLLUP_MISMATCH', 'rollup', claim.rollup.address, rollup.address)
  verifyLabel('EVIDENCE_ROLLUP_MISMATCH', 'rollup', claim.rollup.name, rollup.name)
  if (l2) verifySame('EVIDENCE_BLOCK_MISMATCH', 'l2BlockNumber', claim.l2?.l2BlockNumber, l2.l2BlockNumber)
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
