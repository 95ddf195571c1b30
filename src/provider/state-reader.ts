import type { Hex } from '../bytes.ts'

/** An account, as far as an execution reads it. */
export interface ReadAccount {
  readonly nonce: bigint
  readonly balance: bigint
  /** keccak256 of the code, 32 bytes. */
  readonly codeHash: Hex
  /** Whether any slot is not zero. */
  readonly hasStorage: boolean
}

/**
 * The state that an execution reads: everything from here is proven, or throws. Nothing is read as empty because it is
 * not known. Addresses are 20 bytes, keys and values 32, in lower case.
 */
export interface StateReader {
  /** null when the account is proven absent. */
  getAccount(address: Hex): Promise<ReadAccount | null>
  /** Empty when the account has none. */
  getCode(address: Hex): Promise<Uint8Array>
  getStorage(address: Hex, key: Hex): Promise<Hex>
}
