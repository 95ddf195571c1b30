import { byteAt, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import { decodeRlp, EMPTY_TRIE_ROOT, encodeRlp, type RlpItem } from '../../verify/anchor/trie.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'

/** A simulated block: the fields that vary. All other header fields are constant. */
export interface Block {
  readonly number: bigint
  readonly parentHash: Hex
  readonly stateRoot: Hex
  /** Seconds since 1970. */
  readonly timestamp: bigint
  /** At most 32 bytes. */
  readonly extraData: Hex
  readonly content: BlockContent
  readonly hash: Hex
}

/** What a header says about the transactions of the block, and these as encoded. */
export interface BlockContent {
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Hex
  readonly gasUsed: bigint
  readonly blobGasUsed: bigint
  readonly encoded: Uint8Array[]
}

export const zeros = (length: number): Hex => `0x${'00'.repeat(length)}`
export const ZERO_HASH = zeros(32)
/** Who gets the tips. */
export const MINER = zeros(20)
/** The timestamp of block 0 if there is no `clock`. It is fixed, so that the hashes of a demo are reproducible. */
export const GENESIS_TIME = 0x69000000n
export const GAS_LIMIT = 36_000_000n
export const BASE_FEE = 7n

export const NO_CONTENT: BlockContent = {
  transactionsRoot: EMPTY_TRIE_ROOT,
  receiptsRoot: EMPTY_TRIE_ROOT,
  logsBloom: zeros(256),
  gasUsed: 0n,
  blobGasUsed: 0n,
  encoded: [],
}

export const sealBlock = (fields: Omit<Block, 'hash'>): Block => ({
  ...fields,
  hash: bytesToHex(keccak256(rlpOf(fields))),
})

function rlpOf(block: Omit<Block, 'hash'>): Uint8Array {
  const header = encodeHeader(headerOf(block))
  return hexToBytes(header, header.length / 2 - 1)
}

/** A transaction in the body of a block: one of type 0 is a list, and any other a string. */
const inBody = (encoded: Uint8Array): RlpItem => (byteAt(encoded, 0) < 0xc0 ? encoded : decodeRlp(encoded))

/** A block as an `eth_getBlockByNumber` result. @param transactions in full, or the hash of each */
export const describeBlock = (block: Block, transactions: readonly unknown[] = []): object => ({
  ...headerOf(block),
  hash: block.hash,
  size: encodeQuantity(BigInt(encodeRlp([decodeRlp(rlpOf(block)), block.content.encoded.map(inBody), [], []]).length)),
  totalDifficulty: '0x0',
  transactions,
  uncles: [],
  withdrawals: [],
})

/** A block, and its transactions as JSON-RPC has them. */
export interface Stored {
  readonly block: Block
  readonly content?: { readonly transactions: readonly { readonly hash: Hex }[] }
}

export function describeStored(stored: Stored | undefined, isFull = false): object | null {
  const transactions = stored?.content?.transactions ?? []
  return stored ? describeBlock(stored.block, isFull ? transactions : transactions.map(({ hash }) => hash)) : null
}

/** A block header of the Prague fork. */
const headerOf = ({ number, parentHash, stateRoot, timestamp, extraData, content }: Omit<Block, 'hash'>) => ({
  number: encodeQuantity(number),
  parentHash,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: MINER,
  stateRoot,
  transactionsRoot: content.transactionsRoot,
  receiptsRoot: content.receiptsRoot,
  logsBloom: content.logsBloom,
  difficulty: '0x0',
  gasLimit: encodeQuantity(GAS_LIMIT),
  gasUsed: encodeQuantity(content.gasUsed),
  timestamp: encodeQuantity(timestamp),
  extraData,
  mixHash: ZERO_HASH,
  nonce: zeros(8),
  baseFeePerGas: encodeQuantity(BASE_FEE),
  withdrawalsRoot: EMPTY_TRIE_ROOT,
  blobGasUsed: encodeQuantity(content.blobGasUsed),
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: ZERO_HASH,
  requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
})

export type BlockStore<T> = ReturnType<typeof createBlockStore<T>>

/** The blocks of a chain by number and hash, without gaps from the oldest on. @param contentOf the hashes of the transactions in a block */
export function createBlockStore<T>(hashOf: (block: T) => Hex, contentOf: (block: T) => readonly Hex[] = () => []) {
  const blocks = new Map<bigint, T>()
  const numbers = new Map<Hex, bigint>()
  const places = new Map<Hex, bigint>()
  let newest = -1n
  let oldest = 0n
  function drop(number: bigint): void {
    const block = blocks.get(number)
    if (block === undefined) return
    numbers.delete(hashOf(block))
    for (const hash of contentOf(block)) places.delete(hash)
    blocks.delete(number)
  }
  return {
    /** -1 before the first block. */
    newest: () => newest,
    oldest: () => oldest,
    at: (number: bigint) => blocks.get(number),
    /** The number of the block with this hash; undefined if there is none. */
    numberOf: (hash: Hex) => numbers.get(hash),
    /** The block that holds the transaction with this hash; undefined if there is none. */
    holding: (hash: Hex) => blocks.get(places.get(hash) ?? -1n),
    /** Adds the block after the newest. */
    add(block: T): void {
      blocks.set(++newest, block)
      numbers.set(hashOf(block), newest)
      for (const hash of contentOf(block)) places.set(hash, newest)
    },
    /** Drops the blocks above this number. */
    rewind(number: bigint): void {
      for (; newest > number; newest--) drop(newest)
    },
    /** Drops the blocks below this number. */
    forget(number: bigint): void {
      for (; oldest < number; oldest++) drop(oldest)
      if (newest < oldest) newest = oldest - 1n
    },
  }
}
