import { verifyCode } from '../anchor/code.ts'
import type { Hex } from '../bytes.ts'
import { atPath } from '../errors.ts'
import type { Account } from '../proof/verify.ts'
import { diagnose } from '../rpc/diagnose.ts'
import { atEndpoint } from '../rpc/error.ts'
import { fetchAnswer } from '../rpc/fetch.ts'
import { callProvider, type Provider, type SendProvider, toQuantity } from '../rpc/provider.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { MAX_CACHED_CODE_BYTES, MAX_CACHED_ENTRIES } from './limits.ts'
import type { ReadAccount, StateReader } from './state-reader.ts'

/** keccak256 of the empty string. */
export const EMPTY_CODE_HASH: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
const ZERO: Hex = `0x${'0'.repeat(64)}`

/** The state of one L2 block. Each part is fetched and proven when it is first read. */
export interface ProvenState extends StateReader {
  /** The account, including the fields that an execution does not read. */
  getWholeAccount(address: Hex): Promise<Account | null>
  /** Whether this is cached, so that reading it takes no request. */
  holds(address: Hex, key?: Hex): boolean
  holdsCode(address: Hex): boolean
  /** Proves the account with these slots, in one request per `maxKeysPerRequest` slots. */
  load(address: Hex, keys: readonly Hex[]): Promise<void>
}

/** Where a state comes from, and the root that it is proven against. */
export interface StateSource {
  readonly l2: Provider | SendProvider
  readonly block: bigint
  readonly stateRoot: Hex
  readonly scheme: Scheme
  readonly verifier: Verifier
  readonly method: string
  readonly maxKeysPerRequest: number
}

interface Known {
  readonly account: Account | null
  readonly hasStorage: boolean
  readonly slots: Map<Hex, Hex>
}

/** Reads of one account that wait for the end of the tick, to be sent as one request. */
interface Batch {
  readonly keys: Set<Hex>
  readonly answer: Promise<Known>
}

export function createProvenState(source: StateSource): ProvenState {
  const { l2, block, stateRoot, scheme, verifier } = source
  const emptyRoot = scheme.emptyTreeRoot
  const accounts = new Map<Hex, Known>()
  const codes = new Map<Hex, Uint8Array>()
  let remembered = 0
  let codeBytes = 0
  const waiting = new Map<Hex, Batch>()
  const loading = new Map<string, Promise<Known>>()
  const loadingCodes = new Map<Hex, Promise<Uint8Array>>()

  /** Evicts the oldest accounts first. They are fetched and proven again if they are needed again. */
  function makeRoom(): void {
    for (const [address, { slots }] of accounts) {
      if (remembered <= MAX_CACHED_ENTRIES) return
      accounts.delete(address)
      remembered -= 1 + slots.size
    }
  }

  function remember(address: Hex, proven: Known): void {
    const known = accounts.get(address)
    if (known === undefined) {
      accounts.set(address, { ...proven, slots: new Map(proven.slots) })
      remembered += 1 + proven.slots.size
    } else {
      for (const [key, value] of proven.slots) {
        if (!known.slots.has(key)) remembered++
        known.slots.set(key, value)
      }
    }
    makeRoom()
  }

  async function fetch(address: Hex, storageKeys: readonly Hex[]): Promise<Known> {
    const { method, maxKeysPerRequest } = source
    const request = { address, storageKeys, block }
    const answer = await atEndpoint('L2', () => fetchAnswer(l2, request, { method, maxKeysPerRequest }))
    const proven = await atEndpoint('L2', async () => {
      try {
        return atPath('answer', () => verifier.verifyProof(answer, { stateRoot, address, storageKeys }))
      } catch (error) {
        throw diagnose(error)
      }
    })
    const { account, storage } = proven
    const known: Known = {
      account,
      hasStorage: account !== null && account.storageRoot !== emptyRoot,
      slots: new Map(storage.map(({ key, value }) => [key, value])),
    }
    remember(address, known)
    return known
  }

  /** Joins the other reads of this account in the same tick. Until the answer arrives, {@link read} shares it. */
  function prove(address: Hex, keys: readonly Hex[]): Promise<Known> {
    let batch = waiting.get(address)
    if (batch === undefined) {
      const wanted = new Set<Hex>()
      const answer = endOfTick().then(() => {
        waiting.delete(address)
        return fetch(address, [...wanted])
      })
      batch = { keys: wanted, answer }
      waiting.set(address, batch)
    }
    const { answer } = batch
    for (const key of keys) batch.keys.add(key)
    for (const id of [address, ...keys.map(key => address + key)]) {
      loading.set(id, answer)
      const forget = () => {
        if (loading.get(id) === answer) loading.delete(id)
      }
      answer.then(forget, forget)
    }
    return answer
  }

  async function read(address: Hex, key?: Hex): Promise<Known> {
    const known = accounts.get(address)
    if (known !== undefined && (key === undefined || !known.hasStorage || known.slots.has(key))) return known
    return loading.get(key === undefined ? address : address + key) ?? prove(address, key === undefined ? [] : [key])
  }

  async function fetchCode(address: Hex, codeHash: Hex): Promise<Uint8Array> {
    const code = await atEndpoint('L2', () => callProvider(l2, 'eth_getCode', [address, toQuantity(block)]))
    const bytes = verifyCode(code, codeHash)
    for (const [hash, { length }] of codes) {
      if (codeBytes + bytes.length <= MAX_CACHED_CODE_BYTES) break
      codes.delete(hash)
      codeBytes -= length
    }
    codes.set(codeHash, bytes)
    codeBytes += bytes.length
    return bytes
  }

  return {
    async getWholeAccount(address) {
      return (await read(address)).account
    },
    async getAccount(address): Promise<ReadAccount | null> {
      const { account, hasStorage } = await read(address)
      return account && { nonce: account.nonce, balance: account.balance, codeHash: account.codeHash, hasStorage }
    },
    async getStorage(address, key) {
      const { hasStorage, slots } = await read(address, key)
      // Without storage, the account proof alone proves that every slot is zero.
      const value = hasStorage ? slots.get(key) : ZERO
      if (value === undefined) throw new Error('a slot was read that was not asked for')
      return value
    },
    async getCode(address) {
      const codeHash = (await read(address)).account?.codeHash ?? EMPTY_CODE_HASH
      if (codeHash === EMPTY_CODE_HASH) return new Uint8Array(0)
      const known = codes.get(codeHash) ?? loadingCodes.get(codeHash)
      if (known !== undefined) return known
      const code = fetchCode(address, codeHash).finally(() => loadingCodes.delete(codeHash))
      loadingCodes.set(codeHash, code)
      return code
    },
    holds(address, key) {
      const known = accounts.get(address)
      return known !== undefined && (key === undefined || !known.hasStorage || known.slots.has(key))
    },
    holdsCode(address) {
      const known = accounts.get(address)
      const codeHash = known?.account?.codeHash ?? EMPTY_CODE_HASH
      return known !== undefined && (codeHash === EMPTY_CODE_HASH || codes.has(codeHash))
    },
    async load(address, keys) {
      await prove(address, keys)
    },
  }
}

/** Resolves after everything that the current tick has started. */
const endOfTick = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))
