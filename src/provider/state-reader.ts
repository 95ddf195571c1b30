import type { Hex } from '../bytes.ts'

/** The part of an account that an execution reads. */
export interface ReadAccount {
  readonly nonce: bigint
  readonly balance: bigint
  /** keccak256 of the code, 32 bytes. */
  readonly codeHash: Hex
  /** Whether any slot is not zero. */
  readonly hasStorage: boolean
}

/**
 * The state that an execution reads. Every result is proven; otherwise, the function throws. Unknown state never reads as
 * empty. Addresses are 20 bytes, keys and values 32, in lower case.
 */
export interface StateReader {
  /** null if the account is proven absent. */
  getAccount(address: Hex): Promise<ReadAccount | null>
  /** Empty if the account has none. */
  getCode(address: Hex): Promise<Uint8Array>
  getStorage(address: Hex, key: Hex): Promise<Hex>
}
