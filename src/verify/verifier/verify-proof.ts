import type { Hex } from '../../base/bytes.ts'
import { readOptions } from '../../base/options.ts'
import { type Claim, type DecodedClaim, decodeClaim } from '../proof/claim.ts'
import { type VerifiedState, verifyAnswer } from '../proof/verify.ts'
import { type HashScheme, hashSchemeOf } from '../scheme/scheme.ts'
import { quickTrees } from './empty-subtrees.ts'
import { shareNodes } from './shared-nodes.ts'

/**
 * Verifies a `rollup_getProof` (`linea_getProof`) answer against a trusted state root. Pure and synchronous.
 *
 * @param answer what the endpoint sent, parsed from JSON: the bare result or the JSON-RPC response around it
 * @param claim what you asked for, and the root that you trust
 * @returns the account and the slots; the existence or non-existence of each is proven
 * @throws ProofError if the answer does not verify: its `code` names the check that failed, its `path` the place in the
 * answer. ArgumentError if the claim is wrong: the answer was not examined. Nothing else
 *
 * @example
 * ```ts
 * import { verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * const answer = world.getProof(address, [])
 * const { account } = verifyProof(answer, { scheme: poseidon2, stateRoot: world.stateRoot(), address })
 * console.log(account?.balance) // 5n
 * ```
 */
export function verifyProof<const Keys extends readonly Hex[] = []>(
  answer: unknown,
  claim: Claim<Keys>,
): VerifiedState<Keys> {
  const { scheme, claim: decoded } = readClaim(claim)
  const trees = shareNodes(quickTrees(scheme), decoded.storageKeys.length)
  // There is one slot per key.
  return verifyAnswer(trees, answer, decoded) as VerifiedState<Keys>
}

const FIELDS = ['stateRoot', 'address', 'storageKeys']

export function readClaim(claim: Claim): { scheme: HashScheme; claim: DecodedClaim } {
  const { scheme, ...asked } = readOptions('', claim, ['scheme', ...FIELDS])
  return { scheme: hashSchemeOf(scheme), claim: decodeClaim(asked) }
}

export const readVerifierClaim = (claim: Omit<Claim, 'scheme'>): DecodedClaim =>
  decodeClaim(readOptions('', claim, FIELDS))
