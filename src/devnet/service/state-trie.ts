import { bytesToBigint, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { decodeInteger, decodeRlp, encodeInteger, encodeRlp } from '../../verify/anchor/rlp.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { Account } from '../world/account.ts'
import { changesBetween } from '../world/tree.ts'
import { insideOf, type World } from '../world/world.ts'
import { lookUp, putEntry, removeEntry, type Trie, trieRoot } from './growing-trie.ts'

/** States as Ethereum has them: a trie of accounts, and a trie of slots for each. */

interface TrieAccount {
  readonly nonce: bigint
  readonly balance: bigint
  /** 32 bytes. */
  readonly codeHash: Uint8Array
  readonly storage: Trie
}

const NO_ACCOUNT: TrieAccount = { nonce: 0n, balance: 0n, codeHash: keccak256(new Uint8Array(0)), storage: null }

export const CONTRACT_ACCOUNT: TrieAccount = { ...NO_ACCOUNT, nonce: 1n }

export const putAccount = (accounts: Trie, address: Uint8Array, account: TrieAccount): Trie => {
  const { nonce, balance, codeHash, storage } = account
  const fields = [encodeInteger(nonce), encodeInteger(balance), trieRoot(storage), codeHash]
  return putEntry(accounts, address, encodeRlp(fields))
}

/** A zero slot is never stored. */
export const putSlot = (storage: Trie, key: Uint8Array, value: bigint): Trie =>
  value === 0n ? removeEntry(storage, key) : putEntry(storage, key, encodeRlp(encodeInteger(value)))

/** A slot's value, and its proof. */
export function slotIn(storage: Trie, key: Hex): { value: bigint; proof: Hex[] } {
  const { value, proof } = lookUp(storage, hexToBytes(key, 32))
  return { value: (value && decodeInteger(decodeRlp(value), 32)) ?? 0n, proof: proof.map(bytesToHex) }
}

/** A proof as an `eth_getProof` result. @param account null if it does not exist */
export function proveAccount(accounts: Trie, address: Hex, account: TrieAccount | null, keys: readonly Hex[]): object {
  const { nonce, balance, codeHash, storage } = account ?? NO_ACCOUNT
  const bytes = hexToBytes(address, 20)
  return {
    address: bytesToHex(bytes),
    accountProof: lookUp(accounts, bytes).proof.map(bytesToHex),
    balance: encodeQuantity(balance),
    nonce: encodeQuantity(nonce),
    codeHash: bytesToHex(codeHash),
    storageHash: bytesToHex(trieRoot(storage)),
    storageProof: keys.map(key => {
      const { value, proof } = slotIn(storage, key)
      return { key, value: encodeQuantity(value), proof }
    }),
  }
}

/** The tries of slots, by the tree that has the same slots. Neither ever changes. */
const storages = new WeakMap<Account['storage'], Trie & object>()

function storageTrie(storage: Account['storage'], before: Account['storage'] | null): Trie {
  const known = storages.get(storage)
  if (known !== undefined) return known
  const earlier = before === null ? undefined : storages.get(before)
  let trie: Trie = earlier ?? null
  for (const { key, after } of changesBetween(earlier === undefined ? null : before, storage)) {
    trie = putSlot(trie, key, after === null ? 0n : bytesToBigint(after))
  }
  if (trie !== null) storages.set(storage, trie)
  return trie
}

function inTrie({ nonce, balance, keccakCodeHash, storage }: Account, before: Account | null): TrieAccount {
  return { nonce, balance, codeHash: keccakCodeHash, storage: storageTrie(storage, before?.storage ?? null) }
}

/**
 * The trie of accounts of a state that nobody changes any more.
 * @param before an earlier state: only what differs from it is computed. It may have no such trie, or be none
 */
export function ethereumTrie(
  state: World,
  before?: { readonly state: World; readonly accounts: Trie | undefined },
): Trie {
  let accounts = before?.accounts ?? null
  const earlier = before?.accounts ? insideOf(before.state).accounts() : null
  for (const { key, before, after } of changesBetween(earlier, insideOf(state).accounts())) {
    accounts = after === null ? removeEntry(accounts, key) : putAccount(accounts, key, inTrie(after, before))
  }
  return accounts
}

/** @param accounts those of the state, as Ethereum has them */
export function proveEthereum(state: World, accounts: Trie, address: Hex, keys: readonly Hex[]): object {
  const account = insideOf(state).accountAt(hexToBytes(address, 20))
  return proveAccount(accounts, address, account && inTrie(account, null), keys)
}
