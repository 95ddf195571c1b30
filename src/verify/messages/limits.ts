/** Bounds on what an endpoint, or the maker of a bundle, may send about messages. */

/** Depth of a tree of messages: the contract takes the index of a leaf as 32 bits. Networks use 5. */
export const MAX_TREE_DEPTH = 32
/** Bytes of a message's data in a bundle. The claim repeats them, and few nodes pass on transactions of more than 128 KiB. */
export const MAX_MESSAGE_LENGTH = 2 ** 20
