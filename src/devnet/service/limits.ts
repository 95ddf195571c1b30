/** The bounds on what clients can cause, in one place. */

/** A request's body, in bytes. */
export const MAX_BODY_LENGTH = 2 ** 20
/** Requests per batch: as many as geth allows, and viem sends. */
export const MAX_BATCH = 1000
/** Storage keys per request. Each one costs a proof. */
export const MAX_KEYS = 1024
/** Blocks per `eth_getLogs` request. */
export const MAX_LOG_RANGE = 10_000
/** A transaction that is sent, in bytes: as long as geth allows. */
export const MAX_TRANSACTION_LENGTH = 131_072
/** Transactions that are sent and wait for their turn. */
export const MAX_SENDING = 256
/** Light-client updates per answer: the limit that the beacon API specifies. */
export const MAX_UPDATES = 128
/** Signed answers of the consensus layer that are cached, because each signature takes some 50 ms. */
export const MAX_REMEMBERED = 256
