import { DEFAULT_RESPONSE_LENGTH } from '../client/transport/limits.ts'
import { MAX_BATCH } from '../devnet/service/limits.ts'

/**
 * Size of a JSON file, in MiB. A slot's proof takes 6 to 13 kB of JSON, so this is room for more than a thousand. Parsing
 * hostile JSON takes up to 50 times its size in memory: four times this limit would already crash some processes.
 */
export const MAX_INPUT_MIB = 16
export const MAX_INPUT_BYTES = MAX_INPUT_MIB * 2 ** 20

/** Storage keys of one request: this many fit into a file that `verify` reads. */
export const MAX_STORAGE_KEYS = 1000

/** Addresses of a snapshot: far more than anyone needs at one block, and few enough to keep in memory. */
export const MAX_ADDRESSES = 2_000_000
/** Bytes of a line that holds an address and a comment. */
export const MAX_ADDRESS_LINE = 4096

/** Characters of an error's message. An option can be 128 kB long, and a message quotes it. */
export const MAX_MESSAGE_LENGTH = 4096

/** Characters to show of an option's value in a message about it. */
export const MAX_SHOWN_LENGTH = 80

/** Characters of a name to compare with known names. Longer text is no misspelling, and comparing it would be slow. */
export const MAX_NAME_LENGTH = 40

/** Levels of nesting to print as JSON. Deeper values can only come from a file, and printing them could exhaust the stack. */
export const MAX_JSON_DEPTH = 32

/** Characters of a table's cell, and of a column: one very long cell must not widen all others or fill the terminal. */
export const MAX_CELL_LENGTH = 4096
/** Of a hash. */
export const MAX_COLUMN_WIDTH = 66

/** The body of one request to the proxy, in bytes. */
export const MAX_PROXY_BODY_LENGTH = 2 ** 22
/** Bytes that the proxy holds: of all requests that it reads or answers, and of all responses that are not sent yet. */
export const MAX_HELD_LENGTH = 2 ** 25
/** Open connections to the proxy. */
export const MAX_CONNECTIONS = 256
/** WebSockets among them, what they subscribe to, and what each of them does: half of what a provider keeps as filters. */
export const MAX_SOCKETS = 128
export const MAX_SUBSCRIPTIONS = 512
export const MAX_SUBSCRIPTIONS_A_SOCKET = 64
/** Messages of a WebSocket that are answered at once. Those after them are read later. */
export const MAX_AT_ONCE = 64
/** How often a WebSocket is asked whether it is there, in milliseconds. */
export const SOCKET_CHECK = 60_000
/** How often the filter of a subscription is asked for changes, in milliseconds: whatever it could not give goes on. */
export const PUSH_INTERVAL = 4000
/** Characters of what is pushed at once to a subscription, unless a block has more. */
export const MAX_PUSHED_LENGTH = 2 ** 20
/** Slow requests in the queue of the proxy, requests per batch, which are as many as viem sends, and characters per response. */
export const PROXY_LIMITS = { maxWaiting: 1024, maxBatch: MAX_BATCH, maxResponseLength: DEFAULT_RESPONSE_LENGTH }

/** How long an endpoint may take to say which chain it serves, once something has failed, in milliseconds. */
export const HINT_TIMEOUT_MS = 3000
