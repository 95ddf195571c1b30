/**
 * Every way in which verification can fail, with what it means in one sentence. `docs/checks.md` is the catalogue: why each check
 * exists, what an attacker could do if it were missing, and the vectors that show it.
 */
const meanings = {
  // Answers.
  MALFORMED_RESPONSE: 'The answer does not have the shape of a rollup_getProof result.',
  ANSWER_IS_ERROR: 'The endpoint answered with a JSON-RPC error instead of a proof.',
  FOREIGN_PROOF:
    'This is an eth_getProof answer: it proves the keccak Merkle-Patricia tree, not the rollup state tree.',
  BAD_HEX: 'A field is not 0x-prefixed hexadecimal.',
  WRONG_LENGTH: 'A node, value, key or root does not have the length required at its place.',
  WRONG_NODE_COUNT: 'proofRelatedNodes does not hold exactly 42 nodes.',
  SCHEME_MISMATCH: 'The proof has the node lengths of the other hash scheme.',
  ZERO_OPENING: 'The sibling leaf is an opening of zeros, which no leaf has. A missing leaf is 32 zero bytes.',
  NON_CANONICAL: 'A field element is not reduced, or an index word has stray bytes. Each value has only one encoding.',
  INDEX_OUT_OF_RANGE: 'A leaf index is not an integer from 0 to 2^40 - 1, or is not below nextFreeNode.',
  KEY_MISMATCH: 'The answer is for an address or storage key other than the one asked for.',
  LEAF_KEY_MISMATCH: 'The proven leaf belongs to another key.',
  VALUE_MISMATCH: 'The value does not hash to the value hash in its leaf.',
  VALUE_OUT_OF_RANGE: 'The nonce or code size of the account does not fit in 64 bits.',
  ZERO_VALUE: 'The proof shows a storage slot with value zero, but the rollup never stores a zero slot.',
  SUB_ROOT_MISMATCH: 'The path from the leaf does not lead to the sub-root in the first proof node.',
  STATE_ROOT_MISMATCH: 'The account proof does not lead to the trusted state root.',
  STORAGE_ROOT_MISMATCH: 'The storage proof does not lead to the storage root of the proven account.',
  NOT_ADJACENT: 'The two neighbouring leaves do not link to each other, so a leaf may lie between them.',
  KEY_NOT_BETWEEN: 'The key hash does not lie strictly between the key hashes of the two neighbours.',
  SENTINEL_MISPLACED:
    'The key of HEAD is not at index 0, the key of TAIL not at index 1, or another key is at one of them.',
  STORAGE_PROOF_MISSING: 'There are fewer storage proofs than requested keys.',
  STORAGE_PROOF_UNEXPECTED:
    'There are more storage proofs than requested keys, or there is one for an account that does not exist.',

  // Evidence: the way from L1 to an answer.
  RLP_NON_CANONICAL: 'These bytes are not exactly one canonical RLP item.',

  HEADER_MALFORMED:
    'This is not an L1 block header: a field is missing or has the wrong type, or there are too many fields.',
  HEADER_FIELD_ORDER: 'The block has a field of a later fork but lacks one of an earlier fork.',
  HEADER_QUANTITY: 'A number in the header has leading zeros or exceeds its width.',
  HEADER_HASH_MISMATCH: 'The header does not hash to the trusted L1 block hash.',

  MPT_HASH_MISMATCH:
    'A node of the Merkle-Patricia proof does not have the hash that the root or its parent refers to.',
  MPT_NODE_MALFORMED: 'A node of the Merkle-Patricia proof is not a branch, an extension or a leaf.',
  MPT_PATH_NON_CANONICAL: 'The path in an extension or leaf is not in canonical hex-prefix encoding.',
  MPT_NODES_MISSING: 'The Merkle-Patricia proof ends before it proves existence or non-existence of the key.',
  MPT_NODES_UNUSED: 'The Merkle-Patricia proof has unused nodes after it proves existence or non-existence of the key.',

  L1_PROOF_MALFORMED: 'This does not have the shape of an eth_getProof result.',
  L1_KEY_MISMATCH: 'The eth_getProof answer is for an address or storage key other than the one asked for.',
  L1_STORAGE_PROOF_COUNT: 'The eth_getProof answer does not have exactly one storage proof for each requested key.',
  L1_ACCOUNT_MALFORMED: 'The proven L1 account does not consist of a nonce, a balance, a storage root and a code hash.',
  L1_VALUE_MALFORMED: 'The proven L1 storage value is not a canonical integer from 1 to 2^256 - 1.',
  L1_PROOF_DISAGREES: 'A redundant field of the eth_getProof answer contradicts its proof.',

  ANCHOR_NO_CONTRACT: 'The rollup contract does not exist in this L1 state.',
  ANCHOR_NO_ROOT:
    'The rollup contract has no root for this L2 block, or no hash: it is not the last block of a finalization, or the contract holds the other of the two.',
  ANCHOR_AMBIGUOUS:
    'The rollup contract holds a state root and a block hash for this L2 block, and the claim names neither.',
  ANCHOR_IMPLEMENTATION_MISMATCH: 'The code behind the proxy of the rollup contract is not the one that is stated.',
  ANCHOR_BLOCK_AHEAD: 'The L2 block is above the last block that the rollup contract has finalized.',
  ANCHOR_FINALIZED_STATE_MISMATCH:
    'The stated finalized state does not hash to the value that the rollup contract keeps for its newest finalization.',

  EVIDENCE_MALFORMED: 'This does not have the shape of an evidence bundle.',
  EVIDENCE_VERSION: 'This release does not know the version of the evidence bundle.',
  EVIDENCE_SCHEME_MISMATCH: 'The evidence bundle is for a hash scheme other than the one expected.',
  EVIDENCE_ROLLUP_MISMATCH: 'The evidence bundle is for a rollup other than the one expected.',
  EVIDENCE_BLOCK_MISMATCH: 'The evidence bundle is for an L2 block other than the one expected.',
  EVIDENCE_ADDRESS_MISMATCH: 'The evidence bundle is for an address other than the one expected.',
  EVIDENCE_KEYS_MISMATCH: 'The evidence bundle is for storage keys other than the ones expected.',
  EVIDENCE_CONSENSUS_MISSING:
    'The evidence bundle lacks the consensus part that leads from the trusted beacon block to an L1 block hash.',
  EVIDENCE_NETWORK_MISMATCH:
    'The consensus part of the evidence bundle is for a network other than that of the trusted block.',
  EVIDENCE_L1_BLOCK_MISMATCH: 'The L1 header of the evidence bundle does not belong to the finalized L1 block.',
  EVIDENCE_L1_MISSING: 'The evidence bundle lacks the L1 part that connects the trusted input to the L2 state root.',
  EVIDENCE_L2_MISSING:
    'The evidence bundle lacks the L2 header, which has the state root of the block whose hash L1 holds.',

  CALL_MISMATCH: 'The bundle is for a call, chain or hard fork other than the one expected.',
  CALL_STATE_MISSING: 'The call reads an account, slot, code or value that the bundle does not hold.',
  CALL_STATE_UNUSED: 'The bundle holds an account, slot, code or value that the call does not read.',

  CODE_HASH_MISMATCH: 'The contract code does not hash to the code hash of the account.',

  // The consensus layer.
  BEACON_MALFORMED: 'This does not have the shape of a beacon API answer for light clients.',
  BEACON_INTEGER: 'An integer of the beacon API is not a decimal string without leading zeros, or exceeds its width.',
  BEACON_FORK_UNKNOWN: 'A slot is before Capella, or in a fork that is missing from the network’s table.',
  BEACON_COMMITTEE_SIZE: 'A sync committee does not have exactly 512 keys, or as many as the network states.',
  BEACON_KEY_ENCODING: 'A public key is not compressed, not reduced, or the point at infinity.',
  BEACON_KEY_POINT: 'A public key is not a point on the curve, or not in the subgroup.',
  BEACON_COMMITTEE_ROOT: 'The keys of the stored committee do not hash to its root.',
  BEACON_BRANCH_LENGTH: 'A Merkle branch does not have exactly one hash per level up to the root.',
  BEACON_ROOT_MISMATCH: 'The header of the bootstrap does not hash to the trusted beacon block root.',
  BEACON_EXECUTION_MISMATCH: 'The execution header or block hash is not in the body of its beacon block.',
  BEACON_COMMITTEE_MISMATCH: 'The committee of the bootstrap is not the current committee of its beacon state.',
  BEACON_FINALITY_MISSING: 'Nothing is finalized: the update has no finalized header, or there is no update at all.',
  BEACON_SLOT_ORDER:
    'The signature’s slot is not after the attested slot, or the finalized slot is after the attested slot.',
  BEACON_SIGNATURE_PERIOD: 'The update is signed in a period other than the committee’s.',
  BEACON_ATTESTED_PERIOD:
    'The next committee in the update is not the one for the period after the signing committee’s.',
  BEACON_FINALIZED_PERIOD:
    'The next committee in the update is not final: the finalized block is in an earlier period.',
  BEACON_FINALITY_MISMATCH: 'The finalized header is not the one in the attested beacon state.',
  BEACON_NEXT_COMMITTEE_MISMATCH: 'The next committee in the update is not the one in the attested beacon state.',
  BEACON_TOO_FEW_SIGNERS: 'Fewer than two thirds of the committee have signed: 342 of 512 members.',
  BEACON_SIGNATURE_POINT: 'The signature is not a compressed point in the subgroup, or is the point at infinity.',
  BEACON_SIGNATURE_MISMATCH:
    'The signature over this header is not that of the committee members that the update lists as signers.',
  BEACON_TOO_MANY_UPDATES: 'There are more than 512 updates.',
  BEACON_OLDER_THAN_CHECKPOINT: 'The finalized block is older than the trusted block.',

  // Blocks.
  HISTORY_NO_CONTRACT: 'The contract that keeps block hashes (EIP-2935) does not exist in this state.',
  HISTORY_NO_HASH: 'The contract that keeps block hashes has none for this block.',
  HISTORY_OUTSIDE_WINDOW:
    'The block is not one of the 8,191 before the block of the state, whose hashes the state holds.',

  BLOCK_NUMBER_MISMATCH: 'The header has the trusted hash but is of a block other than the one asked for.',
  BLOCK_MALFORMED: 'This does not have the shape of a block, transaction, receipt or log.',
  BLOCK_TOO_LARGE: 'There are more headers, transactions, receipts, logs or bytes than can be verified.',
  BLOCK_QUANTITY: 'A number in a transaction or receipt is not a quantity of JSON-RPC, or exceeds its width.',
  BLOCK_TYPE_UNKNOWN: 'A transaction or receipt has a type other than the types 0 to 4 of Ethereum.',
  BLOCK_FIELD_MISMATCH: 'A field of a transaction, receipt or log contradicts what is proven.',
  BLOCK_BLOOM:
    'The bloom filter in the header is not that of the logs. The block hash commits to both: whoever made the block is to blame.',
  BLOCK_COUNT_MISMATCH: 'The block does not have exactly one receipt for each transaction.',

  TRANSACTIONS_ROOT_MISMATCH:
    'The transactions do not hash to the root in the block’s header: one is missing, added or changed.',
  TRANSACTION_CREATES: 'A transaction with blobs or authorizations has no recipient.',
  TRANSACTION_BLOBS: 'A transaction of type 3 has no blob, or a blob hash of an unknown version.',
  TRANSACTION_AUTHORIZATIONS: 'A transaction of type 4 has no authorization.',
  TRANSACTION_PARITY: 'The v or yParity of a transaction is not one that its type has.',
  TRANSACTION_SIGNATURE: 'The r or s of a signature is zero or too large, or s is in the upper half of its range.',
  TRANSACTION_SENDER: 'The signature of a transaction is that of no public key.',

  RECEIPTS_ROOT_MISMATCH:
    'The receipts do not hash to the root in the block’s header: one is missing, added or changed.',
  RECEIPT_STATUS: 'The status of a receipt is neither 0 nor 1.',
  RECEIPT_GAS: 'A receipt has less cumulative gas than the one before it.',
  RECEIPT_BLOOM: 'The bloom filter of a receipt is not that of its logs.',

  LOGS_MISMATCH: 'The bundle is for a range of blocks or a filter other than the one expected.',
  LOGS_RANGE: 'There is not exactly one header for each block of the range, from a proven block on.',
  LOGS_CONTENT_MISSING: 'A block that may hold such logs lacks its transactions or receipts.',
  LOGS_CONTENT_UNUSED:
    'A block has transactions or receipts although its header rules out such logs, or although it is after the range.',

  // Messages between the layers.
  MESSAGE_MALFORMED: 'This does not have the shape of a message’s place in a tree.',
  MESSAGE_INDEX: 'The index of the leaf is not one of those that the tree has.',
  MESSAGE_ROOT_MISMATCH: 'The path from the message does not lead to the root of the tree.',
  MESSAGE_DEPTH_MISMATCH: 'The path to the root is longer or shorter than the depth that L1 keeps for the tree.',
  MESSAGE_NUMBER_CLAIMED:
    'The number of the message is claimed, but L1 does not know the root: the claimed message is in another tree.',
  MESSAGE_ROLLING_HASH_MISMATCH: 'L1 gave the number to another message than this one.',
  MESSAGE_MISMATCH: 'The bundle is for a message other than the one expected.',
  MESSAGE_NO_SERVICE: 'The message service does not exist in this L2 state.',
  MESSAGE_STATUS: 'The status of the message on L2 is neither 0 nor 1 nor 2.',

  // Transitions.
  TRANSITION_MALFORMED: 'This does not have the shape of a list of traces, or a trace is missing.',
  TRANSITION_TOO_LARGE: 'There are more blocks, or traces of a block, than can be verified in one answer.',
  TRANSITION_ROOT_CONTRADICTED: 'The answer states another root than the trusted one, or than its traces lead to.',
  TRANSITION_PARENT_NOT_OPENED: 'The first trace of an account does not start at the trusted parent root.',
  TRANSITION_END_MISMATCH: 'The traces lead to another root than the trusted one.',

  SEGMENT_ORDER: 'The accounts of a block are not in the order of their key hashes, or one is there twice.',
  SEGMENT_INCOMPLETE: 'The storage of an account was accessed, but its own trace is missing.',
  SEGMENT_STORAGE_BEFORE: 'The storage does not start at the storage root of the account before.',
  SEGMENT_STORAGE_AFTER: 'The storage does not come to the storage root of the account after.',

  TRACE_TYPE_UNKNOWN: 'A trace has a type other than 0 to 4.',
  TRACE_NOT_ALLOWED: 'A trace is of a kind that cannot be at its place: an account that is only read has no writes.',
  TRACE_NOT_CONTINUOUS: 'A trace does not start where the trace before it has left the tree.',
  TRACE_SIBLING_COUNT: 'A path of a trace does not have exactly 40 siblings.',
  TRACE_KEY_MISMATCH: 'The leaf of a trace belongs to another key.',
  TRACE_VALUE_MISMATCH: 'A value of a trace does not hash to the value hash in its leaf.',
  TRACE_NOT_NEIGHBOURS: 'Two leaves of a trace do not link to each other.',
  TRACE_KEY_NOT_BETWEEN: 'The key hash of a trace does not lie strictly between those of its two neighbours.',
  TRACE_INDEX_NOT_NEXT: 'An inserted leaf is not at the next free node.',
  TRACE_PATH_MISMATCH: 'A path of a trace does not lead from its leaf to the sub-root.',
  TRACE_RESULT_MISMATCH: 'A trace states another sub-root than its changes lead to.',

  ARGUMENT_INVALID: 'One of the caller’s own arguments is wrong.',
}

/** The stable name of a failed check. A minor version may add codes; no version changes what one means. */
export type ProofErrorCode = Exclude<keyof typeof meanings, 'ARGUMENT_INVALID'>

/**
 * What the code of a `ProofError` or an `ArgumentError` means, in one sentence. It never throws.
 *
 * @param code of an error
 * @returns empty if there is no such code
 *
 * @example
 * ```ts
 * import { meaningOf } from 'rollup-state-proof'
 *
 * console.log(meaningOf('WRONG_NODE_COUNT')) // proofRelatedNodes does not hold exactly 42 nodes.
 * ```
 */
export const meaningOf = (code: string): string => (isCode(code) ? meanings[code] : '')

const isCode = (code: string): code is keyof typeof meanings => Object.hasOwn(meanings, code)

/** Every code that a verifier can report. */
export const allCodes = (): string[] => Object.keys(meanings)
