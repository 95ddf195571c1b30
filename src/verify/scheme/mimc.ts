import { bigintToBytes, concatBytes } from '../../base/bytes.ts'
import { BLS12377_ORDER, isCanonicalBls12377 } from '../field/bls12377.ts'
import type { Hasher } from '../hash/hasher.ts'
import { mimcHasher } from '../hash/mimc/kernel.ts'
import { createScheme, type HashScheme } from './scheme.ts'

const HALF_WORD = 16
const ZEROS = /* @__PURE__ */ new Uint8Array(HALF_WORD)
let hasher: Hasher | undefined

export const mimc: HashScheme = /* @__PURE__ */ createScheme({
  name: 'mimc',
  get hasher() {
    hasher ??= mimcHasher()
    return hasher
  },
  wordLength: 32,
  isCanonical: isCanonicalBls12377,
  encodeWord: x => x,
  decodeWord: word => word,
  /** The low half comes first. Each half is an element of its own: below 2^128, and so canonical. */
  encodeBytes32: x => concatBytes(ZEROS, x.subarray(HALF_WORD), ZEROS, x.subarray(0, HALF_WORD)),
  encodeAddress: a => concatBytes(new Uint8Array(12), a),
  tailKey: () => bigintToBytes(BLS12377_ORDER - 1n, 32),
  emptyTreeRoot: '0x07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5',
})
