import { bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { isProviderError } from '../../provider/error.ts'
import { EMPTY_CODE_HASH } from '../../verify/anchor/code.ts'
import { effectivePrice } from '../../verify/blocks/block.ts'
import { orderedTrieRoot } from '../../verify/blocks/ordered-trie.ts'
import { type Transaction, verifyTransactions } from '../../verify/blocks/transactions.ts'
import type { World } from '../world/world.ts'
import { BASE_FEE, GAS_LIMIT, MINER, ZERO_HASH } from './block.ts'
import type { FullChain, NextBlock } from './chain.ts'
import { pay, runTransaction } from './execution.ts'
import { MethodError, rpcCodes } from './json-rpc.ts'
import { MAX_SENDING } from './limits.ts'
import { readRaw } from './raw-transaction.ts'

/** In the words of geth, which clients know. */
const refused = (message: string) => new MethodError(rpcCodes.serverError, message)

/**
 * Makes the function that executes signed transactions, one after another, and adds a block for each.
 * @returns takes an encoded transaction, and returns its hash once it is in a block. Rejects with a MethodError
 */
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
    const { status, gasUsed, logs, write } = await runTransaction(
      transaction,
      price,
      state,
      blockOf(chain, begun),
    ).catch(toMethodError)
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
  const {
    type,
    from,
    nonce,
    gas,
    value,
    gasPrice = 0n,
    maxFeePerGas = gasPrice,
    maxPriorityFeePerGas = 0n,
  } = transaction
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
