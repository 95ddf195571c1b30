import { bytesToHex, type Hex } from '../../bytes.ts'
import { encodeQuantity } from '../../hex.ts'
import type { CurrentView } from '../current-view.ts'
import { MAX_LISTED } from '../limits.ts'
import { params } from '../params.ts'
import type { ProvenState } from '../proven-state.ts'
import type { Methods } from './methods.ts'

/** Accounts, slots and codes of one block, and their proofs. */
export function stateMethods({ heldAt }: CurrentView): Methods {
  const addressOf = (value: unknown) => params.bytes('address', value, 20)

  /** A method whose parameters are an address and a block. */
  const ofAccount = (answer: (state: ProvenState, address: Hex) => Promise<Hex>) => async (given: unknown) => {
    const [address, block] = params.take(given, 1, 2)
    const account = addressOf(address)
    return answer((await heldAt(block)).state, account)
  }
  const getProof = (method: string) => async (given: unknown) => {
    const [address, keys, block] = params.take(given, 3, 3)
    const account = addressOf(address)
    const storageKeys = params.list('storage keys', keys, MAX_LISTED, params.slot)
    return (await heldAt(block)).state.getProof(method, account, storageKeys)
  }
  return {
    eth_getBalance: ofAccount(async (state, address) =>
      encodeQuantity((await state.getAccount(address))?.balance ?? 0n),
    ),
    eth_getTransactionCount: ofAccount(async (state, address) =>
      encodeQuantity((await state.getAccount(address))?.nonce ?? 0n),
    ),
    eth_getCode: ofAccount(async (state, address) => bytesToHex(await state.getCode(address))),
    async eth_getStorageAt(given) {
      const [address, slot, block] = params.take(given, 2, 3)
      const [account, key] = [addressOf(address), params.slot('slot', slot)]
      return (await heldAt(block)).state.getStorage(account, key)
    },
    rollup_getProof: getProof('rollup_getProof'),
    linea_getProof: getProof('linea_getProof'),
  }
}
