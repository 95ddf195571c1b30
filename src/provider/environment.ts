import type { Hex } from '../bytes.ts'

/** The hard forks whose instructions and prices can be had. */
export type Hardfork = 'london' | 'paris' | 'shanghai' | 'cancun' | 'prague' | 'osaka'

export const HARDFORKS: readonly Hardfork[] = ['london', 'paris', 'shanghai', 'cancun', 'prague', 'osaka']

/**
 * What no proof covers, as you state it: a call that reads one of these uses your value, and fails without it. It holds
 * for every block that is asked for.
 */
export interface Environment {
  /** Seconds since 1970. Default: the proven timestamp of the view, which only the newest finalized block has. */
  timestamp?: bigint
  /** In wei. On the Linea networks 7. */
  baseFee?: bigint
  /** In wei. */
  blobBaseFee?: bigint
  /** 20 bytes. */
  coinbase?: Hex
  /** 32 bytes. */
  prevRandao?: Hex
  /** Of the block. */
  gasLimit?: bigint
  /** By the decimal number of the block, 32 bytes each: for BLOCKHASH. */
  blockHashes?: Readonly<Record<string, Hex>>
}
