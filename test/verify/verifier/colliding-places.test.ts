import { describe, expect, it } from 'vitest'
import { bytesToHex, hexToBytes, uint32At } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { type Hex, isProofError, verifyProof } from '../../../src/entry/index.ts'
import type { Hasher } from '../../../src/verify/hash/hasher.ts'
import { plainTrees } from '../../../src/verify/proof/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { createScheme, type HashScheme } from '../../../src/verify/scheme/scheme.ts'
import { encodeOpening } from '../../../src/verify/tree/encode.ts'
import { storageTree } from '../../../src/verify/tree/kind.ts'
import { hashStorageKey } from '../../../src/verify/verifier/leaf-api.ts'
import { rememberingHasher, shareNodes } from '../../../src/verify/verifier/shared-nodes.ts'
import { createVerifierWithin } from '../../../src/verify/verifier/verifier.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'

/**
 * A memory finds a message by its place, and compares all of it. Whoever makes an answer can choose messages with the place of
 * others: eight thousand tries find a leaf that does not exist, beside a true path that the verifier has just hashed. If the
 * memory left out one comparison, such a leaf would be proven.
 */

const SLOTS = 21
const address = addressFor('contract')
/** The slot that does not exist. */
const FORGED = keyFor('forged')

interface LeafProof {
  key: Hex
  leafIndex: number
  proof: { value: Hex; proofRelatedNodes: Hex[] }
}

function setUp(scheme: HashScheme) {
  const world = createWorld(scheme)
  world.setAccount(address, { balance: 1n })
  for (let index = 0; index < SLOTS; index++) world.setStorage(address, { key: keyFor(index), value: wordFor(7) })
  const keys = Array.from({ length: SLOTS }, (_, index) => keyFor(index))
  const { accountProof, storageProofs } = world.getProof(address, keys)
  const proofs = storageProofs as unknown as LeafProof[]
  const at = (leafIndex: number): LeafProof => {
    const proof = proofs.find(one => one.leafIndex === leafIndex)
    if (proof === undefined) throw new Error(`no leaf ${leafIndex}`)
    return proof
  }
  const stateRoot = world.stateRoot()
  const bytesOf = (hex: Hex) => hexToBytes(hex, hex.length / 2 - 1)
  const value = wordFor(9)
  const hVal = scheme.hasher.hash(storageTree.valuePreimage(scheme, bytesOf(value)))
  const hKey = bytesOf(hashStorageKey(scheme, FORGED))
  /** A leaf for the slot that does not exist, in many spellings: the link to the leaf before it may be anything. */
  const forgedOpening = (prev: number) => encodeOpening(scheme, { prev, next: 1, hKey, hVal })
  /** The path of another leaf, which ends in the forged one. */
  const forge = ({ leafIndex, proof }: LeafProof, opening: Uint8Array): LeafProof => ({
    ...{ key: FORGED, leafIndex },
    proof: { value, proofRelatedNodes: proof.proofRelatedNodes.with(41, bytesToHex(opening)) },
  })
  const openingsOf = ({ proof }: LeafProof) => [40, 41].map(node => bytesOf(proof.proofRelatedNodes[node] ?? '0x'))
  return { accountProof, at, stateRoot, forgedOpening, forge, openingsOf }
}

/** The place of a message by the ends of its last two digests, as in `src/verify/verifier/shared-nodes.ts`. */
function placeOf(left: Uint8Array, right: Uint8Array): number {
  const mixed = Math.imul(uint32At(right, 28), 0x9e3779b1) ^ Math.imul(uint32At(left, 28), 0x85ebca6b)
  return (mixed ^ (mixed >>> 15)) & 8191
}

const codeOf = (verify: () => unknown): string => {
  try {
    verify()
  } catch (error) {
    return isProofError(error) ? error.code : String(error)
  }
  return 'accepted'
}

describe.each([mimc, poseidon2])('$name', scheme => {
  const { accountProof, at, stateRoot, forgedOpening, forge, openingsOf } = setUp(scheme)
  const { hash } = scheme.hasher
  const claimFor = (...storageKeys: Hex[]) => ({ stateRoot, address, storageKeys })

  /** The first forged leaf for which this holds. */
  function grind(holds: (digest: Uint8Array, opening: Uint8Array) => boolean): Uint8Array {
    for (let prev = 0; prev < 200_000; prev++) {
      const opening = forgedOpening(prev)
      if (holds(hash(opening), opening)) return opening
    }
    throw new Error('no leaf has this place')
  }

  it.each([
    // A leaf on the right of its sibling, and on the left: the half that is forged is the second, or the first.
    ['the right half of two', 7, 7],
    ['the left half of two', 6, 6],
    // The two were hashed as one message: as an inner node on the way to a leaf beside them.
    ['the right half of a node', 7, 4],
    ['the left half of a node', 6, 4],
  ])('refuses a leaf whose parent has the place of the true one, with another digest in %s', (_, index, known) => {
    const target = at(index)
    const [sibling, own] = openingsOf(target).map(hash) as [Uint8Array, Uint8Array]
    const place = (digest: Uint8Array) => (index % 2 === 1 ? placeOf(sibling, digest) : placeOf(digest, sibling))
    const opening = grind(digest => place(digest) === place(own))
    const answer = { accountProof, storageProofs: [at(known), forge(target, opening)] }
    const verify = () => verifyProof(answer, { ...claimFor(at(known).key, FORGED), scheme })
    expect(codeOf(verify)).toBe('SUB_ROOT_MISMATCH')
  })

  it('refuses a leaf that has the place of the true one', () => {
    const target = at(7)
    const [, own] = openingsOf(target)
    const ends = (opening: Uint8Array) => [opening.subarray(-64, -32), opening.subarray(-32)] as const
    // The place of a leaf depends on its hashes of key and value alone, so the sender chooses among values.
    const values = Array.from({ length: 60_000 }, (_, index) => wordFor(index + 10))
    const wanted = placeOf(...ends(own as Uint8Array))
    const [hKey] = ends(forgedOpening(0))
    const value = values.find(word => {
      const hVal = hash(storageTree.valuePreimage(scheme, hexToBytes(word, 32)))
      return placeOf(hKey, hVal) === wanted
    })
    const hVal = hash(storageTree.valuePreimage(scheme, hexToBytes(value ?? '0x', 32)))
    const forged = forge(target, encodeOpening(scheme, { prev: 0, next: 1, hKey, hVal }))
    const answer = { accountProof, storageProofs: [target, { ...forged, proof: { ...forged.proof, value } }] }
    const verify = () => verifyProof(answer, { ...claimFor(target.key, FORGED), scheme })
    expect(codeOf(verify)).toBe('SUB_ROOT_MISMATCH')
  })

  it('refuses every forged leaf beside a true one, with so few places that many have the same', () => {
    const [places, tries] = [64, scheme.name === 'mimc' ? 150 : 300]
    let refused = 0
    for (const index of [6, 7, 10, 11]) {
      const target = at(index)
      const verifier = createVerifierWithin(places, scheme)
      for (let prev = 0; prev < tries; prev++) {
        // The true path is hashed again, because the forged one has taken some of its places.
        verifier.verifyProof({ accountProof, storageProofs: [target] }, claimFor(target.key))
        const forged = forge(target, forgedOpening(prev))
        const verify = () => verifier.verifyProof({ accountProof, storageProofs: [forged] }, claimFor(FORGED))
        expect(codeOf(verify)).toBe('SUB_ROOT_MISMATCH')
        refused++
      }
    }
    expect(refused).toBe(4 * tries)
  })

  it('reuses nothing of a path whose hashing has failed', () => {
    let left = Number.POSITIVE_INFINITY
    const failing: Hasher = {
      ...scheme.hasher,
      hash(message) {
        if (--left < 0) throw new Error('out of memory')
        return hash(message)
      },
    }
    const shared = shareNodes(plainTrees(createScheme({ ...scheme, hasher: failing })), 2).storage.scheme.hasher
    const siblings = Array.from({ length: 5 }, (_, index) => hash(new Uint8Array(32).fill(index)))
    const [first, second] = [8, 9].map(fill => hash(new Uint8Array(32).fill(fill))) as [Uint8Array, Uint8Array]
    for (const hasher of [shared, rememberingHasher(failing, 256)]) {
      left = Number.POSITIVE_INFINITY
      const top = hasher.foldPath(first, siblings, 5)
      left = 3
      expect(() => hasher.foldPath(second, siblings, 5)).toThrow('out of memory')
      left = Number.POSITIVE_INFINITY
      const expected = bytesToHex(scheme.hasher.foldPath(second, siblings, 5))
      expect(bytesToHex(hasher.foldPath(second, siblings, 5))).toBe(expected)
      expect(bytesToHex(top)).not.toBe(expected)
    }
  })
})
