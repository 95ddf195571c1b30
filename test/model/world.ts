// Keys, values and answers: accounts and slots, a tree of trees.
// In this module's API, byte strings start with 0x and numbers are bigints.
import { hex, integer, type Scheme, type SchemeName, schemes, slice, ZERO } from './hash.ts'
import { emptyTree, type LeafProof, prove, put, remove, root, type Tree } from './tree.ts'

export type AccountFields = {
  nonce: bigint
  balance: bigint
  snarkCodeHash: string
  keccakCodeHash: string
  codeSize: bigint
}
export type Answer = { accountProof: LeafProof; storageProofs: LeafProof[] }

export type World = {
  setAccount: (address: string, fields: AccountFields) => void
  /** A zero value deletes the slot. Throws if the account does not exist. */
  setStorage: (address: string, key: string, value: string) => void
  /** Deletes the account and its slots. An account created again at the same address starts with an empty storage tree. */
  deleteAccount: (address: string) => void
  stateRoot: () => string
  getProof: (address: string, keys: string[]) => Answer
}

export const hashAddress = (scheme: Scheme, address: string): string => scheme.H(scheme.address(address))
/** The hash of a storage key, and of a slot's value. */
export const hashFull = (scheme: Scheme, x: string): string => scheme.H(scheme.full(x))
export const emptyRoot = (scheme: Scheme): string => root(emptyTree(scheme))

/** The hash of an account value in its served form: six fields of 32 bytes. */
export function hashAccount({ H, word, full }: Scheme, value: string): string {
  const field = (i: number): string => slice(value, 32 * i, 32)
  const number = (i: number): string => word(integer(field(i)))
  return H(number(0) + number(1) + field(2) + field(3) + full(field(4)) + number(5))
}

export function createWorld(name: SchemeName): World {
  const scheme = schemes[name]
  const tree = emptyTree(scheme)
  const accounts = new Map<string, { fields: AccountFields; storage: Tree }>()
  const bare = (x: string): string => x.slice(2).toLowerCase()

  // An account gets its leaf immediately. The leaf's value is written on the next read.
  function commit(): void {
    for (const [address, { fields, storage }] of accounts) {
      const codeHashes = bare(fields.snarkCodeHash) + bare(fields.keccakCodeHash)
      const value =
        hex(fields.nonce, 32) + hex(fields.balance, 32) + root(storage) + codeHashes + hex(fields.codeSize, 32)
      put(tree, hashAddress(scheme, address), hashAccount(scheme, value), value)
    }
  }

  return {
    setAccount(address, fields) {
      const storage = accounts.get(bare(address))?.storage ?? emptyTree(scheme)
      accounts.set(bare(address), { fields, storage })
      put(tree, hashAddress(scheme, bare(address)), ZERO, ZERO)
    },

    setStorage(address, key, value) {
      const storage = accounts.get(bare(address))?.storage
      if (!storage) throw new Error(`no account at ${address}`)
      if (bare(value) === ZERO) remove(storage, hashFull(scheme, bare(key)))
      else put(storage, hashFull(scheme, bare(key)), hashFull(scheme, bare(value)), bare(value))
    },

    deleteAccount(address) {
      accounts.delete(bare(address))
      remove(tree, hashAddress(scheme, bare(address)))
    },

    stateRoot() {
      commit()
      return `0x${root(tree)}`
    },

    getProof(address, keys) {
      commit()
      const storage = accounts.get(bare(address))?.storage
      const accountProof = prove(tree, bare(address), hashAddress(scheme, bare(address)))
      if (!storage || root(storage) === emptyRoot(scheme)) return { accountProof, storageProofs: [] }
      return { accountProof, storageProofs: keys.map(key => prove(storage, bare(key), hashFull(scheme, bare(key)))) }
    },
  }
}
