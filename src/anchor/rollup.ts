import { decodeArgument, invalid } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError, refusal } from '../errors.ts'
import { readOptions, verifyUint } from '../options.ts'
import { decodeEthClaim, type L1Slot, verifyFirstSlots } from './eth-proof.ts'
import { type FinalizedState, hashFinalizedState, verifyFinalizedState } from './finalized-state.ts'
import { mappingSlot, slotKey } from './slots.ts'

/** Where the rollup contract on L1 keeps its state. */
export interface RollupLayout {
  /** Slot of `mapping(uint256 blockNumber => bytes32) stateRootHashes`. */
  stateRootHashes: bigint
  /** Slot of `uint256 currentL2BlockNumber`: the last finalized L2 block. */
  currentL2BlockNumber: bigint
  /** Proves the timestamp of the newest finalization. Without it, no timestamp is proven. */
  finalizedState?: FinalizedStateLayout | undefined
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

/** A rollup: its contract on L1, the layout of that contract, and what clients need to know. */
export interface Rollup {
  /** A label for people, such as `linea-mainnet`. It proves nothing. */
  name?: string | undefined
  /** The contract on L1, 20 bytes. For a proxied contract, the address of the proxy, which holds the storage. */
  address: Hex
  /** Default: {@link lineaLayout}. */
  layout?: RollupLayout | undefined
  /** The JSON-RPC method with which L2 endpoints serve proofs. Default: that of the client. */
  method?: string | undefined
  /** Chain id of the rollup. */
  chainId?: number | bigint | undefined
  /** Chain id of L1. */
  l1ChainId?: number | bigint | undefined
}

export const lineaStateLayout: FinalizedStateLayout = {
  currentFinalizedState: 447n,
  rollingHashes: 334n,
  forcedTransactionRollingHashes: 452n,
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
export const lineaLayout: RollupLayout = {
  stateRootHashes: 282n,
  currentL2BlockNumber: 281n,
  finalizedState: lineaStateLayout,
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
  method: 'linea_getProof',
  chainId: 59144,
  l1ChainId: 1,
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
  method: 'linea_getProof',
  chainId: 59141,
  l1ChainId: 11155111,
}

const ROLLUP_FIELDS = ['name', 'address', 'layout', 'method', 'chainId', 'l1ChainId']

const KNOWN = "lineaRollup or lineaSepoliaRollup of 'rollup-state-proof/anchor'"

/** A validated copy of the caller's argument `rollup`, its address in lower case. @throws ArgumentError */
export function readRollup(rollup: Rollup) {
  if (typeof rollup === 'string') throw invalid('rollup', `an object: ${KNOWN}, or { address } of your own`, rollup)
  const { name, address, layout, method, chainId, l1ChainId } = readOptions('rollup', rollup, ROLLUP_FIELDS)
  return {
    name: readText('rollup.name', name),
    address: bytesToHex(decodeArgument('rollup.address', address, 20)),
    layout: layout === undefined ? lineaLayout : readLayout(layout),
    method: readText('rollup.method', method),
    chainId: chainId === undefined ? undefined : readChainId('rollup.chainId', chainId),
    l1ChainId: l1ChainId === undefined ? undefined : readChainId('rollup.l1ChainId', l1ChainId),
  }
}

function readText(path: string, text: string | undefined): string | undefined {
  if (text === undefined || (typeof text === 'string' && text !== '')) return text
  throw invalid(path, 'a string that is not empty', text)
}

/** @throws ArgumentError */
export function readChainId(path: string, chainId: number | bigint): bigint {
  const id = Number.isSafeInteger(chainId) ? BigInt(chainId) : chainId
  if (typeof id === 'bigint' && id > 0n && id < 1n << 256n) return id
  throw invalid(path, 'a whole number from 1 to 2^53 - 1, or a bigint from 1 to 2^256 - 1', chainId)
}

function readLayout(layout: RollupLayout): RollupLayout {
  const own = readOptions('rollup.layout', layout, ['stateRootHashes', 'currentL2BlockNumber', 'finalizedState'])
  const { stateRootHashes, currentL2BlockNumber, finalizedState } = own
  return {
    ...readSlots('rollup.layout', { stateRootHashes, currentL2BlockNumber }),
    finalizedState: finalizedState === undefined ? undefined : readStateLayout(finalizedState),
  }
}

const STATE_SLOTS = ['currentFinalizedState', 'rollingHashes', 'forcedTransactionRollingHashes'] as const

function readStateLayout(layout: FinalizedStateLayout): FinalizedStateLayout {
  const what = 'rollup.layout.finalizedState'
  const { currentFinalizedState, rollingHashes, forcedTransactionRollingHashes } = readOptions(
    what,
    layout,
    STATE_SLOTS,
  )
  return readSlots(what, { currentFinalizedState, rollingHashes, forcedTransactionRollingHashes })
}

function readSlots<T extends object>(what: string, slots: T): T {
  for (const [name, slot] of Object.entries(slots)) verifyUint(`${what}.${name}`, slot, 256)
  return slots
}

/** What to verify about an L2 block in the rollup contract, in an L1 state that you trust. */
export interface AnchorClaim {
  /** Root of the L1 state, 32 bytes. */
  l1StateRoot: Hex
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The last block of a finalization: the contract has roots for these only. From 0 to 2^64 - 1. */
  l2BlockNumber: bigint
  /** What the contract's log says about its newest finalization, if the proof is to cover the timestamp. */
  finalizedState?: FinalizedState | undefined
}

/** What the rollup contract is proven to hold. */
export interface VerifiedAnchor {
  /** The root of the L2 state at that block, 32 bytes: the `stateRoot` for `verifyProof`. */
  stateRoot: Hex
  /** The last finalized L2 block in that L1 state; undefined if the proof does not cover it. */
  currentL2BlockNumber: bigint | undefined
  /**
   * The timestamp of the L2 block, in seconds since 1970; undefined if it is not proven: the block is not the newest finalized
   * one, there was no `finalizedState`, or the layout has no place for it.
   */
  finalizedTimestamp: bigint | undefined
}

/**
 * The storage keys to request with `eth_getProof` for the rollup contract: the block's entry in `stateRootHashes`, then
 * `currentL2BlockNumber`. With a `finalizedState`, the keys that prove its timestamp follow: `currentFinalizedState`, the
 * rolling hash of the message and, since version 8 of the contract, that of the forced transaction. They do not if the layout
 * has no slots for it.
 *
 * @param request the rollup, whose layout determines the keys; the L2 block; the finalized state
 * @returns 32 bytes each
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { anchorStorageKeys, lineaRollup } from 'rollup-state-proof/anchor'
 *
 * const [rootKey, currentKey] = anchorStorageKeys({ rollup: lineaRollup, l2BlockNumber: 436n })
 * console.log(rootKey.length, BigInt(currentKey)) // 66 281n
 * ```
 */
export function anchorStorageKeys(request: Omit<AnchorClaim, 'l1StateRoot'>): [Hex, Hex, ...Hex[]] {
  return storageKeysOf(readRequest(readOptions('', request, REQUEST_FIELDS)))
}

const REQUEST_FIELDS = ['rollup', 'l2BlockNumber', 'finalizedState']

function readRequest({ rollup, l2BlockNumber, finalizedState }: Omit<AnchorClaim, 'l1StateRoot'>) {
  return {
    rollup: readRollup(rollup),
    l2BlockNumber: verifyBlockNumber(l2BlockNumber),
    finalizedState: finalizedState === undefined ? undefined : verifyFinalizedState(finalizedState),
  }
}

function storageKeysOf(request: ReturnType<typeof readRequest>): [Hex, Hex, ...Hex[]] {
  const { rollup, l2BlockNumber, finalizedState } = request
  const { stateRootHashes, currentL2BlockNumber, finalizedState: slots } = rollup.layout
  const stated = slots && finalizedState ? stateKeys(slots, finalizedState) : []
  return [mappingSlot({ slot: stateRootHashes, keys: [l2BlockNumber] }), slotKey(currentL2BlockNumber), ...stated]
}

function stateKeys(
  { currentFinalizedState, rollingHashes, forcedTransactionRollingHashes }: FinalizedStateLayout,
  { messageNumber, forcedTransactionNumber }: FinalizedState,
): Hex[] {
  const keys = [slotKey(currentFinalizedState), mappingSlot({ slot: rollingHashes, keys: [messageNumber] })]
  if (forcedTransactionNumber === undefined) return keys
  return [...keys, mappingSlot({ slot: forcedTransactionRollingHashes, keys: [forcedTransactionNumber] })]
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
 * const proof = l1.getProof(rollup.address, anchorStorageKeys({ rollup, l2BlockNumber: 0n }), 0n)
 * const l1StateRoot = Reflect.get(l1.getBlock(0n) ?? {}, 'stateRoot') // in production: from verifyHeader
 * const { stateRoot } = verifyAnchor(proof, { l1StateRoot, rollup, l2BlockNumber: 0n })
 * console.log(stateRoot === genesis.stateRoot()) // true
 * ```
 */
export function verifyAnchor(proof: unknown, claim: AnchorClaim): VerifiedAnchor {
  const { l1StateRoot, ...request } = readOptions('', claim, ['l1StateRoot', ...REQUEST_FIELDS])
  const decoded = readRequest(request)
  const { rollup, l2BlockNumber, finalizedState } = decoded
  const storageKeys = storageKeysOf(decoded)
  const ethClaim = decodeEthClaim({ l1StateRoot, address: rollup.address, storageKeys })
  // The keys of the finalized state are requested together or not at all; of the first two keys, the second may be missing.
  const { account, storage } = verifyFirstSlots(proof, ethClaim, storageKeys.length === 2 ? 1 : storageKeys.length)
  if (account === null) throw new ProofError('ANCHOR_NO_CONTRACT', { found: 'no account at its address' })
  const [root, current, ...stateSlots] = storage
  const currentL2BlockNumber = current && BigInt(current.value)
  // No root exists above the last finalized block: this is not the contract, or not its layout.
  if (currentL2BlockNumber !== undefined && l2BlockNumber > currentL2BlockNumber) {
    throw refusal('ANCHOR_BLOCK_AHEAD', `at most ${currentL2BlockNumber}`, l2BlockNumber)
  }
  if (!root?.exists) {
    const newest =
      currentL2BlockNumber === undefined ? '' : `, such as ${currentL2BlockNumber}, the newest in this proof`
    const [expected, found] = [`the last block of a finalization${newest}`, `no root for L2 block ${l2BlockNumber}`]
    throw new ProofError('ANCHOR_NO_ROOT', { path: 'storageProof[0]', expected, found })
  }
  const timestamp = finalizedState && verifyTimestamp(finalizedState, stateSlots)
  // The contract keeps this for its newest finalization only.
  const isNewest = currentL2BlockNumber === l2BlockNumber
  return { stateRoot: root.value, currentL2BlockNumber, finalizedTimestamp: isNewest ? timestamp : undefined }
}

/** The timestamp that the contract hashed; undefined if the layout has no slots for it. */
function verifyTimestamp(
  finalizedState: FinalizedState,
  [hash, ...rollingHashes]: readonly L1Slot[],
): bigint | undefined {
  if (hash === undefined) return undefined
  const rollingValues = rollingHashes.map(({ value }) => BigInt(value))
  const found = bytesToHex(hashFinalizedState(finalizedState, rollingValues))
  if (found !== hash.value) {
    throw new ProofError('ANCHOR_FINALIZED_STATE_MISMATCH', { path: 'storageProof[2]', expected: hash.value, found })
  }
  return finalizedState.timestamp
}

/** @throws ArgumentError */
export const verifyBlockNumber = (l2BlockNumber: bigint): bigint => verifyUint('l2BlockNumber', l2BlockNumber, 64)
