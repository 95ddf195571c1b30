import { viewOf } from '../bytes.ts'
import { isCanonicalKoalaBear, KOALABEAR_ORDER } from '../field/koalabear.ts'
import { poseidon2Hasher } from '../hash/poseidon2.ts'
import { once, type Scheme } from './scheme.ts'

const hasher = /* @__PURE__ */ once(poseidon2Hasher)

/** Each 2-byte piece of `x`, in order, as a 4-byte field element: the two upper bytes are zero. */
function widen(x: Uint8Array): Uint8Array {
  const wide = new Uint8Array(x.length * 2)
  const [pieces, elements] = [viewOf(x), viewOf(wide)]
  for (let offset = 0; offset < x.length; offset += 2) elements.setUint32(offset * 2, pieces.getUint16(offset))
  return wide
}

/** Takes {@link widen} back; null when an upper byte is not zero. */
function narrow(wide: Uint8Array): Uint8Array | null {
  const x = new Uint8Array(wide.length / 2)
  const [pieces, elements] = [viewOf(x), viewOf(wide)]
  let stray = 0
  for (let offset = 0; offset < x.length; offset += 2) {
    const element = elements.getUint32(offset * 2)
    stray |= element >>> 16
    pieces.setUint16(offset, element)
  }
  return stray === 0 ? x : null
}

/**
 * Poseidon2 over KoalaBear: the Linea networks since the "small fields" upgrade of spring 2026.
 * A digest is eight field elements of 4 bytes.
 */
export const poseidon2: Scheme = {
  name: 'poseidon2',
  get hasher() {
    return hasher()
  },
  wordLength: 64,
  isCanonical: isCanonicalKoalaBear,
  word: widen,
  unword: narrow,
  full: widen,
  address: widen,
  largestKey: () => {
    const key = new Uint8Array(32)
    const elements = viewOf(key)
    for (let offset = 0; offset < 32; offset += 4) elements.setUint32(offset, KOALABEAR_ORDER - 1)
    return key
  },
}
