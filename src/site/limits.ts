/** Bounds of what a stranger's file can make the page do. */

/** Size of a file in MiB, the same as on the command line: room for more than a thousand slots. */
export const MAX_INPUT_MIB = 16

/** The same, if the page runs the explorer itself, because it was opened from disk and gets no worker. */
export const MAX_INPUT_MIB_ON_PAGE = 2

/** Seconds until a request is given up. */
export const MAX_REQUEST_SECONDS = 15

/**
 * Storage keys that a file suggests, and slots that are listed: more than an honest answer of 16 MiB has room for. Keys beyond
 * it that need no proof are verified, but not listed.
 */
export const MAX_KEYS = 4096

/** Characters of a text that a file suggests for a field of the form. */
export const MAX_FIELD_CHARACTERS = 200

/** Characters of a file's name. */
export const MAX_NAME_CHARACTERS = 100

/** Rows of a list of proofs, logs or blocks that are added at a time. */
export const ITEMS_PER_STEP = 20

/** Parts of the file that are added at a time. */
export const PARTS_PER_STEP = 50

/** Characters of a text that the view of the file shows. */
export const MAX_PART_CHARACTERS = 2000

/** Digits of a file that can be other ones at a time. */
export const MAX_CHANGED_DIGITS = 100

/** Rows of a table of changes. */
export const MAX_CHANGES_SHOWN = 500

/** Size of a file that a link can carry, and characters of such a link. */
export const MAX_LINKED_BYTES = 256 * 1024
export const MAX_LINK_CHARACTERS = 64 * 1024

/** Size of a file that is kept over a reload, and for the browser's back button. */
export const MAX_KEPT_BYTES = 2 ** 20

/** Logs that are listed. */
export const MAX_LOGS_SHOWN = 200

/** Characters of the data of a log that can be copied. */
export const MAX_DATA_CHARACTERS = 10_000
