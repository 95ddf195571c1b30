import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { hasMethod, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import { type Rollup, readChainId, readRollup } from '../../verify/anchor/rollup.ts'
import { decodeNetworkFields } from '../../verify/beacon/network.ts'
import type { World } from '../world/world.ts'
import type { ServiceChainOptions } from './chain.ts'
import type { FaultFunction } from './faults.ts'

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
export function readServiceOptions(options: ServiceOptions) {
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
