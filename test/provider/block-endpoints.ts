import { bytesToHex } from '../../src/base/bytes.ts'
import { addDemoBlocks, createService, demoWorld, type ServiceChain } from '../../src/devnet/index.ts'
import type { FullChain } from '../../src/devnet/service/chain.ts'
import { l1Methods } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods } from '../../src/devnet/service/methods/l2.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createVerifiedProvider, type VerifiedProviderOptions } from '../../src/entry/provider.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { encodeTransaction, kinds, makeBlock } from '../../vectors/blocks/truth.ts'
import { type InParts, withNetwork } from '../network.ts'

/** Endpoints over the blocks of a service, in one process. They may lie. */

const ROLLUP = { name: 'devnet', address: `0x${'ff'.repeat(20)}` } as const

/** Changes the answer to a request. */
export type Lie = (answer: unknown, method: string, params: readonly unknown[]) => unknown

export interface Endpoint extends RequestProvider {
  /** The requests so far, without `eth_chainId`. */
  readonly asked: { readonly method: string; readonly params: readonly unknown[] }[]
  /** How many of each method, since this was last called. */
  counts(): Record<string, number>
}

const newChain = (): ServiceChain => createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP }).chain

/**
 * Over a chain with demo blocks (1 to 3), one with a transaction of each kind (4), empty ones (5, 6), and demo blocks again. The
 * newest is 12, so the newest one that is proven is 11.
 *
 * @param isWanted which of the kinds, by place. Default: all
 */
export async function createMixedEndpoints(isWanted = (_place: number) => true) {
  const endpoints = createBlockEndpoints()
  const { chain } = endpoints
  addDemoBlocks(chain, { counts: [2, 1], l1Blocks: 2 })
  const contents = (await kinds()).filter((_, place) => isWanted(place))
  const { transactions } = await makeBlock(contents)
  chain.addBlock(
    contents.map(({ status = 1, gasUsed, logs }, index) => ({
      transaction: bytesToHex(encodeTransaction(transactions[index] ?? {})),
      ...{ status: BigInt(status), gasUsed, logs },
    })),
  )
  chain.addBlock()
  chain.addBlock()
  addDemoBlocks(chain, { counts: [6], l1Blocks: 2 })
  return endpoints
}

export function createBlockEndpoints(chain = newChain()) {
  const methods = {
    l1: l1Methods(chain as FullChain, 1338n),
    l2: l2Methods(chain as FullChain, 1337n),
  }
  function endpointOf(layer: 'l1' | 'l2', lie: Lie = answer => answer): Endpoint {
    const asked: { method: string; params: readonly unknown[] }[] = []
    let counted = 0
    return {
      asked,
      counts() {
        const counts: Record<string, number> = {}
        for (const { method } of asked.slice(counted)) counts[method] = (counts[method] ?? 0) + 1
        counted = asked.length
        return counts
      },
      async request({ method, params = [] }) {
        const given = params as readonly unknown[]
        const answer = methods[layer].get(method)
        if (method !== 'eth_chainId') asked.push({ method, params: given })
        if (answer === undefined) throw Object.assign(new Error('the method does not exist'), { code: -32601 })
        // As received over a network.
        return lie(JSON.parse(JSON.stringify((await answer(given)) ?? null)), method, given)
      },
    }
  }
  const l1 = endpointOf('l1')
  const l1BlockHash = async () =>
    ((await l1.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] })) as { hash: Hex }).hash
  return {
    ...{ chain, l1, l1BlockHash },
    l2: (lie?: Lie) => endpointOf('l2', lie),
    provider: (l2: VerifiedProviderOptions['l2'], options: Partial<InParts<VerifiedProviderOptions>> = {}) =>
      createVerifiedProvider(
        withNetwork({
          ...{ l1, l2, rollup: ROLLUP, scheme: poseidon2, chainId: 1337, l1BlockHash },
          // Enough on any machine.
          timeoutMs: 100_000,
          ...options,
        }),
      ),
  }
}
