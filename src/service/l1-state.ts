import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeInteger, decodeRlp, encodeInteger, encodeRlp } from '../anchor/rlp.ts'
import { bytesToHex, type Hex, hexToBytes } from '../bytes.ts'
import { encodeQuantity, lowerCase } from '../hex.ts'
import { getEntry, proveEntry, putEntry, type Trie, trieRoot } from './growing-trie.ts'

const NO_CODE = new Uint8Array(0)

/** The state of the simulated L1, whose only account is a contract. `storage` is always that of the contract. */
export function createL1State(contract: Hex) {
  const codeHash = keccak_256(NO_CODE)
  const isContract = (address: Hex) => lowerCase(address) === lowerCase(contract)
  const accounts = (storage: Trie): Trie =>
    putEntry(null, hexToBytes(contract, 20), encodeRlp([encodeInteger(1n), NO_CODE, trieRoot(storage), codeHash]))
  const valueIn = (trie: Trie, key: Hex): bigint => {
    const entry = getEntry(trie, hexToBytes(key, 32))
    return (entry && decodeInteger(decodeRlp(entry), 32)) ?? 0n
  }
  return {
    root: (storage: Trie): Hex => bytesToHex(trieRoot(accounts(storage))),
    valueOf: (storage: Trie, address: Hex, key: Hex): bigint => (isContract(address) ? valueIn(storage, key) : 0n),
    /** A proof as an `eth_getProof` result. */
    prove(storage: Trie, address: Hex, keys: readonly Hex[]): object {
      const trie = isContract(address) ? storage : null
      return {
        address: lowerCase(address),
        accountProof: proveEntry(accounts(storage), hexToBytes(address, 20)).map(bytesToHex),
        balance: '0x0',
        nonce: isContract(address) ? '0x1' : '0x0',
        codeHash: bytesToHex(codeHash),
        storageHash: bytesToHex(trieRoot(trie)),
        storageProof: keys.map(key => ({
          key,
          value: encodeQuantity(valueIn(trie, key)),
          proof: proveEntry(trie, hexToBytes(key, 32)).map(bytesToHex),
        })),
      }
    },
  }
}
