import type { Rollup } from '../anchor/rollup.ts'
import { readItems } from '../arguments.ts'
import { historyContract, historySlot } from '../blocks/history.ts'
import type { Hex } from '../bytes.ts'
import { lowerCase } from '../hex.ts'
import type { World } from '../world/world.ts'
import { type Block, EMPTY_TRIE, GENESIS_TIME, sealBlock, ZERO_HASH } from './block.ts'
import { createBlockStore } from './block-store.ts'
import { asArgument, type ChainTransaction, type DescribedContent, describeContent, readContent } from './content.ts'
import { createMessages, deployMessageService, type ServiceMessages } from './messages.ts'
import { createL1, type L1Options, type SimulatedL1 } from './simulated-l1.ts'

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
  /** The number of the newest block. */
  latest(): bigint
  /** The number of the newest finalized block. */
  finalized(): bigint
  /** The number of the newest block with proofs; -1 if there is none. */
  provable(): bigint
  /**
   * The state at a block; do not write to it. Undefined if the block does not exist or has been pruned.
   *
   * @param number from 0
   */
  at(number: bigint): World | undefined
  /**
   * The timestamp of a block, in seconds since 1970. Undefined if the block does not exist or has been pruned.
   *
   * @param number from 0
   */
  timestamp(number: bigint): bigint | undefined
}

/** A {@link ServiceChain} as the rest of the service uses it. */
export type FullChain = ReturnType<typeof createChain>

/** A block, the state after it, and what it holds as JSON-RPC has it. */
export interface StoredBlock {
  readonly block: Block
  readonly state: World
  readonly content: DescribedContent
}

/** What is known of a block before its content. */
export interface NextBlock {
  readonly number: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
  readonly parentHash: Hex
}

const SECONDS_PER_BLOCK = 2n

/** What the next block begins with, if it is added now. */
function nextAfter(parent: Block | undefined, clock?: () => number): NextBlock {
  const steady = parent === undefined ? GENESIS_TIME : parent.timestamp + SECONDS_PER_BLOCK
  const now = clock ? BigInt(clock()) : steady
  const timestamp = parent && now <= parent.timestamp ? parent.timestamp + 1n : now
  return { number: parent === undefined ? 0n : parent.number + 1n, timestamp, parentHash: parent?.hash ?? ZERO_HASH }
}

/** @throws ArgumentError, ProofError */
function seal(begun: NextBlock, transactions: readonly ChainTransaction[]): Omit<StoredBlock, 'state'> {
  const { content, parts } = readContent(transactions)
  // A real header holds the root of another tree, which is not simulated.
  const block = sealBlock({ ...begun, stateRoot: EMPTY_TRIE, extraData: '0x', content })
  return { block, content: describeContent(block, parts) }
}

/** @param genesis the state of block 0; the chain keeps a fork of it */
export function createChain(
  genesis: World,
  rollup: Rollup,
  options: ServiceChainOptions & { readonly chainId?: bigint } = {},
) {
  const { proofLag = 0, keep, clock, chainId = 1337n } = options
  const pending = genesis.fork()
  const blocks = createBlockStore<StoredBlock>(
    ({ block }) => block.hash,
    ({ content }) => content.transactions.map(({ hash }) => hash),
  )
  const service = options.messageService && lowerCase(options.messageService)
  const l1 = createL1(rollup, options, deployMessageService(pending, service, blocks))
  /** Transactions with messages, for the next block. */
  const queue: ChainTransaction[] = []
  const finalized = () => l1.finalizations().at(-1)?.l2BlockNumber ?? -1n

  const newest = () => blocks.at(blocks.newest())?.block

  const next = () => nextAfter(newest(), clock)

  /** Writes the hash of the newest block into a state. */
  function writeHistory(state: World): void {
    const parent = newest()
    if (parent === undefined || state.getCode(historyContract) === '0x') return
    state.setStorage(historyContract, { key: historySlot(parent.number), value: parent.hash })
  }

  function addBlock(transactions: readonly ChainTransaction[] = [], begun = next()): bigint {
    const sealed = asArgument(() => seal(begun, [...readItems('transactions', transactions, one => one), ...queue]))
    writeHistory(pending)
    blocks.add({ ...sealed, state: pending.fork() })
    queue.length = 0
    return begun.number
  }

  function finalize(): void {
    const newest = blocks.at(blocks.newest())
    if (newest === undefined || finalized() >= newest.block.number) return
    const { number, timestamp } = newest.block
    l1.finalize({ l2BlockNumber: number, stateRoot: newest.state.stateRoot(), timestamp })
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
    /** For those who execute transactions. */
    building: { next, writeHistory, addBlock },
    addBlock: (transactions?: readonly ChainTransaction[]) => addBlock(transactions),
    finalize,
    latest: blocks.newest,
    finalized,
    provable: () => l1.finalizations().at(-1 - proofLag)?.l2BlockNumber ?? -1n,
    at: (number: bigint): World | undefined => blocks.at(number)?.state,
    timestamp: (number: bigint) => blocks.at(number)?.block.timestamp,
  }
}
