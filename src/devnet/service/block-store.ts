import type { Hex } from '../../base/bytes.ts'

export type BlockStore<T> = ReturnType<typeof createBlockStore<T>>

/**
 * The blocks of a chain, by number and by hash. Pruning leaves no gaps: all from the oldest to the newest are there.
 * @param contentOf the hashes of the transactions in a block
 */
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
