import { type Hex, hexToBytes } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'

/** What you asked for, and the root you trust: never taken from the answer. */
export interface Claim {
  /** `mimc` or `poseidon2`: the one that the rollup used at the block of the proof. */
  scheme: Scheme
  /** The trusted root of the world state, 32 bytes: the rollup contract's `stateRootHashes` entry on L1. */
  stateRoot: Hex
  /** The address you asked for, 20 bytes, any case. */
  address: Hex
  /** The storage keys you asked for, in the order you asked, 32 bytes each. None when left out. */
  storageKeys?: readonly Hex[]
}

/** A {@link Claim} that was checked, as bytes. */
export interface DecodedClaim {
  readonly scheme: Scheme
  readonly stateRoot: Uint8Array
  readonly address: Uint8Array
  readonly storageKeys: readonly Uint8Array[]
}

/** The caller may be plain JavaScript, so nothing is taken for granted. @throws ProofError `CLAIM_INVALID` */
export function decodeClaim(claim: Claim): DecodedClaim {
  return decodeClaimWith(claim?.scheme, claim)
}

/** {@link decodeClaim}, whatever scheme the claim names. */
export function decodeClaimWith(scheme: Scheme, claim: Omit<Claim, 'scheme'>): DecodedClaim {
  const { stateRoot, address, storageKeys = [] } = claim ?? {}
  return {
    scheme: verifyScheme(scheme),
    stateRoot: decodeArgument('stateRoot', stateRoot, 32),
    address: decodeArgument('address', address, 20),
    storageKeys: decodeKeys(storageKeys),
  }
}

/** @throws ProofError `CLAIM_INVALID` when it is neither `mimc` nor `poseidon2` */
export function verifyScheme(scheme: Scheme): Scheme {
  // Compared by name: a program may carry two copies of this package. But other packages have functions of these names.
  const name: unknown = scheme?.name
  if ((name !== 'mimc' && name !== 'poseidon2') || !('hasher' in scheme)) {
    throw new ProofError('CLAIM_INVALID', { path: 'scheme', expected: 'a scheme' })
  }
  return scheme
}

/** The storage keys that the caller asks for. @throws ProofError `CLAIM_INVALID` when they are no array of 32 bytes each */
export function decodeKeys(storageKeys: readonly Hex[]): Uint8Array[] {
  if (!Array.isArray(storageKeys)) throw new ProofError('CLAIM_INVALID', { path: 'storageKeys', expected: 'an array' })
  return Array.from(storageKeys, (key: unknown, index) => decodeArgument(`storageKeys[${index}]`, key, 32))
}

/** @throws ProofError `CLAIM_INVALID` when the argument is not hexadecimal of `length` bytes */
export function decodeArgument(name: string, value: unknown, length: number): Uint8Array {
  try {
    if (typeof value === 'string') return hexToBytes(value, length)
  } catch {
    // Said below: the codes of hexToBytes speak of the answer, this is the caller's own argument.
  }
  throw new ProofError('CLAIM_INVALID', { path: name, expected: `0x-prefixed hexadecimal of ${length} bytes` })
}
