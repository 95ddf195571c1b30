import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError } from '../../base/errors.ts'
import { type AccountFields, accountFieldsOf, storageRootOf } from '../tree/kind.ts'
import type { DecodedClaim } from './claim.ts'
import { type DecodedLeafProof, decodeAnswer } from './decode.ts'
import { type ProvenLeaf, verifyLeafProof } from './leaf-proof.ts'
import type { Trees } from './tree.ts'

/** An account whose existence is proven. */
export interface ProvenAccount extends AccountFields {
  /** The index of its leaf in the tree of accounts: from 2 to 2^40 - 1. */
  leafIndex: number
}

/** A storage slot whose existence or non-existence is proven. */
export type ProvenSlot =
  | {
      /** 32 bytes, as the caller wrote it. */
      key: Hex
      /** Its existence is proven. */
      exists: true
      /** 32 bytes, lower case; not zero. */
      value: Hex
      /** The index of its leaf in the account's storage tree: from 2 to 2^40 - 1. */
      leafIndex: number
    }
  | {
      /** 32 bytes, as the caller wrote it. */
      key: Hex
      /** Its non-existence is proven. */
      exists: false
      /** Zero, 32 bytes. */
      value: Hex
      /** There is no leaf. */
      leafIndex: null
    }

/** What an answer proves. Nothing in it rests on the endpoint's word. */
export interface VerifiedState<Keys extends readonly Hex[] = readonly Hex[]> {
  /** null if non-existence is proven. */
  account: ProvenAccount | null
  /** One per requested key, in the order of the request. */
  storage: ProvenSlots<Keys>
}

/** One slot per key. If the compiler knows how many keys there are, it knows how many slots there are. */
export type ProvenSlots<Keys extends readonly Hex[]> = { -readonly [Index in keyof Keys]: ProvenSlot }

/** Verifies an answer against what the caller claims. @param trees `plainTrees`, or trees that decode and hash to the same bytes */
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
  const storage = claim.storageKeys.map(({ text, bytes }, index) =>
    atPath(place(index), () => toSlot(text, verifySlot(bytes, storageProofs.at(index) ?? null))),
  )
  return { account, storage }
}

const toSlot = (key: Hex, leaf: ProvenLeaf | null): ProvenSlot =>
  leaf === null
    ? { key, exists: false, value: `0x${'00'.repeat(32)}`, leafIndex: null }
    : { key, exists: true, value: bytesToHex(leaf.value), leafIndex: leaf.leafIndex }
