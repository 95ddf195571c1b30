import { expect } from 'vitest'
import { bytesToHex, concatBytes, type Hex, hexToBytes } from '../../../src/base/bytes.ts'
import { createWorld, type World } from '../../../src/devnet/index.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import type { HashScheme } from '../../../src/verify/scheme/scheme.ts'
import type { ExistenceProof, NonExistenceProof, Proof } from '../../../src/verify/tree/answer.ts'
import { naiveOpen } from './naive.ts'

export const schemes = [mimc, poseidon2]
const hex = (x: number | bigint, length: number): Hex => `0x${x.toString(16).padStart(2 * length, '0')}`
export const address = (x: number): Hex => hex(x, 20)
export const word = (x: number | bigint): Hex => hex(x, 32)
export const ZERO = word(0)
export const MAX_INDEX = 2 ** 40 - 1

/** Key and value hashes, as the tree format defines them. */
export const accountHash = (scheme: HashScheme, a: Hex) => scheme.hasher.hash(scheme.encodeAddress(hexToBytes(a, 20)))
export const fullHash = (scheme: HashScheme, x: Hex) => scheme.hasher.hash(scheme.encodeBytes32(hexToBytes(x, 32)))

/** The value hash of the account as the world reports it. */
export function accountValueHash(scheme: HashScheme, world: World, a: Hex): Uint8Array {
  const account = world.getAccount(a)
  if (account === null) throw new Error(`no account ${a}`)
  const bytes = (x: Hex) => hexToBytes(x, 32)
  const small = (x: bigint) => scheme.encodeWord(bytes(word(x)))
  const { nonce, balance, storageRoot, snarkCodeHash, codeHash, codeSize } = account
  const [root, snark] = [bytes(storageRoot), bytes(snarkCodeHash)]
  return scheme.hasher.hash(
    concatBytes(small(nonce), small(balance), root, snark, scheme.encodeBytes32(bytes(codeHash)), small(codeSize)),
  )
}

type LeafProof = ExistenceProof | NonExistenceProof

/** The proofs in a leaf proof with their indices: one if the key exists, else those of its two neighbours. */
export function proofsIn(leafProof: LeafProof): { index: number; proof: Proof }[] {
  if ('proof' in leafProof) return [{ index: leafProof.leafIndex, proof: leafProof.proof }]
  const { leftLeafIndex, leftProof, rightLeafIndex, rightProof } = leafProof
  return [
    { index: leftLeafIndex, proof: leftProof },
    { index: rightLeafIndex, proof: rightProof },
  ]
}

/** Opens every path, and expects that it leads to `root` and that the leaves prove what the form claims. */
export function expectProves(scheme: HashScheme, root: Hex, hKey: Uint8Array, leafProof: LeafProof): void {
  const opened = proofsIn(leafProof).map(({ index, proof }) => naiveOpen(scheme, index, proof))
  for (const { root: found } of opened) expect(found).toBe(root)
  const [left, right] = opened.map(({ leaf }) => leaf)
  if ('proof' in leafProof) {
    expect(left?.hKey).toBe(bytesToHex(hKey))
  } else {
    expect(left?.next).toBe(leafProof.rightLeafIndex)
    expect(right?.prev).toBe(leafProof.leftLeafIndex)
    // Lower-case hex strings of equal length sort like their bytes.
    expect([left?.hKey, bytesToHex(hKey), right?.hKey].toSorted()).toEqual([left?.hKey, bytesToHex(hKey), right?.hKey])
    expect(new Set([left?.hKey, bytesToHex(hKey), right?.hKey]).size).toBe(3)
  }
}

export const ALICE = address(0xa11ce)
export const BOB = address(0xb0b)

/** A world with one account. */
export function worldWithAlice(scheme: HashScheme): World {
  const world = createWorld(scheme)
  world.setAccount(ALICE, { balance: 7n })
  return world
}

/** The leaf index of an account or slot that must exist. */
export function leafIndexOf(leafProof: LeafProof | null | undefined): number {
  if (!leafProof || !('leafIndex' in leafProof)) throw new Error('it does not exist')
  return leafProof.leafIndex
}
export const slotIndex = (world: World, key: Hex) => leafIndexOf(world.getProof(ALICE, [key]).storageProofs[0])

/** The published root of an empty tree. */
export const EMPTY_ROOT: Readonly<Record<HashScheme['name'], Hex>> = {
  mimc: '0x07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5',
  poseidon2: '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7',
}
