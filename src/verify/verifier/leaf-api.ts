import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { DecodedValue } from '../proof/tree.ts'
import { hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import { type AccountFields, accountFieldsOf, accountTree, storageTree, type TreeKind } from '../tree/kind.ts'
import { LEAF_NODE } from '../tree/path.ts'
import { quickTrees } from './empty-subtrees.ts'

/** Parts of a leaf proof as hexadecimal, for what shows or makes proofs. None of these verifies anything. */

/** The fields of an account value as served, 192 bytes. @throws ArgumentError, `NON_CANONICAL`, `VALUE_OUT_OF_RANGE` */
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

const hashKey = (tree: TreeKind, scheme: Scheme, name: string, key: Hex): Hex =>
  bytesToHex(tree.hashKey(hashSchemeOf(scheme), decodeArgument(name, key, tree.keyLength)))

export const hashAccountKey = (scheme: Scheme, address: Hex): Hex => hashKey(accountTree, scheme, 'address', address)

export const hashStorageKey = (scheme: Scheme, storageKey: Hex): Hex =>
  hashKey(storageTree, scheme, 'storageKey', storageKey)

export function hashAccountValue(scheme: Scheme, value: Hex): Hex {
  const { preimage } = decodeAccountArgument(scheme, value)
  return bytesToHex(hashSchemeOf(scheme).hasher.hash(preimage))
}

export function hashStorageValue(scheme: Scheme, value: Hex): Hex {
  const hashScheme = hashSchemeOf(scheme)
  return bytesToHex(hashScheme.hasher.hash(storageTree.valuePreimage(hashScheme, decodeArgument('value', value, 32))))
}
