import { listOf } from './fields.ts'
import { type BlockClaim, type BlockHeader, decodeBlockClaim, openHeader } from './header.ts'
import { MAX_HEADERS } from './limits.ts'

/**
 * Verifies a chain of headers: the first is the block asked for, each further one the parent of the one before. So a trusted
 * hash also opens blocks that the state has no hash of any more.
 *
 * @param headers at most 8,192, newest first, each as `verifyBlockHeader` takes it
 * @param claim the trusted hash, and the number of the first block
 * @returns the headers, in the same order
 * @throws ProofError as `verifyBlockHeader`, with the place in the list; `BLOCK_TOO_LARGE`, `BLOCK_MALFORMED`; ArgumentError
 *
 * @example
 * ```ts
 * import { encodeHeader } from 'rollup-state-proof/anchor'
 * import { verifyHeaderChain } from 'rollup-state-proof/blocks'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const { chain } = createService({
 *   genesis: demoWorld(poseidon2),
 *   rollup: { address: '0x00000000000000000000000000000000000011ff' },
 * })
 * addDemoBlocks(chain)
 * const blocks = [2n, 1n, 0n].map(number => Object(chain.l1.getBlock(number)))
 * const headers = verifyHeaderChain(blocks.map(encodeHeader), { hash: blocks[0].hash, number: 2n })
 * console.log(headers.length, headers.at(-1)?.number) // 3 0n
 * ```
 */
export function verifyHeaderChain(headers: unknown, claim: BlockClaim): BlockHeader[] {
  let next = decodeBlockClaim(claim)
  const open = (header: unknown) => {
    const opened = openHeader(header, next)
    next = { hash: opened.parentHash, number: opened.number - 1n }
    return opened
  }
  return listOf(open, MAX_HEADERS)(headers)
}
