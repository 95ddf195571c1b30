import { hexToBytes, knownLength } from '../../base/bytes.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { accountTree, storageTree, type TreeKind } from '../tree/kind.ts'
import { DIGEST_LENGTH, decodeOpening, openingLength, verifyCanonical } from '../tree/leaf.ts'
import { decodeRootNode, decodeSiblingLeaf, INNER_LENGTH, type Path, rootLength } from '../tree/path.ts'

// Each check of this file is a rule of test/soundness/Rules.v.

/** How the proofs of one kind of tree are decoded and hashed. Decoders and hasher are pure, so a memory may wrap them. */
export interface Tree {
  readonly scheme: HashScheme
  readonly kind: TreeKind
  readonly decodeRootNode: Decode<Path['rootNode']>
  /** One of the 39 inner siblings. Returns its preimage, canonical. */
  readonly decodeInner: Decode<Uint8Array>
  readonly decodeSiblingLeaf: Decode<Path['siblingLeaf']>
  readonly decodeLeafNode: Decode<Path['leafNode']>
  /** A value of `kind.valueLength` bytes. */
  readonly decodeValue: Decode<DecodedValue>
}

/** Also checks the length. @param node the index of the node in `proofRelatedNodes`; for a value, that of its leaf */
export type Decode<T> = (hex: string, node: number) => T

/** A value as served. That of HEAD or TAIL in the tree of accounts is its own preimage, and need not be canonical. */
export interface DecodedValue {
  readonly value: Uint8Array
  /** The message whose hash is the value hash in its leaf. */
  readonly preimage: Uint8Array
}

export interface Trees {
  readonly account: Tree
  readonly storage: Tree
}

export function plainTree(scheme: HashScheme, kind: TreeKind): Tree {
  const decode = (hex: string, ...lengths: number[]): Uint8Array => {
    const bytes = hexToBytes(hex, knownLength(hex, lengths))
    verifyCanonical(scheme, bytes)
    return bytes
  }
  return {
    scheme,
    kind,
    decodeRootNode: hex => decodeRootNode(scheme, decode(hex, rootLength(scheme))),
    decodeInner: hex => decode(hex, INNER_LENGTH),
    decodeSiblingLeaf: hex => decodeSiblingLeaf(scheme, decode(hex, openingLength(scheme), DIGEST_LENGTH)),
    decodeLeafNode: hex => decodeOpening(scheme, decode(hex, openingLength(scheme))),
    decodeValue: hex => {
      const value = hexToBytes(hex, kind.valueLength)
      const preimage = kind.valuePreimage(scheme, value)
      verifyCanonical(scheme, preimage)
      return { value, preimage }
    },
  }
}

/** The trees of an answer, without a memory. */
export const plainTrees = (scheme: HashScheme): Trees => ({
  account: plainTree(scheme, accountTree),
  storage: plainTree(scheme, storageTree),
})
