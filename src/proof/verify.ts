import { bytesToHex, equalBytes, type Hex } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import { rememberingHasher } from '../hash/remember.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { emptyTreeRoot } from '../tree/empty.ts'
import {
  type AccountFields,
  accountEntry,
  accountFieldsOf,
  type EntryKind,
  storageEntry,
  storageRootOf,
} from '../tree/entry.ts'
import { type Claim, type DecodedClaim, decodeClaim, decodeClaimWith, verifyScheme } from './claim.ts'
import { type Contexts, type DecodedLeafProof, decodeAnswer, type TreeContext } from './decode.ts'
import { type KnownNodes, knownEmptyNodes, rememberLastNodes } from './known-nodes.ts'
import { verifyLeafProof } from './leaf-proof.ts'

/** An account proven present. */
export interface Account extends AccountFields {
  /** Where its leaf stands in the tree of accounts: from 2 up to 2^40. */
  leafIndex: number
}

/** A storage slot proven present, or proven absent: then its value is zero. */
export interface StorageSlot {
  /** 32 bytes, lower case. */
  key: Hex
  /** 32 bytes, lower case. */
  value: Hex
  /** false when proven absent. */
  exists: boolean
}

/** What an answer proves: nothing in it is the endpoint's word alone. */
export interface VerifiedState {
  /** null when proven absent. */
  account: Account | null
  /** One a requested key, in the order of the request. */
  storage: StorageSlot[]
}

/**
 * Verifies a `rollup_getProof` (`linea_getProof`) answer against a trusted state root. Pure and synchronous.
 *
 * @param answer what the endpoint sent, parsed from JSON: the bare result or the JSON-RPC response around it
 * @param claim what you asked for, and the root you trust
 * @returns the account and the slots, each proven present or proven absent
 * @throws ProofError and nothing else: its `code` names the check that failed, its `path` the place in the answer.
 * `CLAIM_INVALID` means that the claim is wrong and the answer was not looked at
 *
 * @example
 * ```ts
 * import { verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof/world'
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
export function verifyProof(answer: unknown, claim: Claim): VerifiedState {
  const decodedClaim = decodeClaim(claim)
  const { scheme } = decodedClaim
  return verifyAnswer(contextsOf(scheme, knownEmptyNodes(scheme)), answer, decodedClaim)
}

/** Both kinds of trees, read with the same knowledge. */
export const contextsOf = (scheme: Scheme, known: KnownNodes): Contexts => ({
  account: { scheme, known, kind: accountEntry },
  storage: { scheme, known, kind: storageEntry },
})

/** {@link verifyProof}, told what is known beforehand. */
export function verifyAnswer(contexts: Contexts, answer: unknown, claim: DecodedClaim): VerifiedState {
  // Everything is decoded, and so canonical, before anything is hashed or compared.
  const { accountProof, storageProofs } = decodeAnswer(contexts, answer, claim.storageKeys.length)

  const leaf = atPath('accountProof', () =>
    verifyLeafProof(contexts.account, { root: claim.stateRoot, key: claim.address }, accountProof),
  )
  const storageRoot = leaf && storageRootOf(leaf.valueNode)
  const storage = atPath('storageProofs', () => verifyStorage(contexts.storage, claim, storageRoot, storageProofs))
  return { account: leaf && { ...accountFieldsOf(leaf.valueNode), leafIndex: leaf.leafIndex }, storage }
}

function verifyStorage(
  context: TreeContext,
  { scheme, storageKeys }: DecodedClaim,
  storageRoot: Uint8Array | null,
  storageProofs: readonly (DecodedLeafProof | null)[],
): StorageSlot[] {
  // Section 6: without an account, or with the empty storage root, no slot exists and no proof of that is needed.
  const hasStorage = storageRoot !== null && !equalBytes(storageRoot, emptyTreeRoot(scheme))
  return storageKeys.map((key, index) =>
    atPath(`[${index}]`, () => {
      const leafProof = storageProofs[index] ?? null
      if (leafProof === null) {
        if (hasStorage) throw new ProofError('STORAGE_PROOF_MISSING')
        return toSlot(key, undefined)
      }
      if (storageRoot === null) throw new ProofError('STORAGE_PROOF_UNEXPECTED')
      const leaf = verifyLeafProof(context, { root: storageRoot, key }, leafProof)
      return toSlot(key, leaf?.valueNode.value)
    }),
  )
}

const toSlot = (key: Uint8Array, value: Uint8Array | undefined): StorageSlot => ({
  key: bytesToHex(key),
  value: bytesToHex(value ?? new Uint8Array(32)),
  exists: value !== undefined,
})

/** The outcome of {@link safeVerifyProof}. */
export type SafeVerifiedState =
  | ({
      /** Verified. */
      ok: true
    } & VerifiedState)
  | {
      /** Refused. */
      ok: false
      /** Why. */
      error: ProofError
    }

/**
 * {@link verifyProof} for those who rather look at `ok` than catch. Throws nothing.
 *
 * @param answer what the endpoint sent, parsed from JSON
 * @param claim what you asked for, and the root you trust
 *
 * @example
 * ```ts
 * import { safeVerifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const stateRoot = '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7'
 * const address = '0x00000000000000000000000000000000000000aa'
 * const outcome = safeVerifyProof({ accountProof: {} }, { scheme: poseidon2, stateRoot, address })
 * console.log(outcome.ok || outcome.error.code) // MALFORMED_RESPONSE
 * ```
 */
export function safeVerifyProof(answer: unknown, claim: Claim): SafeVerifiedState {
  return safely(() => verifyProof(answer, claim))
}

function safely(verify: () => VerifiedState): SafeVerifiedState {
  try {
    return { ok: true, ...verify() }
  } catch (error) {
    if (error instanceof ProofError) return { ok: false, error }
    throw error
  }
}

/** A {@link Claim} without the scheme, which the verifier has. */
export type VerifierClaim = Omit<Claim, 'scheme'>

/** {@link verifyProof} and {@link safeVerifyProof} with a memory. */
export interface Verifier {
  /**
   * The function of this name, with the scheme and the memory of this verifier.
   *
   * @param answer what the endpoint sent, parsed from JSON
   * @param claim what you asked for, and the root you trust
   * @throws ProofError as the function of this name does
   */
  verifyProof(answer: unknown, claim: VerifierClaim): VerifiedState
  /**
   * The function of this name, with the scheme and the memory of this verifier. Throws nothing.
   *
   * @param answer what the endpoint sent, parsed from JSON
   * @param claim what you asked for, and the root you trust
   */
  safeVerifyProof(answer: unknown, claim: VerifierClaim): SafeVerifiedState
}

/** How many digests a verifier remembers of accounts and of storage slots each, at about 400 bytes a digest: 6 MB in all. */
const DIGESTS = 2 ** 13

/**
 * A verifier for many answers: the slots of one contract, the accounts under one root. It remembers which digest belongs
 * to which bytes, and nothing about roots, keys or verdicts, so it answers as {@link verifyProof} does; nodes that many
 * proofs share are decoded and hashed once. Its memory is bounded (about 6 MB), and is gone when the verifier is.
 *
 * @param scheme `mimc` or `poseidon2`
 * @throws ProofError `CLAIM_INVALID` when it is neither
 *
 * @example
 * ```ts
 * import { createVerifier } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof/world'
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
  const { hasher } = verifyScheme(scheme)
  const rememberingContext = (kind: EntryKind): TreeContext => {
    // Trees of one kind share nodes with each other, and hardly any with trees of the other kind.
    const remembering: Scheme = Object.create(scheme, { hasher: { value: rememberingHasher(hasher, digests) } })
    return { scheme: remembering, kind, known: rememberLastNodes(scheme) }
  }
  const contexts = { account: rememberingContext(accountEntry), storage: rememberingContext(storageEntry) }
  const verify = (answer: unknown, claim: VerifierClaim) =>
    verifyAnswer(contexts, answer, decodeClaimWith(scheme, claim))
  return {
    verifyProof: verify,
    safeVerifyProof: (answer, claim) => safely(() => verify(answer, claim)),
  }
}
