import type { Hex } from '../../base/bytes.ts'
import type { VerifiedEthProof } from '../anchor/eth-proof.ts'
import type { VerifiedState } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'

export const ETHEREUM = 'ethereum'
export type Ethereum = typeof ETHEREUM

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

/** What an answer proves, of a state of any kind. */
export type AnyState = StateOfKind<readonly Hex[], StateScheme>
