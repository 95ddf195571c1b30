import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { optional } from '../../base/json/decoders.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'

/** Where the rollup contract on L1 keeps its state. */
export interface RollupLayout {
  /** Slot of `mapping(uint256 blockNumber => bytes32) stateRootHashes`. */
  stateRootHashes: bigint
  /** Slot of `uint256 currentL2BlockNumber`: the last finalized L2 block. */
  currentL2BlockNumber: bigint
  /**
   * Slot of `mapping(uint256 blockNumber => bytes32) blockHashes`, which takes the place of `stateRootHashes` in version 9 of the
   * contract. Without it, no block hash is read.
   */
  blockHashes?: bigint | undefined
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
  /** A label for people, such as `linea`. It proves nothing. */
  name?: string | undefined
  /** The contract on L1, 20 bytes. For a proxied contract, the address of the proxy, which holds the storage. */
  address: Hex
  /** Default: {@link lineaLayout}. */
  layout?: RollupLayout | undefined
  /**
   * The code behind the proxy that you have looked at, 20 bytes (EIP-1967; zero: the contract is no such proxy). With any other,
   * the slots of the layout could mean something else, so nothing verifies. Whoever trusts an L2 state root states none. Default: any;
   * results name the one that is proven.
   */
  implementation?: Hex
  /** The JSON-RPC method with which L2 endpoints serve proofs. Default: `rollup_getProof`. */
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
 * The layout of the Linea deployments up to version 9 of the contract, and of Validiums. Forks of the contract may have another.
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
  blockHashes: 456n,
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
  name: 'linea',
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

/** Where a proxy keeps the address of its code (EIP-1967): keccak256('eip1967.proxy.implementation') - 1. */
export const IMPLEMENTATION_KEY: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

const ROLLUP_FIELDS = ['name', 'address', 'layout', 'implementation', 'method', 'chainId', 'l1ChainId']

const KNOWN = "lineaRollup or lineaSepoliaRollup of 'rollup-state-proof/anchor'"

/** A validated copy of the caller's argument `rollup`, its address in lower case. @throws ArgumentError */
export function readRollup(rollup: Rollup) {
  if (typeof rollup === 'string') throw invalid('rollup', `an object: ${KNOWN}, or { address } of your own`, rollup)
  const given = readOptions('rollup', rollup, ROLLUP_FIELDS, ['implementation'])
  const { name, address, layout, implementation, method, chainId, l1ChainId } = given
  return Object.assign(given, {
    name: readText('rollup.name', name),
    address: readHex('rollup.address', address, 20),
    layout: layout === undefined ? lineaLayout : readLayout(layout),
    ...(implementation !== undefined && { implementation: readHex('rollup.implementation', implementation, 20) }),
    method: readText('rollup.method', method),
    chainId: optional((id: number | bigint) => readChainId('rollup.chainId', id))(chainId),
    l1ChainId: optional((id: number | bigint) => readChainId('rollup.l1ChainId', id))(l1ChainId),
  })
}

export function readText(path: string, text: string | undefined): string | undefined {
  if (text === undefined || (typeof text === 'string' && text !== '')) return text
  throw invalid(path, 'a string that is not empty', text)
}

export function readChainId(path: string, chainId: number | bigint): bigint {
  const id = Number.isSafeInteger(chainId) ? BigInt(chainId) : chainId
  if (typeof id === 'bigint' && id > 0n && id < 1n << 256n) return id
  throw invalid(path, 'a whole number from 1 to 2^53 - 1, or a bigint from 1 to 2^256 - 1', chainId)
}

const STATE_SLOTS = ['currentFinalizedState', 'rollingHashes', 'forcedTransactionRollingHashes'] as const

function readLayout(layout: RollupLayout): RollupLayout {
  const what = 'rollup.layout'
  const given = readSlots(what, layout, ['stateRootHashes', 'currentL2BlockNumber'], ['blockHashes', 'finalizedState'])
  if (given.blockHashes !== undefined) verifyUint(`${what}.blockHashes`, given.blockHashes, 256)
  const readState = (slots: FinalizedStateLayout) => readSlots(`${what}.finalizedState`, slots, STATE_SLOTS)
  return Object.assign(given, { finalizedState: optional(readState)(given.finalizedState) })
}

/** A copy of numbers of slots, with fields that are still to be checked. @throws ArgumentError */
export function readSlots<T extends object>(
  what: string,
  slots: T,
  names: readonly (keyof T & string)[],
  others: readonly string[] = [],
): T {
  const given = readOptions(what, slots, [...names, ...others])
  for (const name of names) verifyUint(`${what}.${name}`, given[name], 256)
  return given
}

/** What the contract holds for an L2 block: the root of its state or, since version 9 of the contract, its hash. */
export type HeldValue = 'stateRoot' | 'blockHash'

export function readHeld(holds: HeldValue | undefined, layout: RollupLayout): HeldValue | undefined {
  if (holds === 'blockHash') verifyHasHashes(layout)
  else if (holds !== undefined && holds !== 'stateRoot') throw invalid('holds', "'stateRoot' or 'blockHash'", holds)
  // A layout without block hashes leaves nothing else.
  return layout.blockHashes === undefined ? 'stateRoot' : holds
}

export function verifyHasHashes({ blockHashes }: RollupLayout): void {
  if (blockHashes === undefined) throw invalid('rollup.layout.blockHashes', 'the slot of the block hashes', blockHashes)
}

export const verifyBlockNumber = (l2BlockNumber: bigint): bigint => verifyUint('l2BlockNumber', l2BlockNumber, 64)
