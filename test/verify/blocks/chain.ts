import type { Hex } from '../../../src/entry/index.ts'
import { type Content, makeBlock, quantity, type Sent, type SentBlock } from '../../../vectors/blocks/truth.ts'

/** A chain of blocks as `vectors/blocks/truth.ts` makes them, and endpoints that serve it. */

export async function makeChain(
  count: number,
  contentsOf: (number: number) => readonly Content[] = () => [],
  first = 1,
) {
  const blocks: SentBlock[] = []
  for (let number = first; number < first + count; number++) {
    blocks.push(await makeBlock(contentsOf(number), BigInt(number), blocks.at(-1)?.block.hash))
  }
  return blocks
}

/** What an endpoint does otherwise: undefined if it does the same. */
export type Change = (answer: unknown, method: string, params: readonly unknown[]) => unknown

/** An endpoint that serves a chain, and counts what it is asked. */
export function blockEndpoint(blocks: readonly SentBlock[], change: Change = answer => answer) {
  const asked: Record<string, number> = {}
  const byNumber = new Map(blocks.map(one => [one.block.number, one]))
  const answer = (method: string, [id, isFull]: readonly unknown[]): unknown => {
    const found = byNumber.get(String(id))
    if (found === undefined) return null
    const { block, transactions, receipts } = found
    if (method === 'eth_getBlockReceipts') return receipts
    if (method !== 'eth_getBlockByNumber') throw Object.assign(new Error('no such method'), { code: -32601 })
    return { ...block, uncles: [], transactions: isFull ? transactions : transactions.map(({ hash }) => hash) }
  }
  return {
    asked,
    total: () => Object.values(asked).reduce((sum, count) => sum + count, 0),
    async request({ method, params = [] }: { method: string; params?: readonly unknown[] | object | undefined }) {
      asked[method] = (asked[method] ?? 0) + 1
      const given = params as readonly unknown[]
      return change(answer(method, given), method, given)
    },
  }
}

/** The number in the first parameter. */
export const numberIn = ([id]: readonly unknown[]): number => Number(id)

export const claimOf = (blocks: readonly SentBlock[], number: number): { hash: Hex; number: bigint } => {
  const block = blocks[number - 1]?.block
  if (block?.number !== quantity(number)) throw new Error(`no block ${number}`)
  return { hash: block.hash, number: BigInt(number) }
}

/** All logs as JSON-RPC has them. */
export const logsOf = (blocks: readonly SentBlock[]): Sent[] =>
  blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs as Sent[]))
