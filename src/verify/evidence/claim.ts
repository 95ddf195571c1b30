import { decodeArgument, readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, excerpt, ProofError, type ProofErrorCode } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { readOptions, unlessLeft } from '../../base/options.ts'
import { readRollup, verifyBlockNumber, verifyHasHashes } from '../anchor/rollup.ts'
import type { TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { type StateKind, stateKind } from '../state/kind.ts'
import type { DecodedEvidence } from './decode.ts'
import type { AnyClaim, EvidenceClaim, Reach, Trusted } from './types.ts'

/** A validated {@link EvidenceClaim} about a state of any kind. What is left to the bundle is undefined. */
export type DecodedStateClaim = ReturnType<typeof decodeStateClaim>

const FIELDS = ['scheme', 'rollup', 'trusted', 'l2BlockNumber', 'address', 'storageKeys']

/** @throws ArgumentError */
export function decodeStateClaim(claim: AnyClaim) {
  const { scheme, rollup, trusted, l2BlockNumber, address, storageKeys } = readOptions('', claim, FIELDS)
  const decoded = {
    kind: stateKind(scheme),
    rollup: readRollup(rollup),
    trusted: decodeTrusted(trusted),
    l2BlockNumber: unlessFromBundle('l2BlockNumber', l2BlockNumber, verifyBlockNumber),
    address: unlessFromBundle('address', address, hex => bytesToHex(decodeArgument('address', hex, 20))),
    storageKeys: unlessFromBundle('storageKeys', storageKeys, decodeStorageKeys),
  }
  verifyReachable(decoded)
  // Whoever states it thinks that it is proven.
  if (decoded.trusted.kind === 'l2StateRoot' && decoded.rollup.implementation !== undefined) {
    throw new ArgumentError({ path: 'rollup.implementation', expected: 'nothing: an L2 state root proves no code' })
  }
  return decoded
}

/** Where L1 holds the hash of a block, its state is reached through that. @throws ArgumentError if the layout has no slot for it */
export function verifyReachable({ kind, trusted, rollup }: Reached): void {
  if (kind.held === 'blockHash' && trusted.kind !== 'l2StateRoot') verifyHasHashes(rollup.layout)
}

interface Reached {
  readonly kind: StateKind
  readonly trusted: { readonly kind: Reach }
  readonly rollup: ReturnType<typeof readRollup>
}

/** The keys as the caller wrote them, and in lower case. */
function decodeStorageKeys(storageKeys: readonly Hex[]) {
  const keys = readKeys(storageKeys)
  return { written: keys.map(({ text }) => text), lowerCase: keys.map(({ bytes }) => bytesToHex(bytes)) }
}

/** What the caller states, decoded; undefined if it is left to the bundle. @throws ArgumentError if it is missing */
export const unlessFromBundle = <T, U>(
  path: string,
  stated: T | 'fromBundle',
  decode: (stated: T) => U,
): U | undefined => unlessLeft('fromBundle', path, stated, decode)

const BEACON_FIELDS = ['network', 'verifyConsensus', 'lightClient']
const KINDS: readonly Reach[] = ['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot']

/** Requires exactly one. Given two, a caller could think that both were checked. @throws ArgumentError */
export function decodeTrusted(trusted: Trusted) {
  const own = readOptions('trusted', trusted, [...KINDS, ...BEACON_FIELDS])
  const [kind, ...others] = KINDS.filter(name => Object.hasOwn(own, name))
  if (kind === undefined || others.length > 0) {
    throw new ArgumentError({ path: 'trusted', expected: `exactly one of ${KINDS.join(', ')}` })
  }
  const root = bytesToHex(decodeArgument(`trusted.${kind}`, readOwn(own, kind), 32))
  if (kind !== 'beaconBlockRoot') {
    // Whoever states a network thinks that consensus is verified.
    readOptions('trusted', trusted, KINDS)
    return { kind, root, beaconBlock: null }
  }
  const [network, verifyConsensus] = [readOwn(own, 'network'), readOwn(own, 'verifyConsensus')]
  if (typeof verifyConsensus !== 'function' || typeof network !== 'string') {
    const expected = 'what trustBeaconBlock of rollup-state-proof/beacon returns'
    throw new ArgumentError({ path: 'trusted', expected })
  }
  // The function is the caller's own, and so is the type of what it returns.
  const beaconBlock = { network, verifyConsensus } as Pick<TrustedBeaconBlock, 'network' | 'verifyConsensus'>
  return { kind, root, beaconBlock }
}

/** Refuses a bundle for anything other than what the caller states. @throws ProofError `EVIDENCE_*` */
export function verifyExpected(evidence: DecodedEvidence, claim: DecodedStateClaim): void {
  const { kind, rollup, l2BlockNumber, address, storageKeys } = claim
  const { request } = evidence
  verifySame('EVIDENCE_SCHEME_MISMATCH', 'scheme', kind.name, evidence.scheme)
  verifySame('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollup.address, evidence.rollup.address)
  verifyLabel('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollup.name, evidence.rollup.name)
  verifySame('EVIDENCE_BLOCK_MISMATCH', 'l2BlockNumber', l2BlockNumber, evidence.l2BlockNumber)
  verifySame('EVIDENCE_ADDRESS_MISMATCH', 'request.address', address, request.address)
  if (storageKeys !== undefined) verifyKeys(storageKeys.lowerCase, request.storageKeys)
}

/** @param expected undefined if it is left to the bundle */
export function verifySame<T extends string | bigint>(
  code: ProofErrorCode,
  path: string,
  expected: T | undefined,
  found: T,
): void {
  if (expected === undefined || expected === found) return
  throw new ProofError(code, { path, expected: `${expected}`, found: `${found}` })
}

/** Compares two labels for people, each of which may be missing. */
export function verifyLabel(
  code: ProofErrorCode,
  path: string,
  expected: string | undefined,
  found: string | undefined,
): void {
  if (expected === undefined || found === undefined || expected === found) return
  throw new ProofError(code, { path, expected: excerpt(expected), found: excerpt(found) })
}

/** All keys, in the same order: a caller who states keys reads the slots by position. */
function verifyKeys(expected: readonly Hex[], found: readonly Hex[]): void {
  const verify = (wanted: string, stated: string) =>
    verifySame('EVIDENCE_KEYS_MISMATCH', 'request.storageKeys', wanted, stated)
  verify(`${expected.length} keys`, `${found.length} keys`)
  for (const [index, key] of found.entries()) verify(`${expected[index]}`, key)
}
