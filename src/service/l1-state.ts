import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeInteger, decodeRlp, encodeInteger, encodeRlp } from '../anchor/rlp.ts'
import { bytesToHex, type Hex, hexToBytes } from '../bytes.ts'
import { encodeQuantity, lowerCase } from '../hex.ts'
import { lookUp, putEntry, type Trie, trieRoot } from './growing-trie.ts'

const NO_CODE = new Uint8Array(0)

/** The state of the simulated L1, whose only account is a contract. `storage` is always that of the contract. */
export function createL1State(contract: Hex) {
  const codeHash = keccak_256(NO_CODE)
  const isContract = (address: Hex) => lowerCase(address) === lowerCase(contract)
  const accounts = (storage: Trie): Trie =>
    putEntry(null, hexToBytes(contract, 20), encodeRlp([encodeInteger(1n), NO_CODE, trieRoot(storage), codeHash]))
  const slotIn = (trie: Trie, key: Hex) => {
    const { value, proof } = lookUp(trie, hexToBytes(key, 32))
    return { value: (value && decodeInteger(decodeRlp(value), 32)) ?? 0n, proof: proof.map(bytesToHex) }
  }
  return {
    root: (storage: Trie): Hex => bytesToHex(trieRoot(accounts(storage))),
    valueOf: (storage: Trie, address: Hex, key: Hex): bigint => (isContract(address) ? slotIn(storage, key).value : 0n),
    /** A proof as an `eth_getProof` result. */
    prove(storage: Trie, address: Hex, keys: readonly Hex[]): object {
      const trie = isContract(address) ? storage : null
      return {
        address: lowerCase(address),
        accountProof: lookUp(accounts(storage), hexToBytes(address, 20)).proof.map(bytesToHex),
        balance: '0x0',
        nonce: isContract(address) ? '0x1' : '0x0',
        codeHash: bytesToHex(codeHash),
        storageHash: bytesToHex(trieRoot(trie)),
        storageProof: keys.map(key => {
          const { value, proof } = slotIn(trie, key)
          return { key, value: encodeQuantity(value), proof }
        }),
      }
    },
  }
}
