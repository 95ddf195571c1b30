/** Bounds on what an endpoint, or the maker of a file, may send about blocks. Lengths are in bytes. */

/** Blocks in a bundle of logs: all that the state of one block has hashes of, and that block itself. */
export const MAX_HEADERS = 8192
/** Transactions, or receipts, of a block: at 21,000 gas each, a gas limit of 1.3 billion. */
export const MAX_TRANSACTIONS = 65_536
/** Logs of a receipt, and items of a transaction's lists. Some engines call no function with more than 65,535 arguments. */
export const MAX_LISTED = 32_768
/** Topics of a log: there are instructions for 0 to 4. */
export const MAX_TOPICS = 4
/** Input of a transaction, or data of a log: what an HTTP response of 16 MiB can spell. */
export const MAX_DATA_LENGTH = 8 * 2 ** 20
