import { decodeArgument, readKeys } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'

/** What you asked for, and the root you trust. Never take either from the answer. */
export interface Claim<Keys extends readonly Hex[] = readonly Hex[]> {
  /** `mimc` or `poseidon2`: the hash scheme of the rollup at the block of the proof. */
  scheme: Scheme
  /** The trusted L2 state root, 32 bytes: `stateRootHashes[blockNumber]` of the rollup contract on L1. */
  stateRoot: Hex
  /** The address that you asked for, 20 bytes, in upper, lower or mixed case. */
  address: Hex
  /** The storage keys that you asked for, in the order of the request, 32 bytes each. Default: none. */
  storageKeys?: Keys | undefined
}

/** A validated {@link Claim} without its scheme, as bytes. */
export type DecodedClaim = ReturnType<typeof decodeClaim>

export const decodeClaim = ({ stateRoot, address, storageKeys = [] }: Omit<Claim, 'scheme'>) => ({
  stateRoot: decodeArgument('stateRoot', stateRoot, 32),
  address: decodeArgument('address', address, 20),
  storageKeys: readKeys(storageKeys),
})
