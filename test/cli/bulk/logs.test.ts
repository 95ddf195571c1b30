import { expect, it } from 'vitest'
import { logReader } from '../../../src/cli/commands/logs.ts'
import { searchLogs } from '../../../src/client/sources/blocks.ts'
import { openEndpoints } from '../../../src/client/sources/endpoints.ts'
import { kinds } from '../../../vectors/blocks/truth.ts'
import { blockEndpoint, claimOf, makeChain } from '../../verify/blocks/chain.ts'

it('writes the logs of a block newest first, and says which block to go on with', async () => {
  const all = await kinds()
  const chain = await makeChain(3, number => (number === 2 ? all : all.slice(1, 2)))
  const search = { filter: { address: [], topics: [] }, fromBlock: 1n, toBlock: 3n }
  const reader = logReader(search, 'csv', claimOf(chain, 3))
  const [rows, next]: [string[], bigint[]] = [[], []]
  for await (const { parts } of searchLogs(
    { l2: openEndpoints('l2', [blockEndpoint(chain)]) },
    reader.next(),
    search,
  )) {
    rows.push(
      ...reader
        .rowsOf(JSON.parse(JSON.stringify(parts)))
        .trimEnd()
        .split('\n'),
    )
    next.push(reader.next().number)
  }
  expect(reader.counts).toEqual({ blocks: 3, ruledOut: 0, receipts: 9, logs: 8 })
  expect([next, reader.left()]).toEqual([[2n, 1n, 0n], 0])
  expect(rows.map(row => [0, 5].map(column => row.split(',')[column]).join())).toEqual([
    ...['3,0', '2,5', '2,4', '2,3', '2,2', '2,1', '2,0', '1,0'],
  ])
})
