import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { compareBytes, equalBytes, type Hex, isZero } from '../../base/bytes.ts'
import { ArgumentError, atPath } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import { accountTree, storageTree } from '../../verify/tree/kind.ts'
import { type Account, type AccountChanges, decodeChanges } from './account.ts'
import { type Trace, traceRead, traceWrite } from './trace.ts'
import { getValue, type Tree } from './tree.ts'

/** What a block does to one account. */
export interface BlockAccess {
  /** 20 bytes. */
  address: Hex
  /** Creates the account, or changes it; null deletes it with its storage. Left out, it is read, or only its storage is written. */
  account?: AccountChanges | null | undefined
  /** Deletes the account first, with its storage, and creates it again. Default: false. */
  recreate?: boolean | undefined
  /** Slots that are written or read. */
  storage?: readonly SlotWrite[] | undefined
}

/** What a block does to a slot. */
export interface SlotWrite {
  /** 32 bytes. */
  key: Hex
  /** 32 bytes. Zero deletes the slot. Left out, it is only read. */
  value?: Hex | undefined
}

type Access = ReturnType<typeof decodeAccess>

/** Applies what a block does, in the order of the key hashes, as the state manager does it. @throws ArgumentError */
export function applyAccesses(
  scheme: HashScheme,
  { accounts, newAccount }: { readonly accounts: Tree<Account>; readonly newAccount: Account },
  accesses: readonly BlockAccess[],
): { accounts: Tree<Account>; traces: Trace[] } {
  const decoded = readItems('accesses', accesses, access => decodeAccess(scheme, access))
  const traces: Trace[] = []
  let tree = accounts
  for (const access of inOrder('accesses', decoded)) tree = applyAccess(tree, newAccount, access, traces)
  return { accounts: tree, traces }
}

/** @throws ArgumentError if a key is there twice */
function inOrder<T extends { readonly hKey: Uint8Array }>(name: string, items: readonly T[]): T[] {
  const sorted = items.toSorted((a, b) => compareBytes(a.hKey, b.hKey))
  const isDouble = sorted.some(({ hKey }, index) => equalBytes(hKey, sorted[index + 1]?.hKey ?? new Uint8Array(0)))
  if (isDouble) throw new ArgumentError({ path: name, expected: 'each key once', found: 'a key that is there twice' })
  return sorted
}

function decodeAccess(scheme: HashScheme, access: BlockAccess) {
  const { address: text, account, recreate = false, storage = [] } = readOptions('', access, ACCESS_FIELDS)
  const address = decodeArgument('address', text, 20)
  if (typeof recreate !== 'boolean') throw invalid('recreate', 'true or false', recreate)
  const slots = readItems('storage', storage, slot => decodeSlot(scheme, slot))
  return {
    address,
    text,
    hKey: accountTree.hashKey(scheme, address),
    recreate,
    /** null deletes the account; undefined leaves its fields as they are. */
    changes: account && atPath('account', () => decodeChanges(scheme, account)),
    reads: inOrder(
      'storage',
      slots.filter(({ value }) => value === undefined),
    ),
    writes: inOrder(
      'storage',
      slots.filter(({ value }) => value !== undefined),
    ),
  }
}

const ACCESS_FIELDS = ['address', 'account', 'recreate', 'storage']

/** The value null deletes the slot; undefined reads it. */
function decodeSlot(scheme: HashScheme, slot: SlotWrite) {
  const { key: keyText, value: text } = readOptions('', slot, ['key', 'value'])
  const key = decodeArgument('key', keyText, 32)
  const value = text === undefined ? undefined : decodeArgument('value', text, 32)
  return { key, hKey: storageTree.hashKey(scheme, key), value: value && isZero(value) ? null : value }
}

/** Adds the traces of one account: what is read, what is deleted, what is written. */
function applyAccess(accounts: Tree<Account>, newAccount: Account, access: Access, traces: Trace[]): Tree<Account> {
  const { address, text: location, hKey, changes, recreate, reads, writes } = access
  const target = { location: '0x' as const, key: address }
  const held = getValue(accounts, hKey)
  const isRead = changes === undefined && writes.length === 0 && !recreate
  if (isRead) traces.push(traceRead(accounts, target))
  // The storage of an account that does not exist cannot be read.
  if (held !== null) traces.push(...reads.map(({ key }) => traceRead(held.storage, { location, key })))
  if (isRead) return accounts
  const isMissing = held === null && (changes === null || changes === undefined || recreate)
  if (isMissing) throw new ArgumentError({ path: 'address', expected: 'an account that exists', found: 'none' })
  let tree = accounts
  if (changes === null || recreate) {
    const deleted = traceWrite(tree, target, null)
    traces.push(deleted.trace)
    tree = deleted.tree
  }
  if (changes === null) return tree
  const account = getValue(tree, hKey) ?? newAccount
  let { storage } = account
  for (const { key, value = null } of writes) {
    const written = traceWrite(storage, { location, key }, value)
    traces.push(written.trace)
    storage = written.tree
  }
  const written = traceWrite(tree, target, { ...account, ...changes, storage })
  traces.push(written.trace)
  return written.tree
}
