import { type Hex, hexToBytes } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { kindOf } from '../json/reader.ts'
import type { Scheme } from '../scheme/scheme.ts'

/** What you asked for, and the root you trust. Never take either from the answer. */
export interface Claim {
  /** `mimc` or `poseidon2`: the hash scheme of the rollup at the block of the proof. */
  scheme: Scheme
  /** The trusted L2 state root, 32 bytes: `stateRootHashes[blockNumber]` of the rollup contract on L1. */
  stateRoot: Hex
  /** The address that you asked for, 20 bytes, in upper, lower or mixed case. */
  address: Hex
  /** The storage keys that you asked for, in the order of the request, 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[]
}

/** A validated {@link Claim}, as bytes. */
export interface DecodedClaim {
  readonly stateRoot: Uint8Array
  readonly address: Uint8Array
  readonly storageKeys: readonly Uint8Array[]
}

const OPTIONS = ['stateRoot', 'address', 'storageKeys']

/** Callers may be untyped JavaScript, so every argument is validated. @throws ProofError `CLAIM_INVALID` */
export function decodeClaim(claim: Claim): DecodedClaim {
  verifyScheme(claim?.scheme)
  return decodeVerifierClaim(claim, [...OPTIONS, 'scheme'])
}

/** Decodes the claim of a call to a verifier, which already has a scheme. @throws ProofError `CLAIM_INVALID` */
export function decodeVerifierClaim(claim: Omit<Claim, 'scheme'>, names: readonly string[] = OPTIONS): DecodedClaim {
  verifyOptions(claim, names)
  const { stateRoot, address, storageKeys = [] } = claim ?? {}
  return {
    stateRoot: decodeArgument('stateRoot', stateRoot, 32),
    address: decodeArgument('address', address, 20),
    storageKeys: decodeKeys(storageKeys),
  }
}

/** A misspelt option must not be ignored. @throws ProofError `CLAIM_INVALID` if an own property is none of `names` */
export function verifyOptions(options: object, names: readonly string[]): void {
  const path = Object.keys(options ?? {}).find(name => !names.includes(name))
  if (path !== undefined) throw new ProofError('CLAIM_INVALID', { path, expected: `no option but ${names.join(', ')}` })
}

/** @throws ProofError `CLAIM_INVALID` if it is neither `mimc` nor `poseidon2` */
export function verifyScheme(scheme: Scheme): Scheme {
  // The name, not the identity, because a program may load two copies of this package. A member too, because an object of
  // another package may have the same name.
  const name: unknown = scheme?.name
  const isScheme = (name === 'mimc' || name === 'poseidon2') && 'hasher' in scheme
  if (!isScheme) throw invalid('scheme', 'the scheme mimc or poseidon2', scheme)
  return scheme
}

/** The storage keys that the caller asks for. @throws ProofError `CLAIM_INVALID` if not an array of 32-byte keys */
export function decodeKeys(storageKeys: readonly Hex[]): Uint8Array[] {
  if (!Array.isArray(storageKeys)) throw invalid('storageKeys', 'an array', storageKeys)
  return Array.from(storageKeys, (key: unknown, index) => decodeArgument(`storageKeys[${index}]`, key, 32))
}

/** @throws ProofError `CLAIM_INVALID` if the argument is not hexadecimal of `length` bytes */
export function decodeArgument(name: string, value: unknown, length: number): Uint8Array {
  try {
    if (typeof value === 'string') return hexToBytes(value, length)
  } catch {
    // Reported below as CLAIM_INVALID: hexToBytes's codes describe the answer, not the caller's argument.
  }
  throw invalid(name, `0x-prefixed hexadecimal of ${length} bytes`, value)
}

/** Describes an argument by kind and length, never by content: a secret may have been passed by mistake. */
export const invalid = (path: string, expected: string, value: unknown): ProofError =>
  new ProofError('CLAIM_INVALID', { path, expected, found: describe(value) })

function describe(value: unknown): string {
  if (typeof value !== 'string') return kindOf(value)
  // Without a group: the engine would remember each of its matches, and overflow on a very long string.
  const isHex = value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value)
  return isHex ? `${value.length / 2 - 1} bytes` : `a string of ${value.length} characters`
}
