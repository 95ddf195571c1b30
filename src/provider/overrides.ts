import { bytesToHex, type Hex } from '../base/bytes.ts'
import { encodeQuantity } from '../base/hex.ts'
import { isGiven } from '../base/json/known-fields.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/code.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { type Environment, onlyGiven, readEnvironment } from './environment.ts'
import { invalidParams } from './error.ts'
import { bytesOf } from './evm-state.ts'
import { MAX_OVERRIDDEN_CODE_BYTES, MAX_OVERRIDES } from './limits.ts'
import { params, refuseOtherFields } from './params.ts'
import { type StateReader, ZERO } from './state-reader.ts'

/** What a client assumes about an account. What is not in it stays proven. */
interface AccountOverride {
  readonly balance?: Hex | undefined
  readonly nonce?: Hex | undefined
  readonly code?: Hex | undefined
  /** All slots that are not zero. */
  readonly state?: Readonly<Record<Hex, Hex>> | undefined
  readonly stateDiff?: Readonly<Record<Hex, Hex>> | undefined
}

/** By address; empty if nothing is assumed. It has no prototype, and is as clients send it to nodes. */
export type StateOverrides = Readonly<Record<Hex, AccountOverride>>

const ACCOUNT_FIELDS = ['balance', 'nonce', 'code', 'state', 'stateDiff'] as const
const BLOCK_FIELDS = {
  timestamp: 'time',
  gasLimit: 'gasLimit',
  coinbase: 'feeRecipient',
  prevRandao: 'prevRandao',
  baseFee: 'baseFeePerGas',
  blobBaseFee: 'blobBaseFee',
} as const
/** The addresses of precompiles, now and in later hard forks. Nodes take an override there as the removal of the precompile. */
const PRECOMPILES = 0x1ffn

export function readStateOverrides(given: unknown): StateOverrides {
  let left = MAX_OVERRIDES
  function entries<T>(place: string, value: unknown, read: (name: string, item: unknown) => readonly [Hex, T]) {
    const names = params.names(place, value)
    left -= names.length
    if (left < 0) throw invalidParams(`The overrides have more than ${MAX_OVERRIDES} accounts and slots.`)
    const items = params.fields(place, value, names)
    const result: Record<Hex, T> = Object.create(null)
    for (const name of names) {
      const [key, item] = read(name, items[name])
      if (key in result) throw invalidParams(`The ${place} has ${key} twice.`)
      result[key] = item
    }
    return result
  }
  const readSlots = (place: string, value: unknown) =>
    entries(place, value, (name, item) => [params.bytes('slot', name, 32), params.bytes('value of a slot', item, 32)])
  return isGiven(given)
    ? entries('state override', given, (name, item) => {
        const address = params.bytes('address of a state override', name, 20)
        return [address, readAccount(address, item, readSlots)]
      })
    : Object.create(null)
}

function readAccount(
  address: Hex,
  item: unknown,
  readSlots: (place: string, value: unknown) => Record<Hex, Hex>,
): AccountOverride {
  const place = `state override of ${address}`
  const { balance, nonce, code, state, stateDiff } = params.fields(place, item, ACCOUNT_FIELDS)
  refuseOtherFields(place, item, ACCOUNT_FIELDS)
  const number = BigInt(address)
  if (number > 0n && number <= PRECOMPILES)
    throw invalidParams('The address of a precompile cannot be overridden here.')
  if (state !== undefined && stateDiff !== undefined) throw invalidParams(`The ${place} has state and stateDiff.`)
  const given = <T>(value: unknown, read: () => T): T | undefined => (value === undefined ? undefined : read())
  return onlyGiven<AccountOverride>({
    balance: given(balance, () => encodeQuantity(params.quantity('balance', balance, 256))),
    nonce: given(nonce, () => encodeQuantity(params.quantity('nonce', nonce, 64))),
    code: given(code, () => params.data('code', code, MAX_OVERRIDDEN_CODE_BYTES)),
    state: given(state, () => readSlots('state', state)),
    stateDiff: given(stateDiff, () => readSlots('stateDiff', stateDiff)),
  })
}

/** Reads the block overrides of a client: they are stated values, for one call. @throws ProviderError `PARAMS_INVALID` */
export function readBlockOverrides(given: unknown): Environment {
  if (!isGiven(given)) return {}
  const names = Object.values(BLOCK_FIELDS)
  const fields = params.fields('block override', given, names)
  refuseOtherFields('block override', given, names)
  const field = <T>(name: keyof Environment, read: (place: string, value: unknown) => T): T | undefined => {
    const place = BLOCK_FIELDS[name]
    return fields[place] === undefined ? undefined : read(place, fields[place])
  }
  return readEnvironment(
    (name, bits) => field(name, (place, value) => params.quantity(place, value, bits)),
    (name, length) => field(name, (place, value) => params.bytes(place, value, length)),
  )
}

/** The state that a client assumes: as if a transaction before the call had made it, which is what nodes do. */
export function overrideState(reader: StateReader, overrides: StateOverrides): StateReader {
  const codeHashes = new Map<Hex, Hex>()
  function codeHashOf(address: Hex, code: Hex): Hex {
    const hash = codeHashes.get(address) ?? bytesToHex(keccak256(bytesOf(code)))
    codeHashes.set(address, hash)
    return hash
  }
  return {
    async getAccount(address) {
      const account = await reader.getAccount(address)
      const own = overrides[address]
      if (own === undefined || Object.keys(own).length === 0) return account
      const { nonce = 0n, balance = 0n, codeHash = EMPTY_CODE_HASH, hasStorage = false } = account ?? {}
      return {
        nonce: own.nonce === undefined ? nonce : BigInt(own.nonce),
        balance: own.balance === undefined ? balance : BigInt(own.balance),
        codeHash: own.code === undefined ? codeHash : codeHashOf(address, own.code),
        // A contract may be created where only assumed slots are in the way, as in nodes.
        hasStorage: own.state === undefined && hasStorage,
      }
    },
    async getStorage(address, key) {
      const { state, stateDiff } = overrides[address] ?? {}
      return state === undefined ? (stateDiff?.[key] ?? reader.getStorage(address, key)) : (state[key] ?? ZERO)
    },
    async getCode(address) {
      const code = overrides[address]?.code
      return code === undefined ? reader.getCode(address) : bytesOf(code)
    },
  }
}
