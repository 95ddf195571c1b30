import { readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { lowerCase } from '../../base/hex.ts'
import type { Rollup } from '../../verify/anchor/rollup.ts'
import { EMPTY_TRIE_ROOT } from '../../verify/anchor/trie.ts'
import { historyContract, historySlot } from '../../verify/blocks/header.ts'
import type { World } from '../world/world.ts'
import { type Block, createBlockStore, describeStored, GENESIS_TIME, sealBlock, ZERO_HASH } from './block.ts'
import { asArgument, type ChainTransaction, type DescribedContent, describeContent, readContent } from './content.ts'
import { createMessages, deployMessageService, type ServiceMessages } from './messages.ts'
import { createL1, type L1Options, type SimulatedL1 } from './simulated-l1.ts'
import { ethereumTrie, type Trie, trieRoot } from './trie.ts'

/** How the chain behaves. */
export interface ServiceChainOptions extends L1Options {
  /** How many finalizations the proofs lag behind L1, as they sometimes do on real endpoints. Default: 0. */
  proofLag?: number | undefined
  /**
   * How many of the newest finalizations to keep, with the states, blocks and logs of the L2 and its L1. Older data is pruned,
   * so that a chain can run for years without growing. Default: all.
   */
  keep?: number | undefined
  /** The message service on L2, 20 bytes: with it, the chain has messages. Default: none. */
  messageService?: Hex | undefined
  /**
   * The first L2 block with an Ethereum state: when it is added, {@link ServiceChain.upgrade} comes first. From 1. Default: none,
   * or all blocks if `contractVersion` is 9.
   */
  upgradeAt?: bigint | undefined
}

/** An L2 with its states, and the L1 on which it is finalized. Block 0 is finalized from the start. */
export interface ServiceChain {
  /** Of the L2. */
  readonly chainId: bigint
  /** The state of the next block. Write your changes to it. */
  readonly pending: World
  /** The L1 that holds the roots of finalized blocks. */
  readonly l1: SimulatedL1
  /** The messages between the layers. Each function throws an ArgumentError if there is no `messageService`. */
  readonly messages: ServiceMessages
  /**
   * Turns the pending state into a new block. As EIP-2935 has it, the hash of the block before is written into the state first, if
   * there is code at `historyContract` of `rollup-state-proof/blocks`.
   *
   * @param transactions what the block holds, in order. What they did to the state is up to you: write it to {@link pending}.
   * Default: none
   * @throws ArgumentError if a transaction is not signed and encoded as the protocol has it, or if something about it is invalid
   * @returns its number
   */
  addBlock(transactions?: readonly ChainTransaction[]): bigint
  /** Finalizes all blocks up to the newest on L1. Does nothing if there is no new block. */
  finalize(): void
  /**
   * Upgrades the contract to version 9, in an L1 block of its own, after finalizing all blocks. From the next L2 block on, the
   * state is that of Ethereum: headers have its root, `eth_getProof` opens it, and L1 holds hashes of blocks. Does nothing if that is
   * so already.
   */
  upgrade(): void
  /** The first L2 block with an Ethereum state; undefined if the contract holds state roots. */
  upgradedAt(): bigint | undefined
  /** A block as an `eth_getBlockByNumber` result, with the hashes of its transactions; null if it does not exist. @param number from 0 */
  getBlock(number: bigint): object | null
  /** The number of the newest block. */
  latest(): bigint
  /** The number of the newest finalized block. */
  finalized(): bigint
  /** The number of the newest block with proofs; -1 if there is none. */
  provable(): bigint
  /** The state at a block; do not write to it. Undefined if the block does not exist or has been pruned. @param number from 0 */
  at(number: bigint): World | undefined
  /** The timestamp of a block, in seconds since 1970. Undefined if the block does not exist or has been pruned. @param number from 0 */
  timestamp(number: bigint): bigint | undefined
}

export type FullChain = ReturnType<typeof createChain>

/** A block, the state after it, and what it holds as JSON-RPC has it. */
export interface StoredBlock {
  readonly block: Block
  readonly state: World
  /** The same accounts as Ethereum has them; undefined in blocks before the upgrade. */
  readonly accounts: Trie | undefined
  readonly content: DescribedContent
}

/** What is known of a block before its content. */
export interface NextBlock {
  readonly number: bigint
  readonly timestamp: bigint
  readonly parentHash: Hex
}

const SECONDS_PER_BLOCK = 2n

function nextAfter(parent: Block | undefined, clock?: () => number): NextBlock {
  const steady = parent === undefined ? GENESIS_TIME : parent.timestamp + SECONDS_PER_BLOCK
  const now = clock ? BigInt(clock()) : steady
  const timestamp = parent && now <= parent.timestamp ? parent.timestamp + 1n : now
  return { number: parent === undefined ? 0n : parent.number + 1n, timestamp, parentHash: parent?.hash ?? ZERO_HASH }
}

/** @param makeState called once the transactions are read @throws ArgumentError, ProofError */
function seal(
  begun: NextBlock,
  transactions: readonly ChainTransaction[],
  makeState: () => Pick<StoredBlock, 'state' | 'accounts'>,
): StoredBlock {
  const { content, parts } = readContent(transactions)
  const { state, accounts } = makeState()
  // Before the upgrade, a real header holds the root of another tree, which is not simulated.
  const stateRoot = accounts === undefined ? EMPTY_TRIE_ROOT : bytesToHex(trieRoot(accounts))
  const block = sealBlock({ ...begun, stateRoot, extraData: '0x', content })
  return { block, state, accounts, content: describeContent(block, parts) }
}

/** @param genesis the state of block 0; the chain keeps a fork of it */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: blocks, finalizations and the upgrade change the same chain.
export function createChain(
  genesis: World,
  rollup: Rollup,
  options: ServiceChainOptions & { readonly chainId?: bigint } = {},
) {
  const { proofLag = 0, keep, clock, chainId = 1337n, upgradeAt, contractVersion = 8 } = options
  const pending = genesis.fork()
  const blocks = createBlockStore<StoredBlock>(
    ({ block }) => block.hash,
    ({ content }) => content.transactions.map(({ hash }) => hash),
  )
  const service = options.messageService && lowerCase(options.messageService)
  const l1 = createL1(rollup, options, deployMessageService(pending, service, blocks))
  const queue: ChainTransaction[] = []
  let first = contractVersion === 9 ? 0n : undefined
  const finalized = () => l1.finalizations().at(-1)?.l2BlockNumber ?? -1n

  const newest = () => blocks.at(blocks.newest())?.block

  const next = () => nextAfter(newest(), clock)

  function writeHistory(state: World): void {
    const parent = newest()
    if (parent === undefined || state.getCode(historyContract) === '0x') return
    state.setStorage(historyContract, { key: historySlot(parent.number), value: parent.hash })
  }

  function addBlock(transactions: readonly ChainTransaction[] = [], begun = next()): bigint {
    const all = [...readItems('transactions', transactions, one => one), ...queue]
    const makeState = () => {
      if (begun.number === upgradeAt) upgrade()
      writeHistory(pending)
      const state = pending.fork()
      return { state, accounts: first === undefined ? undefined : ethereumTrie(state, blocks.at(blocks.newest())) }
    }
    blocks.add(asArgument(() => seal(begun, all, makeState)))
    queue.length = 0
    return begun.number
  }

  function upgrade(): void {
    if (first !== undefined) return
    finalize()
    l1.upgrade()
    first = blocks.newest() + 1n
  }

  function finalize(): void {
    const newest = blocks.at(blocks.newest())
    if (newest === undefined || finalized() >= newest.block.number) return
    const { number, timestamp, hash } = newest.block
    const held = newest.accounts === undefined ? { stateRoot: newest.state.stateRoot() } : { blockHash: hash }
    l1.finalize({ l2BlockNumber: number, ...held, timestamp })
    const oldestKept = keep === undefined ? undefined : l1.finalizations().at(-keep)
    if (oldestKept === undefined) return
    blocks.forget(oldestKept.l2BlockNumber)
    l1.forget(oldestKept.l1BlockNumber)
  }

  addBlock()
  finalize()
  return {
    chainId,
    pending,
    l1,
    blocks,
    messages: createMessages(service, { chainId, pending, l1, queue }),
    building: { next, writeHistory, addBlock },
    addBlock: (transactions?: readonly ChainTransaction[]) => addBlock(transactions),
    finalize,
    upgrade,
    upgradedAt: () => first,
    getBlock: (number: bigint) => describeStored(blocks.at(number)),
    latest: blocks.newest,
    finalized,
    provable: () => l1.finalizations().at(-1 - proofLag)?.l2BlockNumber ?? -1n,
    at: (number: bigint): World | undefined => blocks.at(number)?.state,
    timestamp: (number: bigint) => blocks.at(number)?.block.timestamp,
  }
}
