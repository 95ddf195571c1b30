/** Bounds on a stranger's JSON, checked before the engine parses it. */

/** Depth of arrays and objects. Honest documents have at most a dozen. */
export const MAX_JSON_DEPTH = 64
/** The same in a file: a vector may hold an answer that is nested deep, whose verdict is a refusal. */
export const MAX_FILE_DEPTH = 1024
/** Values that any document may have. */
export const FREE_JSON_VALUES = 1024
/** Characters for each further value. An honest value has 20 or more. */
export const CHARACTERS_PER_VALUE = 8
/** Different names of members that any document may have. Honest ones have less than a hundred, besides maps of addresses or slots. */
export const FREE_JSON_NAMES = 1024
/** Characters for each further name. A slot and its value have 70 or more. */
export const CHARACTERS_PER_NAME = 64
