/** Bounds on what a beacon API or a table of forks may hold. */

/** Bytes of an L1 block's extra data: the consensus specification allows no more. */
export const MAX_EXTRA_LENGTH = 32
/** Digits of a decimal integer: 2^256 has 78. */
export const MAX_DIGITS = 78
/** Forks of a network: Ethereum has had seven in five years. */
export const MAX_FORKS = 64
/** Committee updates since the trusted block: about 19 months on mainnet. 512 take a minute or two, and about 30 MB of JSON. */
export const MAX_UPDATES = 512
/** Committees whose decoded keys are remembered, about 400 kB each: the one that signs, and one more while they change. */
export const MAX_REMEMBERED = 2
