import { KOALABEAR_ORDER as P } from '../../field/koalabear.ts'

const minus = (x: number): number => P - x
/** 1/2^power, for a power from 1 to 24: p = 127 * 2^24 + 1, so 2^-24 = -127. */
const half = (power: number): number => minus(127 * 2 ** (24 - power))

/** The internal matrix is all ones, plus these on its diagonal. */
export const diagonal = (): readonly number[] => [
  ...[minus(2), 1, 2, half(1), 3, 4, minus(half(1)), minus(3), minus(4)],
  ...[half(8), half(3), half(24), minus(half(8)), minus(half(3)), minus(half(4)), minus(half(24))],
]
