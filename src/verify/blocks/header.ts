import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bytesToBigint, bytesToHex, type Hex, isZero } from '../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'
import { slotKey } from '../anchor/contract.ts'
import { FIELDS, openHeader as openRlp } from '../anchor/header.ts'

/** All fields of a proven block header, under their names in JSON-RPC. Those of later forks may be missing. */
export interface BlockHeader {
  /** keccak256 of the header's RLP, 32 bytes. */
  hash: Hex
  /** Hash of the block before, 32 bytes. */
  parentHash: Hex
  /** Hash of the list of uncles, 32 bytes. */
  sha3Uncles: Hex
  /** The beneficiary of the fees, 20 bytes. */
  miner: Hex
  /** Root of the state as the rollup's Ethereum-like header has it, 32 bytes. It may be of another tree than the one on L1. */
  stateRoot: Hex
  /** What `verifyTransactions` needs, 32 bytes. */
  transactionsRoot: Hex
  /** What `verifyReceipts` needs, 32 bytes. */
  receiptsRoot: Hex
  /** The bloom filter of all logs, 256 bytes. */
  logsBloom: Hex
  /** Zero since the merge. */
  difficulty: bigint
  /** The block number. */
  number: bigint
  /** In gas. */
  gasLimit: bigint
  /** In gas. */
  gasUsed: bigint
  /** Seconds since 1970. */
  timestamp: bigint
  /** At most 4096 bytes. */
  extraData: Hex
  /** The randomness of the beacon chain, 32 bytes. */
  mixHash: Hex
  /** 8 bytes. */
  nonce: Hex
  /** In wei, since London. */
  baseFeePerGas?: bigint
  /** 32 bytes, since Shanghai. */
  withdrawalsRoot?: Hex
  /** In gas, since Cancun. */
  blobGasUsed?: bigint
  /** In gas, since Cancun. */
  excessBlobGas?: bigint
  /** 32 bytes, since Cancun. */
  parentBeaconBlockRoot?: Hex
  /** 32 bytes, since Prague. */
  requestsHash?: Hex
  /** 32 bytes, since Amsterdam. */
  blockAccessListHash?: Hex
  /** Slot of the beacon chain, since Amsterdam. */
  slotNumber?: bigint
}

/** Which block is asked for. */
export interface BlockClaim {
  /** The block's hash, 32 bytes, which you trust: for example what `readBlockHash` returned. */
  hash: Hex
  /** The block's number. */
  number: bigint
}

/**
 * Verifies the header of a block, and that it is the block asked for.
 *
 * @param header the header's RLP in hexadecimal, as `encodeHeader` makes it from an `eth_getBlockByNumber` result
 * @param claim the trusted hash, and the number asked for
 * @throws ProofError `BLOCK_NUMBER_MISMATCH`, and those of `verifyHeader`: `HEADER_HASH_MISMATCH` if it is another header;
 * ArgumentError
 *
 * @example
 * ```ts
 * import { encodeHeader } from 'rollup-state-proof/anchor'
 * import { verifyBlockHeader } from 'rollup-state-proof/blocks'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { chain } = createService({ genesis: demoWorld(poseidon2), rollup })
 * const block = Object(chain.l1.getBlock(0n))
 * const header = verifyBlockHeader(encodeHeader(block), { hash: block.hash, number: 0n })
 * console.log(header.baseFeePerGas) // 7n
 * ```
 */
export const verifyBlockHeader = (header: unknown, claim: BlockClaim): BlockHeader =>
  openHeader(header, decodeBlockClaim(claim))

export function decodeBlockClaim(claim: BlockClaim): BlockClaim {
  const { hash, number } = readOptions('', claim, ['hash', 'number'])
  return { hash: readHex('hash', hash, 32), number: verifyUint('number', number, 64) }
}

export function openHeader(header: unknown, { hash, number }: BlockClaim): BlockHeader {
  const { items } = openRlp(header, hash)
  const fields = FIELDS.flatMap(([name, [kind]], index) => {
    const item = items[index]
    return item === undefined ? [] : [[name, kind === 'integer' ? bytesToBigint(item) : bytesToHex(item)]]
  })
  // The names and types are those of the table. The verified header has all that are not optional.
  const opened = { hash, ...Object.fromEntries(fields) } as BlockHeader
  if (opened.number === number) return opened
  const found = `block ${opened.number}`
  throw new ProofError('BLOCK_NUMBER_MISMATCH', { path: 'number', expected: `block ${number}`, found })
}

/** How many blocks back the contract remembers: the size of its ring of slots. */
export const WINDOW = 8191n

/**
 * The address of the contract that keeps the hashes of the last 8,191 blocks (EIP-2935), the same on every chain.
 *
 * @example
 * ```ts
 * import { historyContract } from 'rollup-state-proof/blocks'
 *
 * console.log(historyContract) // 0x0000f90827f1c53a10cb7a02335b175320002935
 * ```
 */
export const historyContract: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935'

/**
 * The storage slot of {@link historyContract} for the hash of a block, 32 bytes: the number modulo 8191.
 *
 * @param number the block's number, below 2^64
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { historySlot } from 'rollup-state-proof/blocks'
 *
 * console.log(BigInt(historySlot(8191n * 3n + 5n))) // 5n
 * ```
 */
export const historySlot = (number: bigint): Hex => slotKey(verifyUint('number', number, 64) % WINDOW)

/** Which hash is asked for, in the state of which block. */
export interface HistoryClaim {
  /** Number of the block whose hash is asked for. */
  number: bigint
  /** Number of the block after which the state is as proven. */
  stateBlock: bigint
}

/** What is proven about a contract, such as {@link historyContract}: the result of `verifyProof`, or these parts of it. */
export interface ProvenHistory {
  /** null if the contract is proven absent. */
  account: object | null
  /** The proven slots, in any order: the one that is read must be one of them. */
  storage: readonly {
    /** 32 bytes. */
    key: Hex
    /** 32 bytes. */
    value: Hex
  }[]
}

/** The first block whose hash the state after a block holds. */
export const firstInWindow = (stateBlock: bigint): bigint => (stateBlock > WINDOW ? stateBlock - WINDOW : 0n)

const reader = /* @__PURE__ */ readerOf('ARGUMENT_INVALID')

/**
 * The hash of a block, from a proven slot of {@link historyContract}. The state after block n holds the hashes of the blocks
 * n - 8191 to n - 1, and each slot is shared by blocks 8,191 apart: therefore both numbers count. The hash is committed by the
 * state root: the operator of the rollup vouches for it as for every other slot, an endpoint cannot change it.
 *
 * @param proven what `verifyProof` returned for the address {@link historyContract}
 * @param claim the block whose hash is asked for, and the block of the state
 * @returns 32 bytes
 * @throws ProofError `HISTORY_OUTSIDE_WINDOW`, `HISTORY_NO_CONTRACT`, `HISTORY_NO_HASH`; ArgumentError
 *
 * @example
 * ```ts
 * import { readBlockHash, historySlot } from 'rollup-state-proof/blocks'
 *
 * // In place of these two, pass what verifyProof returned for historyContract and [historySlot(99n)].
 * const [account, value] = [{}, `0x${'ab'.repeat(32)}`] as const
 * const hash = readBlockHash({ account, storage: [{ key: historySlot(99n), value }] }, { number: 99n, stateBlock: 100n })
 * console.log(hash === value) // true
 * ```
 */
export function readBlockHash(proven: ProvenHistory, claim: HistoryClaim): Hex {
  const stated = readOptions('', claim, ['number', 'stateBlock'])
  const number = verifyUint('number', stated.number, 64)
  const stateBlock = verifyUint('stateBlock', stated.stateBlock, 64)
  const { account, value } = atPath('proven', () => decodeProven(proven, historySlot(number)))
  if (number >= stateBlock || stateBlock - number > WINDOW) {
    throw refusal('HISTORY_OUTSIDE_WINDOW', `a block from ${firstInWindow(stateBlock)} to ${stateBlock - 1n}`, number)
  }
  if (account === null) throw new ProofError('HISTORY_NO_CONTRACT', { expected: `an account ${historyContract}` })
  if (isZero(value)) throw refusal('HISTORY_NO_HASH', `the hash of block ${number}`, 'zero')
  return bytesToHex(value)
}

export function decodeProven(proven: ProvenHistory, slot: Hex): { account: object | null; value: Uint8Array } {
  const { account, storage } = readOptions('', proven, ['account', 'storage'])
  if (typeof account !== 'object') throw invalid('account', 'an account, or null', account)
  const slots = readItems('storage', storage, item => {
    const { key, value } = reader.fields(item, ['key', 'value'])
    return { key: readHex('key', key, 32), value: decodeArgument('value', value, 32) }
  })
  const found = slots.find(({ key }) => key === slot)
  if (found === undefined) throw invalid('storage', `the slot ${slot}`, storage)
  return { account, value: found.value }
}
