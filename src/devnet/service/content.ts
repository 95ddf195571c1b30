import { decodeArgument, readItems } from '../../base/arguments.ts'
import { byteAt, bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath, isProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOptions, verifyUint } from '../../base/options.ts'
import { spellReceipt, spellTransaction } from '../../provider/blocks/spell.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import { decodeInteger, decodeRlp, type RlpItem } from '../../verify/anchor/trie.ts'
import { GAS_PER_BLOB, verifyBlock } from '../../verify/blocks/block.ts'
import { decodeType } from '../../verify/blocks/fields.ts'
import { orderedTrieRoot } from '../../verify/blocks/ordered-trie.ts'
import { bloomOf, decodeLog, decodeReceipt, encodeReceipt } from '../../verify/blocks/receipts.ts'
import { LAYOUTS } from '../../verify/blocks/transactions.ts'
import { type Block, type BlockContent, describeBlock, NO_CONTENT } from './block.ts'

interface RawTransaction {
  readonly type: Hex
  /** Type 3. */
  readonly blobVersionedHashes?: readonly Hex[]
}

/** A signed transaction as JSON-RPC has it, from its encoding (EIP-2718). What depends on the signature or the block is missing. */
export function readRaw(raw: Uint8Array): RawTransaction {
  const isTyped = byteAt(raw, 0) < 0xc0
  const type = decodeType(isTyped && raw.length > 0 ? encodeQuantity(BigInt(byteAt(raw, 0))) : undefined)
  const names = [...LAYOUTS[type], 'v', 'r', 's']
  const items = listOf(decodeRlp(isTyped ? raw.subarray(1) : raw), names.length)
  const fields = names.map((name, index) => [name, (READERS[name] ?? quantityOf)(items[index])])
  return { type: encodeQuantity(BigInt(type)), ...Object.fromEntries(fields) }
}

type Item = RlpItem | undefined

const bytesOf = (item: Item): Hex => {
  if (item instanceof Uint8Array) return bytesToHex(item)
  throw refusal('BLOCK_MALFORMED', 'bytes', 'a list')
}

/** @param count of items. Default: any */
function listOf(item: Item, count?: number): readonly RlpItem[] {
  if (!Array.isArray(item)) throw refusal('BLOCK_MALFORMED', 'a list', 'bytes')
  if (count === undefined || item.length === count) return item
  throw refusal('BLOCK_MALFORMED', `a list of ${count}`, `a list of ${item.length}`)
}

function quantityOf(item: Item): Hex {
  const number = decodeInteger(item, 32)
  if (number === null) throw refusal('BLOCK_QUANTITY', 'an integer of at most 32 bytes', 'another item')
  return encodeQuantity(number)
}

/** How fields are read that are no numbers. */
const READERS: Readonly<Record<string, (item: Item) => unknown>> = {
  to: item => (item?.length === 0 ? null : bytesOf(item)),
  input: bytesOf,
  accessList: item =>
    listOf(item).map(entry => {
      const [address, keys] = listOf(entry, 2)
      return { address: bytesOf(address), storageKeys: listOf(keys).map(bytesOf) }
    }),
  blobVersionedHashes: item => listOf(item).map(bytesOf),
  authorizationList: item =>
    listOf(item).map(entry => {
      const [chainId, address, ...numbers] = listOf(entry, 6)
      const [nonce, yParity, r, s] = numbers.map(quantityOf)
      return { chainId: quantityOf(chainId), address: bytesOf(address), nonce, yParity, r, s }
    }),
}

/** A log that a transaction of a {@link ServiceChain} writes. */
export interface ChainLog {
  /** The contract that writes it, 20 bytes. */
  readonly address: Hex
  /** At most 4, of 32 bytes each. */
  readonly topics: readonly Hex[]
  /** Any length. */
  readonly data: Hex
}

/** A transaction for a block of a {@link ServiceChain}, with what it did. */
export interface ChainTransaction {
  /** As signed and encoded, of any type from 0 to 4: what `eth_sendRawTransaction` takes. */
  readonly transaction: Hex
  /** 1 if it succeeded, 0 if it reverted. Default: 1. */
  readonly status?: bigint | undefined
  /** In gas, from 1. */
  readonly gasUsed: bigint
  /** Its logs, in order. Default: none. */
  readonly logs?: readonly ChainLog[] | undefined
}

/** The transactions and receipts of a block as JSON-RPC has them, in order: what is encoded of them, and no more. */
interface Parts {
  readonly transactions: readonly object[]
  readonly receipts: readonly object[]
}

/** What a block holds, as JSON-RPC has it, in order. */
export interface DescribedContent extends Parts {
  readonly transactions: readonly { readonly hash: Hex; readonly [field: string]: unknown }[]
  readonly receipts: readonly { readonly logs: readonly ChainLog[]; readonly [field: string]: unknown }[]
}

/** What a header says about these transactions, and the parts of the block. @throws ArgumentError, ProofError */
export function readContent(given: readonly ChainTransaction[]): { content: BlockContent; parts: Parts } {
  let gasUsed = 0n
  const read = readItems('transactions', given, item => {
    const own = readOptions('', item, ['transaction', 'status', 'gasUsed', 'logs'])
    const raw = decodeArgument('transaction', own.transaction)
    const transaction = atPath('transaction', () => readRaw(raw))
    gasUsed += verifyUint('gasUsed', own.gasUsed, 64, 1n)
    const logs = readItems('logs', own.logs ?? [], log =>
      decodeLog(readOptions('', log, ['address', 'topics', 'data'])),
    )
    const receipt = {
      type: transaction.type,
      status: encodeQuantity(verifyUint('status', own.status ?? 1n, 1)),
      cumulativeGasUsed: encodeQuantity(gasUsed),
      logsBloom: bytesToHex(bloomOf(logs)),
      logs: logs.map(({ fields }) => fields),
    }
    return { raw, transaction, logs, receipt, encoded: encodeReceipt(decodeReceipt(receipt)) }
  })
  if (read.length === 0) return { content: NO_CONTENT, parts: { transactions: [], receipts: [] } }
  const blobs = read.flatMap(({ transaction }) => transaction.blobVersionedHashes ?? [])
  const encoded = read.map(({ raw }) => raw)
  const content = {
    transactionsRoot: bytesToHex(orderedTrieRoot(encoded)),
    receiptsRoot: bytesToHex(orderedTrieRoot(read.map(({ encoded }) => encoded))),
    logsBloom: bytesToHex(bloomOf(read.flatMap(({ logs }) => logs))),
    gasUsed,
    blobGasUsed: GAS_PER_BLOB * BigInt(blobs.length),
    encoded,
  }
  const parts = {
    transactions: read.map(({ transaction }) => transaction),
    receipts: read.map(({ receipt }) => receipt),
  }
  return { content, parts }
}

/** The parts of a sealed block, with all that clients expect of them. @throws ProofError if a signature is none */
export function describeContent(block: Block, parts: Parts): DescribedContent {
  if (parts.transactions.length === 0) return { transactions: [], receipts: [] }
  const { hash, number } = block
  const verified = verifyBlock({ header: encodeHeader(describeBlock(block)), ...parts }, { hash, number })
  // They are spelt as they are described.
  return {
    transactions: verified.transactions.map(spellTransaction),
    receipts: verified.receipts.map(({ blockTimestamp: _, ...receipt }) => ({
      ...spellReceipt(receipt),
      ...(receipt.blobGasUsed > 0n && { blobGasPrice: '0x1' }),
    })),
  } as unknown as DescribedContent
}

/** Runs `work`: what it refuses is the caller's argument. @throws ArgumentError */
export function asArgument<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isProofError(error)) throw error
    const { path, expected = 'a signed transaction', found = error.code } = error
    throw new ArgumentError({ path, expected, found })
  }
}
