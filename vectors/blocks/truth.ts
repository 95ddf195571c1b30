import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { parseTransaction, type TransactionSerializable } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { bytesToHex, hexToBytes } from '../../src/base/bytes.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { named } from '../evidence/l1.ts'

/** Blocks as endpoints send them. viem signs the transactions, `@ethereumjs/mpt` hashes the tries: nothing here is of `src/verify/blocks`. */

export const CHAIN_ID = 59_144
export const toBytes = (hex: string): Uint8Array => hexToBytes(hex, hex.length / 2 - 1)
export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
export const keccakOf = (hex: string): Hex => bytesToHex(keccak_256(toBytes(hex)))

type SentName =
  | ('type' | 'hash' | 'from' | 'to' | 'value' | 'input' | 'accessList' | 'authorizationList' | 'blobVersionedHashes')
  | ('gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'v' | 'r' | 's' | 'yParity' | 'chainId' | 'blockHash')
  | ('status' | 'cumulativeGasUsed' | 'gasUsed' | 'logsBloom' | 'logs' | 'transactionHash' | 'effectiveGasPrice')
  | ('address' | 'topics' | 'data' | 'transactionIndex' | 'logIndex' | 'blockNumber' | 'blockTimestamp')
  | ('contractAddress' | 'blobGasUsed')
/** A transaction, receipt or log as JSON-RPC has it. */
export type Sent = { [Name in SentName]?: unknown } & { [field: string]: unknown }

const COMMON = ['gas', 'to', 'value', 'input']
const FEES = ['maxPriorityFeePerGas', 'maxFeePerGas']
/** The fields of each type, as the proposals list them. */
const ORDER = [
  ['nonce', 'gasPrice', ...COMMON, 'v', 'r', 's'],
  ['chainId', 'nonce', 'gasPrice', ...COMMON, 'accessList', 'v', 'r', 's'],
  ['chainId', 'nonce', ...FEES, ...COMMON, 'accessList', 'v', 'r', 's'],
  ['chainId', 'nonce', ...FEES, ...COMMON, 'accessList', 'maxFeePerBlobGas', 'blobVersionedHashes', 'v', 'r', 's'],
  ['chainId', 'nonce', ...FEES, ...COMMON, 'accessList', 'authorizationList', 'v', 'r', 's'],
]
const NUMBERS = /^(chainId|nonce|gas|gasPrice|value|v|r|s|yParity|max\w+|status|cumulativeGasUsed)$/

/** RLP of JSON-RPC's fields: quantities lose their leading zeros, other text is bytes. */
function item(value: unknown, name = ''): unknown {
  if (value === null) return new Uint8Array(0)
  if (typeof value === 'string') {
    if (!NUMBERS.test(name)) return toBytes(value)
    const digits = BigInt(value).toString(16)
    return digits === '0' ? new Uint8Array(0) : toBytes(`0x${digits.length % 2 === 1 ? '0' : ''}${digits}`)
  }
  if (Array.isArray(value)) return value.map(own => item(own))
  return Object.entries(Object(value)).map(([name, own]) => item(own, name))
}

const pick = (sent: Sent, names: readonly string[]) => names.map(name => item(sent[name], name)) as Uint8Array[]
const typed = (type: unknown, items: readonly Uint8Array[]) => {
  const rlp = RLP.encode([...items])
  return type === '0x0' ? rlp : Uint8Array.of(Number(type), ...rlp)
}

export const encodeTransaction = (sent: Sent): Uint8Array =>
  typed(sent.type, pick(sent, ORDER[Number(sent.type)] ?? []))

export function encodeReceipt(sent: Sent): Uint8Array {
  const logs = (sent.logs as Sent[]).map(({ address, topics, data }) => ({ address, topics, data }))
  return typed(sent.type ?? '0x0', pick({ ...sent, logs }, ['status', 'cumulativeGasUsed', 'logsBloom', 'logs']))
}

/** The root of the trie of a list. */
export async function rootOf(encoded: readonly Uint8Array[]): Promise<Hex> {
  const trie = await createMPT()
  for (const [index, value] of encoded.entries()) await trie.put(RLP.encode(index), value)
  return bytesToHex(trie.root())
}

/** The bits of a log's address and topics, as one number of 2048 bits. */
export function bloomOf(logs: readonly Sent[]): Hex {
  let bloom = 0n
  for (const text of logs.flatMap(({ address, topics }) => [address, ...(topics as string[])])) {
    const hash = keccakOf(String(text))
    for (const start of [2, 6, 10]) bloom |= 1n << BigInt(Number(`0x${hash.slice(start, start + 4)}`) % 2048)
  }
  return `0x${bloom.toString(16).padStart(512, '0')}`
}

/** What a block is made of. */
export interface Content {
  readonly request: TransactionSerializable
  readonly sender: PrivateKeyAccount
  readonly status?: 0 | 1
  readonly gasUsed: bigint
  readonly logs: readonly { address: Hex; topics: readonly Hex[]; data: Hex }[]
}

/** An `eth_getBlockByNumber` result, without its transactions. */
export interface SentHeader extends UnsealedHeader {
  hash: Hex
  transactionsRoot: Hex
  receiptsRoot: Hex
}

interface UnsealedHeader {
  [field: string]: string
  timestamp: string
  number: string
}

export interface SentBlock {
  block: SentHeader
  transactions: Sent[]
  receipts: Sent[]
}

const BASE_FEE = 7n
const TYPES = ['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702']

/** A transaction as JSON-RPC has it, from what viem signed. */
async function signed({ request, sender }: Content): Promise<Sent> {
  const serialized = await sender.signTransaction(request as never)
  const {
    r = '0x',
    s = '0x',
    v = 0n,
    yParity = 0,
    ...parsed
  } = parseTransaction(serialized) as Sent & {
    [name in 'r' | 's']?: Hex
  } & { v?: bigint; yParity?: number }
  const type = TYPES.indexOf(String(request.type))
  const given: Sent = { ...request, ...parsed }
  const number = (name: string) =>
    ORDER[type]?.includes(name) ? { [name]: quantity((given[name] ?? 0n) as bigint) } : {}
  const list = (name: string) => (ORDER[type]?.includes(name) ? { [name]: given[name] ?? [] } : {})
  const authorizations = ((given.authorizationList ?? []) as Record<string, bigint>[]).map(
    ({ chainId = 0n, address, nonce = 0n, yParity = 0n, r = 0n, s = 0n }) => ({
      ...{ chainId: quantity(chainId), address, nonce: quantity(nonce), yParity: quantity(yParity) },
      ...{ r: quantity(BigInt(r)), s: quantity(BigInt(s)) },
    }),
  )
  const protectedBy = given.chainId === undefined ? {} : { chainId: quantity(given.chainId as number) }
  const sent: Sent = {
    ...{ type: quantity(type), hash: keccakOf(serialized), from: sender.address.toLowerCase(), ...protectedBy },
    ...{ ...number('nonce'), ...number('gasPrice'), ...number('maxPriorityFeePerGas'), ...number('maxFeePerGas') },
    ...{ gas: quantity(request.gas ?? 0n), to: request.to ?? null, value: quantity(request.value ?? 0n) },
    ...{ input: request.data ?? '0x', ...list('accessList'), ...number('maxFeePerBlobGas') },
    ...{ ...list('blobVersionedHashes'), ...(type === 4 && { authorizationList: authorizations }) },
    ...{ v: quantity(type === 0 ? v : yParity), ...(type > 0 && { yParity: quantity(yParity) }) },
    ...{ r: quantity(BigInt(r)), s: quantity(BigInt(s)) },
  }
  if (bytesToHex(encodeTransaction(sent)) !== serialized)
    throw new Error(`not what viem signed: ${JSON.stringify(sent)}`)
  return sent
}

/** EIP-1559. */
function priceOf({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: Sent): bigint {
  if (maxFeePerGas === undefined) return BigInt(String(gasPrice))
  const [most, wanted] = [BigInt(String(maxFeePerGas)), BASE_FEE + BigInt(String(maxPriorityFeePerGas))]
  return most < wanted ? most : wanted
}

/** The hash and the roots of a block that holds these. */
export async function seal(block: UnsealedHeader, transactions: Sent[], receipts: Sent[]): Promise<SentHeader> {
  const transactionsRoot = await rootOf(transactions.map(encodeTransaction))
  const receiptsRoot = await rootOf(receipts.map(encodeReceipt))
  const sealed = { ...block, transactionsRoot, receiptsRoot }
  return { ...sealed, hash: keccakOf(encodeHeader(sealed)) }
}

/** A block as an honest endpoint sends it. */
export async function makeBlock(
  contents: readonly Content[],
  number = 1000n,
  parentHash = named(`block ${number - 1n}`),
  stateRoot = named('state of the block'),
): Promise<SentBlock> {
  const transactions = await Promise.all(contents.map(signed))
  let [gas, logCount] = [0n, 0]
  const receipts = contents.map(({ request, sender, status = 1, gasUsed, logs }, index): Sent => {
    const { hash: transactionHash, type, from, to, blobVersionedHashes } = transactions[index] ?? {}
    gas += gasUsed
    const nonce = BigInt(request.nonce ?? 0)
    const created = bytesToHex(keccak_256(RLP.encode([toBytes(sender.address), nonce])).subarray(12))
    const blobs = Array.isArray(blobVersionedHashes) && { blobGasUsed: quantity(131_072 * blobVersionedHashes.length) }
    return {
      ...{ type, status: quantity(status), cumulativeGasUsed: quantity(gas), logsBloom: bloomOf([...logs] as never) },
      logs: logs.map(log => ({
        ...{
          ...log,
          logIndex: quantity(logCount++),
          transactionIndex: quantity(index),
          transactionHash,
          removed: false,
        },
      })),
      ...{ transactionHash, transactionIndex: quantity(index), gasUsed: quantity(gasUsed), from, to, ...blobs },
      contractAddress: to === null ? created : null,
      effectiveGasPrice: quantity(priceOf(transactions[index] ?? {})),
    }
  })
  const block = await seal({ parentHash, ...headerOf(number, gas, receipts), stateRoot }, transactions, receipts)
  const place = { blockHash: block.hash, blockNumber: quantity(number), blockTimestamp: block.timestamp }
  const placed = (sent: Sent): Sent => ({ ...sent, ...place })
  return {
    block,
    transactions: transactions.map((sent, index) => ({
      ...placed(sent),
      ...{ transactionIndex: quantity(index), gasPrice: quantity(priceOf(sent)) },
    })),
    receipts: receipts.map(sent => ({ ...placed(sent), logs: (sent.logs as Sent[]).map(placed) })),
  }
}

/** The fields of Prague, without the parent and the three roots. */
const headerOf = (number: bigint, gasUsed: bigint, receipts: readonly Sent[]) => ({
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: named('miner', 20),
  logsBloom: bloomOf(receipts.flatMap(({ logs }) => logs as Sent[])),
  difficulty: '0x0',
  number: quantity(number),
  gasLimit: quantity(2_000_000_000),
  gasUsed: quantity(gasUsed),
  timestamp: quantity(1_790_000_000n + number),
  extraData: '0x',
  mixHash: named('randomness'),
  nonce: '0x0000000000000000',
  baseFeePerGas: quantity(BASE_FEE),
  withdrawalsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  blobGasUsed: '0x40000',
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: named('no beacon'),
  requestsHash: named('no requests'),
})

const [alice, bob] = ['alice', 'bob'].map(name => privateKeyToAccount(named(name))) as [
  ...[PrivateKeyAccount, PrivateKeyAccount],
]
const [TOKEN, OTHER] = [named('token', 20), named('another contract', 20)]
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A block with one transaction of each kind. */
export const makeTruth = async (): Promise<SentBlock> => makeBlock(await kinds())

/** One transaction of each kind. Their receipts have logs with 0 to 4 topics. */
export async function kinds(): Promise<Content[]> {
  const accessList = [
    { address: TOKEN, storageKeys: [named('slot 1'), named('slot 2')] },
    { address: OTHER, storageKeys: [] },
  ]
  const fees = { maxPriorityFeePerGas: 3n, maxFeePerGas: 1000n }
  const blobs = {
    maxFeePerBlobGas: 5n,
    blobVersionedHashes: ['1', '2'].map(n => `0x01${named(`blob ${n}`).slice(4)}` as Hex),
  }
  const authorization = await bob.signAuthorization({ address: TOKEN, chainId: CHAIN_ID, nonce: 4 })
  const onChain = { chainId: CHAIN_ID, gas: 100_000n }
  const transfer = { address: TOKEN, topics: [TRANSFER, named('from'), named('to')], data: named('amount') }
  const log = (count: number): Content['logs'][number] => ({
    ...{ address: OTHER, topics: ['1', '2', '3', '4'].slice(0, count).map(n => named(`topic ${n}`)), data: '0x' },
  })
  return [
    {
      request: {
        type: 'legacy',
        nonce: 0,
        gasPrice: 10n,
        gas: 21_000n,
        to: bob.address.toLowerCase() as Hex,
        value: 1n,
      },
      ...{ sender: alice, gasUsed: 21_000n, logs: [] },
    },
    {
      request: { type: 'legacy', ...onChain, nonce: 1, gasPrice: 9n, data: '0x6001600055' },
      ...{ sender: alice, gasUsed: 60_000n, logs: [log(0)] },
    },
    {
      request: { type: 'eip2930', ...onChain, nonce: 2, gasPrice: 8n, to: TOKEN, accessList, data: '0xa9059cbb' },
      ...{ sender: alice, gasUsed: 30_000n, logs: [log(1), log(2)] },
    },
    {
      request: { type: 'eip1559', ...onChain, ...fees, nonce: 0, to: TOKEN, data: '0x00', value: 10n ** 20n },
      ...{ sender: bob, gasUsed: 50_000n, logs: [transfer, log(4)] },
    },
    {
      request: { type: 'eip4844', ...onChain, ...fees, ...blobs, nonce: 1, to: OTHER },
      ...{ sender: bob, gasUsed: 21_000n, logs: [] },
    },
    {
      request: { type: 'eip7702', ...onChain, ...fees, nonce: 2, to: OTHER, authorizationList: [authorization] },
      ...{ sender: bob, gasUsed: 46_000n, logs: [transfer] },
    },
    {
      request: { type: 'eip1559', ...onChain, maxPriorityFeePerGas: 3n, maxFeePerGas: 8n, nonce: 3, data: '0xfe' },
      ...{ sender: bob, status: 0, gasUsed: 100_000n, logs: [] },
    },
  ]
}
