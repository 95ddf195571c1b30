/** Bounds on what a beacon API or a table of forks may hold. How many updates count: `MAX_UPDATES` of `src/evidence/limits.ts`. */

/** Bytes of an L1 block's extra data: the consensus specification allows no more. */
export const MAX_EXTRA_LENGTH = 32
/** Digits of a decimal integer: 2^256 has 78. */
export const MAX_DIGITS = 78
/** Forks of a network: Ethereum has had seven in five years. */
export const MAX_FORKS = 64
