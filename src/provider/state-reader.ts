import type { Hex } from '../base/bytes.ts'
import { isProofError } from '../base/errors.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/contract.ts'
import { type HistoryClaim, historyContract, historySlot, readBlockHash } from '../verify/blocks/header.ts'
import { type AnyState, type StateScheme, stateKind } from '../verify/state/kind.ts'
import { unprovenValue } from './error.ts'

/** The default sender of a call, which most calls read. */
export const NOBODY: Hex = `0x${'0'.repeat(40)}`
/** The value of a slot that was never written. */
export const ZERO: Hex = `0x${'0'.repeat(64)}`

export interface ReadAccount {
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hex
  readonly hasStorage: boolean
}

/**
 * The state that an execution reads. Every result is proven; otherwise, the function throws. Unknown state never reads as
 * empty. Addresses are 20 bytes, keys and values 32, in lower case.
 */
export interface StateReader {
  /** null if the account is proven absent. */
  getAccount(address: Hex): Promise<ReadAccount | null>
  getCode(address: Hex): Promise<Uint8Array>
  getStorage(address: Hex, key: Hex): Promise<Hex>
}

/** What is proven about an account. A slot that is not among `slots` is unknown, unless the account has no storage. */
export interface HeldAccount {
  readonly account: ReadAccount | null
  readonly slots: ReadonlyMap<Hex, Hex>
}

export function toProvenAccount({ account, storage }: AnyState, scheme: StateScheme): HeldAccount {
  const slots = new Map(storage.map(({ key, value }) => [key, value]))
  if (account === null) return { account, slots }
  const { nonce, balance, codeHash, storageRoot } = account
  return { account: { nonce, balance, codeHash, hasStorage: storageRoot !== stateKind(scheme).emptyRoot }, slots }
}

export interface ProvenSource {
  /** Throws if the account, or the slot of an account with storage, is not proven. */
  read(address: Hex, key?: Hex): Promise<HeldAccount>
  readCode(codeHash: Hex, address: Hex): Promise<Uint8Array>
}

/** Derives what follows from an account alone: without storage, every slot is proven to be zero. */
export const createStateReader = ({ read, readCode }: ProvenSource): StateReader => ({
  getAccount: async address => (await read(address)).account,
  async getStorage(address, key) {
    const { account, slots } = await read(address, key)
    const value = account?.hasStorage ? slots.get(key) : ZERO
    if (value === undefined) throw new Error('the slot that was read is not proven')
    return value
  },
  async getCode(address) {
    const codeHash = (await read(address)).account?.codeHash ?? EMPTY_CODE_HASH
    return codeHash === EMPTY_CODE_HASH ? new Uint8Array(0) : readCode(codeHash, address)
  },
})

/** Whether reading the account, or the slot, needs no further proof. */
export const isProven = (known: HeldAccount | undefined, key?: Hex): known is HeldAccount =>
  known !== undefined && (key === undefined || !known.account?.hasStorage || known.slots.has(key))

/** The hash of an earlier block, from the contract that keeps them (EIP-2935). @throws ProviderError `VALUE_UNPROVEN` */
export async function readHistory(state: StateReader, claim: HistoryClaim): Promise<Hex> {
  const key = historySlot(claim.number)
  // The slot comes with its account, in one request.
  const value = await state.getStorage(historyContract, key)
  const account = await state.getAccount(historyContract)
  try {
    return readBlockHash({ account, storage: [{ key, value }] }, claim)
  } catch (error) {
    throw isProofError(error) ? unprovenValue('BLOCKHASH', error) : error
  }
}
