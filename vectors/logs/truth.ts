import { privateKeyToAccount } from 'viem/accounts'
import { createWorld } from '../../src/devnet/index.ts'
import { createBundle, encodeHeader } from '../../src/entry/anchor.ts'
import { historyContract, historySlot, type LogsBundle } from '../../src/entry/blocks.ts'
import type { Hex, Scheme } from '../../src/entry/index.ts'
import { CHAIN_ID, type Content, makeBlock, quantity, type Sent, type SentBlock } from '../blocks/truth.ts'
import { createL1, named } from '../evidence/l1.ts'
import { keccakOf, rollup, rootSlot } from '../evidence/truth.ts'

/** A short chain with logs, and the states that hold the hashes of its blocks. */

export const TOKEN = named('token', 20)
const OTHER = named('another contract', 20)
export const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** What the bundles are for. */
export const FILTER = { address: [TOKEN], topics: [[TRANSFER]] }

/** The range of the bundles. */
export const [FIRST, LAST] = [994n, 999n]
/** The block of the proven state, right after the range, and one whose window begins at 996. */
export const [STATE, LATER] = [1000n, 9187n]

const sender = privateKeyToAccount(named('alice'))
type Log = Content['logs'][number]
const transfer = (name: string): Log => ({
  ...{ address: TOKEN, topics: [TRANSFER, named(`from ${name}`), named(`to ${name}`)], data: named(`amount ${name}`) },
})
const approval: Log = { address: TOKEN, topics: [named('approval'), named('owner'), named('spender')], data: '0x' }
const foreign: Log = { address: OTHER, topics: [TRANSFER], data: '0x01' }

/** The logs of each block from 994 on, by transaction. */
const LOGS: readonly (readonly (readonly Log[])[])[] = [
  [[transfer('a'), foreign], []],
  [],
  // No transfer of the token, but the bloom filter of the block cannot tell.
  [[approval], [foreign]],
  [[], []],
  [[transfer('b')], [approval, transfer('c')]],
  [[foreign, transfer('d')]],
]

/**
 * The blocks of a chain, with their `logs` as they are proven.
 *
 * @param stateAfter the root of the state of the block after these
 */
export async function makeChain(
  logs = LOGS,
  first = FIRST,
  stateAfter: (before: readonly SentBlock[]) => Promise<Hex | undefined> = async () => undefined,
): Promise<SentBlock[]> {
  let [nonce, parentHash] = [0, named('before the chain')]
  const chain: SentBlock[] = []
  for (const [index, ofBlock] of logs.entries()) {
    const contents = ofBlock.map((logs): Content => {
      const fees = { maxPriorityFeePerGas: 3n, maxFeePerGas: 1000n, gas: 100_000n }
      const request = { type: 'eip1559', chainId: CHAIN_ID, ...fees, nonce: nonce++, to: TOKEN } as const
      return { request, sender, gasUsed: 50_000n, logs }
    })
    const made = await makeBlock(contents, first + BigInt(index), parentHash, await stateAfter(chain))
    parentHash = made.block.hash
    chain.push(made)
  }
  return chain
}

const pick = (sent: Sent, names: readonly string[]): Sent =>
  Object.fromEntries(names.flatMap(name => (name in sent ? [[name, sent[name]]] : [])))
const HASHED = {
  transaction: [
    ...['type', 'chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input'],
    ...['accessList', 'yParity', 'r', 's'],
  ],
  receipt: ['type', 'status', 'cumulativeGasUsed', 'logsBloom'],
  log: ['address', 'topics', 'data'],
}

/** Only what is hashed. */
export const partsOf = ({ block, transactions, receipts }: SentBlock) => ({
  header: encodeHeader(block),
  transactions: transactions.map(sent => pick(sent, HASHED.transaction)),
  receipts: receipts.map(sent => ({
    ...{ ...pick(sent, HASHED.receipt), logs: (sent.logs as Sent[]).map(log => pick(log, HASHED.log)) },
  })),
})

/** What vectors of logs start from. */
export type Truth = Awaited<ReturnType<typeof makeTruth>>

/** An L1 that holds, for these blocks, a state with these hashes of earlier blocks. */
export async function anchorOf(
  scheme: Scheme,
  hashes: readonly (readonly [number: bigint, hash: Hex])[],
  stateBlocks: readonly bigint[],
) {
  const world = createWorld(scheme)
  world.setAccount(named('somebody', 20), { nonce: 1n })
  if (hashes.length > 0) world.setAccount(historyContract, { nonce: 1n })
  for (const [number, hash] of hashes) world.setStorage(historyContract, { key: historySlot(number), value: hash })
  const stateRoot = world.stateRoot()
  const roots = stateBlocks.map(block => [rootSlot(block), BigInt(stateRoot)] as const)
  const l1 = await createL1(rollup.address, new Map([[281n, LATER], ...roots]))
  return {
    /** The parts of a bundle that prove the slot of a block's hash. */
    async bundleFor(l2BlockNumber: bigint, newest: bigint) {
      const storageKeys = [historySlot(newest)]
      const proof = await l1.getProof(rollup.address, [rootSlot(l2BlockNumber), 281n])
      const answer = world.getProof(historyContract, storageKeys)
      const parts = { scheme, rollup, l2BlockNumber, address: historyContract, storageKeys, answer }
      const { request: _, kind: __, ...anchor } = createBundle({ ...parts, l1: { block: l1.block, proof } })
      return anchor
    },
    blockHash: keccakOf(encodeHeader(l1.block)),
    stateRoot,
  }
}

/** The blocks newest first, with what the filter needs. */
export const contentsOf = (chain: readonly SentBlock[]): LogsBundle['blocks'] =>
  chain
    .map(partsOf)
    .map(({ header, receipts, transactions }, index) => ({
      header,
      ...([0, 2, 4, 5].includes(index) && { receipts }),
      ...([0, 4, 5].includes(index) && { transactions }),
    }))
    .reverse()

export async function makeTruth(scheme: Scheme) {
  const chain = await makeChain()
  const anchored = (hashes: Parameters<typeof anchorOf>[1]) => anchorOf(scheme, hashes, [STATE, LATER])
  const hashes = chain.map(({ block }) => [BigInt(block.number), block.hash] as const)
  const state = await anchored(hashes)
  const blocks = contentsOf(chain)
  const range = { fromBlock: quantity(FIRST), toBlock: quantity(LAST), filter: FILTER }
  const bundle = { ...(await state.bundleFor(STATE, LAST)), kind: 'logs' as const, ...range, blocks }
  return { scheme, chain, anchored, hashes, ...state, bundle }
}
