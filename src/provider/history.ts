import type { Hex } from '../base/bytes.ts'
import { isProofError } from '../base/errors.ts'
import { type HistoryClaim, historyContract, historySlot, readBlockHash } from '../verify/blocks/history.ts'
import { unprovenValue } from './error.ts'
import type { StateReader } from './state-reader.ts'

/**
 * The hash of an earlier block, from the contract that keeps them (EIP-2935), in a proven state.
 *
 * @throws ProviderError `VALUE_UNPROVEN` if the state does not hold it; what `state` throws
 */
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
