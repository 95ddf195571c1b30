import { expect, it } from 'vitest'
import { readRollup } from '../../src/anchor/rollup.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { openEndpoints } from '../../src/rpc/endpoints.ts'
import { listFinalizations } from '../../src/rpc/finalizations.ts'
import { createChain } from '../../src/service/chain.ts'
import { demoWorld } from '../../src/service/demo.ts'
import { l1Methods } from '../../src/service/methods/l1.ts'
import { ROLLUP, word } from './servers.ts'

it('does not read logs back to the first block', async () => {
  const chain = createChain(demoWorld(poseidon2), ROLLUP)
  for (let count = 0; count < 9; count++) chain.addBlock()
  chain.finalize()
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: ROLLUP.address }
  const [log] = [l1Methods(chain, 1n).get('eth_getLogs')?.([filter])].flat().slice(-1)
  for (const [name, first] of [
    ['only the newest', [log]],
    ['none', []],
  ] as const) {
    const asked: string[] = []
    const provider = {
      async request({ method }: { method: string }) {
        asked.push(method)
        if (method === 'eth_getStorageAt') return word(0)
        return asked.length === 1 ? first : []
      },
    }
    const source = { l1: openEndpoints('l1', [provider], 'L1'), rollup: readRollup(ROLLUP), signal: undefined }
    const l1Block = { number: 22_000_000n, hash: word(1), stateRoot: word(2) }
    const listers = { inventors: new Set<number>(), absent: new Set<number>(), isLastRound: false, onUseless: () => {} }
    const range = { after: -1n, newest: 9n, l1After: null, l1Block }
    const hints = await listFinalizations(source, range as never, listers).catch(() => [])
    expect(asked.filter(method => method === 'eth_getLogs').length, name).toBe(name === 'none' ? 100 : 101)
    expect(hints.length).toBe(name === 'none' ? 0 : 1)
  }
})
