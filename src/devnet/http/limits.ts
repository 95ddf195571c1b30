/** The bounds on what a client of an HTTP server can hold up, in milliseconds. */

/** How long a client may take to send its headers. */
export const HEADERS_TIMEOUT = 10_000
/** How long a client may take to send a whole request. */
export const REQUEST_TIMEOUT = 30_000
/** How long a client may read nothing of its response. */
export const SEND_TIMEOUT = 30_000
/** How often both are checked. Node's own interval, 30 s, would let them take up to 60. */
export const CHECK_INTERVAL = 1000
