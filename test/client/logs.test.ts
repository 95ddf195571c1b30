import { beforeAll, describe, expect, it } from 'vitest'
import { type FoundBlock, searchLogs } from '../../src/client/sources/blocks.ts'
import { openEndpoints } from '../../src/client/sources/endpoints.ts'
import { CONTENTS_AT_ONCE } from '../../src/client/transport/limits.ts'
import type { Hex } from '../../src/entry/index.ts'
import { searchBlocks } from '../../src/verify/blocks/block.ts'
import { decodeFilter, type LogFilter } from '../../src/verify/blocks/filter.ts'
import { kinds, type Sent, type SentBlock } from '../../vectors/blocks/truth.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { blockEndpoint, type Change, claimOf, makeChain, numberIn } from '../verify/blocks/chain.ts'

const TOKEN = named('token', 20)
let chain: SentBlock[]
beforeAll(async () => {
  const all = await kinds()
  // Of every kind in block 3, only transfers in 5, nothing in 2.
  chain = await makeChain(12, number =>
    number === 3 ? all : number === 5 ? all.slice(3, 4) : number === 2 ? [] : all.slice(1, 2),
  )
})

type Endpoint = ReturnType<typeof blockEndpoint>

async function search(
  endpoints: readonly Endpoint[],
  filter: LogFilter,
  [fromBlock, toBlock]: [number, number],
  newest = toBlock,
) {
  const found: FoundBlock[] = []
  const source = { l2: openEndpoints('l2', endpoints) }
  const range = { filter: decodeFilter(filter), fromBlock: BigInt(fromBlock), toBlock: BigInt(toBlock) }
  for await (const block of searchLogs(source, claimOf(chain, newest), range)) found.push(block)
  return found
}

describe('a search for logs', () => {
  it('fetches of each block what proves its logs, and no more', async () => {
    const endpoint = blockEndpoint(chain)
    const found = await search([endpoint], { address: TOKEN }, [2, 5], 6)
    expect(found.map(({ header, logs, parts }) => [Number(header.number), logs.length, Object.keys(parts)])).toEqual([
      [6, 0, ['header']],
      [5, 1, ['header', 'receipts', 'transactions']],
      [4, 0, ['header']],
      [3, 2, ['header', 'receipts', 'transactions']],
      [2, 0, ['header']],
    ])
    // The headers of all, and two blocks.
    expect(endpoint.asked).toEqual({ eth_getBlockByNumber: 7, eth_getBlockReceipts: 2 })
  })

  it('keeps only what is hashed, of every kind of transaction', async () => {
    const add = (sent: Sent) => ({ ...sent, apiKey: 'secret-key', revertReason: '0x5ec2e7' })
    const change: Change = (answer, method) => {
      if (method === 'eth_getBlockReceipts') return (answer as Sent[]).map(add)
      const block = Object(answer)
      // Both names of the parity, one of which proves nothing.
      const both = (sent: Sent) => add({ ...sent, ...(sent.type !== '0x0' && { v: 'secret-key' }) })
      return typeof block.transactions[0] === 'object'
        ? { ...block, transactions: block.transactions.map(both) }
        : block
    }
    const [found] = await search([blockEndpoint(chain, change)], {}, [3, 3])
    const text = JSON.stringify(found?.parts)
    expect(text).not.toMatch(/secret|apiKey|revertReason|5ec2e7|blockHash|from|gasUsed"/)
    const [, , , transfer] = Object(found?.parts).transactions
    expect(Object.keys(transfer).join()).toBe(
      'type,chainId,nonce,maxPriorityFeePerGas,maxFeePerGas,gas,to,value,input,accessList,r,s,yParity',
    )
    expect(found?.logs.length).toBe(6)
    // As a file, it proves the same.
    const again = searchBlocks(decodeFilter({}), 3n).verify(JSON.parse(text), claimOf(chain, 3))
    expect(again.logs).toEqual(found?.logs)
  })

  it('fetches no transactions into the proof if no log is selected, though the header cannot rule it out', async () => {
    const [filter] = [{ address: TOKEN, topics: [[named('topic 1')]] }]
    const [found] = await search([blockEndpoint(chain)], filter, [3, 3])
    expect([found?.logs, found?.receiptCount, Object.keys(found?.parts ?? {})]).toEqual([[], 7, ['header', 'receipts']])
  })

  const receiptsOf = (answer: unknown): Sent[] => structuredClone(answer) as Sent[]
  const lies: [string, Change][] = [
    ['leaves out a log', change(receipts => Object(receipts[3]).logs.pop())],
    ['adds a log', change(receipts => Object(receipts[3]).logs.push(Object(receipts[3]).logs[0]))],
    ['changes a log', change(receipts => Object.assign(Object(receipts[3]).logs[0], { data: '0x01' }))],
    ['swaps two logs', change(receipts => Object(receipts[3]).logs.reverse())],
    ['leaves out a receipt', change(receipts => receipts.pop())],
    ['sends no list', (answer, method) => (method === 'eth_getBlockReceipts' ? { 0: answer } : undefined)],
    ['sends nothing', (_, method) => (method === 'eth_getBlockReceipts' ? null : undefined)],
    [
      'sends the receipts of another block',
      (answer, method) => (method === 'eth_getBlockReceipts' ? chain[4]?.receipts : answer),
    ],
    [
      'sends the transactions of another block',
      (answer, _, [, isFull]) =>
        isFull === true ? { ...Object(answer), transactions: chain[4]?.transactions } : answer,
    ],
    [
      'sends an empty filter in the header',
      (answer, method) =>
        method === 'eth_getBlockByNumber' ? { ...Object(answer), logsBloom: `0x${'00'.repeat(256)}` } : answer,
    ],
    [
      'sends another block',
      (answer, method, params) =>
        method === 'eth_getBlockByNumber' && numberIn(params) === 3 ? chain[3]?.block : answer,
    ],
  ]
  /** Changes the receipts, and nothing else. */
  function change(work: (receipts: Sent[]) => unknown): Change {
    return (answer, method) => {
      if (method !== 'eth_getBlockReceipts') return answer
      const receipts = receiptsOf(answer)
      work(receipts)
      return receipts
    }
  }
  it.each(lies)('refuses an endpoint that %s, and asks the next', async (_, lie) => {
    const liar = blockEndpoint(
      chain,
      (answer, ...asked) => lie(answer, ...asked) ?? (asked[0] === 'eth_getBlockReceipts' ? null : answer),
    )
    const honest = blockEndpoint(chain)
    const truth = await search([honest], { address: TOKEN }, [3, 3])
    expect(truth[0]?.logs.length).toBe(2)
    await expect(search([liar], { address: TOKEN }, [3, 3])).rejects.toMatchObject({ code: expect.any(String) })
    expect(await search([liar, honest], { address: TOKEN }, [3, 3])).toEqual(truth)
  })

  it('asks for the receipts of a bounded number of blocks at once', async () => {
    const count = CONTENTS_AT_ONCE + 6
    const transfer = (await kinds()).slice(1, 2)
    const long = await makeChain(count, () => transfer)
    const endpoint = blockEndpoint(long)
    let [open, most] = [0, 0]
    const request: Endpoint['request'] = async asked => {
      if (asked.method !== 'eth_getBlockReceipts') return endpoint.request(asked)
      most = Math.max(most, ++open)
      await new Promise(resolve => setImmediate(resolve))
      open--
      return endpoint.request(asked)
    }
    const source = { l2: openEndpoints('l2', [{ ...endpoint, request }]) }
    const range = { filter: decodeFilter({}), fromBlock: 1n, toBlock: BigInt(count) }
    let found = 0
    for await (const _ of searchLogs(source, claimOf(long, count), range)) found++
    expect([found, endpoint.asked['eth_getBlockReceipts'], most]).toEqual([count, count, CONTENTS_AT_ONCE])
  })

  it('ends when it is aborted, and when nobody wants more', async () => {
    const controller = new AbortController()
    const source = { l2: openEndpoints('l2', [blockEndpoint(chain)]), signal: controller.signal }
    const range = { filter: decodeFilter({}), fromBlock: 1n, toBlock: 6n }
    const blocks = searchLogs(source, claimOf(chain, 6), range)
    controller.abort()
    await expect(blocks.next()).rejects.toMatchObject({ code: 'ABORTED' })
    for await (const { header } of searchLogs({ l2: source.l2 }, claimOf(chain, 6), range)) {
      expect(header.hash as Hex).toBe(chain[5]?.block.hash)
      break
    }
  })
})
