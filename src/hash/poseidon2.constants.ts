import { KOALABEAR_ORDER } from '../field/koalabear.ts'
import { roundConstants } from './constants.ts'

export const WIDTH = 16
/** Full rounds before the partial ones, and again after them. */
export const HALF_FULL_ROUNDS = 3
export const PARTIAL_ROUNDS = 21

/** The keys in the order of their use: 16 for a full round, 1 for a partial one. */
export function roundKeys(): number[] {
  const constants = roundConstants('Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]', BigInt(KOALABEAR_ORDER))
  const count = 2 * HALF_FULL_ROUNDS * WIDTH + PARTIAL_ROUNDS
  return Array.from({ length: count }, () => Number(constants.next().value))
}
