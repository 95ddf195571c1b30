import { invalid, readItems } from '../../../base/arguments.ts'
import type { Hex } from '../../../base/bytes.ts'
import { atPath, plural } from '../../../base/errors.ts'
import { lowerCase } from '../../../base/hex.ts'
import { atMost, hexOf, unread } from '../../../base/json/decoders.ts'
import { readHex } from '../../../base/options.ts'
import { unwrapResponse } from '../../proof/known-answer.ts'
import type { Scheme } from '../../scheme/scheme.ts'
import { type StateScheme, stateKind } from '../../state/kind.ts'
import { knownFields, reader, unlessFromBundle, verifySame } from '../fields.ts'
import { type BundleHead, type DecodedHeadClaim, encodeHead, type HeadOfL2Parts, readParts } from '../head.ts'
import { createKind } from '../kind.ts'
import { MAX_STORAGE_KEYS } from '../limits.ts'
import type { AnyClaim } from '../types.ts'

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
  const field = reader.fieldsOf(request, ['address', 'storageKeys'])
  return {
    address: field('address', hexOf(reader, 20)),
    storageKeys: field('storageKeys', keys => reader.items(keys, verifyKeyCount, hexOf(reader, 32))),
  }
}

const verifyKeyCount = /* @__PURE__ */ atMost('EVIDENCE_MALFORMED', MAX_STORAGE_KEYS, ' keys')

/** As the caller wrote them. */
const readStorageKeys = (keys: readonly Hex[]): Hex[] =>
  readItems('storageKeys', keys, key => {
    readHex('', key, 32)
    return key
  })

/** All keys, in the same order: a caller who states keys reads the slots by position. */
function verifyKeys(expected: readonly Hex[], found: readonly Hex[]): void {
  const verify = (wanted: string, stated: string) =>
    verifySame('EVIDENCE_KEYS_MISMATCH', 'request.storageKeys', wanted, stated)
  verify(plural(expected.length, 'key'), plural(found.length, 'key'))
  for (const [index, key] of found.entries()) verify(lowerCase(`${expected[index]}`), key)
}

function decodeStateClaim({ address, storageKeys }: AnyClaim, head: DecodedHeadClaim<'L2'>) {
  return {
    head,
    address: unlessFromBundle('address', address, hex => readHex('address', hex, 20)),
    storageKeys: unlessFromBundle('storageKeys', storageKeys, readStorageKeys),
  }
}

/** A validated claim about a state of any kind. What is left to the bundle is undefined. */
export type DecodedStateClaim = ReturnType<typeof decodeStateClaim>

/** What the entry point anchor exports by this name. */
export const stateEvidence = /* @__PURE__ */ createKind({
  name: 'state',
  layer: 'L2',
  fields: ['request', 'answer'],
  stated: ['kind', 'address', 'storageKeys'],
  decodeClaim: (stated, head) => decodeStateClaim(stated as AnyClaim, head),
  decodeBody: field => ({ request: field('request', decodeRequest), answer: field('answer', unread) }),
  compare({ request }, { address, storageKeys }: DecodedStateClaim) {
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
