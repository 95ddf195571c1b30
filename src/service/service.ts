import type { Rollup } from '../anchor/rollup.ts'
import { createHttpServer } from '../http/server.ts'
import type { World } from '../world/world.ts'
import { lazyBeacon, type SimulatedBeacon } from './beacon.ts'
import { createChain, type ServiceChain, type ServiceChainOptions } from './chain.ts'
import { createFaultInjector, type FaultFunction } from './faults.ts'
import { BEACON_PATH, createHandler } from './handler.ts'
import type { AccessListFunction } from './methods/access-list.ts'
import { l1Methods } from './methods/l1.ts'
import { l2Methods } from './methods/l2.ts'

/** What the service serves, and its limits. */
export interface ServiceOptions extends ServiceChainOptions {
  /** The state of block 0. */
  genesis: World
  /** The rollup contract on the simulated L1. */
  rollup: Rollup
  /** Chain id of the rollup. Default: 1337. */
  chainId?: bigint
  /** Chain id of L1. Default: 1338. */
  l1ChainId?: bigint
  /** API keys: requests to `/v3/{key}` have no rate limit. Default: none. */
  apiKeys?: readonly string[]
  /** Requests per second per client without a key. Default: no limit. */
  publicRate?: number
  /** Limit on L1 blocks per `eth_getLogs` request. Default: 10,000. */
  maxLogRange?: number
  /** Executes calls for `eth_createAccessList`. Default: the method does not exist. */
  accessList?: AccessListFunction
  /** Faults to inject, for tests. Default: none. */
  faults?: FaultFunction
}

/** An HTTP server with endpoints for a rollup, its L1 and the consensus layer of L1. */
export interface Service {
  /** The chain. Write to its pending state, add blocks and finalize them. */
  readonly chain: ServiceChain
  /** The consensus layer of L1. */
  readonly beacon: SimulatedBeacon
  /**
   * Starts to accept requests. Rejects with the system's error if the port is taken.
   *
   * @param port Default: any free port
   * @param host Default: 127.0.0.1
   * @returns the URLs of the endpoints. Those of the rollup and of L1 also work with `/v3/{key}` appended
   */
  listen(
    port?: number,
    host?: string,
  ): Promise<{
    /** The rollup's endpoint. */
    url: string
    /** The L1 endpoint. */
    l1Url: string
    /** The beacon API, without `/eth/v1`. */
    beaconUrl: string
  }>
  /**
   * Stops accepting requests, answers the pending ones, and shuts down.
   *
   * @param grace milliseconds after which it closes the remaining connections. Default: 5000
   */
  close(grace?: number): Promise<void>
}

/**
 * Creates a service for devnets and tests. It answers `rollup_getProof` and the standard methods for a chain of worlds,
 * finalizes the chain on a simulated L1, and refuses requests the way real providers do.
 *
 * @param options the initial state, the contract on L1, API keys, limits and faults
 * @throws ProofError `BAD_HEX`, `WRONG_LENGTH` if the contract's address is invalid
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createRollupClient, createHttpProvider } from 'rollup-state-proof/rpc'
 * import { createService } from 'rollup-state-proof/service'
 * import { demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * const { url } = await service.listen()
 *
 * const { chain } = service
 * const address = '0x00000000000000000000000000000000000000aa'
 * chain.pending.setAccount(address, { balance: 5n })
 * const block = chain.addBlock()
 * chain.finalize()
 *
 * const claim = { scheme: poseidon2, stateRoot: chain.pending.stateRoot(), address, block } as const
 * const { account } = await createRollupClient(createHttpProvider(url)).getVerifiedState(claim)
 * console.log(block, account?.balance) // 1n 5n
 * await service.close()
 * ```
 */
export function createService(options: ServiceOptions): Service {
  const { genesis, rollup, chainId = 1337n, l1ChainId = 1338n, apiKeys = [], publicRate } = options
  const chain = createChain(genesis, rollup, options)
  const beacon = lazyBeacon(chain.l1, options)
  const closing = new AbortController()
  const server = createHttpServer(
    createHandler({
      rpc: new Map([
        ['', { endpoint: 'l2', methods: l2Methods(chain, chainId, options.accessList) }],
        ['/l1', { endpoint: 'l1', methods: l1Methods(chain, l1ChainId, options.maxLogRange) }],
      ]),
      beacon,
      apiKeys: new Set(apiKeys),
      publicRate,
      inject: createFaultInjector(options.faults, closing.signal),
    }),
  )
  return {
    chain,
    beacon,
    async listen(port = 0, host = '127.0.0.1') {
      const url = await server.listen(port, host)
      return { url, l1Url: `${url}/l1`, beaconUrl: `${url}${BEACON_PATH}` }
    },
    close(grace = 5000) {
      closing.abort()
      return server.close(grace)
    },
  }
}
