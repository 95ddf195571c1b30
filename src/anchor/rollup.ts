import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError, refusal } from '../errors.ts'
import { type L1Slot, verifyFirstSlots } from './eth-proof.ts'
import { type FinalizedState, hashFinalizedState, verifyFinalizedState } from './finalized-state.ts'
import { mappingSlot, slotKey, verifyUint } from './slots.ts'

/** Where the rollup contract on L1 keeps its state. */
export interface RollupLayout {
  /** Slot of `mapping(uint256 blockNumber => bytes32) stateRootHashes`. */
  stateRootHashes: bigint
  /** Slot of `uint256 currentL2BlockNumber`: the last finalized L2 block. */
  currentL2BlockNumber: bigint
  /** Proves the timestamp of the newest finalization. Without it, no timestamp is proven. */
  finalizedState?: FinalizedStateLayout
}

/** The slots that prove the timestamp of the newest finalization. */
export interface FinalizedStateLayout {
  /** Slot of `bytes32 currentFinalizedState`: a hash over the end of the newest finalization. */
  currentFinalizedState: bigint
  /** Slot of `mapping(uint256 messageNumber => bytes32) rollingHashes`. */
  rollingHashes: bigint
  /** Slot of `mapping(uint256 forcedTransactionNumber => bytes32) forcedTransactionRollingHashes`. */
  forcedTransactionRollingHashes: bigint
}

/** A rollup: its contract on L1 and the layout of that contract. */
export interface Rollup {
  /** A label for people, such as `linea-mainnet`. It proves nothing. */
  name?: string
  /** The contract on L1, 20 bytes. For a proxied contract, the address of the proxy, which holds the storage. */
  address: Hex
  /** Default: {@link lineaLayout}. */
  layout?: RollupLayout
}

/**
 * The layout of the Linea deployments. Forks of the contract may have another.
 *
 * @example
 * ```ts
 * import { lineaLayout } from 'rollup-state-proof/anchor'
 *
 * console.log(lineaLayout.stateRootHashes, lineaLayout.currentL2BlockNumber) // 282n 281n
 * ```
 */
export const lineaLayout: Required<RollupLayout> = {
  stateRootHashes: 282n,
  currentL2BlockNumber: 281n,
  finalizedState: { currentFinalizedState: 447n, rollingHashes: 334n, forcedTransactionRollingHashes: 452n },
}

/**
 * Linea, whose contract is on Ethereum mainnet.
 *
 * @example
 * ```ts
 * import { lineaRollup } from 'rollup-state-proof/anchor'
 *
 * console.log(lineaRollup.address) // 0xd19d4B5d358258f05D7B411E21A1460D11B0876F
 * ```
 */
export const lineaRollup: Rollup = {
  name: 'linea-mainnet',
  address: '0xd19d4B5d358258f05D7B411E21A1460D11B0876F',
  layout: lineaLayout,
}

/**
 * Linea Sepolia, whose contract is on Sepolia.
 *
 * @example
 * ```ts
 * import { lineaSepoliaRollup } from 'rollup-state-proof/anchor'
 *
 * console.log(lineaSepoliaRollup.address) // 0xB218f8A4Bc926cF1cA7b3423c154a0D627Bdb7E5
 * ```
 */
export const lineaSepoliaRollup: Rollup = {
  name: 'linea-sepolia',
  address: '0xB218f8A4Bc926cF1cA7b3423c154a0D627Bdb7E5',
  layout: lineaLayout,
}

/** What to verify about an L2 block in the rollup contract, in an L1 state that you trust. */
export interface AnchorClaim {
  /** Root of the L1 state, 32 bytes. */
  l1StateRoot: Hex
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The last block of a finalization: the contract has roots for these only. */
  l2BlockNumber: bigint
  /** What the contract's log says about its newest finalization, if the proof is to cover the timestamp. */
  finalizedState?: FinalizedState | undefined
}

/** What the rollup contract is proven to hold. */
export interface VerifiedAnchor {
  /** The root of the L2 state at that block, 32 bytes: the `stateRoot` for `verifyProof`. */
  stateRoot: Hex
  /** The last finalized L2 block in that L1 state; null if the proof does not cover it. */
  currentL2BlockNumber: bigint | null
  /**
   * The timestamp of the L2 block, in seconds since 1970; null if it is not proven: the block is not the newest finalized
   * one, there was no `finalizedState`, or the layout has no place for it.
   */
  finalizedTimestamp: bigint | null
}

/**
 * The storage keys to request with `eth_getProof` for the rollup contract: the block's entry in `stateRootHashes`, then
 * `currentL2BlockNumber`. With a `finalizedState`, the keys that prove its timestamp follow: `currentFinalizedState`, the
 * rolling hash of the message and, since version 8 of the contract, that of the forced transaction.
 *
 * @param rollup the rollup, whose layout determines the keys
 * @param l2BlockNumber from 0 to 2^64 - 1
 * @param finalizedState from the contract's log; ignored if the layout has no slots for it
 * @returns 32 bytes each
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { anchorStorageKeys, mappingSlot } from 'rollup-state-proof/anchor'
 *
 * const [rootKey, currentKey] = anchorStorageKeys(lineaRollup, 436n)
 * console.log(rootKey === mappingSlot(282n, 436n), BigInt(currentKey)) // true 281n
 * ```
 */
export function anchorStorageKeys(
  rollup: Rollup,
  l2BlockNumber: bigint,
  finalizedState?: FinalizedState,
): [Hex, Hex, ...Hex[]] {
  const { stateRootHashes, currentL2BlockNumber, finalizedState: slots } = rollup?.layout ?? lineaLayout
  verifyBlockNumber(l2BlockNumber)
  const stated = slots && finalizedState && stateKeys(slots, verifyFinalizedState(finalizedState))
  return [mappingSlot(stateRootHashes, l2BlockNumber), slotKey(currentL2BlockNumber), ...(stated ?? [])]
}

function stateKeys(
  { currentFinalizedState, rollingHashes, forcedTransactionRollingHashes }: FinalizedStateLayout,
  { messageNumber, forcedTransactionNumber }: FinalizedState,
): Hex[] {
  const keys = [slotKey(currentFinalizedState), mappingSlot(rollingHashes, messageNumber)]
  if (forcedTransactionNumber === undefined) return keys
  return [...keys, mappingSlot(forcedTransactionRollingHashes, forcedTransactionNumber)]
}

/**
 * Verifies which root the rollup contract holds for an L2 block, from an `eth_getProof` result for {@link anchorStorageKeys}
 * or only the first of these keys.
 *
 * The contract keeps the roots of old finalizations, so the root proves the L2 state at that block, not the current one.
 * Compare `l2BlockNumber` with `currentL2BlockNumber`, and `finalizedTimestamp`, or the time of the L1 block, with your
 * clock.
 *
 * @param proof what the L1 endpoint sent as the result, parsed from JSON
 * @param claim the L1 state root that you trust, the rollup, and the L2 block
 * @throws ProofError `ANCHOR_NO_CONTRACT`, `ANCHOR_NO_ROOT`, `ANCHOR_BLOCK_AHEAD`,
 * `ANCHOR_FINALIZED_STATE_MISMATCH`, and what `verifyEthProof` throws
 *
 * @example
 * ```ts
 * import { anchorStorageKeys, verifyAnchor } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService } from 'rollup-state-proof/service'
 * import { demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const genesis = demoWorld(poseidon2)
 * const { l1 } = createService({ genesis, rollup }).chain // L1 block 0 holds the root of L2 block 0
 *
 * const proof = l1.getProof(rollup.address, anchorStorageKeys(rollup, 0n), 0n)
 * const l1StateRoot = Reflect.get(l1.getBlock(0n) ?? {}, 'stateRoot') // in production: from verifyHeader
 * const { stateRoot } = verifyAnchor(proof, { l1StateRoot, rollup, l2BlockNumber: 0n })
 * console.log(stateRoot === genesis.stateRoot()) // true
 * ```
 */
export function verifyAnchor(proof: unknown, claim: AnchorClaim): VerifiedAnchor {
  const { l1StateRoot, rollup, l2BlockNumber } = claim ?? {}
  const finalizedState = claim?.finalizedState && verifyFinalizedState(claim.finalizedState)
  const storageKeys = anchorStorageKeys(rollup, l2BlockNumber, finalizedState)
  const ethClaim = { l1StateRoot, address: rollup?.address, storageKeys }
  // The keys of the finalized state are requested together or not at all; of the first two keys, the second may be missing.
  const { account, storage } = verifyFirstSlots(proof, ethClaim, storageKeys.length === 2 ? 1 : storageKeys.length)
  if (account === null) throw new ProofError('ANCHOR_NO_CONTRACT', { found: 'no account at its address' })
  const [root, current, ...stateSlots] = storage
  const currentL2BlockNumber = current === undefined ? null : BigInt(current.value)
  // No root exists above the last finalized block: this is not the contract, or not its layout.
  if (currentL2BlockNumber !== null && l2BlockNumber > currentL2BlockNumber) {
    throw refusal('ANCHOR_BLOCK_AHEAD', `at most ${currentL2BlockNumber}`, l2BlockNumber)
  }
  if (!root?.exists) throw new ProofError('ANCHOR_NO_ROOT', { path: 'storageProof[0]', found: 'no root' })
  const timestamp = finalizedState === undefined ? null : verifyTimestamp(finalizedState, stateSlots)
  // The contract keeps this for its newest finalization only.
  const isNewest = currentL2BlockNumber === l2BlockNumber
  return { stateRoot: root.value, currentL2BlockNumber, finalizedTimestamp: isNewest ? timestamp : null }
}

/** The timestamp that the contract hashed; null if the layout has no slots for it. */
function verifyTimestamp(finalizedState: FinalizedState, [hash, ...rollingHashes]: readonly L1Slot[]): bigint | null {
  if (hash === undefined) return null
  const rollingValues = rollingHashes.map(({ value }) => BigInt(value))
  const found = bytesToHex(hashFinalizedState(finalizedState, rollingValues))
  if (found !== hash.value) {
    throw new ProofError('ANCHOR_FINALIZED_STATE_MISMATCH', { path: 'storageProof[2]', expected: hash.value, found })
  }
  return finalizedState.timestamp
}

/** @throws ArgumentError */
export const verifyBlockNumber = (l2BlockNumber: bigint): bigint => verifyUint('l2BlockNumber', l2BlockNumber, 64)
