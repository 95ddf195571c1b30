/** Bounds on what the maker of a bundle may choose. */

/** Storage keys in the request: far more than an endpoint answers at once. */
export const MAX_STORAGE_KEYS = 65_536
/** Characters of an answer that a bundle keeps, per proof or committee in it: more than any of them takes. */
export const MAX_PROOF_LENGTH = 2 ** 17
/** Addresses, or topics for one place, in the filter of a bundle of logs: each log is compared with all of them. */
export const MAX_CHOICES = 1024
