import { bytesToHex, type Hex } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { type AccountFields, accountFieldsOf, storageRootOf } from '../tree/kind.ts'
import { type Claim, type DecodedClaim, decodeClaim } from './claim.ts'
import { type DecodedLeafProof, decodeAnswer } from './decode.ts'
import { type ProvenLeaf, verifyLeafProof } from './leaf-proof.ts'
import type { Trees } from './tree.ts'

/** An account whose existence is proven. */
export interface Account extends AccountFields {
  /** The index of its leaf in the tree of accounts: from 2 to 2^40 - 1. */
  leafIndex: number
}

/** A storage slot whose existence or non-existence is proven. If it does not exist, its value is zero. */
export interface StorageSlot {
  /** 32 bytes, lower case. */
  key: Hex
  /** 32 bytes, lower case. */
  value: Hex
  /** false if non-existence is proven. */
  exists: boolean
  /** The index of its leaf in the account's storage tree: from 2 to 2^40 - 1; null if non-existence is proven. */
  leafIndex: number | null
}

/** What an answer proves. Nothing in it rests on the endpoint's word. */
export interface VerifiedState {
  /** null if non-existence is proven. */
  account: Account | null
  /** One per requested key, in the order of the request. */
  storage: StorageSlot[]
}

/**
 * Verifies an answer against what the caller claims.
 *
 * @param treesOf `plainTrees`, or a function whose trees decode and hash to the same bytes
 * @throws ProofError and nothing else
 */
export function verifyProofWith(treesOf: (scheme: Scheme) => Trees, answer: unknown, claim: Claim): VerifiedState {
  const decodedClaim = decodeClaim(claim)
  return verifyAnswer(treesOf(claim.scheme), answer, decodedClaim)
}

/** {@link verifyProofWith} for a claim that is already decoded. @throws ProofError and nothing else */
export function verifyAnswer(trees: Trees, answer: unknown, claim: DecodedClaim): VerifiedState {
  // The whole answer is decoded, and so known to be canonical, before anything is hashed or compared.
  const { accountProof, storageProofs } = decodeAnswer(trees, answer, claim.storageKeys.length)
  const accountClaim = { root: claim.stateRoot, key: claim.address }
  const leaf = atPath('accountProof', () => verifyLeafProof(trees.account, accountClaim, accountProof))
  const account = leaf && accountFieldsOf(leaf.value, { leafIndex: leaf.leafIndex })
  // Without an account, or with the empty storage root, no slot exists, and no further proof is needed.
  const hasStorage = account !== null && account.storageRoot !== trees.storage.scheme.emptyTreeRoot
  const verifySlot = (key: Uint8Array, leafProof: DecodedLeafProof | null): ProvenLeaf | null => {
    if (leafProof === null && !hasStorage) return null
    if (leafProof === null) throw new ProofError('STORAGE_PROOF_MISSING', { found: 'nothing' })
    if (leaf === null) throw new ProofError('STORAGE_PROOF_UNEXPECTED', { found: 'a proof' })
    return verifyLeafProof(trees.storage, { root: storageRootOf(leaf.value), key }, leafProof)
  }
  const place = (index: number) => () => `storageProofs[${index}]`
  const storage = claim.storageKeys.map((key, index) =>
    atPath(place(index), () => toSlot(key, verifySlot(key, storageProofs.at(index) ?? null))),
  )
  return { account, storage }
}

const toSlot = (key: Uint8Array, leaf: ProvenLeaf | null): StorageSlot => ({
  key: bytesToHex(key),
  value: bytesToHex(leaf?.value ?? new Uint8Array(32)),
  exists: leaf !== null,
  leafIndex: leaf?.leafIndex ?? null,
})
