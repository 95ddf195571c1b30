/** Characters of one text. More would scroll the rest of a report out of sight. */
export const MAX_TEXT_CHARACTERS = 400

/** Items of one list. The rest are only counted. */
export const MAX_LISTED_ITEMS = 1000

/** Levels of a file to show: bundles have 8. */
export const MAX_SHOWN_DEPTH = 10
