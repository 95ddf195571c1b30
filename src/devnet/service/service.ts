import { invalid } from '../../base/arguments.ts'
import { readOptions, verifyWhole } from '../../base/options.ts'
import { MAX_TIMEOUT } from '../../client/transport/limits.ts'
import { createHttpServer } from '../http/server.ts'
import { createBeacon, type SimulatedBeacon } from './beacon.ts'
import { createChain, type ServiceChain } from './chain.ts'
import { createFaultInjector } from './faults.ts'
import { BEACON_PATH, createHandler } from './handler.ts'
import { l1Methods } from './methods/l1.ts'
import { l2Methods } from './methods/l2.ts'
import { readServiceOptions, type ServiceOptions } from './options.ts'

/** An HTTP server with endpoints for a rollup, its L1 and the consensus layer of L1. */
export interface Service {
  /** The chain. Write to its pending state, add blocks and finalize them. */
  readonly chain: ServiceChain
  /** The consensus layer of L1. */
  readonly beacon: SimulatedBeacon
  /**
   * Starts to accept requests. Rejects with the system's error if the port is taken.
   *
   * @param port 0 to 65535. Default: 0, which is any free port
   * @param host Default: 127.0.0.1
   * @throws ArgumentError
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
   * @param options how long it waits for what is pending
   * @throws ArgumentError if an option is invalid
   */
  close(options?: CloseOptions): Promise<void>
  /** Closes the service at the end of a block that holds it by `await using`, with the default grace. */
  [Symbol.asyncDispose](): Promise<void>
}

/** How a service closes. */
export interface CloseOptions {
  /** Milliseconds after which it closes the remaining connections. Default: 5000. */
  graceMs?: number | undefined
}

/**
 * Creates a service for devnets and tests. It answers `rollup_getProof` and the standard methods for a chain of worlds,
 * finalizes the chain on a simulated L1, and refuses requests the way real providers do. JSON-RPC batches of up to 1000 requests
 * are answered in order.
 *
 * `eth_sendRawTransaction` executes a transaction and adds a block for it at once, which you finalize. It takes the types 0 to 2.
 * Calls and creations of contracts take the optional packages of the EVM; a created contract gets the rollup's own code hash of
 * empty code, because that hash is not specified. Blocks have the base fee 7 and a gas limit of 36,000,000.
 *
 * @param options the initial state, the contract on L1, API keys, limits and faults
 * @throws ArgumentError if an option is missing, unknown or invalid
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createRollupClient, createHttpProvider } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
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
 * const claim = { scheme: poseidon2, stateRoot: chain.pending.stateRoot(), address, l2BlockNumber: block } as const
 * const { account } = await createRollupClient(createHttpProvider(url)).getVerifiedState(claim)
 * console.log(block, account?.balance) // 1n 5n
 * await service.close()
 * ```
 */
export function createService(options: ServiceOptions): Service {
  const own = readServiceOptions(options)
  const chain = createChain(own.genesis, own.rollup, own)
  const beacon = createBeacon(chain.l1, own)
  const closing = new AbortController()
  const server = createHttpServer(
    createHandler({
      rpc: new Map([
        ['', { endpoint: 'l2', methods: l2Methods(chain, own.chainId) }],
        ['/l1', { endpoint: 'l1', methods: l1Methods(chain, own.l1ChainId) }],
      ]),
      beacon,
      apiKeys: own.apiKeys,
      inject: createFaultInjector(own.faults, closing.signal),
    }),
  )
  const close = async (how: CloseOptions = {}): Promise<void> => {
    const { graceMs = 5000 } = readOptions('', how, ['graceMs'])
    verifyWhole('graceMs', graceMs, 0, MAX_TIMEOUT)
    closing.abort()
    await server.close(graceMs)
  }
  return {
    chain,
    beacon,
    async listen(port = 0, host = '127.0.0.1') {
      verifyWhole('port', port, 0, 65_535)
      if (typeof host !== 'string' || host === '') throw invalid('host', 'the name or address of an interface', host)
      const url = await server.listen(port, host)
      return { url, l1Url: `${url}/l1`, beaconUrl: `${url}${BEACON_PATH}` }
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}
