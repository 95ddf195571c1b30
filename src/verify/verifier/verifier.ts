import type { Hex } from '../../base/bytes.ts'
import type { Claim } from '../proof/claim.ts'
import { type VerifiedState, verifyAnswer } from '../proof/verify.ts'
import { hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import { quickTrees } from './empty-subtrees.ts'
import { rememberingTree } from './shared-nodes.ts'
import { readVerifierClaim } from './verify-proof.ts'

/** A {@link Claim} without the scheme, which the verifier has. */
export type VerifierClaim<Keys extends readonly Hex[] = readonly Hex[]> = Omit<Claim<Keys>, 'scheme'>

/** {@link verifyProof} with a memory. */
export interface Verifier {
  /**
   * The function of the same name, with the scheme and the memory of this verifier.
   *
   * @param answer what the endpoint sent, parsed from JSON
   * @param claim what you asked for, and the root you trust
   * @throws ProofError, ArgumentError as the function of the same name does
   */
  verifyProof<const Keys extends readonly Hex[] = []>(answer: unknown, claim: VerifierClaim<Keys>): VerifiedState<Keys>
}

/** How many digests a verifier remembers for each of the two kinds of tree. With their messages, at most 20 MB in all. */
const DIGESTS = 2 ** 14

/**
 * A verifier for many answers, such as the slots of one contract or the accounts under one root. It decodes and hashes nodes
 * that many proofs share only once. It remembers which digest belongs to which bytes, and nothing about roots, keys or
 * verdicts, so its verdicts are those of {@link verifyProof}. Its memory is bounded (about 20 MB) and freed with the verifier.
 *
 * @param scheme `mimc` or `poseidon2`
 * @throws ArgumentError if it is neither
 *
 * @example
 * ```ts
 * import { createVerifier } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const addresses = ['0x00000000000000000000000000000000000000aa', '0x00000000000000000000000000000000000000bb'] as const
 * for (const address of addresses) world.setAccount(address, { balance: 5n })
 *
 * const verifier = createVerifier(poseidon2)
 * const stateRoot = world.stateRoot()
 * const accounts = addresses.map(address => verifier.verifyProof(world.getProof(address), { stateRoot, address }).account)
 * console.log(accounts.map(account => account?.leafIndex).join()) // 2,3
 * ```
 */
export function createVerifier(scheme: Scheme): Verifier {
  return createVerifierWithin(DIGESTS, scheme)
}

/** {@link createVerifier} with a memory of another size, a power of two: the verdicts do not depend on it. */
export function createVerifierWithin(digests: number, scheme: Scheme): Verifier {
  const { account, storage } = quickTrees(hashSchemeOf(scheme))
  // Trees of one kind share nodes with each other, and hardly any with trees of the other kind.
  const trees = { account: rememberingTree(account, digests), storage: rememberingTree(storage, digests) }
  return {
    verifyProof: <Keys extends readonly Hex[]>(answer: unknown, claim: VerifierClaim<Keys>) =>
      // There is one slot per key.
      verifyAnswer(trees, answer, readVerifierClaim(claim)) as VerifiedState<Keys>,
  }
}
