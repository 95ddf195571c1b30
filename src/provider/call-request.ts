import { bytesToHex, type Hex } from '../base/bytes.ts'
import { encodeQuantity } from '../base/hex.ts'
import { isGiven } from '../base/json/known-fields.ts'
import { EMPTY_CODE_HASH } from '../verify/anchor/code.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { type Environment, onlyGiven, readEnvironment } from './environment.ts'
import { invalidParams, unprovenValue } from './error.ts'
import { bytesOf } from './evm-state.ts'
import { MAX_DATA_BYTES, MAX_LISTED, MAX_OVERRIDDEN_CODE_BYTES, MAX_OVERRIDES } from './limits.ts'
import { params, refuseOtherFields } from './params.ts'
import { NOBODY, type StateReader, ZERO } from './state-reader.ts'

export type AccessList = readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[]

/** The call parameter of `eth_call` and similar methods. Addresses are 20 bytes, in lower case. */
export interface CallRequest {
  readonly from: Hex
  /** null if the call creates a contract. */
  readonly to: Hex | null
  readonly data: Hex
  readonly value: bigint
  readonly gas: bigint | null
  /** The result of GASPRICE, and what the sender pays per unit of gas. */
  readonly gasPrice: bigint
  /** What the sender must be able to pay per unit of gas. */
  readonly maxGasPrice: bigint
  readonly accessList: AccessList
}

const READ = [
  ...['from', 'to', 'data', 'input', 'value', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas'],
  ...['accessList', 'chainId'],
] as const
/** Fields that nodes read, and that are not supported here, unless they are empty. Nodes ignore all others, as is done here. */
const UNSUPPORTED = [
  'authorizationList',
  'blobVersionedHashes',
  'blobs',
  'commitments',
  'proofs',
  'maxFeePerBlobGas',
] as const

/**
 * Reads a call once, for a block whose base fee may only be known later.
 *
 * @param isEstimate whether the call is to be made in a later block: without a base fee, it pays the most that it offers
 * @returns the call at a block with this base fee, or an unknown one. Throws `VALUE_UNPROVEN` for a fee that depends on it
 */
export function readCall(
  call: unknown,
  chainId: bigint,
  isEstimate = false,
): (baseFee: bigint | undefined) => CallRequest {
  const fields = params.fields('call', call, READ)
  refuseUnsupported(call)
  const optional = <T>(name: (typeof READ)[number], read: (place: string, value: unknown) => T): T | undefined =>
    fields[name] === undefined ? undefined : read(name, fields[name])
  const quantity = (name: (typeof READ)[number]) => optional(name, (place, value) => params.quantity(place, value, 256))
  const bytes = (place: string, value: unknown) => params.data(place, value, MAX_DATA_BYTES)

  const [data, input] = [optional('data', bytes), optional('input', bytes)]
  if (data !== undefined && input !== undefined && data !== input) throw invalidParams('data and input differ.')
  const stated = quantity('chainId')
  if (stated !== undefined && stated !== chainId) throw invalidParams('chainId is that of another chain.')
  const address = (place: string, value: unknown) => params.bytes(place, value, 20)
  const [from, to] = [optional('from', address) ?? NOBODY, optional('to', address) ?? null]
  const [value, gas] = [quantity('value') ?? 0n, quantity('gas') ?? null]
  const feesAt = readFees(quantity, isEstimate)
  const accessList = optional('accessList', readAccessList) ?? []
  return baseFee => ({ from, to, data: data ?? input ?? '0x', value, gas, ...feesAt(baseFee), accessList })
}

function readFees(
  quantity: (name: 'gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas') => bigint | undefined,
  isEstimate: boolean,
): (baseFee: bigint | undefined) => Pick<CallRequest, 'gasPrice' | 'maxGasPrice'> {
  const [gasPrice, maxFee, tip] = [quantity('gasPrice'), quantity('maxFeePerGas'), quantity('maxPriorityFeePerGas')]
  if (gasPrice !== undefined) {
    if (maxFee !== undefined || tip !== undefined) throw invalidParams('gasPrice excludes maxFeePerGas and its tip.')
    // It does not depend on the base fee, so that is compared only where it is known: a call that reads it makes it known.
    return baseFee => ({ gasPrice: verifyCovers(gasPrice, baseFee ?? 0n), maxGasPrice: gasPrice })
  }
  const [maxGasPrice, priority] = [maxFee ?? 0n, tip ?? 0n]
  if (priority > maxGasPrice) throw invalidParams('maxPriorityFeePerGas is above maxFeePerGas.')
  if (maxGasPrice === 0n) return () => ({ gasPrice: 0n, maxGasPrice: 0n })
  return baseFee => {
    if (baseFee === undefined && isEstimate) return { gasPrice: maxGasPrice, maxGasPrice }
    if (baseFee === undefined) throw unprovenValue('BASEFEE')
    verifyCovers(maxGasPrice, baseFee)
    return { gasPrice: maxGasPrice < baseFee + priority ? maxGasPrice : baseFee + priority, maxGasPrice }
  }
}

/** What would change the result cannot be ignored. @throws ProviderError `PARAMS_INVALID` */
function refuseUnsupported(call: unknown): void {
  const fields = params.fields('call', call, UNSUPPORTED)
  const isEmpty = (value: unknown) => !isGiven(value) || value === '0x0' || (Array.isArray(value) && value.length === 0)
  const name = UNSUPPORTED.find(name => !isEmpty(fields[name]))
  if (name === undefined) return
  const why = name === 'authorizationList' ? 'delegations are not applied' : 'the rollup has no blobs'
  throw invalidParams(`The call has a field that is not supported here: ${name}. In calls, ${why}.`)
}

/** In the words of nodes, by which clients know the reason. A call that pays nothing is not compared. */
function verifyCovers(price: bigint, baseFee: bigint): bigint {
  if (price === 0n || price >= baseFee) return price
  throw invalidParams(`max fee per gas less than block base fee: ${price} of ${baseFee}.`)
}

const readAccessList = (place: string, value: unknown): AccessList =>
  params.list(place, value, MAX_LISTED, (at, item) => {
    const { address, storageKeys = [] } = params.fields(at, item, ['address', 'storageKeys'])
    return {
      address: params.bytes(`${at}.address`, address, 20),
      storageKeys: params.list(`${at}.storageKeys`, storageKeys, MAX_LISTED, params.slot),
    }
  })

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
