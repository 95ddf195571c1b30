import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, equalBytes, type Hex, isZero } from '../../base/bytes.ts'
import { ArgumentError, atPath } from '../../base/errors.ts'
import { decodeKeys, readOptions } from '../../base/options.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { type HashScheme, hashSchemeOf, type Scheme } from '../../verify/scheme/scheme.ts'
import type { GetProofResult } from '../../verify/tree/answer.ts'
import { accountTree, storageTree } from '../../verify/tree/kind.ts'
import { zeroDigest } from '../../verify/tree/leaf.ts'
import { type Account, type AccountChanges, decodeChanges, encodeAccount } from './account.ts'
import { applyAccesses, type BlockAccess, type Trace } from './block.ts'
import {
  createKind,
  createTree,
  deleteKey,
  getValue,
  proveKey,
  rootOf,
  setValue,
  skipLeaves,
  type Tree,
} from './tree.ts'

/** An account as {@link World.getAccount} reports it. */
export interface AccountState {
  /** How many transactions it has sent, or contracts it has created. */
  nonce: bigint
  /** In wei. */
  balance: bigint
  /** keccak256 of the code, 32 bytes. */
  codeHash: Hex
  /** The rollup's own hash of the code, 32 bytes. */
  snarkCodeHash: Hex
  /** In bytes. */
  codeSize: bigint
  /** Root of the account's storage tree, 32 bytes. */
  storageRoot: Hex
}

/**
 * A state of the rollup: accounts and their storage slots, in the trees of the tree format.
 *
 * Addresses are 20 bytes, storage keys and values 32, as `0x`-prefixed hexadecimal of either case. Every function
 * throws an ArgumentError for an argument of the wrong type, length or format, or for a field that
 * {@link AccountChanges} does not have. A call that throws changes nothing.
 */
export interface World {
  /**
   * Creates the account at the next free leaf, or changes it.
   *
   * @param address 20 bytes
   * @param changes what to set; omitted fields stay as they are
   * @throws ArgumentError
   */
  setAccount(address: Hex, changes?: AccountChanges): void
  /** Deletes the account with its storage. If it is created again, it takes another leaf. @param address 20 bytes @throws ArgumentError */
  deleteAccount(address: Hex): void
  /**
   * Writes a storage slot of an existing account. The value zero deletes the slot, because zero slots are never stored.
   *
   * @param address 20 bytes
   * @param slot its key and its value, 32 bytes each
   * @throws ArgumentError
   */
  setStorage(address: Hex, slot: { key: Hex; value: Hex }): void
  /** The account; null if it does not exist. @param address 20 bytes */
  getAccount(address: Hex): AccountState | null
  /**
   * The account's code. `0x` if the account does not exist or has no code; null if only the hash of the code is known.
   *
   * @param address 20 bytes
   */
  getCode(address: Hex): Hex | null
  /** The value of a storage slot, 32 bytes. Zero if the slot or the account does not exist. @param address 20 bytes @param key 32 bytes */
  getStorage(address: Hex, key: Hex): Hex
  /** The state root, 32 bytes. Hashes everything written since the last call. */
  stateRoot(): Hex
  /**
   * Answers `rollup_getProof` for the current state, in the form in which the network serves it.
   *
   * @param address 20 bytes
   * @param storageKeys 32 bytes each. Default: none
   */
  getProof(address: Hex, storageKeys?: readonly Hex[]): GetProofResult
  /**
   * Sets the leaf that the next new account takes, or the next new slot of the account at `address`. The resulting state is
   * the same as after creating and deleting that many others.
   *
   * @param nextFreeNode at most 2^40; then the tree is full
   * @param address 20 bytes. Default: the tree of accounts
   * @throws ArgumentError if the leaf is already taken or does not exist, or the account does not exist
   */
  skipLeaves(nextFreeNode: number, address?: Hex): void
  /**
   * Does all that a block does to the state, in the order of the key hashes, as the state manager does it.
   *
   * @param accesses each account once, each slot at most once read and once written
   * @returns the traces that `rollup_getZkEVMStateMerkleProofV0` serves for the block
   * @throws ArgumentError
   */
  applyBlock(accesses: readonly BlockAccess[]): Trace[]
  /** An independent world with the same state. Forking is free, because the two share whatever neither changes. */
  fork(): World
}

/**
 * Creates an empty state in memory. It builds the trees and serves proofs, but verifies nothing.
 *
 * A write hashes only the key, and its time is logarithmic in the size of the state. The trees are hashed when you request
 * a root or a proof. A single new key then costs some 120 hashes, for the paths of the three leaves that it touches. If
 * many slots were written in between, each costs about four hashes.
 *
 * @param scheme `mimc` or `poseidon2`
 * @throws ArgumentError for anything else
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createWorld } from 'rollup-state-proof-devnet'
 *
 * const world = createWorld(poseidon2)
 * const address = '0x00000000000000000000000000000000000000aa'
 * const key = '0x0000000000000000000000000000000000000000000000000000000000000001'
 * const value = '0x00000000000000000000000000000000000000000000000000000000000000ff'
 * world.setAccount(address, { nonce: 1n, balance: 5n })
 * world.setStorage(address, { key, value })
 *
 * const { storageProofs } = world.getProof(address, [key])
 * console.log(storageProofs.length) // 1
 * ```
 */
export function createWorld(scheme: Scheme): World {
  const hashScheme = hashSchemeOf(scheme)
  const storageKind = createKind<Uint8Array>(hashScheme, storageTree, value => value)
  const accountKind = createKind<Account>(hashScheme, accountTree, encodeAccount)
  const newAccount: Account = {
    nonce: 0n,
    balance: 0n,
    snarkCodeHash: hashScheme.hasher.hash(zeroDigest()),
    keccakCodeHash: keccak256(new Uint8Array(0)),
    codeSize: 0n,
    storage: createTree(storageKind),
    code: new Uint8Array(0),
  }
  return worldOf(hashScheme, newAccount, createTree(accountKind))
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: every method reads or replaces the one tree of accounts.
function worldOf(scheme: HashScheme, newAccount: Account, initial: Tree<Account>): World {
  let accounts = initial
  let last: { readonly address: Uint8Array; readonly hKey: Uint8Array } | null = null

  /** Remembers the last address, because consecutive writes are often to the same account. */
  function hashed(hex: Hex) {
    const address = decodeArgument('address', hex, 20)
    if (last === null || !equalBytes(last.address, address)) {
      last = { address, hKey: accountTree.hashKey(scheme, address) }
    }
    return last
  }
  const hashAddress = (hex: Hex): Uint8Array => hashed(hex).hKey

  function requireAccount(hKey: Uint8Array): Account {
    const account = getValue(accounts, hKey)
    if (account === null)
      throw new ArgumentError({ path: 'address', expected: 'an account that exists', found: 'none' })
    return account
  }

  /** Replaces the storage tree of an existing account. */
  function changeStorage(hex: Hex, change: (storage: Tree<Uint8Array>) => Tree<Uint8Array>): void {
    const { hKey, address } = hashed(hex)
    const account = requireAccount(hKey)
    accounts = setValue(accounts, hKey, { ...account, storage: change(account.storage) }, address)
  }

  const world: World = {
    setAccount(hex, changes = {}) {
      const { hKey, address } = hashed(hex)
      const account = getValue(accounts, hKey) ?? newAccount
      const changed = { ...account, ...atPath('changes', () => decodeChanges(scheme, changes)) }
      accounts = atPath('address', () => setValue(accounts, hKey, changed, address))
    },
    deleteAccount(address) {
      const hKey = hashAddress(address)
      requireAccount(hKey)
      accounts = deleteKey(accounts, hKey)
    },
    setStorage(address, slot) {
      const { key, value } = readOptions('slot', slot, ['key', 'value'])
      const keyBytes = decodeArgument('slot.key', key, 32)
      const slotKey = storageTree.hashKey(scheme, keyBytes)
      const slotValue = decodeArgument('slot.value', value, 32)
      changeStorage(address, storage =>
        isZero(slotValue)
          ? deleteKey(storage, slotKey)
          : atPath('slot.key', () => setValue(storage, slotKey, slotValue, keyBytes)),
      )
    },
    getAccount(address) {
      const account = getValue(accounts, hashAddress(address))
      return account && describeAccount(account)
    },
    getCode(address) {
      const account = getValue(accounts, hashAddress(address))
      if (account === null) return '0x'
      return account.code && bytesToHex(account.code)
    },
    getStorage(address, key) {
      const slotKey = storageTree.hashKey(scheme, decodeArgument('key', key, 32))
      const account = getValue(accounts, hashAddress(address))
      return bytesToHex((account && getValue(account.storage, slotKey)) ?? new Uint8Array(32))
    },
    stateRoot: () => bytesToHex(rootOf(accounts)),
    getProof(address, storageKeys = []) {
      const keys = decodeKeys(storageKeys)
      const account = getValue(accounts, hashAddress(address))
      const hasStorage = account !== null && bytesToHex(rootOf(account.storage)) !== scheme.emptyTreeRoot
      return {
        accountProof: proveKey(accounts, decodeArgument('address', address, 20)),
        // Tree format, "The proof": without storage, the account proof alone proves that every slot is absent.
        storageProofs: hasStorage ? keys.map(key => proveKey(account.storage, key)) : [],
      }
    },
    skipLeaves(nextFreeNode, address) {
      if (address === undefined) accounts = skipLeaves(accounts, nextFreeNode)
      else changeStorage(address, storage => skipLeaves(storage, nextFreeNode))
    },
    applyBlock(accesses) {
      const applied = applyAccesses(scheme, { accounts, newAccount }, accesses)
      accounts = applied.accounts
      return applied.traces
    },
    fork: () => worldOf(scheme, newAccount, accounts),
  }
  insides.set(world, {
    accounts: () => accounts,
    accountAt: address => getValue(accounts, accountTree.hashKey(scheme, address)),
  })
  return world
}

/** What a world of this copy of the package consists of. */
interface Insides {
  accounts(): Tree<Account>
  /** @param address 20 bytes */
  accountAt(address: Uint8Array): Account | null
}

const insides = new WeakMap<World, Insides>()

/** @throws ArgumentError for a world of another copy of this package */
export function insideOf(world: World): Insides {
  const found = insides.get(world)
  if (found !== undefined) return found
  throw new ArgumentError({ expected: 'a world of this copy of the package', found: 'another' })
}

function describeAccount({ nonce, balance, codeSize, ...account }: Account): AccountState {
  return {
    nonce,
    balance,
    storageRoot: bytesToHex(rootOf(account.storage)),
    codeHash: bytesToHex(account.keccakCodeHash),
    snarkCodeHash: bytesToHex(account.snarkCodeHash),
    codeSize,
  }
}
