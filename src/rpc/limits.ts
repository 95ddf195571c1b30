/** Every bound on what comes from an endpoint, in one place. Lengths of text are in UTF-16 units, as `length` counts. */

/** How much of an error's text is looked at. */
export const MAX_TEXT_LENGTH = 4096
/** How deep the `data` of an error is shown, and how deep the causes of an error are followed. */
export const MAX_DEPTH = 5
/** How many of the errors inside an error are looked at. */
export const MAX_CAUSES = 32

/** One HTTP response, unpacked, in bytes, unless the caller sets another limit. */
export const DEFAULT_RESPONSE_LENGTH = 2 ** 24

/** A leaf proof has up to 14,000 characters: two paths of 42 nodes. This leaves room for a wordier spelling. */
export const MAX_PROOF_LENGTH = 2 ** 16
/** All partial answers together. */
export const MAX_ANSWER_LENGTH = 2 ** 27
/** An `eth_getProof` answer for two slots: three paths of up to 65 nodes of up to 532 bytes each. */
export const MAX_L1_PROOF_LENGTH = 2 ** 18
/** How many finalizations are listed at once: of many years. */
export const MAX_LISTED = 50_000

/** A committee of 512 keys, two headers and four branches, in characters; a step of the way from a beacon checkpoint. */
export const BEACON_STEP_LENGTH = 2 ** 17
/** Updates that a beacon API is asked for at once: as many as it has to answer. */
export const MAX_UPDATES_AT_ONCE = 128
/** Updates altogether: as many as are verified, some 19 months. */
export const MAX_UPDATES = 512
