import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, concatBytes, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import { type DecodedLeafProof, decodeLeafIndex, decodeLeafProof, decodeNodes } from '../proof/decode.ts'
import { type LeafClaim, verifyLeafProof } from '../proof/leaf-proof.ts'
import type { DecodedValue, Tree } from '../proof/tree.ts'
import { hashSchemeOf } from '../scheme/genuine.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { type AccountFields, accountFieldsOf, accountTree, storageTree } from '../tree/kind.ts'
import { computeSubRoot, LEAF_NODE, verifyLeafIndex } from '../tree/path.ts'
import { quickTrees } from './empty-subtrees.ts'

/** One key of one tree, and the trusted root of that tree. */
export type LeafProofClaim =
  | {
      /** `mimc` or `poseidon2`. */
      scheme: Scheme
      /** Root of the tree of accounts, 32 bytes. */
      stateRoot: Hex
      /** 20 bytes. */
      address: Hex
    }
  | {
      /** `mimc` or `poseidon2`. */
      scheme: Scheme
      /** Root of one account's storage tree, 32 bytes: the `storageRoot` of a verified account. */
      storageRoot: Hex
      /** 32 bytes. */
      storageKey: Hex
    }

/**
 * Verifies a leaf proof of existence: the key exists, with this value.
 *
 * @param leafProof the `accountProof`, or one of the `storageProofs`, of an answer
 * @param claim the key you asked for, and the root you trust
 * @returns the leaf's index, and the value as served: 192 bytes for an account (see {@link decodeAccount}), 32 for a slot
 * @throws ProofError as `verifyProof` does; `MALFORMED_RESPONSE` also if it is a proof of non-existence
 *
 * @example
 * ```ts
 * import { decodeAccount, verifyExistence } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address, { balance: 5n })
 *
 * const { accountProof } = world.getProof(address)
 * const stateRoot = world.stateRoot()
 * const { leafIndex, value } = verifyExistence(accountProof, { scheme: poseidon2, stateRoot, address })
 * console.log(leafIndex, decodeAccount(poseidon2, value).balance) // 2 5n
 * ```
 */
export function verifyExistence(
  leafProof: unknown,
  claim: LeafProofClaim,
): {
  /** From 2 to 2^40 - 1. */
  leafIndex: number
  /** 192 bytes for an account, 32 for a slot. */
  value: Hex
} {
  const { tree, leafClaim } = decodeLeafClaim(claim)
  const decoded = decodeClaimed('existence', leafProof, tree)
  verifyLeafProof(tree, leafClaim, decoded)
  return { leafIndex: decoded.proof.path.leafIndex, value: bytesToHex(decoded.proof.value) }
}

/**
 * Verifies a leaf proof of non-existence: two neighbouring leaves leave no room for the key.
 *
 * @param leafProof the `accountProof`, or one of the `storageProofs`, of an answer
 * @param claim the key you asked for, and the root you trust
 * @returns the leaf indices of the two neighbours
 * @throws ProofError as `verifyProof` does; `MALFORMED_RESPONSE` also if it is a proof of existence
 *
 * @example
 * ```ts
 * import { verifyNonExistence } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * // In an empty state the neighbours of every key are HEAD and TAIL.
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * const { accountProof } = world.getProof(address)
 * const stateRoot = world.stateRoot()
 * const neighbours = verifyNonExistence(accountProof, { scheme: poseidon2, stateRoot, address })
 * console.log(neighbours.leftLeafIndex, neighbours.rightLeafIndex) // 0 1
 * ```
 */
export function verifyNonExistence(
  leafProof: unknown,
  claim: LeafProofClaim,
): {
  /** Index of the leaf with the next smaller key hash; 0 is HEAD. */
  leftLeafIndex: number
  /** Index of the leaf with the next larger key hash; 1 is TAIL. */
  rightLeafIndex: number
} {
  const { tree, leafClaim } = decodeLeafClaim(claim)
  const decoded = decodeClaimed('non-existence', leafProof, tree)
  verifyLeafProof(tree, leafClaim, decoded)
  return { leftLeafIndex: decoded.left.path.leafIndex, rightLeafIndex: decoded.right.path.leafIndex }
}

function decodeLeafClaim(claim: LeafProofClaim): { tree: Tree; leafClaim: LeafClaim } {
  const given = readOptions('', claim, ['scheme', 'storageRoot', 'storageKey', 'stateRoot', 'address'])
  const isSlot = ['storageRoot', 'storageKey'].some(name => Object.hasOwn(given, name))
  const [rootName, keyName] = isSlot ? ['storageRoot', 'storageKey'] : ['stateRoot', 'address']
  const { scheme, ...own }: { scheme: Scheme; [name: string]: unknown } = {
    ...readOptions('', given, ['scheme', rootName, keyName]),
  }
  const { account, storage } = quickTrees(hashSchemeOf(scheme))
  const root = decodeArgument(rootName, own[rootName], 32)
  return {
    tree: isSlot ? storage : account,
    leafClaim: { root, key: decodeArgument(keyName, own[keyName], isSlot ? 32 : 20) },
  }
}

function decodeClaimed<Form extends DecodedLeafProof['claims']>(
  form: Form,
  leafProof: unknown,
  tree: Tree,
): Extract<DecodedLeafProof, { claims: Form }> {
  const decoded = decodeLeafProof(tree, leafProof)
  if (!hasForm(form, decoded)) {
    throw new ProofError('MALFORMED_RESPONSE', {
      expected: `a proof of ${form}`,
      found: `a proof of ${decoded.claims}`,
    })
  }
  return decoded
}

const hasForm = <Form extends DecodedLeafProof['claims']>(
  form: Form,
  decoded: DecodedLeafProof,
): decoded is Extract<DecodedLeafProof, { claims: Form }> => decoded.claims === form

/**
 * Recomputes the sub-root (the top of the 40 levels) and the root that a path leads to. It compares neither: a root
 * proves something only if it equals one that you trust. It takes nextFreeNode from node 0 and ignores the sub-root there.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param leafIndex from 0 to 2^40 - 1
 * @param proofRelatedNodes the 42 nodes of a proof, root first
 * @throws ProofError `WRONG_NODE_COUNT`, `SCHEME_MISMATCH`, `WRONG_LENGTH`, `BAD_HEX`, `NON_CANONICAL`,
 * `INDEX_OUT_OF_RANGE`, `ZERO_OPENING`, `MALFORMED_RESPONSE`; ArgumentError for the scheme
 *
 * @example
 * ```ts
 * import { computeRoot } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * world.setAccount(address)
 *
 * const { accountProof } = world.getProof(address)
 * if (!('proof' in accountProof)) throw new Error('does not exist')
 * const { root } = computeRoot(poseidon2, accountProof.leafIndex, accountProof.proof.proofRelatedNodes)
 * console.log(root === world.stateRoot()) // true
 * ```
 */
export function computeRoot(
  scheme: Scheme,
  leafIndex: number,
  proofRelatedNodes: readonly Hex[],
): {
  /** The top of the 40 levels, 32 bytes. */
  subRoot: Hex
  /** H(word(nextFreeNode) || subRoot), 32 bytes. */
  root: Hex
} {
  const tree = quickTrees(hashSchemeOf(scheme)).account
  const index = atPath('leafIndex', () => decodeLeafIndex(leafIndex))
  const path = atPath('proofRelatedNodes', () => decodeNodes(tree, index, proofRelatedNodes))
  atPath('leafIndex', () => verifyLeafIndex(path))
  const subRoot = computeSubRoot(tree.scheme, path)
  const nextFreeNode = path.rootNode.rootPreimage.slice(0, tree.scheme.wordLength)
  const root = tree.scheme.hasher.hash(concatBytes(nextFreeNode, subRoot))
  return { subRoot: bytesToHex(subRoot), root: bytesToHex(root) }
}

/**
 * Decodes an account value: nonce, balance, storage root, the rollup's code hash, keccak256 of the code, code size; 32 bytes
 * each, big-endian. This proves nothing: see {@link verifyExistence}.
 *
 * @param scheme `mimc` or `poseidon2`: decides which elements are canonical
 * @param value 192 bytes, as served
 * @throws ArgumentError if it is not hexadecimal of 192 bytes, `NON_CANONICAL`, `VALUE_OUT_OF_RANGE`
 *
 * @example
 * ```ts
 * import { decodeAccount } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const words = [7n, 5n, 0n, 0n, 0n, 0n].map(word => word.toString(16).padStart(64, '0'))
 * const { nonce, balance } = decodeAccount(poseidon2, `0x${words.join('')}`)
 * console.log(nonce, balance) // 7n 5n
 * ```
 */
export function decodeAccount(scheme: Scheme, value: Hex): AccountFields {
  const { value: bytes } = decodeAccountArgument(scheme, value)
  accountTree.verifyStorable(bytes)
  return accountFieldsOf(bytes, {})
}

function decodeAccountArgument(scheme: Scheme, value: Hex): DecodedValue {
  const { account } = quickTrees(hashSchemeOf(scheme))
  decodeArgument('value', value, accountTree.valueLength)
  return account.decodeValue(value, LEAF_NODE)
}

/**
 * The key hash of an account: it determines the place of the leaf in the sorted list.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param address 20 bytes, any case
 * @returns 32 bytes
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { hashAccountKey } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const hKey = hashAccountKey(poseidon2, '0x0000000000000000000000000000000000000000')
 * console.log(hKey) // 0x225471e76dca970375f18cc4222539bf1893f40b2c28b7d62119af207704c426
 * ```
 */
export function hashAccountKey(scheme: Scheme, address: Hex): Hex {
  return bytesToHex(accountTree.hashKey(hashSchemeOf(scheme), decodeArgument('address', address, 20)))
}

/**
 * The value hash of an account: what its leaf commits to.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param value 192 bytes, as served
 * @returns 32 bytes
 * @throws ArgumentError, `NON_CANONICAL`
 *
 * @example
 * ```ts
 * import { hashAccountValue } from 'rollup-state-proof'
 * import { mimc } from 'rollup-state-proof/mimc'
 *
 * console.log(hashAccountValue(mimc, `0x${'00'.repeat(192)}`).length) // 66
 * ```
 */
export function hashAccountValue(scheme: Scheme, value: Hex): Hex {
  const { preimage } = decodeAccountArgument(scheme, value)
  return bytesToHex(hashSchemeOf(scheme).hasher.hash(preimage))
}

/**
 * The key hash of a storage slot: it determines the place of the leaf in the sorted list.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param storageKey 32 bytes
 * @returns 32 bytes
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { hashStorageKey } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const [first, second] = ['00', '01'].map(byte => hashStorageKey(poseidon2, `0x${byte.repeat(32)}`))
 * console.log(first === second) // false
 * ```
 */
export function hashStorageKey(scheme: Scheme, storageKey: Hex): Hex {
  return bytesToHex(storageTree.hashKey(hashSchemeOf(scheme), decodeArgument('storageKey', storageKey, 32)))
}

/**
 * The value hash of a storage slot: what its leaf commits to.
 *
 * @param scheme `mimc` or `poseidon2`
 * @param value 32 bytes
 * @returns 32 bytes
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { hashStorageKey, hashStorageValue } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * // Keys and values of slots are hashed alike; the place in the leaf tells them apart.
 * const word = `0x${'2a'.repeat(32)}` as const
 * console.log(hashStorageValue(poseidon2, word) === hashStorageKey(poseidon2, word)) // true
 * ```
 */
export function hashStorageValue(scheme: Scheme, value: Hex): Hex {
  const hashScheme = hashSchemeOf(scheme)
  return bytesToHex(hashScheme.hasher.hash(storageTree.valuePreimage(hashScheme, decodeArgument('value', value, 32))))
}
