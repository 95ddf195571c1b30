import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeHeader } from '../anchor/header.ts'
import { bytesToHex, type Hex, hexToBytes } from '../bytes.ts'
import { encodeQuantity } from '../hex.ts'

/** A simulated block: the fields that vary. All other header fields are constant. */
export interface Block {
  readonly number: bigint
  readonly parentHash: Hex
  readonly stateRoot: Hex
  /** Seconds since 1970. */
  readonly timestamp: bigint
  /** At most 32 bytes. */
  readonly extraData: Hex
  readonly hash: Hex
}

export const zeros = (length: number): Hex => `0x${'00'.repeat(length)}`
export const ZERO_HASH = zeros(32)
/** The timestamp of block 0 if there is no `clock`. It is fixed, so that the hashes of a demo are reproducible. */
export const GENESIS_TIME = 0x69000000n
export const GAS_LIMIT = 36_000_000n
export const BASE_FEE = 7n
export const EMPTY_TRIE: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

export function sealBlock(fields: Omit<Block, 'hash'>): Block {
  const header = encodeHeader(headerOf(fields))
  return { ...fields, hash: bytesToHex(keccak_256(hexToBytes(header, header.length / 2 - 1))) }
}

/** A block as an `eth_getBlockByNumber` result. */
export const describeBlock = (block: Block): object => ({
  ...headerOf(block),
  hash: block.hash,
  size: '0x280',
  totalDifficulty: '0x0',
  transactions: [],
  uncles: [],
  withdrawals: [],
})

/** A block header of the Prague fork. */
const headerOf = ({ number, parentHash, stateRoot, timestamp, extraData }: Omit<Block, 'hash'>) => ({
  number: encodeQuantity(number),
  parentHash,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: zeros(20),
  stateRoot,
  transactionsRoot: EMPTY_TRIE,
  receiptsRoot: EMPTY_TRIE,
  logsBloom: zeros(256),
  difficulty: '0x0',
  gasLimit: encodeQuantity(GAS_LIMIT),
  gasUsed: '0x0',
  timestamp: encodeQuantity(timestamp),
  extraData,
  mixHash: ZERO_HASH,
  nonce: zeros(8),
  baseFeePerGas: encodeQuantity(BASE_FEE),
  withdrawalsRoot: EMPTY_TRIE,
  blobGasUsed: '0x0',
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: ZERO_HASH,
  requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
})
