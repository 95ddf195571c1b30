import { bigintToBytes, bytesToBigint, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { DEFAULT_HARDFORK } from '../../client/network/network.ts'
import { executionFailed, isProviderError } from '../../provider/error.ts'
import { bytesOf } from '../../provider/evm-state.ts'
import { type Effects, execute, intrinsicGas } from '../../provider/execute.ts'
import { DEFAULT_TIMEOUT } from '../../provider/limits.ts'
import { inPace } from '../../provider/pace.ts'
import type { StateReader } from '../../provider/proven-state.ts'
import { EMPTY_CODE_HASH } from '../../verify/anchor/contract.ts'
import { effectivePrice } from '../../verify/blocks/block.ts'
import { orderedTrieRoot } from '../../verify/blocks/ordered-trie.ts'
import { type Transaction, verifyTransactions } from '../../verify/blocks/transactions.ts'
import type { World } from '../world/world.ts'
import { BASE_FEE, GAS_LIMIT, MINER, ZERO_HASH } from './block.ts'
import type { FullChain, NextBlock } from './chain.ts'
import { readRaw } from './content.ts'
import { MethodError, rpcCodes } from './json-rpc.ts'
import { MAX_SENDING } from './limits.ts'

/** In the words of geth, which clients know. */
const refused = (message: string) => new MethodError(rpcCodes.serverError, message)

/** Makes what executes signed transactions, one after another, each in a block. It resolves to the hash, or rejects with a MethodError. */
export function createSender(chain: FullChain): (raw: Hex) => Promise<Hex> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return raw => {
    if (waiting === MAX_SENDING) throw new MethodError(rpcCodes.limited, 'too many transactions at once')
    waiting++
    const sent = last.then(() => send(chain, raw))
    last = sent
      .catch(() => {})
      .finally(() => {
        waiting--
      })
    return sent
  }
}

async function send(chain: FullChain, raw: Hex): Promise<Hex> {
  const { building, pending } = chain
  const transaction = openRaw(raw)
  if (chain.blocks.holding(transaction.hash) !== undefined) throw refused('already known')
  for (;;) {
    const begun = building.next()
    const state = pending.fork()
    building.writeHistory(state)
    const price = verifySendable(transaction, state, chain.chainId)
    const executed = runTransaction(transaction, price, state, blockOf(chain, begun))
    const { status, gasUsed, logs, write } = await executed.catch(toMethodError)
    // If a block has been added in the meantime, it is executed again, on the new state.
    if (begun.number !== chain.latest() + 1n) continue
    write(pending)
    pay(pending, transaction.from, (transaction.gas - gasUsed) * price)
    pay(pending, MINER, gasUsed * (price - BASE_FEE))
    building.addBlock([{ transaction: raw, status, gasUsed, logs }], begun)
    return transaction.hash
  }
}

function openRaw(raw: Hex): Transaction {
  const bytes = hexToBytes(raw, raw.length / 2 - 1)
  try {
    const transactionsRoot = bytesToHex(orderedTrieRoot([bytes]))
    // One is given, so one is returned.
    const [transaction] = verifyTransactions([readRaw(bytes)], { transactionsRoot }) as [Transaction]
    return transaction
  } catch (error) {
    if (!isProofError(error)) throw error
    throw new MethodError(rpcCodes.invalidParams, `no signed transaction: ${error.message}`)
  }
}

function toMethodError(error: unknown): never {
  if (!isProviderError(error)) throw error
  throw refused(error.reason === 'EXECUTION_FAILED' ? error.data.error : error.message)
}

/** Refuses what could not be part of the next block. @returns what is paid for a unit of gas. @throws MethodError */
function verifySendable(transaction: Transaction, state: World, chainId: bigint): bigint {
  const { type, from, nonce, gas, value, gasPrice = 0n } = transaction
  const { maxFeePerGas = gasPrice, maxPriorityFeePerGas = 0n } = transaction
  if (type > 2) throw refused('transaction type not supported')
  if (transaction.chainId !== chainId) throw refused(`invalid chain id: expected ${chainId}`)
  if (maxPriorityFeePerGas > maxFeePerGas) throw refused('max priority fee per gas higher than max fee per gas')
  if (maxFeePerGas < BASE_FEE) throw refused('max fee per gas less than block base fee')
  if (gas > GAS_LIMIT) throw refused('exceeds block gas limit')
  const { nonce: expected = 0n, balance = 0n, codeHash = EMPTY_CODE_HASH } = state.getAccount(from) ?? {}
  if (nonce < expected) throw refused(`nonce too low: next nonce ${expected}, tx nonce ${nonce}`)
  if (nonce > expected) throw refused(`nonce too high: next nonce ${expected}, tx nonce ${nonce}`)
  if (codeHash !== EMPTY_CODE_HASH) throw refused('sender not an eoa')
  if (balance < value + gas * maxFeePerGas) throw refused('insufficient funds for gas * price + value')
  return effectivePrice(transaction, { baseFeePerGas: BASE_FEE })
}

const BLOCK_VALUES = { baseFee: BASE_FEE, blobBaseFee: 1n, coinbase: MINER, prevRandao: ZERO_HASH, gasLimit: GAS_LIMIT }

function blockOf(chain: FullChain, { number, timestamp }: NextBlock) {
  return {
    chainId: chain.chainId,
    blockNumber: number,
    environment: { ...BLOCK_VALUES, timestamp },
    hashAt: async (earlier: bigint) => chain.blocks.at(earlier)?.block.hash ?? ZERO_HASH,
  }
}

/** The addresses up to here may be those of precompiled contracts. */
const LAST_PRECOMPILE = 0xffffn

/**
 * Executes a transaction on a state, which it does not change: `write` does, once the sender has paid for all the gas. If there is no
 * code at the recipient, this takes no EVM.
 * @param price what is paid for a unit of gas. The sender can afford all of it
 */
async function runTransaction(
  transaction: Transaction,
  price: bigint,
  state: World,
  block: ReturnType<typeof blockOf>,
) {
  const { from, to, input: data, value, gas, accessList = [] } = transaction
  const call = { from, to, data, value, gas, gasPrice: price, maxGasPrice: price, accessList }
  if (to !== null && BigInt(to) > LAST_PRECOMPILE && isWithoutCode(state, to)) {
    const { least: gasUsed } = intrinsicGas(call, DEFAULT_HARDFORK)
    if (gas < gasUsed) throw executionFailed(`intrinsic gas too low: ${gas} of ${gasUsed}`)
    return { status: 1n, gasUsed, logs: [], write: (next: World) => transfer(next, transaction, gas * price) }
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
  return { status: failure === null ? 1n : 0n, gasUsed, logs, write: (next: World) => writeEffects(next, effects) }
}

const isWithoutCode = (state: World, address: Hex): boolean =>
  (state.getAccount(address)?.codeHash ?? EMPTY_CODE_HASH) === EMPTY_CODE_HASH

function pay(state: World, address: Hex, amount: bigint): void {
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
