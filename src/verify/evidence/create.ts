import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { atMost } from '../../base/json/decoders.ts'
import { type Admission, pickKnown, type Shape } from '../../base/json/known-fields.ts'
import { decodeKeys, readOptions } from '../../base/options.ts'
import { ETH_PROOF_SHAPE } from '../anchor/eth-proof.ts'
import { type FinalizedState, verifyFinalizedState } from '../anchor/finalized-state.ts'
import { encodeHeader } from '../anchor/header.ts'
import { type Rollup, readRollup, verifyBlockNumber } from '../anchor/rollup.ts'
import { MAX_UPDATES } from '../beacon/limits.ts'
import type { ConsensusAnswers } from '../beacon/verify.ts'
import { unwrapResponse } from '../proof/known-answer.ts'
import { stateKind } from '../state/kind.ts'
import type { StateScheme } from '../state/types.ts'
import {
  BOOTSTRAP_SHAPE,
  type BundleConsensus,
  CONSENSUS_FIELDS,
  decodeConsensus,
  FINALITY_SHAPE,
  UPDATE_SHAPE,
} from './consensus.ts'
import { FORMAT, reader, VERSION } from './decode.ts'
import { MAX_PROOF_LENGTH } from './limits.ts'
import type { EvidenceName } from './names.ts'
import type { EvidenceBundle } from './types.ts'

/** The parts of a bundle for {@link createBundle}. */
export interface BundleParts<Kind extends StateScheme = StateScheme> {
  /** The kind of the rollup's state at the L2 block. */
  scheme: Kind
  /** Whose state it is. */
  rollup: Rollup
  /** The L2 block: the last block of a finalization, if the bundle is to lead to L1. */
  l2BlockNumber: bigint
  /** The requested address, 20 bytes. */
  address: Hex
  /** The requested storage keys, 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[] | undefined
  /** What `rollup_getProof`, or `eth_getProof` for an Ethereum state, answered for the address and keys, at the L2 block. */
  answer: unknown
  /** What `eth_getBlockByNumber` answered on L2, for an Ethereum state and a verifier that does not trust its root. */
  l2Block?: unknown
  /** The answers of a beacon API, for a verifier that trusts a beacon block. Only known fields are kept. */
  consensus?:
    | (ConsensusAnswers & {
        /** A label for people. It proves nothing. */
        network?: string | undefined
      })
    | undefined
  /** The answers of L1, for a verifier that trusts something other than an L2 state root. */
  l1?:
    | {
        /** What `eth_getBlockByNumber` answered, for a verifier that does not trust an L1 state root. */
        block?: unknown
        /** What `eth_getProof` answered for the rollup contract and `anchorStorageKeys`, at the L1 block. */
        proof: unknown
        /** The finalized state with which the storage keys were computed, if any. */
        finalizedState?: FinalizedState | undefined
      }
    | undefined
}

/**
 * Puts a bundle together. This verifies nothing, so verify the bundle before you keep it.
 *
 * The bundle holds only known fields: the header of the L1 block, and the fields that `eth_getProof` and `rollup_getProof`
 * define. Hexadecimal fields hold nothing but hexadecimal. Anything else that an endpoint sent, such as the URL of the request,
 * is left out. If the answer is a whole JSON-RPC response, only its result is kept.
 *
 * @param parts what was requested, and the answers
 * @throws ArgumentError; what `encodeHeader` throws; `EVIDENCE_MALFORMED` if an answer is larger than any for that
 * many storage keys can be
 *
 * @example
 * ```ts
 * import { createBundle, lineaRollup } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const address = '0x00000000000000000000000000000000000000aa'
 * const answer = createWorld(poseidon2).getProof(address)
 * const bundle = createBundle({ scheme: poseidon2, rollup: lineaRollup, l2BlockNumber: 436n, address, answer })
 * console.log(bundle.version, bundle.rollup.name, bundle.l2BlockNumber) // 1 linea-mainnet 0x1b4
 * ```
 */
export function createBundle<Kind extends StateScheme>(parts: BundleParts<Kind>): EvidenceBundle<Kind> {
  const own = readOptions('', parts, PARTS)
  const { scheme, l2BlockNumber, address, storageKeys = [], answer, l2Block, l1 } = own
  if (answer === undefined) throw invalid('answer', 'what the L2 endpoint answered', answer)
  const state = stateKind(scheme)
  if (l2Block !== undefined && state.held !== 'blockHash') {
    throw invalid('l2Block', 'nothing, unless L1 holds the hash of the block', l2Block)
  }
  const keys = decodeKeys(storageKeys).map(bytesToHex)
  return {
    ...encodeEnvelope('state', own),
    scheme: state.name,
    l2BlockNumber: encodeQuantity(verifyBlockNumber(l2BlockNumber)),
    ...(l1 !== undefined && { l1: encodeL1(l1) }),
    ...(l2Block !== undefined && { l2Header: encodeHeader(l2Block) }),
    request: {
      address: bytesToHex(decodeArgument('address', address, 20)),
      storageKeys: keys,
    },
    answer: knownFields('answer', unwrapResponse(answer).result, state.shape, keys.length + 1),
    // The scheme is that of the kind.
  } as EvidenceBundle<Kind>
}

const PARTS = ['scheme', 'rollup', 'l2BlockNumber', 'address', 'storageKeys', 'answer', 'l2Block', 'consensus', 'l1']

/** What every bundle begins with. @throws ArgumentError */
export function encodeEnvelope<Name extends EvidenceName>(
  kind: Name,
  { rollup, consensus }: Pick<BundleParts, 'rollup' | 'consensus'>,
) {
  const { name, address } = readRollup(rollup)
  return {
    ...({ format: FORMAT, version: VERSION, kind } as const),
    rollup: { ...(name !== undefined && { name }), address },
    ...(consensus !== undefined && { consensus: encodeConsensus(consensus) }),
  }
}

export function encodeL1(l1: NonNullable<BundleParts['l1']>): NonNullable<EvidenceBundle['l1']> {
  const { block, proof, finalizedState } = readOptions('l1', l1, ['block', 'proof', 'finalizedState'])
  if (proof === undefined) throw invalid('l1.proof', 'what eth_getProof answered', proof)
  return {
    ...(block !== undefined && { header: encodeHeader(block) }),
    proof: knownFields('l1.proof', proof, ETH_PROOF_SHAPE, 4),
    ...(finalizedState !== undefined && {
      finalizedState: encodeFinalizedState(atPath('l1', () => verifyFinalizedState(finalizedState))),
    }),
  }
}

const encodeFinalizedState = ({ messageNumber, forcedTransactionNumber: forced, timestamp }: FinalizedState) => ({
  messageNumber: encodeQuantity(messageNumber),
  ...(forced !== undefined && { forcedTransactionNumber: encodeQuantity(forced) }),
  timestamp: encodeQuantity(timestamp),
})

function encodeConsensus(source: NonNullable<BundleParts['consensus']>): BundleConsensus {
  const own = readOptions('consensus', source, CONSENSUS_FIELDS)
  const { network, bootstrap, updates, finality } = atPath('consensus', () => decodeConsensus(own))
  // Here numbers are decimal, and forks have names.
  const copy = (path: string, answer: unknown, shape: Shape) =>
    knownFields(path, answer, shape, 1, /^(0x[0-9a-f]*|\d{1,78}|[a-z]{1,32})$/i)
  const copyUpdates = () =>
    reader.items(updates, atMost('EVIDENCE_MALFORMED', MAX_UPDATES), update => copy('', update, UPDATE_SHAPE))
  return {
    ...(network !== undefined && { network }),
    bootstrap: copy('consensus.bootstrap', bootstrap, BOOTSTRAP_SHAPE),
    updates: atPath('consensus.updates', copyUpdates),
    ...(finality !== undefined && { finality: copy('consensus.finality', finality, FINALITY_SHAPE) }),
  }
}

/** The known fields of a document with `proofCount` proofs, and of its texts those that match. */
function knownFields(
  path: string,
  source: unknown,
  shape: Shape,
  proofCount: number,
  texts = /^0x[0-9a-f]*$/i,
): unknown {
  const limit = proofCount * MAX_PROOF_LENGTH
  let left = limit
  const admission: Admission = {
    charge(length) {
      left -= length
      if (left >= 0) return
      throw new ProofError('EVIDENCE_MALFORMED', { path, expected: `at most ${limit} characters`, found: 'more' })
    },
    admitText: text => (texts.test(text) ? text : null),
  }
  return pickKnown(source, shape, admission)
}
