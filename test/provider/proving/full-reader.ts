import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '../../../src/base/bytes.ts'
import type { StateReader } from '../../../src/provider/proven-state.ts'
import { word } from '../endpoints.ts'
import { bytesOf, type FullState } from '../full-state.ts'

/** Reads a full state, without endpoints and proofs. */
export const readerOver = (state: FullState): StateReader => ({
  async getAccount(address) {
    const found = state.get(address)
    if (found === undefined) return null
    const { nonce = 0n, balance = 0n, code = '0x', storage = {} } = found
    const hasStorage = Object.keys(storage).length > 0
    return { nonce, balance, codeHash: bytesToHex(keccak_256(bytesOf(code))), hasStorage }
  },
  getCode: async address => bytesOf(state.get(address)?.code ?? '0x'),
  getStorage: async (address, key) => state.get(address)?.storage?.[key] ?? word(0),
})
