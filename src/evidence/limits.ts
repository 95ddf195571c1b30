/** Bounds on what the maker of a bundle may choose. */

/** Storage keys in the request: far more than an endpoint answers at once. */
export const MAX_STORAGE_KEYS = 65_536
/** Committee updates in the consensus part: about 19 months on mainnet. 512 take a minute or two, and about 30 MB of JSON. */
export const MAX_UPDATES = 512
/** Characters of an answer that a bundle keeps, per proof or committee in it: more than any of them takes. */
export const MAX_PROOF_LENGTH = 2 ** 17
