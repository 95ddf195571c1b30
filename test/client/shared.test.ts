import { beforeAll, expect, it } from 'vitest'
import { recordLogs } from '../../src/client/record/record-logs.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import { createHttpProvider, createRollupClient, finalizedBlockHash, recordEvidence } from '../../src/entry/rpc.ts'
import { decodeFilter } from '../../src/verify/blocks/filter.ts'
import { withNetwork } from '../network.ts'
import { ROLLUP } from './servers.ts'

/** Those who ask for the same at the same time share one answer of an endpoint, and what one makes of it is no other's. */

const TOKEN = `0x${'70'.repeat(20)}` as const
const demo = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
let urls: { l1: string; l2: string }
beforeAll(async () => {
  addDemoBlocks(demo.chain, { counts: [8] })
  const { url: l2, l1Url: l1 } = await demo.listen()
  urls = { l1, l2 }
  return () => demo.close({ graceMs: 0 })
})

function partsOf(value: unknown, found = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found
  found.add(value)
  for (const part of Object.values(value)) partsOf(part, found)
  return found
}

it('gives nobody a part of what another has', async () => {
  const [l1, served] = [createHttpProvider(urls.l1), createHttpProvider(urls.l2)]
  let forwarded = 0
  const request: typeof served.request = async args => {
    if (args.method !== 'other_getProof') return served.request(args)
    forwarded++
    return { proof: ['0x01'] }
  }
  const l2 = { request }
  const l1BlockHash = finalizedBlockHash(l1)
  const options = {
    ...{ l1, l2, rollup: ROLLUP, scheme: poseidon2, chainId: 1337, l1BlockHash, forward: ['other_getProof'] },
    timeoutMs: 600_000,
  }
  const provider = createVerifiedProvider(withNetwork(options))
  const client = createRollupClient(l2)
  const stateRoot = demo.chain.at(8n)?.stateRoot() ?? '0x'
  const claim = { scheme: poseidon2, stateRoot, address: TOKEN, l2BlockNumber: 8n }
  const wanted = withNetwork({ l1, l2, scheme: poseidon2, rollup: ROLLUP })
  const ask = (method: string, ...params: unknown[]) => provider.request({ method, params })
  const works: Record<string, () => Promise<unknown>> = {
    getVerifiedState: () => client.getVerifiedState({ ...claim, storageKeys: [`0x${'00'.repeat(32)}`] }),
    recordEvidence: () => recordEvidence({ ...wanted, address: TOKEN }),
    recordLogs: () => recordLogs(wanted, { filter: decodeFilter({}), fromBlock: 4n, toBlock: undefined }),
    rollup_getProof: () => ask('rollup_getProof', TOKEN, [], 'latest'),
    eth_getLogs: () => ask('eth_getLogs', { fromBlock: '0x1' }),
    eth_getBlockReceipts: () => ask('eth_getBlockReceipts', '0x5'),
    eth_getBlockByNumber: () => ask('eth_getBlockByNumber', '0x5', true),
    other_getProof: () => ask('other_getProof', TOKEN, [], 'latest'),
  }
  let compared = 0
  for (const [name, work] of Object.entries(works)) {
    const [one, other] = await Promise.all([work(), work()])
    const parts = partsOf(one)
    const shared = [...partsOf(other)].filter(part => parts.has(part))
    expect(shared, name).toEqual([])
    expect(parts.size, name).toBeGreaterThan(0)
    compared++
  }
  expect([compared, forwarded]).toEqual([8, 1])
})
