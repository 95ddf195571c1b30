/** Lines per batch, even if they are short: a verdict is longer than an empty line. */
export const MAX_LINES = 4096
/** Inputs or storage keys that the summary names at once. */
export const MAX_NAMED = 5

/** Failures of one item, or pauses without an answer between them, at which a snapshot gives up. */
export const MAX_FAILURES = 12
/** Wrong answers to one item at which it is refused. They are retried, because another server behind the URL may be right. */
export const MAX_WRONG = 3
/** In milliseconds, before jitter. */
export const LONGEST_PAUSE = 30_000
/** In milliseconds. An endpoint that asks for a longer wait is asked again after this. */
export const LONGEST_RETRY_AFTER = 600_000

/** Bytes of an answer with traces. Those of a full block of the mainnet have 4 MB. */
export const MAX_ANSWER_LENGTH = 64 * 2 ** 20
