import { bytesToHex, type Hex } from '../bytes.ts'
import { decodeArgument } from '../proof/claim.ts'
import { readOptions } from '../rpc/options.ts'
import { invalidOption } from './error.ts'
import { MAX_BLOCK_HASHES } from './limits.ts'

/** The supported hard forks. */
export type Hardfork = 'london' | 'paris' | 'shanghai' | 'cancun' | 'prague' | 'osaka'

export const HARDFORKS: readonly Hardfork[] = ['london', 'paris', 'shanghai', 'cancun', 'prague', 'osaka']
/** Linea has run it since 28 October 2025. */
export const DEFAULT_HARDFORK: Hardfork = 'prague'

/**
 * Block values that no proof covers, as you state them. A call that reads one of them uses your value, and fails if you
 * state none. Your values apply to every requested block.
 */
export interface Environment {
  /** Seconds since 1970. Default: the proven timestamp of the view, which only the newest finalized block has. */
  timestamp?: bigint
  /** In wei. On the Linea networks, it is 7. */
  baseFee?: bigint
  /** In wei. */
  blobBaseFee?: bigint
  /** 20 bytes. */
  coinbase?: Hex
  /** 32 bytes. */
  prevRandao?: Hex
  /** Gas limit of the block. */
  gasLimit?: bigint
  /** Block hashes for BLOCKHASH, by decimal block number, 32 bytes each. */
  blockHashes?: Readonly<Record<string, Hex>>
}

const FIELDS = ['timestamp', 'baseFee', 'blobBaseFee', 'coinbase', 'prevRandao', 'gasLimit', 'blockHashes']

/**
 * Returns a validated copy, so that the values cannot change during a call.
 *
 * @throws RpcError `ARGUMENT_INVALID`; ProofError `CLAIM_INVALID`
 */
export function verifyEnvironment(environment: Environment = {}): Environment {
  const { timestamp, baseFee, blobBaseFee, coinbase, prevRandao, gasLimit, blockHashes } = readOptions(
    'environment',
    environment,
    FIELDS,
  )
  for (const [name, value] of Object.entries({ timestamp, gasLimit })) {
    if (value !== undefined) verifyBigint(`environment.${name}`, value, 0n, 64)
  }
  for (const [name, value] of Object.entries({ baseFee, blobBaseFee })) {
    if (value !== undefined) verifyBigint(`environment.${name}`, value, 0n, 256)
  }
  const bytes = (name: string, value: Hex, length: number) =>
    bytesToHex(decodeArgument(`environment.${name}`, value, length))
  const verified: Environment = {
    ...(timestamp !== undefined && { timestamp }),
    ...(baseFee !== undefined && { baseFee }),
    ...(blobBaseFee !== undefined && { blobBaseFee }),
    ...(gasLimit !== undefined && { gasLimit }),
    ...(coinbase !== undefined && { coinbase: bytes('coinbase', coinbase, 20) }),
    ...(prevRandao !== undefined && { prevRandao: bytes('prevRandao', prevRandao, 32) }),
    ...(blockHashes !== undefined && { blockHashes: verifyBlockHashes(blockHashes) }),
  }
  // No prototype, because values on a polluted Object.prototype do not come from the caller.
  return Object.assign(Object.create(null), verified)
}

function verifyBlockHashes(blockHashes: Readonly<Record<string, Hex>>): Record<string, Hex> {
  if (typeof blockHashes !== 'object' || blockHashes === null) {
    throw invalidOption('environment.blockHashes is not an object')
  }
  const entries = Object.entries(blockHashes)
  if (entries.length > MAX_BLOCK_HASHES) {
    throw invalidOption(`environment.blockHashes has more than ${MAX_BLOCK_HASHES} blocks`)
  }
  const verified: Record<string, Hex> = Object.create(null)
  for (const [number, hash] of entries) {
    if (!/^(0|[1-9][0-9]{0,19})$/.test(number)) {
      throw invalidOption('environment.blockHashes names a block that is not a decimal number')
    }
    verified[number] = bytesToHex(decodeArgument(`environment.blockHashes.${number}`, hash, 32))
  }
  return verified
}

/** @throws RpcError `ARGUMENT_INVALID` */
export function verifyHardfork(hardfork: Hardfork): void {
  if (!HARDFORKS.includes(hardfork)) throw invalidOption(`hardfork is none of ${HARDFORKS.join(', ')}`)
}

/** @throws RpcError `ARGUMENT_INVALID` */
export function verifyBigint(name: string, value: bigint, least: bigint, bits: number): void {
  if (typeof value === 'bigint' && value >= least && value < 1n << BigInt(bits)) return
  throw invalidOption(`${name} is not a bigint from ${least} to 2^${bits} - 1`)
}
