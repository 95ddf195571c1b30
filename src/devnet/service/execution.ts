import { bigintToBytes, bytesToBigint, bytesToHex, type Hex } from '../../base/bytes.ts'
import { DEFAULT_HARDFORK } from '../../client/network/hardfork.ts'
import type { Environment } from '../../provider/environment.ts'
import { executionFailed } from '../../provider/error.ts'
import { bytesOf } from '../../provider/evm-state.ts'
import { type Effects, execute, intrinsicGas } from '../../provider/execute.ts'
import { DEFAULT_TIMEOUT } from '../../provider/limits.ts'
import { inPace } from '../../provider/pace.ts'
import type { StateReader } from '../../provider/state-reader.ts'
import { EMPTY_CODE_HASH } from '../../verify/anchor/code.ts'
import type { Transaction } from '../../verify/blocks/transactions.ts'
import type { World } from '../world/world.ts'
import type { ChainLog } from './content.ts'

export interface Outcome {
  readonly status: bigint
  readonly gasUsed: bigint
  readonly logs: readonly ChainLog[]
  /** Writes what it did into a state, where the sender has paid for all the gas of the transaction. */
  write(state: World): void
}

export interface ExecutionBlock {
  readonly chainId: bigint
  readonly blockNumber: bigint
  readonly environment: Environment
  readonly hashAt: (number: bigint) => Promise<Hex>
}

/** The addresses up to here may be those of precompiled contracts. */
const LAST_PRECOMPILE = 0xffffn

/**
 * Executes a transaction on a state, which it does not change. If there is no code at the recipient, this takes no EVM.
 * @param price what is paid for a unit of gas. The sender can afford all of it
 */
export async function runTransaction(
  transaction: Transaction,
  price: bigint,
  state: World,
  block: ExecutionBlock,
): Promise<Outcome> {
  const { from, to, input: data, value, gas, accessList = [] } = transaction
  const call = { from, to, data, value, gas, gasPrice: price, maxGasPrice: price, accessList }
  if (to !== null && BigInt(to) > LAST_PRECOMPILE && isWithoutCode(state, to)) {
    const { least: gasUsed } = intrinsicGas(call, DEFAULT_HARDFORK)
    if (gas < gasUsed) throw executionFailed(`intrinsic gas too low: ${gas} of ${gasUsed}`)
    return { status: 1n, gasUsed, logs: [], write: next => transfer(next, transaction, gas * price) }
  }
  const context = { ...block, hardfork: DEFAULT_HARDFORK }
  const { failure, gasUsed, effects } = await inPace({ timeoutMs: DEFAULT_TIMEOUT, signals: [] }, pace =>
    execute(readerOf(state), call, gas, context, pace),
  )
  const logs = effects.logs.map(([address, topics, bytes]) => ({
    address: bytesToHex(address),
    topics: topics.map(bytesToHex),
    data: bytesToHex(bytes),
  }))
  return { status: failure === null ? 1n : 0n, gasUsed, logs, write: next => writeEffects(next, effects) }
}

const isWithoutCode = (state: World, address: Hex): boolean =>
  (state.getAccount(address)?.codeHash ?? EMPTY_CODE_HASH) === EMPTY_CODE_HASH

export function pay(state: World, address: Hex, amount: bigint): void {
  if (amount !== 0n) state.setAccount(address, { balance: (state.getAccount(address)?.balance ?? 0n) + amount })
}

function transfer(state: World, { from, to, nonce, value }: Transaction, fee: bigint): void {
  state.setAccount(from, { nonce: nonce + 1n })
  pay(state, from, -value - fee)
  if (to !== null) pay(state, to, value)
}

const readerOf = (state: World): StateReader => ({
  async getAccount(address) {
    const account = state.getAccount(address)
    // Without code, there is no storage, unless the genesis is odd. It counts only where a contract is created.
    return account && { ...account, hasStorage: account.codeHash !== EMPTY_CODE_HASH }
  },
  async getCode(address) {
    const code = state.getCode(address)
    if (code === null) throw executionFailed(`only the hash of the code at ${address} is known`)
    return bytesOf(code)
  },
  getStorage: async (address, key) => state.getStorage(address, key),
})

function writeEffects(state: World, { accounts, codes, slots, destroyed }: Effects): void {
  for (const [address, account] of accounts) {
    const isGone = account === null || account.isEmpty() || destroyed.includes(address)
    if (!isGone) state.setAccount(address, { nonce: account.nonce, balance: account.balance })
    else if (state.getAccount(address) !== null) state.deleteAccount(address)
  }
  const isThere = (address: Hex) => state.getAccount(address) !== null
  for (const [address, code] of codes) if (isThere(address)) state.setAccount(address, { code: bytesToHex(code) })
  for (const [place, bytes] of slots) {
    const [address, key] = [place.slice(0, ADDRESS_LENGTH), place.slice(ADDRESS_LENGTH)] as [Hex, Hex]
    const value = bytesToHex(bigintToBytes(bytesToBigint(bytes), 32))
    if (isThere(address)) state.setStorage(address, { key, value })
  }
}

/** Of the text of an address, with its prefix. */
const ADDRESS_LENGTH = 42
