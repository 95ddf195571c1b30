import { beforeAll, expect, it, vi } from 'vitest'
import { recordLogs } from '../../src/client/record/record-logs.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { isArgumentError } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { decodeFilter } from '../../src/verify/blocks/filter.ts'
import { withNetwork } from '../network.ts'
import { ROLLUP } from './servers.ts'

// A chain of 8,193 blocks would take seconds.
vi.mock('../../src/verify/blocks/limits.ts', async original => ({ ...(await original<object>()), MAX_HEADERS: 4 }))

let asked: string[] = []
const demo = createService({
  ...{ genesis: demoWorld(poseidon2), rollup: ROLLUP },
  faults: ({ method }) => void asked.push(method),
})
let urls: { l1: string; l2: string }
beforeAll(async () => {
  addDemoBlocks(demo.chain, { counts: [8] })
  const { url: l2, l1Url: l1 } = await demo.listen()
  urls = { l1, l2 }
  return () => demo.close({ graceMs: 0 })
})

const record = (fromBlock: bigint, toBlock?: bigint) =>
  recordLogs(withNetwork({ ...urls, scheme: poseidon2, rollup: ROLLUP }), {
    filter: decodeFilter({}),
    fromBlock,
    toBlock,
  })

it('records no more blocks than a bundle may have, and fetches none of more', async () => {
  expect((await record(4n)).verified.blockCount).toBe(4)
  asked = []
  for (const [fromBlock, toBlock] of [
    [3n, undefined],
    [3n, 7n],
    [8n, undefined],
    [4n, 8n],
  ] as const) {
    const error = await record(fromBlock, toBlock).catch((thrown: unknown) => thrown)
    expect(isArgumentError(error) ? error.path : String(error), `${fromBlock}`).toBe(
      toBlock === 8n ? 'toBlock' : 'fromBlock',
    )
  }
  expect(asked).toContain('rollup_getProof')
  expect(asked).not.toContain('eth_getBlockReceipts')
})
