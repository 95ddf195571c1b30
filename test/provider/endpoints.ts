import { createService, type ServiceChain } from '../../src/devnet/index.ts'
import type { FullChain } from '../../src/devnet/service/chain.ts'
import { l1Methods as methodsOfL1 } from '../../src/devnet/service/methods/l1.ts'
import { l2Methods as methodsOfL2 } from '../../src/devnet/service/methods/l2.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createVerifiedProvider,
  type VerifiedProvider,
  type VerifiedProviderOptions,
} from '../../src/entry/provider.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import type { CallOutcome } from '../../src/provider/call-evidence/types.ts'
import { type InParts, withNetwork } from '../network.ts'
import { CHAIN_ID, type FullState, worldOf } from './full-state.ts'

export const ROLLUP = { name: 'devnet', address: `0x${'ff'.repeat(20)}` } as const

/** Changes the answer to a request. */
export type Tamper = (method: string, answer: unknown, params: readonly unknown[]) => unknown

/** Two in-process endpoints over a full state. They may lie. */
export interface Endpoints {
  readonly chain: ServiceChain
  readonly l1: RequestProvider
  readonly l2: RequestProvider
  /** The methods requested from the L2 since this was last emptied, without `eth_chainId`. */
  readonly asked: string[]
  /** Applied to every answer of that layer, without that of `eth_chainId`. */
  lie: { l1: Tamper | null; l2: Tamper | null }
  readonly l1BlockHash: () => Promise<Hex>
  /** @param create Default: that of this build */
  provider(
    options?: Partial<InParts<VerifiedProviderOptions>>,
    create?: typeof createVerifiedProvider,
  ): VerifiedProvider
}

const refuse = (code: number, message: string) => Object.assign(new Error(message), { code })
const quantity = (value: bigint): Hex => `0x${value.toString(16)}`
const numberOf = (block: unknown): bigint => BigInt(block as string)

/**
 * Creates endpoints over the state. `chain` can finalize further states.
 *
 * @param logs whether the L1 has `eth_getLogs`
 */
export function createEndpoints(state: FullState, logs = false): Endpoints {
  const { chain } = createService({ genesis: worldOf(state), rollup: ROLLUP })
  const { l1 } = chain
  const asked: string[] = []
  const lie: Endpoints['lie'] = { l1: null, l2: null }

  const l2Methods: Record<string, (...params: never[]) => unknown> = {
    rollup_getProof: (address: Hex, keys: Hex[], block: Hex) => {
      const world = numberOf(block) > chain.finalized() ? undefined : chain.at(numberOf(block))
      if (world === undefined) throw refuse(-32600, `BLOCK_MISSING_IN_CHAIN - block ${block} is missing`)
      return world.getProof(address, keys)
    },
    eth_getCode: (address: Hex) => state.get(address)?.code ?? '0x',
    eth_syncing: () => '0x7',
  }
  // A node of an Ethereum state.
  const served = methodsOfL2(chain as FullChain, CHAIN_ID)
  const ofEthereum = (method: string) =>
    chain.upgradedAt() === undefined ? undefined : (...params: never[]) => served.get(method)?.(params)
  const blockAt = (number: bigint) => l1.getBlock(number)
  const l1Methods: Record<string, (...params: never[]) => unknown> = {
    eth_getBlockByNumber: (block: string) => blockAt(block === 'finalized' ? l1.blockNumber() : numberOf(block)),
    eth_getBlockByHash: (hash: Hex) => {
      for (let number = 0n; number <= l1.blockNumber(); number++) {
        if (Reflect.get(blockAt(number) ?? {}, 'hash') === hash) return blockAt(number)
      }
      return null
    },
    eth_getProof: (address: Hex, keys: Hex[], block: Hex) => l1.getProof(address, keys, numberOf(block)),
    // The object has more methods than its public type.
    ...(logs && { eth_getLogs: filter => methodsOfL1(chain as FullChain, 1338n).get('eth_getLogs')?.([filter]) }),
    eth_getStorageAt: (address: Hex, key: Hex, block: string) => {
      const value = l1.getStorage(address, key, block === 'finalized' ? l1.blockNumber() : numberOf(block)) ?? 0n
      return `0x${value.toString(16).padStart(64, '0')}`
    },
  }
  const serve = (
    methods: typeof l1Methods,
    tamper: () => Tamper | null,
    log: string[],
    further: (method: string) => ((...params: never[]) => unknown) | undefined = () => undefined,
  ): RequestProvider => ({
    async request({ method, params = [] }) {
      log.push(method)
      const answer = methods[method] ?? further(method)
      if (!answer) throw refuse(-32601, 'the method does not exist')
      const given = params as never[]
      // As received over a network.
      const honest = JSON.parse(JSON.stringify(await answer(...given)))
      const lying = tamper()
      return lying ? lying(method, honest, given) : honest
    },
  })
  const l1Provider = serve(l1Methods, () => lie.l1, [])
  const honest = serve(l2Methods, () => lie.l2, asked, ofEthereum)
  const l2Provider: RequestProvider = {
    request: async args => (args.method === 'eth_chainId' ? quantity(CHAIN_ID) : honest.request(args)),
  }
  const l1BlockHash = async () => Reflect.get(blockAt(l1.blockNumber()) ?? {}, 'hash') as Hex
  return {
    ...{ chain, l1: l1Provider, l2: l2Provider, asked, lie, l1BlockHash },
    provider: (options = {}, create = createVerifiedProvider) =>
      create(
        withNetwork({
          ...{ l1: l1Provider, l2: l2Provider, rollup: ROLLUP, scheme: poseidon2, chainId: CHAIN_ID, l1BlockHash },
          // Enough on any machine.
          timeoutMs: 100_000,
          ...options,
        }),
      ),
  }
}

/** Upgrades the chain, and finalizes a block whose hash L1 holds. */
export function upgrade({ chain }: Pick<Endpoints, 'chain'>): void {
  chain.upgrade()
  chain.addBlock()
  chain.finalize()
}

/** What a claim leaves to the bundle of a call: all but the gas. */
export const LEFT = {
  from: 'fromBundle',
  to: 'fromBundle',
  data: 'fromBundle',
  value: 'fromBundle',
  gas: 50_000_000n,
} as const

/** What a call returned, or gave as the reason to revert. */
export const dataOf = (ended: CallOutcome): Hex | undefined =>
  ended.outcome === 'returned' ? ended.returnData : ended.outcome === 'reverted' ? ended.revertData : undefined

/** A number as a 32-byte word. */
export const word = (value: bigint | number): Hex => `0x${value.toString(16).padStart(64, '0')}`
export const at = (byte: string): Hex => `0x${byte.repeat(20)}`

/** For work that nothing ends. */
export const UNHURRIED = { timeoutMs: 3_600_000, signals: [] }
