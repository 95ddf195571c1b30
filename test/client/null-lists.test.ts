import { expect, it, onTestFinished } from 'vitest'
import { withEmptyLists } from '../../src/client/transport/admission.ts'
import { addDemoBlocks, demoWorld } from '../../src/devnet/index.ts'
import { createService } from '../../src/devnet/service/service.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider } from '../../src/entry/provider.ts'
import { finalizedBlockHash, recordEvidence } from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { ROLLUP, word } from './servers.ts'

/** As Erigon and other Go servers write what is empty. */
const withNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, withNulls(own)]))
}

it('proves what servers that write null for an empty list send', async () => {
  const methods = ['eth_getProof', 'eth_getBlockByNumber', 'eth_getBlockReceipts']
  const changed = new Set<string>()
  const service = createService({
    genesis: demoWorld(poseidon2),
    rollup: ROLLUP,
    chainId: 1337n,
    faults: ({ endpoint, method }) => {
      if (endpoint !== 'l2' || !methods.includes(method)) return undefined
      changed.add(method)
      return { kind: 'lie', change: withNulls }
    },
  })
  onTestFinished(() => service.close())
  addDemoBlocks(service.chain, { counts: [3] })
  service.chain.upgrade()
  addDemoBlocks(service.chain, { counts: [2] })
  const { url: l2, l1Url: l1 } = await service.listen()
  const about = { l1, l2, rollup: ROLLUP, scheme: poseidon2 } as const
  const address = `0x${'5a'.repeat(20)}` as const
  const { verified } = await recordEvidence(withNetwork({ ...about, address, storageKeys: [word(1)] }))
  expect([verified.account, verified.storage[0]?.exists]).toEqual([null, false])
  const provider = createVerifiedProvider(
    withNetwork({ ...about, chainId: 1337n, l1BlockHash: finalizedBlockHash(l1) }),
  )
  const nobody = await provider.request({ method: 'eth_getStorageAt', params: [address, '0x1', 'latest'] })
  expect(nobody).toBe(word(0))
  const block = await provider.request({ method: 'eth_getBlockReceipts', params: ['0x5'] })
  expect(Array.isArray(block)).toBe(true)
  expect([...changed].sort()).toEqual(methods.sort())
})

it('changes nothing but null in the place of a list, and a parity that is stated twice', () => {
  const proof = {
    accountProof: null,
    storageProof: [
      { key: '0x1', proof: null },
      { key: '0x2', proof: ['0x'] },
    ],
  }
  expect(withEmptyLists(proof)).toEqual({
    accountProof: [],
    storageProof: [
      { key: '0x1', proof: [] },
      { key: '0x2', proof: ['0x'] },
    ],
  })
  const signed = (type: string, v: string) => ({ type, v, yParity: '0x0', accessList: null })
  expect(withEmptyLists([signed('0x2', '0x1b'), signed('0x0', '0x1b'), signed('0x2', '0x1c')])).toEqual([
    { type: '0x2', v: '0x0', yParity: '0x0', accessList: [] },
    { type: '0x0', v: '0x1b', yParity: '0x0', accessList: [] },
    { type: '0x2', v: '0x1c', yParity: '0x0', accessList: [] },
  ])
  const same = { accountProof: ['0x'], storageProof: [], to: null, logs: [{ topics: ['0x1'] }] }
  expect(withEmptyLists(same)).toEqual(same)
  const round: { logs: unknown[] } = { logs: [] }
  round.logs.push(round)
  expect(Object.keys(Object(withEmptyLists(round)))).toEqual(['logs'])
  const trap = new Proxy([], {
    get() {
      throw new Error('trap')
    },
  })
  expect(withEmptyLists(trap)).toBe(trap)
})
