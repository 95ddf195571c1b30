import type { Hex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { verifyFirstSlots } from './eth-proof.ts'
import { mappingSlot, slotKey } from './slots.ts'

/** Where the rollup contract on L1 keeps its state (section 7). */
export interface RollupLayout {
  /** Slot of `mapping(uint256 blockNumber => bytes32) stateRootHashes`. */
  stateRootHashes: bigint
  /** Slot of `uint256 currentL2BlockNumber`: the last finalized L2 block. */
  currentL2BlockNumber: bigint
}

/** A rollup: its contract on L1 and the layout of that contract. */
export interface Rollup {
  /** A label for people, such as `linea-mainnet`. It proves nothing. */
  name?: string
  /** The contract on L1, 20 bytes. Behind a proxy, the proxy: that is where the storage is. */
  address: Hex
  /** {@link lineaLayout} when left out. */
  layout?: RollupLayout
}

export const lineaLayout: RollupLayout = { stateRootHashes: 282n, currentL2BlockNumber: 281n }

/** Linea, whose contract is on Ethereum mainnet. */
export const lineaMainnet: Rollup = {
  name: 'linea-mainnet',
  address: '0xd19d4B5d358258f05D7B411E21A1460D11B0876F',
  layout: lineaLayout,
}

/** Linea Sepolia, whose contract is on Sepolia. */
export const lineaSepolia: Rollup = {
  name: 'linea-sepolia',
  address: '0xB218f8A4Bc926cF1cA7b3423c154a0D627Bdb7E5',
  layout: lineaLayout,
}

/** What the rollup contract says of an L2 block, in an L1 state that you trust. */
export interface AnchorClaim {
  /** Root of the L1 state, 32 bytes. */
  l1StateRoot: Hex
  rollup: Rollup
  l2BlockNumber: bigint
}

export interface VerifiedAnchor {
  /** The root of the L2 state at that block, 32 bytes: what `verifyProof` wants. */
  stateRoot: Hex
  /** The last L2 block that was finalized in that L1 state; null when the proof does not have it. */
  currentL2BlockNumber: bigint | null
}

/**
 * The storage keys to ask `eth_getProof` of the rollup contract for: the block's entry in `stateRootHashes`, then
 * `currentL2BlockNumber`.
 *
 * @throws ProofError `CLAIM_INVALID`
 */
export function anchorStorageKeys(rollup: Rollup, l2BlockNumber: bigint): [Hex, Hex] {
  const { stateRootHashes, currentL2BlockNumber } = rollup?.layout ?? lineaLayout
  verifyBlockNumber(l2BlockNumber)
  return [mappingSlot(stateRootHashes, l2BlockNumber), slotKey(currentL2BlockNumber)]
}

/**
 * Verifies an `eth_getProof` result of the rollup contract for {@link anchorStorageKeys}, or for the first of the two
 * alone: which root the contract holds for an L2 block.
 *
 * The contract keeps the roots of old finalizations, so the root proves what the L2 state was at that block, not that it
 * still is: compare `l2BlockNumber` with `currentL2BlockNumber`, and the age of the L1 block with your clock.
 *
 * @throws ProofError `ANCHOR_NO_CONTRACT`, `ANCHOR_NO_ROOT`, `ANCHOR_BLOCK_AHEAD`, and what `verifyEthProof` throws
 */
export function verifyAnchor(proof: unknown, claim: AnchorClaim): VerifiedAnchor {
  const { l1StateRoot, rollup, l2BlockNumber } = claim ?? {}
  const storageKeys = anchorStorageKeys(rollup, l2BlockNumber)
  const ethClaim = { stateRoot: l1StateRoot, address: rollup?.address, storageKeys }
  const { account, storage } = verifyFirstSlots(proof, ethClaim, 1)
  if (account === null) throw new ProofError('ANCHOR_NO_CONTRACT')
  const [root, current] = storage
  const currentL2BlockNumber = current === undefined ? null : BigInt(current.value)
  // A root above the last finalized block cannot be: then this is not the contract, or not its layout.
  if (currentL2BlockNumber !== null && l2BlockNumber > currentL2BlockNumber) {
    throw new ProofError('ANCHOR_BLOCK_AHEAD', {
      expected: `at most ${currentL2BlockNumber}`,
      found: `${l2BlockNumber}`,
    })
  }
  if (!root?.exists) throw new ProofError('ANCHOR_NO_ROOT', { path: 'storageProof[0]' })
  return { stateRoot: root.value, currentL2BlockNumber }
}

/** @throws ProofError `CLAIM_INVALID` */
export function verifyBlockNumber(l2BlockNumber: bigint): bigint {
  if (typeof l2BlockNumber !== 'bigint' || l2BlockNumber < 0n || l2BlockNumber >= 1n << 64n) {
    throw new ProofError('CLAIM_INVALID', { path: 'l2BlockNumber', expected: 'a bigint from 0 to 2^64 - 1' })
  }
  return l2BlockNumber
}
