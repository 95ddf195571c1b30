import type { Common } from '@ethereumjs/common'
import type { EVM, EVMOpts, Log } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { bytesToHex, type Hex } from '../base/bytes.ts'
import { type Hardfork, isSince } from '../client/network/hardfork.ts'
import { abortedBy } from '../client/transport/error.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { createCache } from './cache.ts'
import type { AccessList, CallRequest } from './call-request.ts'
import type { Environment } from './environment.ts'
import { executionFailed, unprovenValue } from './error.ts'
import type { EvmPackages } from './evm-packages.ts'
import { bytesOf, createEvmState, type EvmState, type Written } from './evm-state.ts'
import type { Budget, Pace } from './pace.ts'
import { createPrecompiles, verifyPointEvaluation } from './precompiles.ts'
import { readHistory, type StateReader } from './state-reader.ts'

export interface ExecutionContext {
  readonly chainId: bigint
  readonly hardfork: Hardfork
  readonly blockNumber: bigint
  readonly environment: Environment
  readonly hashAt?: (number: bigint) => Promise<Hex>
}

export interface Execution {
  readonly failure: 'revert' | (string & {}) | null
  readonly returnData: Hex
  /** Gas used by the transaction: includes its intrinsic gas, less refunds. */
  readonly gasUsed: bigint
  /** What it touched, without the sender, the receiver and precompiles, unless their slots were touched. */
  readonly accessList: AccessList
  readonly effects: Effects
}

export interface Effects extends Written {
  readonly logs: readonly Log[]
  /** The contracts that it created and destroyed (EIP-6780). */
  readonly destroyed: readonly string[]
}

/** In the words of nodes, by which clients know the reason. */
export const INSUFFICIENT_FUNDS = 'insufficient funds for gas * price + value'
/** The most code of a transaction that creates a contract, in bytes (EIP-3860). */
const MAX_INIT_CODE = 49_152

/**
 * Executes a call on a state. If `reader` throws, or the call reads a value that no proof covers, the execution ends with
 * that error, even if the contract would handle it.
 *
 * @throws ProviderError `VALUE_UNPROVEN`, `ROLLUP_DIFFERS`, `EXECUTION_FAILED` if it cannot begin; EndpointError `ABORTED`
 */
export async function execute(
  packages: EvmPackages,
  reader: StateReader,
  call: CallRequest,
  gas: bigint,
  context: ExecutionContext,
  pace: Pace,
): Promise<Execution> {
  const { util } = packages
  await pace.pause()
  const state = createEvmState(reader, packages, pace.signal)
  const addressOf = (hex: Hex): Address => new util.Address(bytesOf(hex))
  const data = bytesOf(call.data)
  const costs = intrinsicGas(call, context.hardfork)
  const least = max(costs.gas, costs.floor)
  if (gas < least) throw executionFailed(`intrinsic gas too low: ${gas} of ${least}`)
  if (call.to === null && isSince('shanghai', context.hardfork) && data.length > MAX_INIT_CODE) {
    throw executionFailed(`max initcode size exceeded: ${data.length} of ${MAX_INIT_CODE}`)
  }

  const caller = addressOf(call.from)
  const sender = (await state.getAccount(caller)) ?? util.createAccount({})
  if (sender.balance < call.value + gas * call.maxGasPrice) {
    throw executionFailed(INSUFFICIENT_FUNDS)
  }
  sender.balance -= gas * call.gasPrice
  await state.putAccount(caller, sender)

  const hashAt = (number: bigint) => readHistory(reader, { number, stateBlock: context.blockNumber })
  const evm = await createEvm(packages, state, { hashAt, ...context }, pace)
  const warm = [call.from, ...(call.to === null ? [] : [call.to]), ...[...evm.precompiles.keys()].map(withPrefix)]
  warmUp(evm.journal, warm, call.accessList, context)
  const { execResult } = await evm
    .runCall({
      caller,
      origin: caller,
      ...(call.to !== null && { to: addressOf(call.to) }),
      data,
      value: call.value,
      gasLimit: gas - costs.gas,
      gasPrice: call.gasPrice,
      block: { header: headerOf(context, call, addressOf, state.fail) },
    })
    .catch((error: unknown) => {
      state.verifyIntact()
      if (pace.signal.aborted) throw abortedBy(pace.signal)
      throw executionFailed(`${Reflect.get(Object(error), 'error') ?? Reflect.get(Object(error), 'message')}`)
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
    accessList: readTouched(evm.journal.accessList as NonNullable<EVM['journal']['accessList']>, warm),
    effects: { ...state.written, logs, destroyed: [...createdAddresses].filter(created => selfdestruct.has(created)) },
  }
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const withPrefix = (hex: string): Hex => `0x${hex}`

/** Marks what a transaction touches before its first instruction, and begins to report what the call touches. */
function warmUp(
  journal: EVM['journal'],
  addresses: readonly Hex[],
  accessList: AccessList,
  { hardfork, environment }: ExecutionContext,
): void {
  for (const address of addresses) journal.addAlwaysWarmAddress(address)
  if (isSince('shanghai', hardfork)) warmCoinbase(journal, environment)
  journal.startReportingAccessList()
  for (const { address, storageKeys } of accessList) {
    journal.addAlwaysWarmAddress(address, true)
    for (const key of storageKeys) journal.addAlwaysWarmSlot(address, key, true)
  }
}

/** EIP-3651. The address counts as read only where that changes a price, so that a call does not need it otherwise. */
function warmCoinbase(journal: EVM['journal'], environment: Environment): void {
  // Unlike reading the property, this is not noticed by who watches what is read.
  const coinbase: Hex | undefined = Object.getOwnPropertyDescriptor(environment, 'coinbase')?.value
  if (coinbase === undefined) return
  const isWarm = journal.isWarmedAddress.bind(journal)
  journal.isWarmedAddress = address =>
    isWarm(address) || (bytesToHex(address) === coinbase.toLowerCase() && environment.coinbase !== undefined)
}

const KEPT_RULES = 8
const keptRules = createCache<string, Common>(KEPT_RULES)

function rulesOf({ common, evm }: EvmPackages, chainId: bigint, hardfork: Hardfork): Common {
  const name = `${chainId} ${hardfork}`
  const kept = keptRules.get(name)
  if (kept !== undefined) return kept
  // The EVM uses this function of it alone.
  const kzg = { verifyProof: verifyPointEvaluation } as unknown as NonNullable<Common['customCrypto']['kzg']>
  const options = { hardfork, params: evm.paramsEVM, customCrypto: { kzg, keccak256 } }
  const rules = common.createCustomCommon({ chainId: `${chainId}` }, common.Mainnet, options)
  keptRules.set(name, rules, 1)
  return rules
}

/** Creates an EVM per execution, so that nothing carries over from one call to the next. */
async function createEvm(
  packages: EvmPackages,
  state: EvmState,
  { chainId, hardfork, hashAt }: ExecutionContext & Required<Pick<ExecutionContext, 'hashAt'>>,
  pace: Pace,
) {
  const { evm } = packages
  const chain = rulesOf(packages, chainId, hardfork)
  const blockchain = {
    async getBlock(number: number) {
      const hash = bytesOf(await state.read(() => hashAt(BigInt(number))))
      return { hash: () => hash }
    },
    putBlock: state.unneeded,
    shallowCopy: state.unneeded,
  }
  const precompiles = createPrecompiles(packages, chain, state, pace)
  const metered = pace.budget && { customOpcodes: meterOpcodes(evm, chain, pace.budget) }
  const machine = await evm.createEVM({ common: chain, stateManager: state, blockchain, ...precompiles, ...metered })
  // The rules never change. Otherwise, they would keep every EVM that listens.
  chain.events.removeAllListeners()
  paceSteps(machine, pace)
  return machine
}

/**
 * Lets others run while instructions are executed. The EVM asks before each step whether anybody listens to steps, and prepares
 * a costly description of the step if so: therefore there is a listener only when a pause is due.
 */
function paceSteps({ events }: EVM, pace: Pace): void {
  const listenerCount = events.listenerCount.bind(events)
  events.listenerCount = name => (name === 'step' && !pace.isDue() ? 0 : listenerCount(name))
  events.on('step', (_, proceed) => {
    pace.isDue()
    // If it may not go on, it is aborted, and ends at its next step.
    pace.giveWay().then(proceed, proceed)
  })
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
) {
  const stated = <T>(instruction: string, value: T | undefined): T => value ?? fail(unprovenValue(instruction))
  return {
    number: blockNumber,
    get timestamp() {
      return stated('TIMESTAMP', environment.timestamp)
    },
    get coinbase() {
      return addressOf(stated('COINBASE', environment.coinbase))
    },
    get prevRandao() {
      return bytesOf(stated('PREVRANDAO', environment.prevRandao))
    },
    get difficulty() {
      return fail(unprovenValue('DIFFICULTY'))
    },
    get gasLimit() {
      return stated('GASLIMIT', environment.gasLimit)
    },
    get baseFeePerGas() {
      return gasPrice === 0n ? 0n : stated('BASEFEE', environment.baseFee)
    },
    getBlobGasPrice: () => stated('BLOBBASEFEE', environment.blobBaseFee),
  }
}

/** The gas that a transaction costs before its first instruction, and its minimum since Prague (EIP-7623). */
export function intrinsicGas(
  { to, accessList, data: text }: Pick<CallRequest, 'to' | 'accessList' | 'data'>,
  hardfork: Hardfork,
) {
  const data = bytesOf(text)
  const zeros = data.filter(byte => byte === 0).length
  const tokens = zeros + 4 * (data.length - zeros)
  const keyCount = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0)
  const creation = to === null ? 32_000 + (isSince('shanghai', hardfork) ? 2 * Math.ceil(data.length / 32) : 0) : 0
  const gas = 21_000 + 4 * tokens + creation + 2400 * accessList.length + 1900 * keyCount
  return { gas: BigInt(gas), floor: isSince('prague', hardfork) ? BigInt(21_000 + 10 * tokens) : 0n }
}

/** The journal's list, without addresses that are always warm and have no slots in it. */
function readTouched(list: ReadonlyMap<string, ReadonlySet<string>>, warm: readonly Hex[]): AccessList {
  return [...list]
    .map(([address, keys]) => ({ address: withPrefix(address), storageKeys: [...keys].map(withPrefix) }))
    .filter(({ address, storageKeys }) => storageKeys.length > 0 || !warm.includes(address))
}

/** What of their gas counts as one step: powers take long, copies do not. */
const [EXP, GAS_A_STEP, GAS_OF_EXP] = [0x0a, 8n, 2n]
/** Instructions that read or write the state and do nothing else: what is read is bounded otherwise. */
const OF_STATE = [0x31, 0x3b, 0x3f, 0x54, 0x55]
/** Instructions that do so, too: EXTCODECOPY and calls. Touching an account is up to so much of their price (EIP-2929). */
const [TOUCHING, TOUCH] = [[0x3c, 0xf1, 0xf2, 0xf4, 0xfa], 2600n]

/**
 * The instructions whose price depends on their operands, for a rehearsal: what they are charged for powers, hashes, copies, memory,
 * logs and creations counts as steps, which take about as long. Every other instruction is one step.
 */
function meterOpcodes({ getOpcodesForHF }: EvmPackages['evm'], rules: Common, budget: Budget) {
  const { opcodes, handlers, dynamicGasHandlers } = getOpcodesForHF(rules)
  const metered: NonNullable<EVMOpts['customOpcodes']> = []
  for (const [opcode, gasOf] of dynamicGasHandlers) {
    const [info, logicFunction] = [opcodes.get(opcode), handlers.get(opcode)]
    if (info === undefined || logicFunction === undefined || OF_STATE.includes(opcode)) continue
    const [free, gasAStep] = [TOUCHING.includes(opcode) ? TOUCH : 0n, opcode === EXP ? GAS_OF_EXP : GAS_A_STEP]
    const gasFunction: typeof gasOf = async (...given) => {
      const gas = await gasOf(...given)
      if (gas > free) budget.spend(Number((gas - free) / gasAStep))
      return gas
    }
    metered.push({ opcode, opcodeName: info.name, baseFee: info.fee, gasFunction, logicFunction })
  }
  return metered
}
