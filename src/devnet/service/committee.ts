import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bigintToBytes, byteAt, bytesToBigint } from '../../base/bytes.ts'
import { MAINNET_PRESET } from '../../verify/beacon/network.ts'
import { hashPair, merkleize, rootOfBytes } from '../../verify/beacon/ssz.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'

const { committeeSize } = MAINNET_PRESET
/** More keys than a committee has members, so that the members change with each period. */
const POOL_SIZE = 640
const STEP = 37
const DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

const { Point, Fn } = { Point: bls12_381.G1.Point, Fn: bls12_381.fields.Fr }

type SimulatedCommittee = ReturnType<typeof makeCommittee>

/** Computed once and shared by all services in this process: the public keys, and at most {@link POOL_SIZE} committees. */
let pool: readonly Uint8Array[] | undefined
const made = /* @__PURE__ */ new Map<number, SimulatedCommittee>()

function createPool(): readonly Uint8Array[] {
  const points = [Point.BASE.multiply(firstSecret())]
  for (let index = 1; index < POOL_SIZE; index++) points.push((points[index - 1] ?? Point.BASE).add(Point.BASE))
  return normalizeZ(Point, points).map(encodeKey)
}

/**
 * Encodes a public key in 48 bytes. The point's own `toBytes` first checks that the point is in the subgroup. That takes a
 * hundred times as long, and multiples of the base point are always in it.
 */
export function encodeKey(point: { toAffine(): { x: bigint; y: bigint } }): Uint8Array {
  const { x, y } = point.toAffine()
  const bytes = bigintToBytes(x, 48)
  // The flags: compressed, and which of the two points with this x.
  bytes[0] = byteAt(bytes, 0) | (2n * y > bls12_381.fields.Fp.ORDER ? 0xa0 : 0x80)
  return bytes
}

const firstSecret = (): bigint =>
  Fn.create(bytesToBigint(keccak256(new TextEncoder().encode('the committees of a devnet'))))

/**
 * The secret keys are consecutive numbers. So each public key is one addition away from the previous one, and the aggregate
 * signature of many members is a single signature by the sum of their keys. This is a simulation: everybody knows these keys.
 */
function makeCommittee(shift: number) {
  const first = firstSecret()
  pool ??= createPool()
  const keys = pool
  const members = Array.from({ length: committeeSize }, (_, index) => (shift + index) % POOL_SIZE)
  const pubkeys = members.map(member => keys[member] ?? new Uint8Array(48))
  const secretOf = (signs: (index: number) => boolean): bigint =>
    members.reduce((sum, member, index) => (signs(index) ? Fn.add(sum, first + BigInt(member)) : sum), 0n)
  const aggregate = Point.BASE.multiply(secretOf(() => true)).toBytes()
  return {
    /** 48 bytes each, like the aggregate. */
    pubkeys,
    aggregate,
    root: hashPair(merkleize(pubkeys.map(rootOfBytes)), rootOfBytes(aggregate)),
    /** @param signs whether the member at this index signs @returns 96 bytes */
    sign(message: Uint8Array, signs: (index: number) => boolean): Uint8Array {
      const { longSignatures } = bls12_381
      const signature = longSignatures.sign(longSignatures.hash(message, DOMAIN), Fn.toBytes(secretOf(signs)))
      return longSignatures.Signature.toBytes(signature)
    },
  }
}

export function committeeOf(period: number): SimulatedCommittee {
  const shift = (period * STEP) % POOL_SIZE
  const committee = made.get(shift) ?? makeCommittee(shift)
  made.set(shift, committee)
  return committee
}
