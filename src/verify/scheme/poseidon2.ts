import { byteAt } from '../../base/bytes.ts'
import { isCanonicalKoalaBear } from '../field/koalabear.ts'
import type { Hasher } from '../hash/hasher.ts'
import { poseidon2Hasher } from '../hash/poseidon2/kernel.ts'
import { createScheme, type HashScheme } from './scheme.ts'

let hasher: Hasher | undefined

/** p - 1 = 0x7f000000, eight times. */
const TAIL_KEY = /* @__PURE__ */ Uint8Array.from({ length: 32 }, (_, index) => (index % 4 === 0 ? 0x7f : 0))

/** Each 2-byte piece of `x`, in order, as a 4-byte field element: the two upper bytes are zero. */
function widen(x: Uint8Array): Uint8Array {
  const wide = new Uint8Array(x.length * 2)
  for (let offset = 0; offset < x.length; offset += 2) {
    wide[2 * offset + 2] = byteAt(x, offset)
    wide[2 * offset + 3] = byteAt(x, offset + 1)
  }
  return wide
}

/** Inverse of {@link widen}; null if an upper byte is not zero. */
function narrow(wide: Uint8Array): Uint8Array | null {
  const x = new Uint8Array(wide.length / 2)
  let stray = 0
  for (let offset = 0; offset < x.length; offset += 2) {
    stray |= byteAt(wide, 2 * offset) | byteAt(wide, 2 * offset + 1)
    x[offset] = byteAt(wide, 2 * offset + 2)
    x[offset + 1] = byteAt(wide, 2 * offset + 3)
  }
  return stray === 0 ? x : null
}

export const poseidon2: HashScheme = /* @__PURE__ */ createScheme({
  name: 'poseidon2',
  get hasher() {
    hasher ??= poseidon2Hasher()
    return hasher
  },
  wordLength: 64,
  isCanonical: isCanonicalKoalaBear,
  encodeWord: widen,
  decodeWord: narrow,
  encodeBytes32: widen,
  encodeAddress: widen,
  tailKey: () => TAIL_KEY.slice(),
  emptyTreeRoot: '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7',
})
