import { expect, it } from 'vitest'
import { type LogsProgress, logSteps, logWriter, provenLogs } from '../../../src/cli/logs/logs.ts'
import { searchLogs } from '../../../src/client/l1/logs.ts'
import { openEndpoints } from '../../../src/client/sources/endpoints.ts'
import { kinds } from '../../../vectors/blocks/truth.ts'
import { blockEndpoint, claimOf, makeChain } from '../../verify/blocks/chain.ts'

async function* linesOf(text: string): AsyncGenerator<string, undefined> {
  yield* text.trimEnd().split('\n')
  return undefined
}

it('writes the logs of a block newest first, as a check proves them', async () => {
  const all = await kinds()
  const chain = await makeChain(3, number => (number === 2 ? all : all.slice(1, 2)))
  const range = { filter: { address: [], topics: [] }, fromBlock: 1n, toBlock: 3n }
  const saved = { rows: logWriter('csv').heading, kept: '', progress: [] as LogsProgress[] }
  const blocks = searchLogs({ l2: openEndpoints('l2', [blockEndpoint(chain)]) }, claimOf(chain, 3), range)
  for await (const { rows, kept, progress } of logSteps(blocks, { format: 'csv', toBlock: 3n })) {
    saved.rows += rows
    saved.kept += kept
    saved.progress.push(progress)
  }
  const counts = saved.progress.at(-1)?.counts
  expect(counts).toEqual({ blocks: 3, ruledOut: 0, receipts: 9, logs: 8 })
  expect(saved.progress.map(({ next }) => next.number)).toEqual(['2', '1', '0'])
  const [, ...rows] = saved.rows.trimEnd().split('\n')
  expect(rows.map(row => [0, 5].map(column => row.split(',')[column]).join())).toEqual([
    ...['3,0', '2,5', '2,4', '2,3', '2,2', '2,1', '2,0', '1,0'],
  ])

  let proven = ''
  const content = { ...range, format: 'csv', blocks: linesOf(saved.kept) } as const
  for await (const line of provenLogs(content, claimOf(chain, 3))) proven += line
  expect(proven).toBe(saved.rows)
})
