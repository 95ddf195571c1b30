import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { hasMethod, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import { MAX_TIMEOUT } from '../../client/transport/limits.ts'
import { type Rollup, readChainId, readRollup } from '../../verify/anchor/rollup.ts'
import { decodeNetworkFields } from '../../verify/beacon/network.ts'
import { createHttpServer } from '../http/server.ts'
import type { World } from '../world/world.ts'
import { createBeacon, type SimulatedBeacon } from './beacon.ts'
import { createChain, type ServiceChain, type ServiceChainOptions } from './chain.ts'
import { BEACON_PATH, createFaultInjector, createHandler, type FaultFunction } from './handler.ts'
import { l1Methods } from './methods/l1.ts'
import { l2Methods } from './methods/l2.ts'

/** What the service serves, and its limits. */
export interface ServiceOptions extends ServiceChainOptions {
  /** The state of block 0. */
  genesis: World
  /** The rollup contract on the simulated L1. */
  rollup: Rollup
  /** Chain id of the rollup. Default: that in `rollup`, otherwise 1337. */
  chainId?: number | bigint | undefined
  /** Chain id of L1. Default: that in `rollup`, otherwise 1338. */
  l1ChainId?: number | bigint | undefined
  /** API keys, with which requests go to `/v3/{key}`. Another key is refused. Default: none. */
  apiKeys?: readonly string[] | undefined
  /** Faults to inject, for tests. Default: none. */
  faults?: FaultFunction | undefined
}

/** Counts and the least that each may be. */
const COUNTS = { proofLag: 0, keep: 1, l1Unfinalized: 0, l1History: 0 } as const

const OF_CHAIN = [...Object.keys(COUNTS), 'contractVersion', 'upgradeAt', 'clock', 'messageService', 'beacon']
const FIELDS = ['genesis', 'rollup', 'chainId', 'l1ChainId', 'apiKeys', 'faults', ...OF_CHAIN]

/** Fills in the defaults of what the endpoints need. @throws ArgumentError */
function readServiceOptions(options: ServiceOptions) {
  const own = readOptions('', options, FIELDS)
  const { genesis, apiKeys = [], contractVersion = 8 } = own
  const rollup = readRollup(own.rollup)
  const { chainId = rollup.chainId ?? 1337n, l1ChainId = rollup.l1ChainId ?? 1338n } = own
  if (!hasMethod(genesis, 'fork')) throw invalid('genesis', 'a world', genesis)
  const keys = readItems('apiKeys', apiKeys, (key: unknown) => {
    if (typeof key === 'string') return key
    throw invalid('', 'a string', key)
  })
  if (![7, 8, 9].includes(contractVersion)) throw invalid('contractVersion', '7, 8 or 9', contractVersion)
  if (own.upgradeAt !== undefined) {
    verifyUint('upgradeAt', own.upgradeAt, 64, 1n)
    if (contractVersion === 9) throw invalid('upgradeAt', 'nothing: the version is 9 from the start', own.upgradeAt)
  }
  if (own.messageService !== undefined) decodeArgument('messageService', own.messageService, 20)
  for (const [name, least] of Object.entries(COUNTS)) {
    const count = own[name as keyof typeof COUNTS]
    if (count !== undefined) verifyWhole(name, count, least)
  }
  for (const name of ['faults', 'clock'] as const) verifyFunction(name, own[name])
  const beacon = own.beacon && atPath('beacon', () => decodeNetworkFields(own.beacon)).source
  const chainIds = { chainId: readChainId('chainId', chainId), l1ChainId: readChainId('l1ChainId', l1ChainId) }
  return { ...own, rollup, ...chainIds, beacon, apiKeys: new Set(keys) }
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
interface CloseOptions {
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
