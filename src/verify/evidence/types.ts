import type { Hex } from '../../base/bytes.ts'
import type { VerifiedEthProof } from '../anchor/eth-proof.ts'
import type { L1Block } from '../anchor/header.ts'
import type { ProvenContract } from '../anchor/rollup.ts'
import type { TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import type { BlockHeader } from '../blocks/header.ts'
import type { VerifiedState } from '../proof/verify.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { ByKind, StateScheme } from '../state/kind.ts'
import type { HeadClaim } from './head.ts'
import type { ProvenBeaconBlock, Trusted } from './trusted.ts'

/** A kind of evidence, as a claim names it, such as `logsEvidence`. */
export interface NamedEvidence<Name extends string = string> {
  /** What a bundle of this kind says that it proves. */
  readonly name: Name
}

/**
 * What you know yourself. A bundle for anything else is refused. Where you write `'fromBundle'`, whoever made the bundle
 * chooses: check the value that is returned.
 */
export interface EvidenceClaim<
  Trust extends Trusted = Trusted,
  Block extends bigint | 'fromBundle' = bigint | 'fromBundle',
  Keys extends readonly Hex[] | 'fromBundle' = readonly Hex[] | 'fromBundle',
  Kind extends StateScheme = Scheme,
> extends HeadClaim<Trust, Block, Kind> {
  /** The evidence that you expect. Default: `stateEvidence`. */
  kind?: NamedEvidence<'state'> | undefined
  /** 20 bytes, in upper or lower case; or `'fromBundle'`. */
  address: Hex | 'fromBundle'
  /** 32 bytes each, in the order of the bundle; or `'fromBundle'`. */
  storageKeys: Keys
}

/** What a bundle proves, whichever input you trust: the state, by its kind, with what else is proven of the L2 block. */
type StateOf<Keys extends readonly Hex[] | 'fromBundle', Kind extends StateScheme, Header> = {
  /** The address of the account, 20 bytes, lower case. */
  address: Hex
  /** The root of the L2 state, 32 bytes. */
  stateRoot: Hex
} & ByKind<
  Kind,
  VerifiedEthProof<Listed<Keys>> & {
    /** The L2 block, whose hash L1 holds; undefined if the trusted input is an L2 state root. */
    l2Block: Header
  },
  VerifiedState<Listed<Keys>>
>
type Listed<Keys> = Keys extends readonly Hex[] ? Keys : readonly Hex[]

type Anchored<Keys extends readonly Hex[] | 'fromBundle', Kind extends StateScheme> = StateOf<Keys, Kind, BlockHeader> &
  ProvenContract & {
    /** The L2 block of the root. */
    l2BlockNumber: bigint
  }

/**
 * What a bundle proves, and from which trusted input: `trustedInput` tells the four cases apart. If the compiler knows what is
 * trusted, it knows the case.
 */
export type VerifiedEvidence<
  Trust extends Trusted = Trusted,
  Block extends bigint | 'fromBundle' = bigint | 'fromBundle',
  Keys extends readonly Hex[] | 'fromBundle' = readonly Hex[] | 'fromBundle',
  Kind extends StateScheme = Scheme,
> =
  | (Trust extends TrustedBeaconBlock
      ? Anchored<Keys, Kind> & {
          /** All of this rests on a beacon block root. */
          trustedInput: 'beaconBlockRoot'
          /** The finalized beacon block that holds the L1 block. */
          beaconBlock: ProvenBeaconBlock
          /** The L1 block in it; since Gloas, the parent of that L1 block. */
          l1Block: L1Block
        }
      : never)
  | (Trust extends Record<'l1BlockHash', Hex>
      ? Anchored<Keys, Kind> & {
          /** All of this rests on an L1 block hash. */
          trustedInput: 'l1BlockHash'
          /** The L1 block with that hash. */
          l1Block: L1Block
        }
      : never)
  | (Trust extends Record<'l1StateRoot', Hex>
      ? Anchored<Keys, Kind> & {
          /** All of this rests on an L1 state root. */
          trustedInput: 'l1StateRoot'
          /** Nothing proves which L1 block this state belongs to. */
          l1Block: undefined
        }
      : never)
  | (Trust extends Record<'l2StateRoot', Hex>
      ? StateOf<Keys, Kind, undefined> & {
          /** All of this rests on an L2 state root: nothing of L1 is proven. */
          trustedInput: 'l2StateRoot'
          /** The block that you passed; undefined if you passed none. Not proven. */
          l2BlockNumber: Block extends bigint ? bigint : undefined
        } & {
          /** Not proven. */
          [Unproven in keyof ProvenContract | 'l1Block']: undefined
        }
      : never)

/** What is proven about the state that evidence of another kind rests on. */
export type ProvenState<Trust extends Trusted, Kind extends StateScheme> =
  VerifiedEvidence<Trust, bigint, readonly Hex[], Kind> extends infer One
    ? One extends object
      ? Omit<One, 'account' | 'storage' | 'address'>
      : never
    : never

/** What a bundle of any kind proves. */
export type AnyEvidence = VerifiedEvidence<Trusted, bigint | 'fromBundle', readonly Hex[] | 'fromBundle', StateScheme>

/** A claim about a bundle of any kind. */
export type AnyClaim = EvidenceClaim<Trusted, bigint | 'fromBundle', readonly Hex[] | 'fromBundle', StateScheme>
