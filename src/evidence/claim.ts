import { verifyBlockNumber } from '../anchor/rollup.ts'
import { decodeArgument, decodeKeys, invalid } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ArgumentError, excerpt, ProofError, type ProofErrorCode } from '../errors.ts'
import { readOwn } from '../json/known-fields.ts'
import type { DecodedEvidence } from './decode.ts'
import type { EvidenceClaim, Reach, Trusted, TrustedBeaconBlock } from './types.ts'

const KINDS: readonly Reach[] = ['beaconBlockRoot', 'l1BlockHash', 'l1StateRoot', 'l2StateRoot']

/** Requires exactly one. Given two, a caller could think that both were checked. @throws ArgumentError */
export function decodeTrusted(trusted: Trusted) {
  const read = (name: string): unknown => readOwn(Object(trusted), name)
  const [given, ...others] = KINDS.map(kind => ({ kind, value: read(kind) })).filter(({ value }) => value !== undefined)
  if (given === undefined || others.length > 0) {
    throw new ArgumentError({ path: 'trusted', expected: `exactly one of ${KINDS.join(', ')}` })
  }
  const { kind, value } = given
  const root = bytesToHex(decodeArgument(`trusted.${kind}`, value, 32))
  if (kind !== 'beaconBlockRoot') return { kind, root, beaconBlock: null }
  const [network, verifyConsensus] = [read('network'), read('verifyConsensus')]
  if (typeof verifyConsensus !== 'function' || typeof network !== 'string') {
    const expected = 'what checkpoint(blockRoot, network) of rollup-state-proof/beacon returns'
    throw new ArgumentError({ path: 'trusted', expected })
  }
  // The function is the caller's own, and so is the type of what it returns.
  return { kind, root, beaconBlock: { beaconBlockRoot: root, network, verifyConsensus } as TrustedBeaconBlock }
}

/** Refuses a bundle for anything other than what the caller states. @throws ProofError `EVIDENCE_*`, ArgumentError */
export function verifyExpected(evidence: DecodedEvidence, claim: EvidenceClaim): void {
  const { scheme, rollup, l2BlockNumber, address, storageKeys } = claim
  const rollupAddress = bytesToHex(decodeArgument('rollup.address', rollup?.address, 20))
  const { name } = rollup
  if (name !== undefined && typeof name !== 'string') throw invalid('rollup.name', 'a string', name)
  verifySame('EVIDENCE_SCHEME_MISMATCH', 'scheme', scheme.name, evidence.scheme)
  verifySame('EVIDENCE_ROLLUP_MISMATCH', 'rollup', rollupAddress, evidence.rollup.address)
  verifyLabel('EVIDENCE_ROLLUP_MISMATCH', 'rollup', name, evidence.rollup.name)
  if (l2BlockNumber !== undefined) {
    const expected = `${verifyBlockNumber(l2BlockNumber)}`
    verifySame('EVIDENCE_BLOCK_MISMATCH', 'l2BlockNumber', expected, `${evidence.l2BlockNumber}`)
  }
  const { request } = evidence
  if (address !== undefined) {
    const expected = bytesToHex(decodeArgument('address', address, 20))
    verifySame('EVIDENCE_ADDRESS_MISMATCH', 'request.address', expected, request.address)
  }
  if (storageKeys !== undefined) verifyKeys(decodeKeys(storageKeys).map(bytesToHex), request.storageKeys)
}

function verifySame(code: ProofErrorCode, path: string, expected: string, found: string): void {
  if (expected !== found) throw new ProofError(code, { path, expected, found })
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
