/** All bounds on what an endpoint sends, in one place. Text lengths are in UTF-16 code units, as `length` counts them. */

/** How much of an error's text is read. */
export const MAX_TEXT_LENGTH = 4096
/** How many levels of errors inside an error are read. */
export const MAX_DEPTH = 5
/** How many of the errors inside an error are read. */
export const MAX_CAUSES = 32

/** How deep lists lie in a block (its transactions, one of them) or in receipts (one of them, its logs, one of them). */
export const LISTS_DEPTH = 5

/** Default limit for one HTTP response, in bytes after decompression. */
export const DEFAULT_RESPONSE_LENGTH = 2 ** 24

/** Bytes of a response above which it counts as long. Almost every honest answer is shorter, and never waits for others. */
export const LARGE_RESPONSE_LENGTH = 2 ** 20
/** Bytes for which long responses of the whole process have room at once. The others wait. */
export const HELD_LENGTH = 2 ** 26
/** One endpoint gets one of so many parts of them, so that it cannot keep the others waiting. */
export const ENDPOINT_SHARE = 2
/** The response to a request for a number or a word. The rest is for an error that is explained at length. */
export const SHORT_RESPONSE_LENGTH = 2 ** 16
/** For each key of a proof: L1's are the longest, with 65 nodes of 532 bytes. Two more are for the account. */
export const PROOF_RESPONSE_LENGTH = 2 ** 17
/** The code of a contract: 1 MiB in hexadecimal. */
export const CODE_RESPONSE_LENGTH = 2 ** 22
/** A block with the hashes of its transactions. */
export const HEADER_RESPONSE_LENGTH = 2 ** 21

/** A leaf proof has up to 14,000 characters: two paths of 42 nodes. This leaves room for a longer encoding. */
export const MAX_PROOF_LENGTH = 2 ** 16
/** One answer about a state. */
export const MAX_ANSWER_LENGTH = 2 ** 27
/** An `eth_getProof` answer for the contract: its account, and up to 7 slots. On mainnet, each path has less than 8,000 characters. */
export const MAX_L1_PROOF_LENGTH = 2 ** 18
/** Maximum number of finalizations in one list: many years' worth. */
export const MAX_LISTED = 50_000

/** A bootstrap or an update of a beacon API, in characters: a committee of 512 keys, two headers and four branches. */
export const BEACON_STEP_LENGTH = 2 ** 17
/** A finality update of a beacon API, in characters: two headers and three branches. */
export const FINALITY_LENGTH = 2 ** 16
/** Updates per request to a beacon API. It must serve 128, but all of them are held before the first is verified. */
export const MAX_UPDATES_AT_ONCE = 8
/** Beacon APIs that are asked at once. A further one is asked when one of them has answered or is silent. */
export const BEACON_APIS_AT_ONCE = 8
/** Milliseconds of silence after which another endpoint of L1 or L2 is asked as well. */
export const SILENCE_MS = 500
/** The same for beacon APIs. */
export const STAGGER_MS = 1_000
/** Milliseconds that other beacon APIs have once one has proven a recent block, and other sources of an L1 block hash once enough agree. */
export const STRAGGLE_MS = 2_000
/** Milliseconds for which a source that failed is asked last, unless it succeeds. */
export const DEMOTION_MS = 300_000
/** Milliseconds for one answer of a beacon API or a source of L1 block hashes. */
export const SOURCE_TIMEOUT_MS = 10_000

/** Blocks per request of logs, unless the endpoint allows fewer. Mainnet has a finalization every few hours. */
export const BLOCKS_PER_REQUEST = 2_000n
/** Finalizations that a recording tries, unless the caller states another number. */
export const DEFAULT_FINALIZATIONS = 8
/** Storage keys per request, unless the caller states another number. */
export const KEYS_PER_REQUEST = 100
/** Requests for the log of one finalization: about three days of L1 blocks. */
export const MAX_LOG_REQUESTS = 10
/** Milliseconds for the log of one finalization, which only adds a timestamp to what is proven. */
export const HINT_MS = 10_000
/** Blocks whose receipts are asked for at once where an endpoint serves no logs. */
export const LOGS_AT_ONCE = 8
/** Logs per request: far more than the finalizations in that many blocks. */
export const MAX_LOGS = 2_000

/** Requests in a search for a message, or for the log of its finalization: about four months of L1 blocks, or a month of L2's. */
export const MAX_SEARCH_REQUESTS = 500
/** Messages from L2 in one finalization: some hundred times as many as mainnet has. */
export const MAX_MESSAGES = 2 ** 14
/** Their data, in bytes, each with its fields: as much as two answers hold. */
export const MAX_MESSAGE_DATA = 2 ** 24
/** Bytes for which the fields of a message count, beside its data. */
export const MESSAGE_FIELDS = 512
/** L2 blocks in one finalization: several days. */
export const MAX_FINALIZED_BLOCKS = 200_000n

/** Headers that are asked for at once for one range of blocks, and held until they are proven, at about 2 kB each. */
export const HEADERS_AT_ONCE = 48
/** Blocks whose hashes are proven by parents, from one that is proven otherwise: more than any finalization has. */
export const MAX_WALK = 65_536n
/** Blocks whose transactions and receipts a search asks for at once. `HELD_LENGTH` bounds what their responses take. */
export const CONTENTS_AT_ONCE = 24

/** Requests to one endpoint that are sent at once, and how many of them may be bulk: it has as many connections. */
export const REQUESTS_AT_ONCE = 64
export const BULK_AT_ONCE = 48
/** The same at first. It grows with each answer, so that an endpoint that allows little refuses little. */
export const BULK_AT_FIRST = 8
/** Requests for one result up to which they are no bulk work. */
export const FEW = 4
/** Requests to one endpoint that wait for their turn. */
export const MAX_QUEUED = 2 ** 14
/** Requests whose answers are kept that go on once nobody waits for them, of those under way: of headers, and of receipts, in one provider. */
export const MAX_STRAGGLERS = 64
/** URLs whose rate is remembered at once. */
export const MAX_QUEUES = 256
/** Milliseconds between two reports of what requests wait for. */
export const TELL_MS = 5_000
/** Milliseconds for which an endpoint is not asked for a method that it does not serve. */
export const LACKING_MS = 600_000
/** How many such methods are known of an endpoint. */
export const MAX_LACKING = 64

/** How often a request is sent again because the endpoint is busy, unless the caller allows more. */
export const MAX_RETRIES = 4
/** Milliseconds for one request, unless the caller allows more. */
export const REQUEST_TIMEOUT_MS = 30_000
/** Milliseconds that an endpoint may ask to wait at most: whatever is longer counts as this. */
export const LONGEST_RETRY_AFTER = 86_400_000
/** Milliseconds that a request may take: timers take at most 31 bits. */
export const MAX_TIMEOUT = 2 ** 31 - 1
/** Milliseconds after the first failure of a follower, before chance is added. Doubles with each further one in a row. */
export const FIRST_BACKOFF = 1_000
/** The most that it comes to. */
export const MAX_BACKOFF = 300_000
/** Milliseconds between two polls of a follower. */
export const MAX_INTERVAL = 2 ** 30
/** Rounds in a row in which every endpoint fails for a reason that does not pass. With growing waits, they take minutes. */
export const MAX_REFUSED_ROUNDS = 8
/** Rounds in a row that fail for a reason that may pass: it is not stated, or no endpoint has ever answered. They take an hour. */
export const MAX_UNCLEAR_ROUNDS = 32
/** Rounds in a row in which endpoints that have worked cannot be reached. They take most of a day. */
export const MAX_OUTAGE_ROUNDS = 288
/** Requests for logs in a row that may find none: about a month of L1 blocks. */
export const MAX_EMPTY_LOG_REQUESTS = 100
/** Rounds in a row in which a failing endpoint's list of finalizations is waited for: it may list what the others omit. */
export const MAX_LIST_ROUNDS = 8
/** Rounds in a row in which no endpoint has the proofs of a finalization while one has those of a newer one, before it is skipped. */
export const MAX_MISSING_ROUNDS = 4
/** The same, while none has those of a newer one. An endpoint that lags has time to catch up. */
export const MAX_LAGGING_ROUNDS = 24
