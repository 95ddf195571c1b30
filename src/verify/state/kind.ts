import { decodeArgument } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { ProofError } from '../../base/errors.ts'
import type { Shape } from '../../base/json/known-fields.ts'
import { ETH_PROOF_SHAPE, type VerifiedEthProof, verifyEthProof } from '../anchor/eth-proof.ts'
import type { HeldValue } from '../anchor/rollup.ts'
import { EMPTY_TRIE_ROOT } from '../anchor/trie.ts'
import { ANSWER_SHAPE, unwrapResponse } from '../proof/known-answer.ts'
import type { VerifiedState } from '../proof/verify.ts'
import { type HashScheme, hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import { createVerifier } from '../verifier/verifier.ts'
import { verifyProof } from '../verifier/verify-proof.ts'

export const ETHEREUM = 'ethereum'
type Ethereum = typeof ETHEREUM

/**
 * The kind of the rollup's state at an L2 block: one of the hash schemes, or `'ethereum'`. With a hash scheme, the state is a tree of
 * the rollup's own, whose root L1 holds. `'ethereum'` is an ordinary Ethereum state: its root is in the header of the block, whose
 * hash L1 holds.
 */
export type StateScheme = Scheme | Ethereum

export const KIND_NAMES = ['mimc', 'poseidon2', ETHEREUM] as const satisfies readonly (Scheme['name'] | Ethereum)[]
/** The name of a kind of state: `mimc`, `poseidon2` or `ethereum`. */
export type KindName = (typeof KIND_NAMES)[number]

/** One of two types, by the kind of the state. */
export type ByKind<Kind extends StateScheme, IfEthereum, IfTree> = Kind extends Ethereum ? IfEthereum : IfTree

/** The name of this kind of state. */
export type NameOf<Kind extends StateScheme> = ByKind<Kind, Ethereum, Scheme['name']>

/** What an answer proves, by the kind of the state. */
export type StateOfKind<Keys extends readonly Hex[], Kind extends StateScheme> = ByKind<
  Kind,
  VerifiedEthProof<Keys>,
  VerifiedState<Keys>
>

export type AnyState = StateOfKind<readonly Hex[], StateScheme>

interface StateRequest {
  readonly stateRoot: Hex
  readonly address: Hex
  readonly storageKeys?: readonly Hex[] | undefined
}

export type StateVerifier = (answer: unknown, asked: StateRequest) => AnyState

/** Everything that differs between the kinds of state: a tree with either hash scheme, and that of Ethereum. */
export interface StateKind {
  /** What reports and files call it. */
  readonly name: KindName
  /** What a caller passes for it. */
  readonly scheme: StateScheme
  /** That of its tree; null for an Ethereum state, which is no such tree. */
  readonly hashScheme: HashScheme | null
  /** What L1 holds of a block with such a state. */
  readonly held: HeldValue
  /** The method that serves its proofs; null if the rollup names it. */
  readonly method: string | null
  /** The known fields of an answer, and which of them has one proof per storage key. */
  readonly shape: Shape
  readonly slots: 'storageProofs' | 'storageProof'
  /** The storage root of an account without storage. */
  readonly emptyRoot: Hex
  /** Verifies a result; of a tree, also the JSON-RPC response around it. @throws as `verifyProof` or `verifyEthProof` do */
  readonly verify: StateVerifier
}

const ethereum: StateKind = {
  name: ETHEREUM,
  scheme: ETHEREUM,
  hashScheme: null,
  held: 'blockHash',
  method: 'eth_getProof',
  shape: ETH_PROOF_SHAPE,
  slots: 'storageProof',
  emptyRoot: EMPTY_TRIE_ROOT,
  verify(answer, { stateRoot, address, storageKeys }) {
    // An error names it as the caller does, not as `l1StateRoot`.
    decodeArgument('stateRoot', stateRoot, 32)
    return verifyEthProof(answer, { l1StateRoot: stateRoot, address, storageKeys })
  },
}

const treeWith = (scheme: HashScheme): StateKind => ({
  name: scheme.name,
  scheme,
  hashScheme: scheme,
  held: 'stateRoot',
  method: null,
  shape: ANSWER_SHAPE,
  slots: 'storageProofs',
  emptyRoot: scheme.emptyTreeRoot,
  verify: (answer, { stateRoot, address, storageKeys }) =>
    verifyProof(answer, { scheme, stateRoot, address, storageKeys }),
})

export interface StateClaim extends StateRequest {
  readonly scheme: StateScheme
}

export const verifyState = (answer: unknown, { scheme, ...asked }: StateClaim): AnyState =>
  stateKind(scheme).verify(answer, asked)

export const kindName = (scheme: StateScheme): KindName => (scheme === ETHEREUM ? scheme : scheme.name)

/** The kind of state that L1 decides on: that of Ethereum if the name says so, whatever the caller's scheme of state roots is. */
export const decidedKind = (name: unknown, scheme: StateScheme): StateScheme => (name === ETHEREUM ? ETHEREUM : scheme)

/** The kind of state that a caller's `scheme` stands for. @throws ArgumentError */
export const stateKind = (scheme: StateScheme): StateKind =>
  scheme === ETHEREUM ? ethereum : treeWith(hashSchemeOf(scheme))

/** Verifies many results, or the JSON-RPC responses around them. In a tree, those under one root share what they hash. */
export function createStateVerifier(scheme: StateScheme): StateVerifier {
  const { hashScheme, verify } = stateKind(scheme)
  if (hashScheme !== null) return createVerifier(hashScheme).verifyProof
  return (response, asked) => {
    const { result, error } = unwrapResponse(response)
    if (error !== undefined) throw new ProofError('ANSWER_IS_ERROR', { path: 'error' })
    return verify(result, asked)
  }
}
