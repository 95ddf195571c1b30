/** All bounds on what clients, endpoints and authors of bundles send to a provider, and on its memory, in one place. */

/** Data of one call, and one contract code, in bytes. Init code has at most 48 KiB, and no calldata comes near this. */
export const MAX_DATA_BYTES = 2 ** 20
/** Items in one list of a request: the addresses of an access list, or the slots of an address. */
export const MAX_LISTED = 1024

/** Reads that one rehearsal of a call guesses. */
export const MAX_GUESSED_PARTS = 1024
/**
 * What the rehearsals of a call may guess, all together and each, besides twice what the call has read. A slot costs 4, or 1 if it was
 * proven in another block; an account or a code costs 16.
 */
export const MAX_GUESSED = 1024
export const MAX_GUESSED_AT_ONCE = 640
/** Accounts that one rehearsal guesses something of. */
export const MAX_GUESSED_CONTRACTS = 64
/** Rehearsals of a call, besides one for eight slots that it has read. */
export const MAX_REHEARSALS = 4
/** Steps of all rehearsals of a call, besides 1,024 for each unit of this cost that the call has read. */
export const MAX_REHEARSED_STEPS = 2 ** 18
/** Steps of a rehearsal after its last guess. */
export const MAX_IDLE_STEPS = 2 ** 15
/** Gas of a rehearsal, besides 8,192 for each unit of this cost: it bounds hashes, copies and memory, of which one step does many. */
export const MAX_REHEARSED_GAS = 2n ** 22n

/** Accounts and slots that a view caches, at about 300 bytes each; and those that a provider remembers, of all views together. */
export const MAX_CACHED_ENTRIES = 2 ** 16
/** Code that a provider caches, of all views together, in bytes. */
export const MAX_CACHED_CODE_BYTES = 2 ** 24
/** Finalizations to try, from the newest back, until an endpoint has the proofs of one. */
export const MAX_FINALIZATIONS = 8
/** Views of earlier blocks that a provider caches. */
export const MAX_OTHER_VIEWS = 4
/** How long requests without a view get the failure of the last search for one, in milliseconds, before there is a new search. */
export const FAILURE_MEMORY = 5000
/** Default for the requests to endpoints per call. */
export const DEFAULT_MAX_REQUESTS = 1000
/** Default for the gas of a call: as much as nodes allow for `eth_call`. */
export const CALL_GAS = 50_000_000n
/** Default for the time of a request or a call, in milliseconds. */
export const DEFAULT_TIMEOUT = 10_000
/** How long an execution may keep the thread at first before others get it, in milliseconds: most end within. */
export const SLICE = 15
/** The same for each later turn: who computes for long gives way more often. */
export const FURTHER_SLICE = 2
/**
 * Pairs of points for one precompile, each of which takes 5 to 30 ms. The rollup proves no more in a block: 64 Miller loops of BN254, 8
 * of BLS12-381 (`traces-limits-v5.toml` of its coordinator).
 */
export const MAX_PAIRS = 64
/** Bytes of each argument of MODEXP. The rollup does not prove longer ones. */
export const MAX_MODEXP_BYTES = 512

/** Logs in one answer, as public endpoints have it, and their characters as JSON. */
export const MAX_LOGS = 10_000
export const MAX_LOGS_LENGTH = 2 ** 24
/** Filters of one client, and the size of all: of each, besides the addresses and topics that it names, of 100 bytes each. */
export const MAX_FILTERS_A_CLIENT = 128
export const FILTER_SIZE = 64
export const MAX_FILTERS_SIZE = 2 ** 16
/** Blocks that a filter searches at once. */
export const BLOCKS_A_PIECE = 64n
/** Characters by which a server names a client. */
export const MAX_CLIENT_LENGTH = 256
/** Blocks in a history of fees, as nodes have it; fewer if what was paid is asked for, because that takes their receipts. */
export const MAX_FEE_BLOCKS = 1024n
export const MAX_REWARD_BLOCKS = 32n
/** Percentiles in such a history, as nodes have it. */
export const MAX_PERCENTILES = 100
/** Blocks back from the newest one among which a tip is looked for, and how many with transactions are enough. */
export const TIP_BLOCKS = 20n
export const TIP_SAMPLES = 3
/** Headers that a provider keeps, at about 2 kB each: twice as many as are proven in one view. */
export const MAX_CACHED_HEADERS = 2 ** 17
/** Headers that arrived lately, at about 1.3 kB each, for requests that ask for the same ones. */
export const MAX_ARRIVED_HEADERS = 2 ** 12
/** Characters of the blocks that a provider keeps, as they were sent, and where their transactions are, at about 150 bytes each. */
export const MAX_CACHED_CONTENTS = 2 ** 25
export const MAX_CACHED_PLACES = 2 ** 16
/** Characters of the logs that a provider keeps: of whole blocks, and as much of those that searches have selected. */
export const MAX_CACHED_LOGS = 2 ** 25
/** Hashes that are read at once for whoever asks for blocks one after another. */
export const HASHES_AHEAD = 16

/** Accounts, slots and codes of a bundle, all together. */
export const MAX_BUNDLE_PARTS = 65_536
