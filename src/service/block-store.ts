import type { Hex } from '../bytes.ts'

export type BlockStore<T> = ReturnType<typeof createBlockStore<T>>

/** The blocks of a chain, by number and by hash. Pruning leaves no gaps: all from the oldest to the newest are there. */
export function createBlockStore<T>(hashOf: (block: T) => Hex) {
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
    /** -1 before the first block. */
    newest: () => newest,
    oldest: () => oldest,
    at: (number: bigint) => blocks.get(number),
    /** The number of the block with this hash; undefined if there is none. */
    numberOf: (hash: Hex) => numbers.get(hash),
    /** Adds the block after the newest. */
    add(block: T): void {
      blocks.set(++newest, block)
      numbers.set(hashOf(block), newest)
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
