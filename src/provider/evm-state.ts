import type { StateManagerInterface } from '@ethereumjs/common'
import type { Account, Address } from '@ethereumjs/util'
import { bytesToHex, type Hex, hexLength, hexToBytes } from '../base/bytes.ts'
import { EMPTY_TRIE_ROOT } from '../verify/anchor/trie.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import type { EvmPackages } from './evm-packages.ts'
import type { ReadAccount, StateReader } from './proven-state.ts'

export type EvmState = ReturnType<typeof createEvmState>

export type Written = ReturnType<typeof createJournal>['written']
/** What an execution read of the state that it found. */
export type Reads = ReturnType<typeof noteReads>['reads']

const EMPTY = new Uint8Array(0)
const FIELDS = ['nonce', 'balance', 'codeHash', 'storageRoot'] as const

/** The rest is for blocks, tries and caches: no call uses it. */
type UsedByEvm = Omit<
  StateManagerInterface,
  'deleteAccount' | 'getCodeSize' | 'clearCaches' | 'shallowCopy' | 'getStateRoot' | 'setStateRoot' | 'hasStateRoot'
>

/** Layers the EVM's writes over a proven state. The EVM modifies the accounts that it receives, so it gets copies. */
export function createEvmState(reader: StateReader, { util }: EvmPackages) {
  const { written, set, ...checkpoints } = createJournal()
  const { accounts, codes, slots } = written
  const { read, ...guard } = createGuard()
  const { found, reads } = noteReads(reader, read)

  const unneeded = (): never => guard.fail(new Error('not part of a call'))
  const hexOf = (address: Address): Hex => bytesToHex(address.bytes)
  const slotOf = (address: Address, key: Uint8Array): string => hexOf(address) + bytesToHex(key)
  const copyOf = ({ nonce, balance, codeHash, storageRoot }: Account): Account =>
    new util.Account(nonce, balance, storageRoot, codeHash)

  async function getAccount(address: Address): Promise<Account | undefined> {
    const hex = hexOf(address)
    const kept = accounts.get(hex)
    const account = kept === undefined ? toAccount(await found.getAccount(hex), util) : kept
    return account === null ? undefined : copyOf(account)
  }

  async function putAccount(address: Address, account?: Account): Promise<void> {
    const kept = accounts.get(hexOf(address))
    // Each call writes two accounts, mostly as they are. To note that would take a kilobyte, for as little as 100 units of gas.
    if (account && kept && FIELDS.every(field => kept[field] === account[field])) return
    set(accounts, hexOf(address), account === undefined ? null : copyOf(account))
  }

  const modifyAccountFields: StateManagerInterface['modifyAccountFields'] = async (address, fields) => {
    const account = (await getAccount(address)) ?? util.createAccount({})
    await putAccount(address, Object.assign(account, fields))
  }

  const originalStorage = async (address: Address, key: Uint8Array): Promise<Uint8Array> =>
    shortest(bytesOf(await found.getStorage(hexOf(address), bytesToHex(key))))

  return {
    ...checkpoints,
    ...guard,
    read,
    found,
    reads,
    written,
    unneeded,
    getAccount,
    putAccount,
    modifyAccountFields,
    async getCode(address) {
      // The reader says whether there is a code: for an account of which nothing is known, a rehearsal guesses one.
      if ((await getAccount(address)) === undefined) return EMPTY
      return codes.get(hexOf(address)) ?? found.getCode(hexOf(address))
    },
    async putCode(address, code) {
      set(codes, hexOf(address), code)
      await modifyAccountFields(address, { codeHash: keccak256(code) })
    },
    getStorage: async (address, key) => slots.get(slotOf(address, key)) ?? originalStorage(address, key),
    putStorage: async (address, key, value) => set(slots, slotOf(address, key), shortest(value)),
    /** Called for a new contract. It has no proven storage, because otherwise its creation would be a collision. */
    async clearStorage(address) {
      for (const slot of slots.keys()) if (slot.startsWith(hexOf(address))) set(slots, slot, EMPTY)
    },
    // The value of the slot before the execution: the gas cost of a write depends on it.
    originalStorageCache: { get: originalStorage, clear: unneeded },
  } satisfies UsedByEvm & Record<string, unknown>
}

/** The EVM only checks whether the storage root of an account is that of no storage. */
function toAccount(account: ReadAccount | null, util: EvmPackages['util']): Account | null {
  if (account === null) return null
  const { nonce, balance, codeHash, hasStorage } = account
  const storageRoot = hasStorage ? new Uint8Array(32) : bytesOf(EMPTY_TRIE_ROOT)
  return util.createAccount({ nonce, balance, codeHash: bytesOf(codeHash), storageRoot })
}

function noteReads(reader: StateReader, read: <T>(work: () => Promise<T>) => Promise<T>) {
  /** By account. Without storage, the account alone proves its slots, so that none is named. */
  const slots = new Map<Hex, Set<Hex>>()
  /** By hash. */
  const codes = new Map<Hex, Uint8Array>()
  async function note(address: Hex) {
    const account = await reader.getAccount(address)
    if (!slots.has(address)) slots.set(address, new Set())
    return account
  }
  const found: StateReader = {
    getAccount: address => read(() => note(address)),
    getStorage: (address, key) =>
      read(async () => {
        // The slot first: its account comes with it.
        const value = await reader.getStorage(address, key)
        if ((await note(address))?.hasStorage) slots.get(address)?.add(key)
        return value
      }),
    getCode: address =>
      read(async () => {
        const code = await reader.getCode(address)
        const account = await note(address)
        if (account !== null && code.length > 0) codes.set(account.codeHash, code)
        return code
      }),
  }
  return { found, reads: { slots, codes } }
}

function createJournal() {
  const written = {
    /** null: deleted. An empty account counts as none (EIP-161). */
    accounts: new Map<Hex, Account | null>(),
    codes: new Map<Hex, Uint8Array>(),
    /** By address and key, 20 and 32 bytes, each with its prefix. Without leading zeros. */
    slots: new Map<string, Uint8Array>(),
  }
  /** How to undo what each frame has written, by place. Its first write counts: a loop may write the same slot half a million times. */
  const frames = [new Map<string, () => unknown>()]
  function note(place: string, undo: () => unknown): void {
    const frame = frames.at(-1)
    if (frame?.has(place) === false) frame.set(place, undo)
  }
  return {
    written,
    set<K extends string, V>(map: Map<K, V>, key: K, value: V): void {
      const before = map.get(key)
      const place = Object.is(map, written.codes) ? `code of ${key}` : key
      note(place, () => (before === undefined ? map.delete(key) : map.set(key, before)))
      map.set(key, value)
    },
    async checkpoint() {
      frames.push(new Map())
    },
    async commit() {
      for (const [place, undo] of frames.pop() ?? []) note(place, undo)
    },
    async revert() {
      for (const undo of frames.pop()?.values() ?? []) undo()
    },
  }
}

/** Holds the first error of an execution. The EVM turns some errors into failures of a frame, but these must end it all. */
function createGuard() {
  let failure: { readonly error: unknown } | undefined
  function verifyIntact(): void {
    if (failure !== undefined) throw failure.error
  }
  /** Ends the execution with the first error that occurred. Its result is void, however the EVM handles the error. */
  function fail(error: unknown): never {
    failure ??= { error }
    throw failure.error
  }
  async function read<T>(work: () => Promise<T>): Promise<T> {
    verifyIntact()
    return work().catch(fail)
  }
  return { verifyIntact, fail, read }
}

export const bytesOf = (hex: Hex): Uint8Array => hexToBytes(hex, hexLength(hex))

/** Strips leading zeros, because the EVM compares values in this form. */
function shortest(value: Uint8Array): Uint8Array {
  const start = value.findIndex(byte => byte !== 0)
  return start === -1 ? EMPTY : value.slice(start)
}
