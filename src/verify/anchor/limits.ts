/** Bounds on what an L1 endpoint, or the maker of a bundle, may send. Lengths are in bytes. */

/** Extra data of a header. Mainnet's has at most 32 bytes; networks that vote in it (Clique, QBFT) have a few hundred. */
export const MAX_EXTRA_LENGTH = 4096
/** The RLP of a header: the extra data, and all other fields. */
export const MAX_HEADER_LENGTH = MAX_EXTRA_LENGTH + 2048

/** Nodes of a Merkle-Patricia proof. Every key is a keccak256 digest: 64 nibbles, so at most 64 branches and a leaf. */
export const MAX_NODE_COUNT = 65
/** One of these nodes. A full branch has 16 digests and an empty value. No account or storage value makes a leaf that long. */
export const MAX_NODE_LENGTH = 532
