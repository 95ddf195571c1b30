import { readKeys } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { own, ProofError, refusal } from '../../base/errors.ts'
import { optional } from '../../base/json/decoders.ts'
import { readOptions } from '../../base/options.ts'
import { mappingSlot, slotKey } from './contract.ts'
import { decodeEthClaim, type L1Slot, verifyFirstSlots } from './eth-proof.ts'
import { type FinalizedState, hashFinalizedState, verifyFinalizedState } from './finalized-state.ts'
import {
  type FinalizedStateLayout,
  type HeldValue,
  IMPLEMENTATION_KEY,
  type Rollup,
  readHeld,
  readRollup,
  verifyBlockNumber,
} from './rollup.ts'

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
  const { stateRoot, address, implementation: stated } = contract
  const allKeys = readKeys([...keys, IMPLEMENTATION_KEY])
  const minSlots = stated === undefined ? least : allKeys.length
  const { account, storage } = verifyFirstSlots(proof, { stateRoot, address, keys: allKeys }, minSlots)
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
