import { bls12_381 } from '@noble/curves/bls12-381.js'
import { byteAt, concatBytes, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import type { Keys } from './decode.ts'
import { createMemory } from './memory.ts'
import { hashPair, rootOfBytes } from './ssz.ts'

const { longSignatures, G1 } = bls12_381
type PublicKey = ReturnType<typeof G1.Point.fromBytes>

const CIPHERSUITE = /* @__PURE__ */ new TextEncoder().encode('BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_')
const DOMAIN_SYNC_COMMITTEE = /* @__PURE__ */ Uint8Array.of(7, 0, 0, 0)

const hasSigned = (bits: Uint8Array, index: number): boolean => ((byteAt(bits, index >> 3) >> (index & 7)) & 1) === 1

/** Two thirds of the committee have to sign. @param bits one per member @throws ProofError `BEACON_TOO_FEW_SIGNERS` */
export function verifySigners(bits: Uint8Array): number {
  const size = 8 * bits.length
  const needed = Math.ceil((2 * size) / 3)
  let signers = 0
  for (let index = 0; index < size; index++) if (hasSigned(bits, index)) signers++
  if (signers < needed) throw refusal('BEACON_TOO_FEW_SIGNERS', `at least ${needed}`, signers)
  return signers
}

type Points = Map<number, PublicKey>

/**
 * Keys that were decoded, for the committees used last, by their roots: a root has only one list of keys, and was compared with
 * them. A committee signs for 27 hours, mostly with the same members absent, and decoding their keys takes the most time.
 */
const remembered = /* @__PURE__ */ createMemory<Hex, Points>()

/**
 * The sum of the signers' keys: the aggregate key of the committee minus the keys of those who did not sign. These are less
 * than a third, so this takes a fraction of the time. @param root that of `keys`
 */
export function signersKey({ pubkeys, aggregatePubkey }: Keys, root: Hex, bits: Uint8Array): PublicKey {
  const points = remembered.keep(root, remembered.get(root) ?? new Map())
  const remember = (index: number, decode: () => PublicKey): PublicKey => {
    const point = points.get(index) ?? decode()
    points.set(index, point)
    return point
  }
  const aggregate = remember(-1, () => atPath('aggregatePubkey', () => decodePoint(aggregatePubkey)))
  return pubkeys.reduce((sum, key, index) => {
    if (hasSigned(bits, index)) return sum
    return sum.subtract(remember(index, () => atPath(`pubkeys[${index}]`, () => decodePoint(key))))
  }, aggregate)
}

function decodePoint(key: Uint8Array): PublicKey {
  try {
    return G1.Point.fromBytes(key) // on the curve, and in the subgroup
  } catch {
    throw new ProofError('BEACON_KEY_POINT', { expected: 'points of the subgroup' })
  }
}

/** What the committee signs: the root of a block header, bound to a fork of a network. */
export function signingRoot(
  headerRoot: Uint8Array,
  forkVersion: Uint8Array,
  genesisValidatorsRoot: Uint8Array,
): Uint8Array {
  const forkDataRoot = hashPair(rootOfBytes(forkVersion), genesisValidatorsRoot)
  return hashPair(headerRoot, concatBytes(DOMAIN_SYNC_COMMITTEE, forkDataRoot.subarray(0, 28)))
}

export function verifySignature(signature: Uint8Array, message: Uint8Array, publicKey: PublicKey): void {
  const point = decodeSignature(signature)
  if (!longSignatures.verify(point, longSignatures.hash(message, CIPHERSUITE), publicKey)) {
    throw new ProofError('BEACON_SIGNATURE_MISMATCH', { expected: 'a signature of these signers' })
  }
}

function decodeSignature(signature: Uint8Array): ReturnType<typeof longSignatures.Signature.fromBytes> {
  try {
    const point = longSignatures.Signature.fromBytes(signature) // on the curve, and in the subgroup
    if (!point.is0()) return point
  } catch {
    // Reported below.
  }
  throw new ProofError('BEACON_SIGNATURE_POINT', { expected: 'a point of the subgroup' })
}
