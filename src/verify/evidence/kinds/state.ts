import { invalid, readKeys } from '../../../base/arguments.ts'
import type { Hex } from '../../../base/bytes.ts'
import { atPath, plural } from '../../../base/errors.ts'
import { lowerCase } from '../../../base/hex.ts'
import { atMost, hexOf, unread } from '../../../base/json/decoders.ts'
import { readHex } from '../../../base/options.ts'
import type { VerifiedEthProof } from '../../anchor/eth-proof.ts'
import type { L1Block } from '../../anchor/header.ts'
import type { ProvenContract } from '../../anchor/verify.ts'
import type { TrustedBeaconBlock } from '../../beacon/trusted-block.ts'
import type { BlockHeader } from '../../blocks/header.ts'
import { unwrapResponse } from '../../proof/known-answer.ts'
import type { VerifiedState } from '../../proof/verify.ts'
import type { Scheme } from '../../scheme/scheme.ts'
import { type ByKind, type StateScheme, stateKind } from '../../state/kind.ts'
import { knownFields, reader, unlessFromBundle, verifySame } from '../fields.ts'
import { type BundleHead, encodeHead, type HeadClaim, type HeadOfL2Parts, readParts } from '../head.ts'
import { createKind, type NamedEvidence } from '../kind.ts'
import { MAX_STORAGE_KEYS } from '../limits.ts'
import type { ProvenBeaconBlock, Trusted } from '../trusted.ts'

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

/** Evidence of an account and its slots: one JSON document with every proof from an L1 block hash to them. */
export interface EvidenceBundle<Kind extends StateScheme = Scheme> extends BundleHead<Kind> {
  /** What it proves. */
  kind: 'state'
  /** The request to the L2 endpoint. */
  request: {
    /** 20 bytes. */
    address: Hex
    /** 32 bytes each. */
    storageKeys: Hex[]
  }
  /** Its answer: the result of `rollup_getProof`; for an Ethereum state, of `eth_getProof`. */
  answer: unknown
}

/** The parts of a bundle for {@link createBundle}. */
export interface BundleParts<Kind extends StateScheme = StateScheme> extends HeadOfL2Parts<Kind> {
  /** The requested address, 20 bytes. */
  address: Hex
  /** The requested storage keys, 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[] | undefined
  /** What `rollup_getProof`, or `eth_getProof` for an Ethereum state, answered for the address and keys, at the L2 block. */
  answer: unknown
}

/**
 * Puts a bundle together. This verifies nothing, so verify the bundle before you keep it.
 *
 * The bundle holds only known fields: the header of the L1 block, and the fields that `eth_getProof` and `rollup_getProof`
 * define. Hexadecimal fields hold nothing but hexadecimal. Anything else that an endpoint sent, such as the URL of the request,
 * is left out. If the answer is a whole JSON-RPC response, only its result is kept.
 *
 * @param parts what was requested, and the answers
 * @throws ArgumentError; what `encodeHeader` throws; `EVIDENCE_MALFORMED` if an answer is larger than any for that
 * many storage keys can be
 *
 * @example
 * ```ts
 * import { createBundle, lineaRollup } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const address = '0x00000000000000000000000000000000000000aa'
 * const answer = createWorld(poseidon2).getProof(address)
 * const bundle = createBundle({ scheme: poseidon2, rollup: lineaRollup, l2BlockNumber: 436n, address, answer })
 * console.log(bundle.version, bundle.rollup.name, bundle.l2BlockNumber) // 1 linea 0x1b4
 * ```
 */
export function createBundle<Kind extends StateScheme>(parts: BundleParts<Kind>): EvidenceBundle<Kind> {
  const own = readParts(parts, 'L2', ['address', 'storageKeys', 'answer'])
  const { scheme, address, storageKeys = [], answer } = own
  if (answer === undefined) throw invalid('answer', 'what the L2 endpoint answered', answer)
  const keys = readStorageKeys(storageKeys).map(lowerCase)
  return {
    ...encodeHead('state', own),
    request: { address: readHex('address', address, 20), storageKeys: keys },
    answer: knownFields('answer', unwrapResponse(answer).result, stateKind(scheme).shape, keys.length + 1),
    // The scheme is that of the kind.
  } as EvidenceBundle<Kind>
}

function decodeRequest(request: unknown) {
  const verifyKeyCount = atMost('EVIDENCE_MALFORMED', MAX_STORAGE_KEYS, ' keys')
  const field = reader.fieldsOf(request, ['address', 'storageKeys'])
  return {
    address: field('address', hexOf(reader, 20)),
    storageKeys: field('storageKeys', keys => reader.items(keys, verifyKeyCount, hexOf(reader, 32))),
  }
}

/** As the caller wrote them. */
const readStorageKeys = (keys: readonly Hex[]): Hex[] => readKeys(keys).map(({ text }) => text)

/** All keys, in the same order: a caller who states keys reads the slots by position. */
function verifyKeys(expected: readonly Hex[], found: readonly Hex[]): void {
  const verify = (wanted: string, stated: string) =>
    verifySame('EVIDENCE_KEYS_MISMATCH', 'request.storageKeys', wanted, stated)
  verify(plural(expected.length, 'key'), plural(found.length, 'key'))
  for (const [index, key] of found.entries()) verify(lowerCase(`${expected[index]}`), key)
}

/** A validated claim about a state of any kind. What is left to the bundle is undefined. */
export type DecodedStateClaim = ReturnType<typeof stateEvidence.decodeClaim>

export const stateEvidence = /* @__PURE__ */ createKind({
  name: 'state',
  layer: 'L2',
  fields: ['request', 'answer'],
  stated: ['kind', 'address', 'storageKeys'],
  decodeClaim(stated, head) {
    const { address, storageKeys } = stated as AnyClaim
    return {
      head,
      address: unlessFromBundle('address', address, hex => readHex('address', hex, 20)),
      storageKeys: unlessFromBundle('storageKeys', storageKeys, readStorageKeys),
    }
  },
  decodeBody: field => ({ request: field('request', decodeRequest), answer: field('answer', unread) }),
  compare({ request }, { address, storageKeys }) {
    verifySame('EVIDENCE_ADDRESS_MISMATCH', 'request.address', address, request.address)
    if (storageKeys !== undefined) verifyKeys(storageKeys, request.storageKeys)
  },
  verify({ request, answer }, block, { head, storageKeys = request.storageKeys }) {
    const { address } = request
    const asked = { stateRoot: block.stateRoot, address, storageKeys }
    const state = atPath('answer', () => head.l2.scheme.verify(answer, asked))
    // Ten times as fast as an object of two spreads.
    return Object.assign(state, { address }, block)
  },
})
