import type { EVM, Log } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { bytesToHex, type Hex } from '../base/bytes.ts'
import { type Hardfork, isSince } from '../client/network/network.ts'
import { abortedBy } from '../client/transport/error.ts'
import { executionFailed, unprovenValue } from './error.ts'
import {
  CREATION_GAS,
  createEvm,
  type ExecutionContext,
  MAX_INIT_CODE,
  min,
  notExecuted,
  replace,
  withPrefix,
} from './evm.ts'
import { loadEvm } from './evm-packages.ts'
import { bytesOf, createEvmState, type Reads, type Written } from './evm-state.ts'
import type { Environment } from './options.ts'
import type { Pace } from './pace.ts'
import type { StateReader } from './proven-state.ts'

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

/** Of a call that pays nothing and declares nothing. */
export const FREE = { gasPrice: 0n, maxGasPrice: 0n, accessList: [] } as const satisfies Partial<CallRequest>

export interface Execution {
  readonly failure: 'revert' | (string & {}) | null
  readonly returnData: Hex
  /** Gas used by the transaction: includes its intrinsic gas, less refunds. */
  readonly gasUsed: bigint
  /** What it touched, without the sender, the receiver and precompiles, unless their slots were touched. */
  readonly accessList: AccessList
  readonly effects: Effects
  readonly reads: Reads & {
    /** Names of the values of its block. */
    readonly values: ReadonlySet<string>
  }
}

export interface Effects extends Written {
  readonly logs: readonly Log[]
  /** The contracts that it created and destroyed (EIP-6780). */
  readonly destroyed: readonly string[]
}

/** In the words of nodes, by which clients know the reason. */
export const INSUFFICIENT_FUNDS = 'insufficient funds for gas * price + value'

/**
 * Executes a call on a state. If `reader` throws, or the call reads a value that no proof covers, the execution ends with
 * that error, even if the contract would handle it.
 *
 * @throws ProviderError `VALUE_UNPROVEN`, `ROLLUP_DIFFERS`, `EVM_MISSING`, `LIMIT_REACHED`, `EXECUTION_FAILED` if it cannot begin; EndpointError `ABORTED`
 */
export async function execute(
  reader: StateReader,
  call: CallRequest,
  gas: bigint,
  context: ExecutionContext,
  pace: Pace,
): Promise<Execution> {
  const packages = await loadEvm()
  await pace.pause()
  const state = createEvmState(reader, packages)
  const addressOf = (hex: Hex): Address => new packages.util.Address(bytesOf(hex))
  const data = bytesOf(call.data)
  const costs = intrinsicGas(call, context.hardfork)
  if (gas < costs.least) throw executionFailed(`intrinsic gas too low: ${gas} of ${costs.least}`)
  if (call.to === null && isSince('shanghai', context.hardfork) && data.length > MAX_INIT_CODE) {
    throw executionFailed(`max initcode size exceeded: ${data.length} of ${MAX_INIT_CODE}`)
  }

  const caller = addressOf(call.from)
  const sender = (await state.getAccount(caller)) ?? packages.util.createAccount({})
  if (sender.balance < call.value + gas * call.maxGasPrice) throw executionFailed(INSUFFICIENT_FUNDS)
  sender.balance -= gas * call.gasPrice
  await state.putAccount(caller, sender)

  const values = new Set<string>()
  const evm = await createEvm(packages, state, context, pace)
  const warm = [call.from, ...(call.to === null ? [] : [call.to]), ...[...evm.precompiles.keys()].map(withPrefix)]
  warmUp(evm.journal, warm, call.accessList)
  const { coinbase } = context.environment
  if (coinbase !== undefined && isSince('shanghai', context.hardfork)) warmCoinbase(evm.journal, coinbase, values)
  const { execResult } = await evm
    .runCall({
      caller,
      origin: caller,
      ...(call.to !== null && { to: addressOf(call.to) }),
      data,
      value: call.value,
      gasLimit: gas - costs.gas,
      gasPrice: call.gasPrice,
      block: { header: headerOf(context, call, addressOf, state.fail, values) },
    })
    .catch((error: unknown) => {
      state.verifyIntact()
      if (pace.signal.aborted) throw abortedBy(pace.signal)
      throw error instanceof packages.evm.EVMError ? executionFailed(error.error) : notExecuted(error)
    })
  // The EVM treats some of our errors as failures of the contract. Its result is void then.
  state.verifyIntact()

  const spent = costs.gas + execResult.executionGasUsed
  const refund = execResult.gasRefund ?? 0n
  const { logs = [], createdAddresses = new Set(), selfdestruct = new Map() } = execResult
  return {
    failure: execResult.exceptionError?.error ?? null,
    returnData: bytesToHex(execResult.returnValue),
    gasUsed: max(spent - min(refund, spent / 5n), costs.floor),
    // `warmUp` has created the list.
    accessList: [...(evm.journal.accessList as NonNullable<EVM['journal']['accessList']>)]
      .map(([address, keys]) => ({ address: withPrefix(address), storageKeys: [...keys].map(withPrefix) }))
      .filter(({ address, storageKeys }) => storageKeys.length > 0 || !warm.includes(address)),
    effects: { ...state.written, logs, destroyed: [...createdAddresses].filter(created => selfdestruct.has(created)) },
    reads: { ...state.reads, values },
  }
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Marks what a transaction touches before its first instruction, and begins to report what the call touches. */
function warmUp(journal: EVM['journal'], addresses: readonly Hex[], accessList: AccessList): void {
  for (const address of addresses) journal.addAlwaysWarmAddress(address)
  journal.startReportingAccessList()
  for (const { address, storageKeys } of accessList) {
    journal.addAlwaysWarmAddress(address, true)
    for (const key of storageKeys) journal.addAlwaysWarmSlot(address, key, true)
  }
}

/** EIP-3651. The address counts as read only where that changes a price, so that a call does not need it otherwise. */
function warmCoinbase(journal: EVM['journal'], coinbase: Hex, values: Set<string>): void {
  const isWarm = journal.isWarmedAddress.bind(journal)
  const isCoinbase = (address: Uint8Array) =>
    bytesToHex(address) === coinbase.toLowerCase() && values.add('coinbase').has('coinbase')
  replace(journal, 'isWarmedAddress', address => isWarm(address) || isCoinbase(address))
}

/**
 * Looks up each value only when an instruction reads it, so that a call needs no value that it does not read. As nodes have it, the
 * base fee is 0 for a call that pays nothing: no transaction is below it, and contracts rely on that.
 */
function headerOf(
  { blockNumber, environment }: ExecutionContext,
  { gasPrice }: CallRequest,
  addressOf: (hex: Hex) => Address,
  fail: (error: unknown) => never,
  values: Set<string>,
) {
  function stated<Name extends keyof Environment>(name: Name, instruction: string): NonNullable<Environment[Name]> {
    values.add(name)
    return environment[name] ?? fail(unprovenValue(instruction))
  }
  return {
    number: blockNumber,
    get timestamp() {
      return stated('timestamp', 'TIMESTAMP')
    },
    get coinbase() {
      return addressOf(stated('coinbase', 'COINBASE'))
    },
    get prevRandao() {
      return bytesOf(stated('prevRandao', 'PREVRANDAO'))
    },
    get difficulty() {
      return fail(unprovenValue('DIFFICULTY'))
    },
    get gasLimit() {
      return stated('gasLimit', 'GASLIMIT')
    },
    get baseFeePerGas() {
      return gasPrice === 0n ? 0n : stated('baseFee', 'BASEFEE')
    },
    getBlobGasPrice: () => stated('blobBaseFee', 'BLOBBASEFEE'),
  }
}

/** The gas that a transaction costs before its first instruction, its minimum since Prague (EIP-7623), and what both take. */
export function intrinsicGas(
  { to, accessList, data: text }: Pick<CallRequest, 'to' | 'accessList' | 'data'>,
  hardfork: Hardfork,
) {
  const data = bytesOf(text)
  const zeros = data.filter(byte => byte === 0).length
  const tokens = zeros + 4 * (data.length - zeros)
  const keyCount = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0)
  const creation =
    to === null ? CREATION_GAS + (isSince('shanghai', hardfork) ? 2 * Math.ceil(data.length / 32) : 0) : 0
  const gas = 21_000 + 4 * tokens + creation + 2400 * accessList.length + 1900 * keyCount
  const floor = isSince('prague', hardfork) ? 21_000 + 10 * tokens : 0
  return { gas: BigInt(gas), floor: BigInt(floor), least: BigInt(Math.max(gas, floor)) }
}
