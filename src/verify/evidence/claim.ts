import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { ArgumentError, excerpt, ProofError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { readOptions, unlessLeft } from '../../base/options.ts'
import { readRollup, verifyBlockNumber, verifyHasHashes } from '../anchor/rollup.ts'
import type { TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import { type StateKind, stateKind } from '../state/kind.ts'
import type { DecodedHead } from './head.ts'
import type { AnyClaim, Reach, Trusted } from './types.ts'

/** What a caller states about the head of a bundle, validated. What is left to the bundle is undefined. */
export interface DecodedHeadClaim {
  readonly rollup: ReturnType<typeof readRollup>
  readonly trusted: ReturnType<typeof decodeTrusted>
  /** Null for evidence that L1 alone proves. */
  readonly l2: { readonly state: StateKind; readonly number: bigint | undefined } | null
}

export const HEAD_CLAIM = ['scheme', 'rollup', 'trusted', 'l2BlockNumber']

/** @param needsNumber whether the block of a trusted L2 state root has to be stated @throws ArgumentError */
export function decodeHeadClaim(
  { scheme, rollup, trusted, l2BlockNumber }: Pick<AnyClaim, 'scheme' | 'rollup' | 'trusted' | 'l2BlockNumber'>,
  needsNumber: boolean,
) {
  const state = stateKind(scheme)
  const decoded = { rollup: readRollup(rollup), trusted: decodeTrusted(trusted) }
  const number = unlessFromBundle('l2BlockNumber', l2BlockNumber, verifyBlockNumber)
  const head = { ...decoded, l2: { state, number } }
  verifyReachable(head)
  if (head.trusted.kind !== 'l2StateRoot') return head
  // Whoever states it thinks that it is proven.
  if (head.rollup.implementation !== undefined) {
    throw new ArgumentError({ path: 'rollup.implementation', expected: 'nothing: an L2 state root proves no code' })
  }
  if (needsNumber && number === undefined) {
    throw new ArgumentError({ path: 'l2BlockNumber', expected: 'the number of the block of this state root' })
  }
  return head
}

/** Where L1 holds the hash of a block, its state is reached through that. @throws ArgumentError if the layout has no slot for it */
export function verifyReachable({ l2, trusted, rollup }: DecodedHeadClaim): void {
  if (l2?.state.held === 'blockHash' && trusted.kind !== 'l2StateRoot') verifyHasHashes(rollup.layout)
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

/** Refuses a bundle whose head is for anything other than what the caller states. @throws ProofError `EVIDENCE_*` */
export function verifyHead(head: DecodedHead, { rollup, l2 }: DecodedHeadClaim): void {
  if (l2 && head.l2) verifySame('EVIDENCE_SCHEME_MISMATCH', 'scheme', l2.state.name, head.l2.scheme)
  verifySame('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollup.address, head.rollup.address)
  verifyLabel('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollup.name, head.rollup.name)
  if (l2 && head.l2) verifySame('EVIDENCE_BLOCK_MISMATCH', 'l2BlockNumber', l2.number, head.l2.number)
}

/** @param expected undefined if it is left to the bundle */
export function verifySame(code: ProofErrorCode, path: string, expected: unknown, found: string | bigint): void {
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
