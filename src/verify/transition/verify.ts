import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath, excerpt, ProofError } from '../../base/errors.ts'
import { atMost } from '../../base/json/decoders.ts'
import { readOptions } from '../../base/options.ts'
import { unwrapResponse } from '../proof/known-answer.ts'
import { plainTrees, type Trees } from '../proof/tree.ts'
import { type HashScheme, hashSchemeOf, type Scheme } from '../scheme/scheme.ts'
import { mismatch } from '../tree/path.ts'
import { rememberingHasher, withHasher } from '../verifier/shared-nodes.ts'
import { MAX_BLOCKS } from './limits.ts'
import { type AccountDiff, type Accounts, verifyBlockTraces } from './segment.ts'
import { decodeDigest, reader, rootOf } from './trace.ts'

// Each check of this file is a rule of test/soundness/Transition.v.

/** The roots that a transition is verified against. Never take them from the answer. */
export interface TransitionClaim {
  /** `mimc` or `poseidon2`: the hash scheme of the rollup at these blocks. */
  scheme: Scheme
  /** The trusted L2 state root after the block before the first, 32 bytes. */
  parentStateRoot: Hex
  /** The trusted L2 state root after the last block, 32 bytes. Left out, the result says which one the traces lead to. */
  stateRoot?: Hex
}

/** What happened to the state in one block. */
export interface BlockDiff {
  /** The L2 state root after it, 32 bytes. */
  stateRoot: Hex
  /**
   * All accounts that its traces read or write, in the order of their key hashes. An account that was deleted and created again is
   * there twice: each time with the storage of its own.
   */
  accounts: AccountDiff[]
}

/** A transition in which every change of the state is listed. */
export interface VerifiedTransition {
  /** The L2 state root after the last block, 32 bytes. */
  stateRoot: Hex
  /** One per block, in order. */
  blocks: BlockDiff[]
}

/** How many digests are remembered: about 10 MB with their messages. */
const PLACES = 2 ** 14

const FIELDS = ['zkParentStateRootHash', 'zkEndStateRootHash', 'zkStateMerkleProof'] as const

/**
 * Verifies a `rollup_getZkEVMStateMerkleProofV0` answer: these changes, one after the other, lead from one state root to
 * another. What differs between the two states is exactly what they come to. Pure and synchronous.
 *
 * It does not show that transactions required the changes, nor in which block of the range a change happened: only the roots at
 * the ends are trusted. A sender can add or leave out changes that a later one takes back.
 *
 * @param answer what the state manager sent, parsed from JSON: the bare result or the JSON-RPC response around it
 * @param claim the roots that you trust
 * @returns the root that the traces lead to, and the differences, block by block
 * @throws ProofError if the answer does not verify: its `code` names the check that failed, its `path` the trace. ArgumentError
 * if the claim is wrong: the answer was not examined. Nothing else
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { verifyTransition } from 'rollup-state-proof/transition'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const parentStateRoot = world.stateRoot()
 * const address = '0x00000000000000000000000000000000000000aa'
 * const traces = world.applyBlock([{ address, account: { balance: 5n } }])
 *
 * const answer = { zkStateMerkleProof: [traces] }
 * const { stateRoot, blocks } = verifyTransition(answer, { scheme: poseidon2, parentStateRoot })
 * console.log(stateRoot === world.stateRoot(), blocks[0]?.accounts[0]?.after?.balance) // true 5n
 * ```
 */
export function verifyTransition(answer: unknown, claim: TransitionClaim): VerifiedTransition {
  const given = readOptions('', claim, ['scheme', 'parentStateRoot', 'stateRoot'], ['stateRoot'])
  const scheme = hashSchemeOf(given.scheme)
  const parentRoot = decodeArgument('parentStateRoot', given.parentStateRoot, 32)
  const endRoot = given.stateRoot === undefined ? null : decodeArgument('stateRoot', given.stateRoot, 32)

  const field = reader.fieldsOf(openResponse(answer), FIELDS)
  const verifyStated = (name: (typeof FIELDS)[number], root: Uint8Array) =>
    field(name, value => value === undefined || verifySameRoot(scheme, value, root))
  verifyStated('zkParentStateRootHash', parentRoot)
  const accounts: Accounts = { trees: treesOf(scheme), parentRoot, state: null }
  const reached = () => (accounts.state === null ? parentRoot : rootOf(scheme, accounts.state))
  const verifyBlocks = (list: unknown) =>
    reader.items(list, atMost('TRANSITION_TOO_LARGE', MAX_BLOCKS, ' blocks'), (traces): BlockDiff => {
      const diffs = verifyBlockTraces(accounts, traces)
      return { stateRoot: bytesToHex(reached()), accounts: diffs }
    })
  const blocks = field('zkStateMerkleProof', verifyBlocks)
  const root = reached()
  verifyStated('zkEndStateRootHash', root)
  if (endRoot !== null && !equalBytes(endRoot, root)) throw mismatch('TRANSITION_END_MISMATCH', endRoot, root)
  return { stateRoot: bytesToHex(root), blocks }
}

function treesOf(scheme: HashScheme): Trees {
  // A hash of poseidon2 costs no more than to remember it.
  if (scheme.name !== 'mimc') return plainTrees(scheme)
  // A trace opens most of the nodes that the trace before it has made. The memory is freed with the trees.
  return plainTrees(withHasher(scheme, rememberingHasher(scheme.hasher, PLACES)))
}

function verifySameRoot(scheme: HashScheme, value: unknown, root: Uint8Array): void {
  const stated = decodeDigest(scheme)(value)
  if (!equalBytes(stated, root)) throw mismatch('TRANSITION_ROOT_CONTRADICTED', root, stated)
}

function openResponse(answer: unknown): unknown {
  const { result, error } = unwrapResponse(answer)
  if (error === undefined) return result
  const { message } = atPath('error', () => reader.fields(error, ['message']))
  throw new ProofError('ANSWER_IS_ERROR', { path: 'error', found: typeof message === 'string' ? excerpt(message) : '' })
}
