import type { Hex } from '../bytes.ts'

/** The blocks of a chain, by number and by hash. Pruning leaves no gaps: all from the oldest to the newest are there. */
export interface BlockStore<T> {
  /** -1 before the first block. */
  newest(): bigint
  oldest(): bigint
  at(number: bigint): T | undefined
  /** The number of the block with this hash; null if there is none. */
  numberOf(hash: Hex): bigint | null
  /** Adds the block after the newest. */
  add(block: T): void
  /** Drops the blocks above this number. */
  rewind(newest: bigint): void
  /** Drops the blocks below this number. */
  forget(oldest: bigint): void
}

export function createBlockStore<T>(hashOf: (block: T) => Hex): BlockStore<T> {
  const blocks = new Map<bigint, T>()
  const numbers = new Map<Hex, bigint>()
  let newest = -1n
  let oldest = 0n
  function drop(number: bigint): void {
    const block = blocks.get(number)
    if (block !== undefined) numbers.delete(hashOf(block))
    blocks.delete(number)
  }
  return {
    newest: () => newest,
    oldest: () => oldest,
    at: number => blocks.get(number),
    numberOf: hash => numbers.get(hash) ?? null,
    add(block) {
      blocks.set(++newest, block)
      numbers.set(hashOf(block), newest)
    },
    rewind(number) {
      for (; newest > number; newest--) drop(newest)
    },
    forget(number) {
      for (; oldest < number; oldest++) drop(oldest)
      if (newest < oldest) newest = oldest - 1n
    },
  }
}
