import { KOALABEAR_ORDER as P } from '../../field/koalabear.ts'

/** An integer or a fraction whose denominator divides 2^24, as an element: p = 127 * 2^24 + 1, so 2^-24 = -127. */
const toElement = (x: number): number => (P - ((127 * 2 ** 24 * x) % P)) % P

/** The internal matrix is all ones, plus these on its diagonal. */
export function diagonal(): readonly number[] {
  const first = [-2, 1, 2, 1 / 2, 3, 4, -1 / 2, -3, -4]
  const last = [1 / 2 ** 8, 1 / 8, 1 / 2 ** 24, -1 / 2 ** 8, -1 / 8, -1 / 16, -1 / 2 ** 24]
  return [...first, ...last].map(toElement)
}
