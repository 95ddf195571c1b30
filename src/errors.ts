/**
 * Every way an answer can fail, with what it means in one sentence. `docs/checks.md` is the catalogue: why each check
 * exists, what an attacker could do if the check were missing, and the vectors that show it. Codes are stable: their meanings
 * do not change.
 *
 * @example
 * ```ts
 * import { errorMeanings } from 'rollup-state-proof'
 *
 * console.log(errorMeanings.WRONG_NODE_COUNT) // proofRelatedNodes does not hold exactly 42 nodes.
 * ```
 */
export const errorMeanings = {
  MALFORMED_RESPONSE: 'The answer does not have the shape of a rollup_getProof result.',
  RPC_ERROR: 'The endpoint answered with a JSON-RPC error instead of a proof.',
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
  CLAIM_INVALID:
    'One of the caller’s own arguments is wrong: the scheme, root, address, a storage key or an unknown option.',

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
    'The rollup contract has no root for this L2 block, because it is not the last block of a finalization.',
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

  CALL_MISMATCH: 'The bundle is for a call, chain or hard fork other than the one expected.',
  CALL_STATE_MISSING: 'The call reads an account, slot, code or value that the bundle does not hold.',
  CALL_STATE_UNUSED: 'The bundle holds an account, slot, code or value that the call does not read.',

  CODE_HASH_MISMATCH: 'The contract code does not hash to the code hash of the account.',

  BEACON_MALFORMED: 'This does not have the shape of a beacon API answer for light clients.',
  BEACON_INTEGER: 'An integer of the beacon API is not a decimal string without leading zeros, or exceeds its width.',
  BEACON_FORK_UNKNOWN: 'A slot is before Capella, or in a fork that is missing from the network’s table.',
  BEACON_COMMITTEE_SIZE: 'A sync committee does not have exactly 512 keys.',
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
  BEACON_TOO_FEW_SIGNERS: 'Fewer than 342 of the 512 members of the committee have signed.',
  BEACON_SIGNATURE_POINT: 'The signature is not a compressed point in the subgroup, or is the point at infinity.',
  BEACON_SIGNATURE_MISMATCH:
    'The signature over this header is not that of the committee members that the update lists as signers.',
  BEACON_TOO_MANY_UPDATES: 'There are more than 512 updates.',
  BEACON_OLDER_THAN_CHECKPOINT: 'The finalized block is older than the trusted block.',
} as const

/** The stable name of a failed check. */
export type ErrorCode = keyof typeof errorMeanings

/** What {@link ProofError} carries besides its code. */
export interface ErrorDetails {
  /** Where inside the answer, e.g. `storageProofs[2].leftProof.proofRelatedNodes[17]`; empty for the answer as a whole. */
  path?: string
  /** What the check requires, in words. Not stable. */
  expected?: string | undefined
  /** What was there instead, shortened to fit a line. Not stable. */
  found?: string | undefined
}

/**
 * The only error that verification throws. Its message contains the code, the path and the details. Programs should test
 * `code`, because the wording may change.
 *
 * @example
 * ```ts
 * import { ProofError, verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const stateRoot = '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7'
 * try {
 *   verifyProof({}, { scheme: poseidon2, stateRoot, address: '0x0000000000000000000000000000000000000001' })
 * } catch (error) {
 *   if (error instanceof ProofError) console.log(error.code) // MALFORMED_RESPONSE
 * }
 * ```
 */
export class ProofError extends Error {
  /** Always `ProofError`. Identifies the error even if a program loads two copies of this package. */
  override readonly name = 'ProofError'
  /** Which check failed. */
  readonly code: ErrorCode
  /** Where inside the answer, e.g. `storageProofs[2].leftProof.proofRelatedNodes[17]`; empty for the answer as a whole. */
  readonly path: string
  /** What the check requires, in words. */
  readonly expected: string | undefined
  /** What was there instead, in words. */
  readonly found: string | undefined

  /**
   * For programs that add checks of their own under the same codes.
   *
   * @param code which check failed
   * @param details where, and what was expected and found
   */
  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    // Own properties only: a polluted Object.prototype must not add to the error.
    const { path = '', expected, found }: ErrorDetails = Object.assign(Object.create(null), details)
    const place = path === '' ? '' : ` at ${path}`
    const said = [expected && `expected ${expected}`, found && `found ${found}`].filter(Boolean).join(', ')
    // The message leaves out the meaning of the code, so that programs need not bundle all meanings with this class.
    super(`${code}${place}${said === '' ? '' : `: ${said}`}`)
    this.code = code
    this.path = path
    this.expected = expected
    this.found = found
  }
}

/** The error of a check that requires one thing and finds another. */
export const refusal = (code: ErrorCode, expected: string, found: string | number | bigint): ProofError =>
  new ProofError(code, { expected, found: `${found}` })

/**
 * Runs `work`. A {@link ProofError} from it is rethrown with `segment` in front of its path. In a loop, pass `segment` as a
 * function: it is called only if there is an error.
 */
export function atPath<T>(segment: string | (() => string), work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    const { code, path, expected, found } = error
    const joint = path === '' || path.startsWith('[') ? '' : '.'
    const place = typeof segment === 'string' ? segment : segment()
    throw new ProofError(code, { path: `${place}${joint}${path}`, expected, found })
  }
}

/** Shortens untrusted text to fit an error message. */
export function excerpt(text: string): string {
  const printable = text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')
  return text.length > 80 ? `"${printable}…" (${text.length} characters)` : `"${printable}"`
}
