import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError, within } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { accountEntry, decodeAccountValue, decodeValue, storageEntry, type ValueNode } from '../tree/entry.ts'
import { computeSubRoot, computeRoot as computeTreeRoot, verifyLeafIndex } from '../tree/path.ts'
import { decodeArgument, verifyScheme } from './claim.ts'
import { type DecodedLeafProof, decodeLeafIndex, decodeLeafProof } from './decode.ts'
import { knownEmptyNodes } from './known-nodes.ts'
import { type LeafClaim, verifyLeafProof } from './leaf-proof.ts'
import { decodeNodes } from './nodes.ts'
import { type AccountFields, toAccountFields } from './verify.ts'

/** One key of one tree, and the root of that tree which you trust. */
export type LeafProofClaim =
  | {
      scheme: Scheme
      /** Root of the tree of accounts, 32 bytes. */
      stateRoot: Hex
      /** 20 bytes. */
      address: Hex
    }
  | {
      scheme: Scheme
      /** Root of one account's storage tree, 32 bytes: the `storageRoot` of a verified account. */
      storageRoot: Hex
      /** 32 bytes. */
      storageKey: Hex
    }

/**
 * Verifies one leaf proof: that the key exists, with this value.
 *
 * @param leafProof the `accountProof`, or one of the `storageProofs`, of an answer
 * @returns the value as served: 192 bytes for an account (see {@link decodeAccount}), 32 for a slot
 * @throws ProofError; `MALFORMED_RESPONSE` also when it is a proof of absence
 */
export function verifyExistence(leafProof: unknown, claim: LeafProofClaim): { leafIndex: number; value: Hex } {
  const leafClaim = decodeLeafClaim(claim)
  const decoded = decodeClaimed('existence', leafProof, leafClaim)
  verifyLeafProof(leafClaim, decoded)
  return { leafIndex: decoded.proof.path.leafIndex, value: bytesToHex(decoded.proof.valueNode.value) }
}

/**
 * Verifies one leaf proof: that the key does not exist, because two neighbouring leaves leave no place for it.
 *
 * @param leafProof the `accountProof`, or one of the `storageProofs`, of an answer
 * @throws ProofError; `MALFORMED_RESPONSE` also when it is a proof of existence
 */
export function verifyNonExistence(
  leafProof: unknown,
  claim: LeafProofClaim,
): { leftLeafIndex: number; rightLeafIndex: number } {
  const leafClaim = decodeLeafClaim(claim)
  const decoded = decodeClaimed('absence', leafProof, leafClaim)
  verifyLeafProof(leafClaim, decoded)
  return { leftLeafIndex: decoded.left.path.leafIndex, rightLeafIndex: decoded.right.path.leafIndex }
}

function decodeLeafClaim(claim: LeafProofClaim): LeafClaim {
  const scheme = verifyScheme(claim?.scheme)
  if ('storageKey' in claim) {
    const root = decodeArgument('storageRoot', claim.storageRoot, 32)
    return { scheme, kind: storageEntry, root, key: decodeArgument('storageKey', claim.storageKey, 32) }
  }
  const root = decodeArgument('stateRoot', claim.stateRoot, 32)
  return { scheme, kind: accountEntry, root, key: decodeArgument('address', claim.address, 20) }
}

function decodeClaimed<Form extends DecodedLeafProof['claims']>(
  form: Form,
  leafProof: unknown,
  { scheme, kind }: LeafClaim,
): Extract<DecodedLeafProof, { claims: Form }> {
  const decoded = decodeLeafProof({ scheme, kind, known: knownEmptyNodes(scheme) }, leafProof)
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
 * Recomputes the sub-root (the top of the 40 levels) and the root that a path leads to. It compares nothing: a root
 * proves something only when it equals one you trust.
 *
 * @param proofRelatedNodes the 42 entries of a proof, root first
 * @returns 32 bytes each
 * @throws ProofError when an entry has the wrong length or is not canonical, or the index is out of range
 */
export function computeRoot(
  scheme: Scheme,
  leafIndex: number,
  proofRelatedNodes: readonly Hex[],
): { subRoot: Hex; root: Hex } {
  verifyScheme(scheme)
  const index = within('leafIndex', () => decodeLeafIndex(leafIndex))
  const context = { scheme, known: knownEmptyNodes(scheme) }
  const nodes = within('proofRelatedNodes', () => decodeNodes(context, proofRelatedNodes))
  const path = { leafIndex: index, ...nodes }
  within('leafIndex', () => verifyLeafIndex(path))
  const subRoot = computeSubRoot(scheme, path)
  return { subRoot: bytesToHex(subRoot), root: bytesToHex(computeTreeRoot(scheme, nodes.top.nextFreeNode, subRoot)) }
}

/**
 * Takes an account value apart.
 *
 * @param value 192 bytes, as served
 * @throws ProofError `CLAIM_INVALID` when it is not hexadecimal of 192 bytes, `NON_CANONICAL`, `VALUE_OUT_OF_RANGE`
 */
export function decodeAccount(scheme: Scheme, value: Hex): AccountFields {
  const bytes = decodeAccountArgument(scheme, value).value
  accountEntry.verifyStorable(bytes)
  return toAccountFields(decodeAccountValue(bytes))
}

function decodeAccountArgument(scheme: Scheme, value: Hex): ValueNode {
  return decodeValue(accountEntry, verifyScheme(scheme), decodeArgument('value', value, accountEntry.valueLength))
}

/** The key hash of an account: where its leaf stands in the sorted list. `address` is 20 bytes, the hash 32. */
export function hashAccountKey(scheme: Scheme, address: Hex): Hex {
  return bytesToHex(accountEntry.hashKey(verifyScheme(scheme), decodeArgument('address', address, 20)))
}

/** The value hash of an account. `value` is 192 bytes as served, the hash 32. */
export function hashAccountValue(scheme: Scheme, value: Hex): Hex {
  const { preimage } = decodeAccountArgument(scheme, value)
  return bytesToHex(scheme.hasher.hash(preimage))
}

/** The key hash of a storage slot: where its leaf stands in the sorted list. Both are 32 bytes. */
export function hashStorageKey(scheme: Scheme, storageKey: Hex): Hex {
  return bytesToHex(storageEntry.hashKey(verifyScheme(scheme), decodeArgument('storageKey', storageKey, 32)))
}

/** The value hash of a storage slot. Both are 32 bytes. */
export function hashStorageValue(scheme: Scheme, value: Hex): Hex {
  const bytes = decodeArgument('value', value, 32)
  return bytesToHex(verifyScheme(scheme).hasher.hash(storageEntry.valuePreimage(scheme, bytes)))
}
