import { decodeArgument, invalid } from '../base/arguments.ts'
import { bytesToHex, type Hex } from '../base/bytes.ts'
import { readOptions, verifyUint } from '../base/options.ts'
import { readChainId, type readRollup } from '../verify/anchor/rollup.ts'
import type { BlockHeader } from '../verify/blocks/header.ts'
import { MAX_BLOCK_HASHES } from './limits.ts'

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
  /**
   * Block hashes for BLOCKHASH, by decimal block number, 32 bytes each. Default: those in the state (EIP-2935), which are committed
   * by the state root. Where L1 holds the hash of the block, a provider also finds those that the state does not hold.
   */
  blockHashes?: Readonly<Record<string, Hex>> | undefined
}

export const ENVIRONMENT_FIELDS = [
  ...['timestamp', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao', 'gasLimit', 'blockHashes'],
] as const

/** Keeps the given values. Without a prototype, because values on a polluted Object.prototype are not given. */
export const onlyGiven = <T extends object>(values: { [Name in keyof T]: T[Name] | undefined }): T =>
  Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
  )

/** The values of a block that its header proves. The fee for blobs is none: it depends on the forks of the chain. */
export function environmentIn(header: BlockHeader): Environment {
  const {
    number,
    parentHash,
    timestamp,
    baseFeePerGas: baseFee,
    miner: coinbase,
    mixHash: prevRandao,
    gasLimit,
  } = header
  const blockHashes = number === 0n ? undefined : { [`${number - 1n}`]: parentHash }
  return onlyGiven<Environment>({ timestamp, baseFee, coinbase, prevRandao, gasLimit, blockHashes })
}

/**
 * Returns a validated copy, so that the values cannot change during a call.
 *
 * @throws ArgumentError
 */
export function verifyEnvironment(environment: Environment = {}): Environment {
  const own = readOptions('environment', environment, ENVIRONMENT_FIELDS)
  const field = <T>(name: keyof Environment, verify: (place: string, value: unknown) => T): T | undefined =>
    own[name] === undefined ? undefined : verify(`environment.${name}`, own[name])
  const quantity = (bits: number) => (place: string, value: unknown) => verifyUint(place, value, bits)
  return onlyGiven<Environment>({
    timestamp: field('timestamp', quantity(64)),
    gasLimit: field('gasLimit', quantity(64)),
    baseFee: field('baseFee', quantity(256)),
    blobBaseFee: field('blobBaseFee', quantity(256)),
    coinbase: field('coinbase', bytesOf(20)),
    prevRandao: field('prevRandao', bytesOf(32)),
    blockHashes: field('blockHashes', verifyBlockHashes),
  })
}

const bytesOf = (length: number) => (place: string, value: unknown) => bytesToHex(decodeArgument(place, value, length))

function verifyBlockHashes(place: string, value: unknown): Record<string, Hex> {
  const entries = entriesOf(value)
  if (!entries?.every(([number]) => isBlockNumber(number))) {
    throw invalid(place, 'an object of hashes by decimal block number', value)
  }
  if (entries.length > MAX_BLOCK_HASHES) throw invalid(place, `at most ${MAX_BLOCK_HASHES} blocks`, entries.length)
  return onlyGiven(
    Object.fromEntries(entries.map(([number, hash]) => [number, bytesOf(32)(`${place}.${number}`, hash)])),
  )
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  try {
    return typeof value === 'object' && value !== null ? Object.entries(value) : undefined
  } catch {
    // A proxy can throw anything.
    return undefined
  }
}

export const isBlockNumber = (text: string): boolean => /^(0|[1-9][0-9]{0,19})$/.test(text)

/** @throws ArgumentError if neither the caller nor the rollup states the chain id, or both do and differ */
export function chainIdOf(rollup: ReturnType<typeof readRollup>, chainId?: number | bigint): bigint {
  const found = chainId === undefined ? rollup.chainId : readChainId('chainId', chainId)
  if (found === undefined) throw invalid('rollup.chainId', 'the chain id of the rollup', chainId)
  if (rollup.chainId === undefined || rollup.chainId === found) return found
  throw invalid('chainId', `${rollup.chainId}, as in rollup.chainId`, found)
}
