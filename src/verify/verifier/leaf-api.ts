import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { DecodedValue, Trees } from '../proof/tree.ts'
import { hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import { type AccountFields, accountFieldsOf, accountTree, storageTree, type TreeKind } from '../tree/kind.ts'
import { LEAF_NODE } from '../tree/path.ts'
import { quickTrees } from './empty-subtrees.ts'

// For what shows or makes proofs. None of these verifies anything.

/** The fields of an account value as served, 192 bytes. @throws ArgumentError, `NON_CANONICAL`, `VALUE_OUT_OF_RANGE` */
export function decodeAccount(scheme: Scheme, value: Hex): AccountFields {
  const { value: bytes } = decodeValue('account', scheme, value)
  accountTree.verifyStorable(bytes)
  return accountFieldsOf(bytes, {})
}

function decodeValue(of: keyof Trees, scheme: Scheme, value: Hex): DecodedValue {
  const tree = quickTrees(hashSchemeOf(scheme))[of]
  decodeArgument('value', value, tree.kind.valueLength)
  return tree.decodeValue(value, LEAF_NODE)
}

const hashKey = (tree: TreeKind, scheme: Scheme, name: string, key: Hex): Hex =>
  bytesToHex(tree.hashKey(hashSchemeOf(scheme), decodeArgument(name, key, tree.keyLength)))

export const hashAccountKey = (scheme: Scheme, address: Hex): Hex => hashKey(accountTree, scheme, 'address', address)

export const hashStorageKey = (scheme: Scheme, storageKey: Hex): Hex =>
  hashKey(storageTree, scheme, 'storageKey', storageKey)

const hashValue = (of: keyof Trees, scheme: Scheme, value: Hex): Hex =>
  bytesToHex(hashSchemeOf(scheme).hasher.hash(decodeValue(of, scheme, value).preimage))

export const hashAccountValue = (scheme: Scheme, value: Hex): Hex => hashValue('account', scheme, value)

export const hashStorageValue = (scheme: Scheme, value: Hex): Hex => hashValue('storage', scheme, value)
