/** Bounds on what an endpoint may send about messages. */

/** Depth of a tree of messages: the contract takes the index of a leaf as 32 bits. Networks use 5. */
export const MAX_TREE_DEPTH = 32
