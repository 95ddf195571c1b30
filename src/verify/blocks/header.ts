import { bytesToBigint, bytesToHex, type Hex } from '../../base/bytes.ts'
import { ProofError } from '../../base/errors.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'
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
