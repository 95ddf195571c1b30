import { createBundle, encodeHeader } from '../../src/entry/anchor.ts'
import { historyContract, historySlot } from '../../src/entry/blocks.ts'
import { quantity } from '../blocks/truth.ts'
import { contractSlots, hashSlot } from '../evidence/ethereum.ts'
import { createL1, type L1 } from '../evidence/l1.ts'
import { keccakOf, rollup } from '../evidence/truth.ts'
import { contentsOf, FILTER, FIRST, LAST, makeChain } from './truth.ts'

/** What vectors of logs on an Ethereum state start from: L1 holds the hash of the last block. */
export type Ethereum = Awaited<ReturnType<typeof makeEthereum>>

export async function makeEthereum() {
  const states: L1[] = []
  const chain = await makeChain(undefined, FIRST, async before => {
    const hashes = before.map(({ block }) => [BigInt(historySlot(BigInt(block.number))), BigInt(block.hash)] as const)
    const state = await createL1(historyContract, new Map(hashes))
    states.push(state)
    return state.stateRoot
  })
  const [last, l2] = [chain.at(-1), states.at(-1)]
  if (last === undefined || l2 === undefined) throw new Error('a chain without blocks')
  const l1 = await createL1(
    rollup.address,
    new Map([
      [281n, LAST],
      [hashSlot(LAST), BigInt(last.block.hash)],
    ]),
  )
  const proof = await l1.getProof(rollup.address, contractSlots(LAST))
  /** The state's answer about the slot of a block's hash. */
  const answerFor = (number: bigint) => l2.getProof(historyContract, [BigInt(historySlot(number))])
  const storageKeys = [historySlot(LAST - 1n)]
  const parts = { scheme: 'ethereum', rollup, l2BlockNumber: LAST, address: historyContract, storageKeys } as const
  const l1Part = { block: l1.block, proof }
  const made = createBundle({ ...parts, answer: await answerFor(LAST - 1n), l2Block: last.block, l1: l1Part })
  const { request: _, kind: __, answer, ...anchor } = made
  const blocks = contentsOf(chain)
  const range = { kind: 'logs' as const, fromBlock: quantity(FIRST), filter: FILTER }
  return {
    ...{ chain, answerFor, stateRoot: l2.stateRoot, blockHash: keccakOf(encodeHeader(l1.block)) },
    /** The blocks begin with the one whose hash L1 holds. */
    anchored: { ...anchor, ...range, toBlock: quantity(LAST), blocks },
    /** The blocks begin with the one before, whose hash the state holds. */
    slotted: { ...anchor, answer, ...range, toBlock: quantity(LAST - 1n), blocks: blocks.slice(1) },
  }
}
