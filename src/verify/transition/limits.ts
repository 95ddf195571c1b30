/** Bounds on what an endpoint, or the maker of a file, may send about transitions. */

/** Blocks in one answer. A block without a trace takes three characters of it, but a hundred bytes of the result. */
export const MAX_BLOCKS = 8192
/** Traces of one block. Each stands for an access that costs 1,900 gas or more: no block has the gas for so many. */
export const MAX_TRACES = 2 ** 20
/** Digests on the way from a leaf to the sub-root, exactly: the number of levels. */
export const SIBLING_COUNT = 40
