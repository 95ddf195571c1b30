import { bigintToBytes, bytesToBigint, concatBytes, type Hex } from '../../base/bytes.ts'
import { atMost, hexOf } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { keccak256 } from '../hash/keccak/index.ts'

/**
 * What the rollup contract hashed at its last finalization, according to its log. It is a hint and proves nothing: it counts
 * once `verifyAnchor` finds that it hashes to what the contract keeps.
 */
export interface FinalizedState {
  /** Number of the last message from L1 that L2 received. Below 2^256. */
  messageNumber: bigint
  /** Number of the last forced transaction that L2 processed. Below 2^256. Contracts before version 8 have none. */
  forcedTransactionNumber?: bigint | undefined
  /** Time of the last finalized L2 block: seconds since 1970, below 2^64. */
  timestamp: bigint
}

/** What {@link decodeFinalizedStateLog} reads. */
export interface FinalizedStateLog {
  /** The last block of the finalization. */
  l2BlockNumber: bigint
  /** What the contract hashed. */
  finalizedState: FinalizedState
}

/**
 * The first topics of the contract's log `FinalizedStateUpdated`: since version 8 (with the number of the forced
 * transaction), and before. `eth_getLogs` takes both at once, as `topics: [finalizedStateTopics]`.
 *
 * @example
 * ```ts
 * import { finalizedStateTopics } from 'rollup-state-proof/anchor'
 *
 * console.log(finalizedStateTopics.length) // 2
 * ```
 */
export const finalizedStateTopics: readonly [Hex, Hex] = [
  // FinalizedStateUpdated(uint256 indexed blockNumber, uint256 timestamp, uint256 messageNumber, uint256 forcedTransactionNumber)
  '0x32e016ccc5c33419c35caa94023fdeb75143da613fb2ac738ab736404c09fc5d',
  // FinalizedStateUpdated(uint256 indexed blockNumber, uint256 timestamp, uint256 messageNumber)
  '0x52cb09c619de41250db19a80c6c9638b99ad4f5373434d4f79c0dac3a494faac',
]

const WORD = 32
const UINT64 = 1n << 64n

const reader = readerOf('MALFORMED_RESPONSE')

/**
 * Reads one log of an `eth_getLogs` result. Throws nothing: a log is only a hint.
 *
 * @param log what the endpoint sent, parsed from JSON
 * @returns undefined if it is not a `FinalizedStateUpdated` log, or names a block or time above 64 bits
 *
 * @example
 * ```ts
 * import { decodeFinalizedStateLog, finalizedStateTopics } from 'rollup-state-proof/anchor'
 *
 * const word = (value: number) => value.toString(16).padStart(64, '0')
 * const log = { topics: [finalizedStateTopics[0], `0x${word(436)}`], data: `0x${word(1_700_000_000)}${word(12)}${word(3)}` }
 * console.log(decodeFinalizedStateLog(log)?.finalizedState.timestamp) // 1700000000n
 * ```
 */
export function decodeFinalizedStateLog(log: unknown): FinalizedStateLog | undefined {
  try {
    const { topics, data } = reader.fields(log, ['topics', 'data'])
    const [topic, block] = reader.items(topics, atMost('MALFORMED_RESPONSE', 2), hexOf(reader, WORD))
    const isNew = topic === finalizedStateTopics[0]
    if (block === undefined || !(isNew || topic === finalizedStateTopics[1])) return undefined
    const words = reader.bytesOf((isNew ? 3 : 2) * WORD)(data)
    const wordAt = (index: number) => bytesToBigint(words.subarray(index * WORD, (index + 1) * WORD))
    const [l2BlockNumber, timestamp, messageNumber] = [BigInt(block), wordAt(0), wordAt(1)]
    if (l2BlockNumber >= UINT64 || timestamp >= UINT64) return undefined
    const forcedTransactionNumber = isNew ? wordAt(2) : undefined
    return { l2BlockNumber, finalizedState: { messageNumber, forcedTransactionNumber, timestamp } }
  } catch {
    return undefined
  }
}

/** A copy of the caller's argument. @throws ArgumentError */
export function verifyFinalizedState(state: FinalizedState): FinalizedState {
  const own = readOptions('finalizedState', state, ['messageNumber', 'forcedTransactionNumber', 'timestamp'])
  const verify = (name: keyof FinalizedState, bits: number) => verifyUint(`finalizedState.${name}`, own[name], bits)
  const messageNumber = verify('messageNumber', 256)
  const forced = own.forcedTransactionNumber === undefined ? undefined : verify('forcedTransactionNumber', 256)
  return { messageNumber, forcedTransactionNumber: forced, timestamp: verify('timestamp', 64) }
}

/**
 * keccak256 of the words that the contract hashes: message number, message rolling hash, forced transaction number,
 * forced transaction rolling hash, timestamp. Without a forced transaction number, those two are left out.
 */
export function hashFinalizedState(state: FinalizedState, [messageHash, forcedHash]: readonly bigint[]): Uint8Array {
  const words = [state.messageNumber, messageHash, state.forcedTransactionNumber, forcedHash, state.timestamp]
  return keccak256(concatBytes(...words.flatMap(word => (word === undefined ? [] : [bigintToBytes(word, WORD)]))))
}
