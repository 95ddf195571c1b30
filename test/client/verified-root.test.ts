import { expect, it } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { implementationOf } from '../../src/devnet/service/contract.ts'
import { lineaLayout, type RollupLayout } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { createHttpProvider, fetchVerifiedRoot, finalizedBlockHash, type RequestProvider } from '../../src/entry/rpc.ts'
import { CONTRACT, ROLLUP, startService, word } from './servers.ts'

/** The service with the demo: L1 blocks 64 to 127 or so finalize L2 blocks up to 9. */
async function startDemo() {
  const { service, l1Url } = await startService()
  addDemoBlocks(service.chain)
  const { chain } = service
  const l1BlockHash = await finalizedBlockHash(l1Url)()
  const current = chain.finalized()
  return { chain, l1Url, l1BlockHash, current, rootOf: (block: bigint) => chain.at(block)?.stateRoot() }
}

/** The endpoint, with some of its answers changed. */
function lying(url: string, change: (answer: object, method: string, params: readonly unknown[]) => unknown) {
  const honest = createHttpProvider(url)
  const provider: RequestProvider = {
    async request({ method, params = [] }) {
      return change(Object(await honest.request({ method, params })), method, params as unknown[])
    },
  }
  return provider
}

it('proves the newest root, and its time', async () => {
  const { l1Url, l1BlockHash, current, rootOf, chain } = await startDemo()
  expect(await fetchVerifiedRoot({ l1: l1Url, rollup: ROLLUP, l1BlockHash })).toEqual({
    ...{ l2BlockNumber: current, stateRoot: rootOf(current), currentL2BlockNumber: current },
    ...{ blockHash: undefined, implementation: implementationOf(8) },
    l1Block: expect.objectContaining({ hash: l1BlockHash, number: chain.l1.blockNumber() }),
    finalizedTimestamp: chain.timestamp(current),
  })
})

it('proves the root of the requested block, without a time', async () => {
  const { l1Url, l1BlockHash, current, rootOf } = await startDemo()
  const found = await fetchVerifiedRoot({ l1: l1Url, rollup: ROLLUP, l1BlockHash, l2BlockNumber: 0n })
  expect(found).toMatchObject({ l2BlockNumber: 0n, stateRoot: rootOf(0n), currentL2BlockNumber: current })
  expect(found.finalizedTimestamp).toBe(undefined)
  const newest = await fetchVerifiedRoot({ l1: l1Url, rollup: ROLLUP, l1BlockHash, l2BlockNumber: current })
  expect(newest.finalizedTimestamp).not.toBe(undefined)
  const { finalizedState: _, ...layout } = lineaLayout
  const untimed = await fetchVerifiedRoot({ l1: l1Url, rollup: { ...ROLLUP, layout }, l1BlockHash })
  expect(untimed).toMatchObject({ stateRoot: rootOf(current), finalizedTimestamp: undefined })
})

it('says which block has no root, and which contract there is none of', async () => {
  const { l1Url, l1BlockHash, current } = await startDemo()
  const cases: [string, object][] = [
    ['ANCHOR_NO_ROOT', { l2BlockNumber: 2n }],
    ['ANCHOR_BLOCK_AHEAD', { l2BlockNumber: current + 1n }],
    ['ANCHOR_NO_CONTRACT', { rollup: { address: CONTRACT } }],
    ['BLOCK_MISSING', { l1BlockHash: word(1) }],
  ]
  for (const [code, change] of cases) {
    const work = fetchVerifiedRoot({ l1: l1Url, rollup: ROLLUP, l1BlockHash, ...change })
    await expect(work, code).rejects.toMatchObject({ code })
  }
  expect(cases.length).toBe(4)
})

it('believes no L1 endpoint, and takes the truth from the next', async () => {
  const { l1Url, l1BlockHash, current, rootOf, chain } = await startDemo()
  const older = chain.l1.getBlock(1n)
  const at = (lied: string, change: (answer: Record<string, unknown>, params: readonly unknown[]) => unknown) =>
    lying(l1Url, (answer, method, params) =>
      method === lied ? change(answer as Record<string, unknown>, params) : answer,
    )
  const slots = ({ storageProof }: Record<string, unknown>) => storageProof as Record<string, unknown>[]
  const { blockHashes: _, ...layout } = lineaLayout
  const lies: [string, RequestProvider, RollupLayout?][] = [
    ['HEADER_HASH_MISMATCH', at('eth_getBlockByHash', answer => ({ ...answer, stateRoot: word(7) }))],
    ['HEADER_HASH_MISMATCH', at('eth_getBlockByHash', () => older)],
    ['HEADER_HASH_MISMATCH', at('eth_getBlockByHash', () => ({ ...older, hash: l1BlockHash }))],
    ['HEADER_MALFORMED', at('eth_getBlockByHash', () => 'no')],
    [
      'MPT_HASH_MISMATCH',
      at('eth_getProof', (_, [address, keys]) => chain.l1.getProof(address as Hex, keys as Hex[], 1n)),
    ],
    [
      'L1_KEY_MISMATCH',
      at('eth_getProof', (_, [address, keys]) =>
        chain.l1.getProof(
          address as Hex,
          (keys as Hex[]).map(() => word(9)),
          chain.l1.blockNumber(),
        ),
      ),
    ],
    [
      'L1_PROOF_DISAGREES',
      at('eth_getProof', answer => ({
        ...answer,
        storageProof: slots(answer).map(slot => ({ ...slot, value: '0x9' })),
      })),
    ],
    ['RESPONSE_TOO_LARGE', at('eth_getProof', answer => ({ ...answer, accountProof: [`0x${'00'.repeat(2 ** 17)}`] }))],
    ['L1_STORAGE_PROOF_COUNT', at('eth_getProof', answer => ({ ...answer, storageProof: [] }))],
    // The root alone would not tell whether the block is the newest, nor whether there is a hash.
    ['L1_STORAGE_PROOF_COUNT', at('eth_getProof', answer => ({ ...answer, storageProof: slots(answer).slice(0, 1) }))],
    [
      'ANSWER_MALFORMED',
      at('eth_getProof', answer => ({ ...answer, storageProof: slots(answer).slice(0, 1) })),
      layout,
    ],
  ]
  for (const [code, liar, layout] of lies) {
    const root = { rollup: { ...ROLLUP, ...(layout && { layout }) }, l1BlockHash, l2BlockNumber: current }
    await expect(fetchVerifiedRoot({ ...root, l1: liar }), code).rejects.toMatchObject({ code })
    const found = await fetchVerifiedRoot({ ...root, l1: [liar, l1Url] })
    expect(found, code).toMatchObject({ stateRoot: rootOf(current), l1Block: { hash: l1BlockHash } })
    await expect(fetchVerifiedRoot({ ...root, l1: [liar, liar] }), code).rejects.toMatchObject({ code })
  }
  expect(lies.length).toBe(11)
})
