import { bytesToHex, concatBytes, hexToBytes } from '../../src/base/bytes.ts'
import { createWorld } from '../../src/devnet/index.ts'
import type { Hex, Scheme } from '../../src/entry/index.ts'
import { hashSchemeOf } from '../../src/verify/scheme/scheme.ts'
import { encodeOpening, encodeRootNode } from '../../src/verify/tree/encode.ts'
import { TREE_DEPTH } from '../../src/verify/tree/leaf.ts'
import { emptySubtreeDigests } from '../../src/verify/verifier/empty-subtrees.ts'
import { hashAccountKey, hashAccountValue } from '../../src/verify/verifier/leaf-api.ts'
import { changeInteger, type LooseLeafProof, type PlantedLeaf, plantSentinels, plantTree } from '../forge.ts'
import { addressFor } from '../vector.ts'
import { PLAIN } from '../world.ts'
import { range, type Truth } from './forgery.ts'

/** An account value with these fields, 192 bytes. */
export function accountValueOf(scheme: Scheme, { nonce = 0n, codeSize = 0n }: { nonce?: bigint; codeSize?: bigint }) {
  const world = createWorld(scheme)
  world.setAccount(PLAIN)
  const { accountProof } = world.getProof(PLAIN)
  const value = 'proof' in accountProof ? accountProof.proof.value : '0x'
  const withNonce = changeInteger(value, 0, 32, () => nonce)
  return changeInteger(withNonce, 160, 32, () => codeSize)
}

/** A state of one account between HEAD and TAIL, with the forger's changes. Default index: 2. */
export function plantAccount(
  scheme: Scheme,
  address: Hex,
  change: Partial<Omit<PlantedLeaf, 'value'>> & { value?: Hex },
  others: readonly PlantedLeaf[] = [],
) {
  const value = change.value ?? accountValueOf(scheme, {})
  const planted = { index: 2, prev: 0, next: 1, hKey: hashAccountKey(scheme, address), value, ...change }
  const leaf = { hVal: hashAccountValue(scheme, value), ...planted }
  const sentinels = plantSentinels(scheme, 2, 2).filter(({ index }) => index !== leaf.index)
  const tree = plantTree(scheme, [...sentinels, leaf, ...others], 4)
  const accountProof = { key: address, leafIndex: leaf.index, proof: tree.prove(leaf.index) }
  return { root: tree.root, answer: { accountProof, storageProofs: [] } }
}

/** A state of one account whose sibling leaf is the digest of any message. */
export function plantSibling(genuine: Scheme, address: Hex, message: Hex) {
  const scheme = hashSchemeOf(genuine)
  const value = accountValueOf(genuine, {})
  const leaf = { prev: 0, next: 1, hKey: hexToBytes(hashAccountKey(genuine, address), 32) }
  const opening = encodeOpening(scheme, { ...leaf, hVal: hexToBytes(hashAccountValue(genuine, value), 32) })
  const empty = emptySubtreeDigests(scheme.hasher)
  const sibling = hexToBytes(message, message.length / 2 - 1)
  const digests = [scheme.hasher.hash(sibling), ...empty.slice(1, TREE_DEPTH)]
  const subRoot = scheme.hasher.foldPath(scheme.hasher.hash(opening), digests, 2)
  const node0 = encodeRootNode(scheme, 4, subRoot)
  const inner = empty.slice(0, TREE_DEPTH - 1).map(child => concatBytes(child, child))
  const proof = { value, proofRelatedNodes: [node0, ...inner.toReversed(), sibling, opening].map(bytesToHex) }
  const root = bytesToHex(scheme.hasher.hash(node0))
  return { root, answer: { accountProof: { key: address, leafIndex: 2, proof }, storageProofs: [] } }
}

/** A state of two accounts around the hash of `address`, wrong in one respect. */
export function plantGap(
  scheme: Scheme,
  address: Hex,
  { leftNext = 3, rightPrev = 2, reversed = false }: { leftNext?: number; rightPrev?: number; reversed?: boolean },
) {
  const value = accountValueOf(scheme, {})
  const hVal = hashAccountValue(scheme, value)
  const keyHash = hashAccountKey(scheme, address)
  const shift = (by: bigint) => changeInteger(keyHash, 28, 4, x => x + by)
  const [below, above] = [shift(-1n), shift(1n)]
  const tree = plantTree(
    scheme,
    [
      ...plantSentinels(scheme, 2, 3),
      { index: 2, prev: 0, next: leftNext, hKey: reversed ? above : below, hVal, value },
      { index: 3, prev: rightPrev, next: 1, hKey: reversed ? below : above, hVal, value },
    ],
    5,
  )
  const accountProof = {
    key: address,
    leftLeafIndex: 2,
    leftProof: tree.prove(2),
    rightLeafIndex: 3,
    rightProof: tree.prove(3),
  }
  return { root: tree.root, answer: { accountProof, storageProofs: [] } }
}

/** True proofs of HEAD and TAIL. */
export function headAndTail({ scheme, world }: Truth) {
  const proofs = range(300).map(
    index => world.getProof(addressFor(`absent ${index}`)).accountProof as unknown as LooseLeafProof,
  )
  const left = proofs.find(proof => proof.leftLeafIndex === 0)
  const right = proofs.find(proof => proof.rightLeafIndex === 1)
  if (left === undefined || right === undefined) throw new Error(`no gap at the ends of the ${scheme.name} list`)
  return { leftLeafIndex: 0, leftProof: left.leftProof, rightLeafIndex: 1, rightProof: right.rightProof }
}
