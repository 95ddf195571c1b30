import { decodeArgument, invalid } from '../base/arguments.ts'
import { bytesToHex, type Hex } from '../base/bytes.ts'
import { readOptions, verifyUint } from '../base/options.ts'
import { readChainId, type readRollup } from '../verify/anchor/rollup.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'

/**
 * Values of the block around a call, as you pass them. They apply to every requested block, and go before what is proven. Without
 * yours, a provider proves those of an earlier block from its header, when a call reads one. Where L1 holds the hash of the block in
 * place of its state root, they are always proven. Otherwise, no proof covers them at the newest block, nor in a bundle: there, a
 * call that reads one fails. In a bundle, what is proven goes before yours.
 */
export interface Environment {
  /** Seconds since 1970. Default: as L1 proves it for the newest finalized block. */
  timestamp?: bigint | undefined
  /** In wei, for calls that name fees: for all others, it is 0, as nodes have it. On the Linea networks, it is 7. */
  baseFee?: bigint | undefined
  /** In wei. */
  blobBaseFee?: bigint | undefined
  /** 20 bytes. */
  coinbase?: Hex | undefined
  /** 32 bytes. */
  prevRandao?: Hex | undefined
  /** Gas limit of the block. */
  gasLimit?: bigint | undefined
}

export const ENVIRONMENT_FIELDS = ['timestamp', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao', 'gasLimit'] as const

/** @param quantity reads one of up to so many bits @param bytes reads so many. Both return undefined for what is not given */
export function readEnvironment(
  quantity: (name: keyof Environment, bits: number) => bigint | undefined,
  bytes: (name: keyof Environment, length: number) => Hex | undefined,
): Environment {
  return onlyGiven({
    timestamp: quantity('timestamp', 64),
    gasLimit: quantity('gasLimit', 64),
    baseFee: quantity('baseFee', 256),
    blobBaseFee: quantity('blobBaseFee', 256),
    coinbase: bytes('coinbase', 20),
    prevRandao: bytes('prevRandao', 32),
  })
}

/** The given values; the last ones go first. Without a prototype, because values on a polluted Object.prototype are not given. */
export const onlyGiven = (...values: Environment[]): Environment =>
  Object.assign(
    Object.create(null),
    ...values.map(one => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined))),
  )

/** The values of a block that its header proves. The fee for blobs is none: it depends on the forks of the chain. */
export function environmentIn(header: BlockHeader): Environment {
  const { timestamp, baseFeePerGas: baseFee, miner: coinbase, mixHash: prevRandao, gasLimit } = header
  return { timestamp, baseFee, coinbase, prevRandao, gasLimit }
}

/** Returns a validated copy, so that the values cannot change during a call. @throws ArgumentError */
export function verifyEnvironment(environment: Environment = {}): Environment {
  const own = readOptions('environment', environment, ENVIRONMENT_FIELDS)
  const field = <T>(name: keyof Environment, verify: (place: string, value: unknown) => T): T | undefined =>
    own[name] === undefined ? undefined : verify(`environment.${name}`, own[name])
  return readEnvironment(
    (name, bits) => field(name, (place, value) => verifyUint(place, value, bits)),
    (name, length) => field(name, (place, value) => bytesToHex(decodeArgument(place, value, length))),
  )
}

/** @throws ArgumentError if neither the caller nor the rollup states the chain id, or both do and differ */
export function chainIdOf(rollup: ReturnType<typeof readRollup>, chainId?: number | bigint): bigint {
  const found = chainId === undefined ? rollup.chainId : readChainId('chainId', chainId)
  if (found === undefined) throw invalid('rollup.chainId', 'the chain id of the rollup', chainId)
  if (rollup.chainId === undefined || rollup.chainId === found) return found
  throw invalid('chainId', `${rollup.chainId}, as in rollup.chainId`, found)
}
