import { bytesToHex, type Hex } from '../bytes.ts'
import { atPath, ProofError } from '../errors.ts'
import { type AccountFields, accountFieldsOf, accountTree, storageRootOf, storageTree } from '../tree/kind.ts'
import { type Claim, type DecodedClaim, decodeClaim } from './claim.ts'
import { type DecodedLeafProof, decodeAnswer, plainTree, type Tree, type Trees } from './decode.ts'
import { type ProvenLeaf, verifyLeafProof } from './leaf-proof.ts'

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
 * Verifies a `rollup_getProof` (`linea_getProof`) answer against a trusted state root. Pure and synchronous.
 *
 * @param answer what the endpoint sent, parsed from JSON: the bare result or the JSON-RPC response around it
 * @param claim what you asked for, and the root that you trust
 * @returns the account and the slots; the existence or non-existence of each is proven
 * @throws ProofError and nothing else: its `code` names the check that failed, its `path` the place in the answer.
 * `CLAIM_INVALID` means that the claim is wrong and the answer was not examined
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
  const trees = { account: plainTree(claim.scheme, accountTree), storage: plainTree(claim.scheme, storageTree) }
  return verifyAnswer(trees, answer, decodedClaim)
}

/** {@link verifyProof}, with trees that may have a cache. */
export function verifyAnswer(trees: Trees, answer: unknown, claim: DecodedClaim): VerifiedState {
  // The whole answer is decoded, and so known to be canonical, before anything is hashed or compared.
  const { accountProof, storageProofs } = decodeAnswer(trees, answer, claim.storageKeys.length)
  const accountClaim = { root: claim.stateRoot, key: claim.address }
  const leaf = atPath('accountProof', () => verifyLeafProof(trees.account, accountClaim, accountProof))
  const account = leaf && accountFieldsOf(leaf.value, { leafIndex: leaf.leafIndex })
  // Without an account, or with the empty storage root, no slot exists, and no further proof is needed.
  const hasStorage = account !== null && account.storageRoot !== trees.storage.scheme.emptyTreeRoot
  const storage = atPath('storageProofs', () => verifyStorage(trees.storage, claim, leaf, hasStorage, storageProofs))
  return { account, storage }
}

function verifyStorage(
  tree: Tree,
  { storageKeys }: DecodedClaim,
  leaf: ProvenLeaf | null,
  hasStorage: boolean,
  storageProofs: readonly (DecodedLeafProof | null)[],
): StorageSlot[] {
  return storageKeys.map((key, index) =>
    atPath(`[${index}]`, () => {
      const leafProof = storageProofs.at(index) ?? null
      if (leafProof === null) {
        if (hasStorage) throw new ProofError('STORAGE_PROOF_MISSING', { found: 'nothing' })
        return toSlot(key, null)
      }
      if (leaf === null) throw new ProofError('STORAGE_PROOF_UNEXPECTED', { found: 'a proof' })
      return toSlot(key, verifyLeafProof(tree, { root: storageRootOf(leaf.value), key }, leafProof))
    }),
  )
}

const toSlot = (key: Uint8Array, leaf: ProvenLeaf | null): StorageSlot => ({
  key: bytesToHex(key),
  value: bytesToHex(leaf?.value ?? new Uint8Array(32)),
  exists: leaf !== null,
  leafIndex: leaf?.leafIndex ?? null,
})
