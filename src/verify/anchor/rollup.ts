import { invalid, readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { own, ProofError, refusal } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'
import { mappingSlot, slotKey } from './contract.ts'
import { decodeEthClaim, type L1Slot, verifyFirstSlots } from './eth-proof.ts'
import { type FinalizedState, hashFinalizedState, verifyFinalizedState } from './finalized-state.ts'

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

/** What to verify about an L2 block in the rollup contract, in an L1 state that you trust. */
export interface AnchorClaim<Held extends HeldValue = HeldValue> {
  /** Root of the L1 state, 32 bytes. */
  l1StateRoot: Hex
  /** The contract whose roots and hashes you trust. */
  rollup: Rollup
  /** The last block of a finalization: the contract knows these only. From 0 to 2^64 - 1. */
  l2BlockNumber: bigint
  /** What the contract is to hold for the block. Default: whichever it holds; an error if it holds both. */
  holds?: Held | undefined
  /** What the contract's log says about its newest finalization, if the proof is to cover the timestamp. */
  finalizedState?: FinalizedState | undefined
}

/** What the rollup contract is proven to hold: a state root or a block hash. The compiler knows which if the claim says so. */
export type VerifiedAnchor<Held extends HeldValue = HeldValue> = ProvenContract &
  (
    | (Held extends 'stateRoot'
        ? {
            /** The root of the L2 state at that block, 32 bytes: the `stateRoot` for `verifyProof`. */
            stateRoot: Hex
            /** It is not a block hash. */
            blockHash: undefined
          }
        : never)
    | (Held extends 'blockHash'
        ? {
            /** It is not a state root. */
            stateRoot: undefined
            /** The hash of that L2 block, 32 bytes, for `verifyBlockHeader`. The header has the root of an Ethereum state. */
            blockHash: Hex
          }
        : never)
  )

/** What is proven of the rollup contract besides what it holds for a block. */
export interface ProvenContract {
  /** The last finalized L2 block in that L1 state; undefined if the proof does not cover it. */
  currentL2BlockNumber: bigint | undefined
  /**
   * The timestamp of the L2 block, in seconds since 1970; undefined if it is not proven: the block is not the newest finalized
   * one, there was no `finalizedState`, or the layout has no place for it.
   */
  finalizedTimestamp: bigint | undefined
  /**
   * The code behind the proxy, 20 bytes, lower case; zero if the contract is no proxy (EIP-1967). Undefined if the proof does not
   * cover it: nothing shows then that the contract has the layout.
   */
  implementation: Hex | undefined
}

/**
 * The storage keys to request with `eth_getProof` for the rollup contract: the block's entry in `stateRootHashes`, then
 * `currentL2BlockNumber`. With a `finalizedState`, the keys that prove its timestamp follow: `currentFinalizedState`, the
 * rolling hash of the message and, since version 8 of the contract, that of the forced transaction. They do not if the layout
 * has no slots for it. Then come the block's entry in `blockHashes`, if the layout has it, and the code behind the proxy.
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
export function anchorStorageKeys(request: Omit<AnchorClaim, 'l1StateRoot' | 'holds'>): [Hex, Hex, ...Hex[]] {
  const [root, current, ...others] = inOrder(keysOf(readRequest(readOptions('', request, REQUEST_FIELDS))))
  return [root, current, ...others, IMPLEMENTATION_KEY]
}

const REQUEST_FIELDS = ['rollup', 'l2BlockNumber', 'finalizedState']

function readRequest(request: Omit<AnchorClaim, 'l1StateRoot' | 'holds'>) {
  const { rollup, l2BlockNumber, finalizedState } = own(request)
  return {
    rollup: readRollup(rollup),
    l2BlockNumber: verifyBlockNumber(l2BlockNumber),
    finalizedState: optional(verifyFinalizedState)(finalizedState),
  }
}

function keysOf({ rollup, l2BlockNumber, finalizedState }: ReturnType<typeof readRequest>) {
  const { stateRootHashes, blockHashes, currentL2BlockNumber, finalizedState: slots } = rollup.layout
  const keyIn = (slot: bigint) => mappingSlot({ slot, keys: [l2BlockNumber] })
  return {
    root: keyIn(stateRootHashes),
    current: slotKey(currentL2BlockNumber),
    stated: slots && finalizedState ? stateKeys(slots, finalizedState) : [],
    hash: blockHashes === undefined ? undefined : keyIn(blockHashes),
  }
}

type Keys = ReturnType<typeof keysOf>

/** In the order of the request. Proofs that were recorded before there were block hashes end before the hash. */
function inOrder({ root, current, stated, hash }: Keys): [Hex, Hex, ...Hex[]] {
  return [root, current, ...stated, ...(hash === undefined ? [] : [hash])]
}

function stateKeys(slots: FinalizedStateLayout, state: FinalizedState): Hex[] {
  const { messageNumber, forcedTransactionNumber: forced } = state
  const keys = [slotKey(slots.currentFinalizedState), mappingSlot({ slot: slots.rollingHashes, keys: [messageNumber] })]
  if (forced === undefined) return keys
  return [...keys, mappingSlot({ slot: slots.forcedTransactionRollingHashes, keys: [forced] })]
}

/**
 * Verifies what the rollup contract holds for an L2 block, from an `eth_getProof` result for {@link anchorStorageKeys}: a state
 * root or a block hash, whichever of the two slots is not zero.
 *
 * The code behind the proxy, which is the last key, may be missing unless the rollup states its `implementation`. If the claim
 * says that the contract holds a state root, the entry in `blockHashes` may be missing, too, and so may `currentL2BlockNumber`
 * if there is no finalized state.
 *
 * The contract keeps the roots and hashes of old finalizations, so they prove the L2 state at that block, not the current one.
 * Compare `l2BlockNumber` with `currentL2BlockNumber`, and `finalizedTimestamp`, or the time of the L1 block, with your
 * clock.
 *
 * @param proof what the L1 endpoint sent as the result, parsed from JSON
 * @param claim the L1 state root that you trust, the rollup, and the L2 block
 * @throws ProofError `ANCHOR_NO_CONTRACT`, `ANCHOR_IMPLEMENTATION_MISMATCH`, `ANCHOR_BLOCK_AHEAD`, `ANCHOR_NO_ROOT`,
 * `ANCHOR_AMBIGUOUS`, `ANCHOR_FINALIZED_STATE_MISMATCH`, and what `verifyEthProof` throws; ArgumentError
 *
 * @example
 * ```ts
 * import { anchorStorageKeys, verifyAnchor } from 'rollup-state-proof/anchor'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
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
export function verifyAnchor<Held extends HeldValue = HeldValue>(
  proof: unknown,
  claim: AnchorClaim<Held>,
): VerifiedAnchor<Held> {
  const { l1StateRoot, holds, ...request } = readOptions('', claim, ['l1StateRoot', 'holds', ...REQUEST_FIELDS])
  const decoded = readRequest(request)
  const { rollup, l2BlockNumber, finalizedState } = decoded
  const expected = readHeld(holds, rollup.layout)
  const keys = keysOf(decoded)
  const contract = decodeContract(l1StateRoot, rollup)
  const { storage, implementation } = openContract(proof, contract, inOrder(keys), leastCount(expected, keys))
  const slotOf = (wanted: Hex | undefined) => storage.find(({ key }) => key === wanted)
  const current = slotOf(keys.current)
  const currentL2BlockNumber = current && BigInt(current.value)
  // Nothing exists above the last finalized block: this is not the contract, or not its layout.
  if (currentL2BlockNumber !== undefined && l2BlockNumber > currentL2BlockNumber) {
    throw refusal('ANCHOR_BLOCK_AHEAD', `at most ${currentL2BlockNumber}`, l2BlockNumber)
  }
  const [root, hash] = [slotOf(keys.root), slotOf(keys.hash)]
  const held = pickHeld(expected, [root, hash], l2BlockNumber, currentL2BlockNumber)
  const timestamp = finalizedState && verifyTimestamp(finalizedState, storage.slice(2, 2 + keys.stated.length))
  // The contract keeps this for its newest finalization only.
  const finalizedTimestamp = currentL2BlockNumber === l2BlockNumber ? timestamp : undefined
  // It is what the claim says, if it says so.
  return { ...held, currentL2BlockNumber, finalizedTimestamp, implementation } as VerifiedAnchor<Held>
}

export function readHeld(holds: HeldValue | undefined, layout: RollupLayout): HeldValue | undefined {
  if (holds === 'blockHash') verifyHasHashes(layout)
  else if (holds !== undefined && holds !== 'stateRoot') throw invalid('holds', "'stateRoot' or 'blockHash'", holds)
  // A layout without block hashes leaves nothing else.
  return layout.blockHashes === undefined ? 'stateRoot' : holds
}

export function verifyHasHashes({ blockHashes }: RollupLayout): void {
  if (blockHashes === undefined) throw invalid('rollup.layout.blockHashes', 'the slot of the block hashes', blockHashes)
}

/** How many slots a proof must have if the rollup states no implementation. */
function leastCount(expected: HeldValue | undefined, { stated }: Keys): number {
  if (expected !== 'stateRoot') return 2 + stated.length + 1
  // The keys of the finalized state are requested together or not at all.
  return stated.length === 0 ? 1 : 2 + stated.length
}

export function decodeContract(l1StateRoot: Hex, { address, implementation }: ReturnType<typeof readRollup>) {
  return { ...decodeEthClaim({ l1StateRoot, address }), implementation }
}

export type DecodedContract = ReturnType<typeof decodeContract>

/**
 * Slots of the rollup contract, and the code behind its proxy. What the slots mean depends on the code: its slot, which is the
 * last, may be missing only if the caller states nothing about it.
 *
 * @param least how many slots must then be there: all others, unless fewer are enough
 */
export function openContract(proof: unknown, contract: DecodedContract, keys: readonly Hex[], least = keys.length) {
  const { implementation: stated, ...claim } = contract
  const allKeys = readKeys([...keys, IMPLEMENTATION_KEY])
  const minSlots = stated === undefined ? least : allKeys.length
  const { account, storage } = verifyFirstSlots(proof, { ...claim, keys: allKeys }, minSlots)
  if (account === null) throw new ProofError('ANCHOR_NO_CONTRACT', { found: 'no account at its address' })
  const slot = storage[keys.length]
  // As the proxy reads it: the lower 20 bytes.
  const found: Hex | undefined = slot && `0x${slot.value.slice(-40)}`
  if (stated === undefined || stated === found) return { storage, implementation: found }
  throw new ProofError('ANCHOR_IMPLEMENTATION_MISMATCH', { path: 'storageProof', expected: stated, found })
}

/** What the contract holds, which must be what is expected. */
function pickHeld(
  expected: HeldValue | undefined,
  [root, hash]: readonly (L1Slot | undefined)[],
  block: bigint,
  newest: bigint | undefined,
) {
  const stateRoot = root?.exists && expected !== 'blockHash' ? root.value : undefined
  const blockHash = hash?.exists && expected !== 'stateRoot' ? hash.value : undefined
  if (stateRoot !== undefined && blockHash !== undefined) {
    throw refusal('ANCHOR_AMBIGUOUS', "'stateRoot' or 'blockHash', as what the contract holds", 'both')
  }
  if (stateRoot !== undefined || blockHash !== undefined) return { stateRoot, blockHash }
  const example = newest === undefined ? '' : `, such as ${newest}, the newest in this proof`
  const missing = { stateRoot: 'no root', blockHash: 'no hash', either: 'no root and no hash' }[expected ?? 'either']
  const other = root?.exists ? ', but its root' : hash?.exists ? ', but its hash' : ''
  throw new ProofError('ANCHOR_NO_ROOT', {
    path: 'storageProof[0]',
    expected: `the last block of a finalization${example}`,
    found: `${missing} for L2 block ${block}${other}`,
  })
}

/** The timestamp that the contract hashed; undefined if the layout has no slots for it. */
function verifyTimestamp(state: FinalizedState, [hash, ...rollingHashes]: readonly L1Slot[]): bigint | undefined {
  if (hash === undefined) return undefined
  const rollingValues = rollingHashes.map(({ value }) => BigInt(value))
  const found = bytesToHex(hashFinalizedState(state, rollingValues))
  if (found !== hash.value) {
    throw new ProofError('ANCHOR_FINALIZED_STATE_MISMATCH', { path: 'storageProof[2]', expected: hash.value, found })
  }
  return state.timestamp
}

export const verifyBlockNumber = (l2BlockNumber: bigint): bigint => verifyUint('l2BlockNumber', l2BlockNumber, 64)
