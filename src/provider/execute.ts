import type { Common } from '@ethereumjs/common'
import type { EVM, EVMError, EVMOpts, Log } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { bytesToBigint, bytesToHex, type Hex } from '../base/bytes.ts'
import { excerpt } from '../base/errors.ts'
import { type Hardfork, isSince } from '../client/network/network.ts'
import { abortedBy } from '../client/transport/error.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { executionFailed, type ProviderError, refusedFor, rollupDiffers, unprovenValue } from './error.ts'
import { type EvmPackages, loadEvm } from './evm-packages.ts'
import { bytesOf, createEvmState, type EvmState, type Reads, type Written } from './evm-state.ts'
import { MAX_MODEXP_BYTES, MAX_PAIRS } from './limits.ts'
import type { Environment } from './options.ts'
import { GAS_A_STEP, type Pace } from './pace.ts'
import { readHistory, type StateReader } from './proven-state.ts'

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

export interface ExecutionContext {
  readonly chainId: bigint
  readonly hardfork: Hardfork
  readonly blockNumber: bigint
  readonly environment: Environment
  /** For BLOCKHASH. Default: from the state that the call reads. */
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
/** The most code of a transaction that creates a contract, in bytes (EIP-3860). */
const MAX_INIT_CODE = 49_152
const CREATION_GAS = 32_000

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
  forgetEmptyFrames(evm.journal)
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

/** Of an error that is no end of a contract, such as one of an engine that has no more memory. */
const notExecuted = (error: unknown): ProviderError =>
  refusedFor('LIMIT_REACHED', { found: `It could not be executed here: ${excerpt(`${error}`)}` })

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const withPrefix = (hex: string): Hex => `0x${hex}`

/** Unlike an assignment, it succeeds if what the object inherits is frozen. If the object itself is, nothing changes. */
function replace<T extends object, Name extends keyof T>(object: T, name: Name, value: T[Name]): void {
  Reflect.defineProperty(object, name, { value, writable: true, configurable: true })
}

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
 * The journal notes what each frame touches, and keeps three collections of every frame for good. Those that stayed empty part nothing
 * if the notes of the same frame are before and after them.
 */
function forgetEmptyFrames(journal: EVM['journal']): void {
  const commit = journal.commit.bind(journal)
  replace(journal, 'commit', async () => {
    await commit()
    const recent = journal['journalDiff']?.slice(-3)
    const isEmpty = recent?.[1]?.[1].every((notes: { size: number }) => notes.size === 0)
    if (isEmpty && recent?.[0]?.[0] === recent?.[2]?.[0]) journal['journalDiff'].splice(-2)
  })
}

/** Creates an EVM per execution, so that nothing carries over from one call to the next. */
async function createEvm(
  packages: EvmPackages,
  state: EvmState,
  { chainId, hardfork, blockNumber, hashAt }: ExecutionContext,
  pace: Pace,
) {
  const { evm, common } = packages
  const options = { hardfork, params: evm.paramsEVM, customCrypto: { keccak256 } }
  const rules = common.createCustomCommon({ chainId: `${chainId}` }, common.Mainnet, options)
  const inState = (number: bigint) => readHistory(state.found, { number, stateBlock: blockNumber })
  const blockchain = {
    async getBlock(number: number) {
      const hash = bytesOf(await state.read(() => (hashAt ?? inState)(BigInt(number))))
      return { hash: () => hash }
    },
    putBlock: state.unneeded,
    shallowCopy: state.unneeded,
  }
  const reverting: Reverting = { isNext: false, hidden: undefined }
  const machine = await evm.createEVM({
    common: rules,
    // It has all that a call uses.
    stateManager: state as unknown as NonNullable<EVMOpts['stateManager']>,
    blockchain,
    customPrecompiles: createPrecompiles(packages, rules, state, pace),
    customOpcodes: createInstructions(packages, rules, reverting),
  })
  jumps.set(machine, new WeakMap())
  // The variable DEBUG of the environment would make it describe each step, too.
  replace(machine, 'DEBUG', false)
  // Others run while instructions are executed. The EVM asks once per step whether anybody listens to steps, and prepares a costly
  // description of the step if so: therefore there is a listener only when a pause is due. There is none to REVERT: its description
  // holds the memory that it returns, even where the gas does not pay for that memory.
  const { events } = machine
  const listenerCount = events.listenerCount.bind(events)
  replace(events, 'listenerCount', () => {
    const isHeard = !reverting.isNext && pace.isDue()
    reverting.isNext = false
    return isHeard ? listenerCount('step') : 0
  })
  events.on('step', (_, proceed) => {
    pace.isDue()
    // If it may not go on, it is aborted, and ends at its next step.
    pace.giveWay().then(proceed, proceed)
  })
  events.on('afterMessage', ({ execResult }) => {
    const { exceptionError, returnValue } = execResult
    // The EVM takes whatever is thrown during the transfer of a value for a failure of the frame.
    if (exceptionError && !(exceptionError instanceof evm.EVMError)) state.fail(notExecuted(exceptionError))
    execResult.returnValue = reverting.hidden ?? returnValue
    reverting.hidden = undefined
  })
  return machine
}

type Instruction = Extract<NonNullable<EVMOpts['customOpcodes']>[number], { logicFunction: unknown }>
type GasOf = Extract<NonNullable<Instruction['gasFunction']>, (...given: never) => Promise<bigint>>
const CALLS = { CALL: 0xf1, CALLCODE: 0xf2, DELEGATECALL: 0xf4, STATICCALL: 0xfa }

/** What REVERT tells the others of itself. */
interface Reverting {
  /** Whether it is what the EVM describes next. */
  isNext: boolean
  /** What the creation that has just ended reverts with. */
  hidden: Uint8Array | undefined
}

/**
 * Calls are as they are, except that they share jumps. So are creations, except that init code may begin with 0xef00: it is executed and
 * fails, while the EVM goes on as if there was no such creation, which would cost almost nothing. What a creation reverts with may begin
 * with 0xef, like code that is forbidden: the EVM would then end it as a failure, which takes all gas and returns nothing. So it does not
 * see that data until the frame has ended.
 */
function createInstructions({ evm, util }: EvmPackages, rules: Common, reverting: Reverting): Instruction[] {
  let found: ReturnType<typeof evm.getOpcodesForHF> | undefined
  const own = () => {
    found ??= evm.getOpcodesForHF(rules)
    return found
  }
  const gasOf =
    (opcode: number, tell: (...given: Parameters<GasOf>) => void = () => {}): GasOf =>
    async (...given) => {
      tell(...given)
      // The EVM has one for each of these instructions.
      return (own().dynamicGasHandlers.get(opcode) as GasOf)(...given)
    }
  const call = ([opcodeName, opcode]: readonly [string, number]): Instruction => ({
    opcode,
    opcodeName,
    baseFee: 0,
    gasFunction: gasOf(opcode, ({ interpreter }) => shareJumps(interpreter)),
    logicFunction: (...given) => own().handlers.get(opcode)?.(...given),
  })
  const creation = (opcodeName: string, opcode: number, inputs: number): Instruction => ({
    opcode,
    opcodeName,
    baseFee: CREATION_GAS,
    gasFunction: gasOf(opcode),
    async logicFunction({ stack, memory, interpreter, messageGasLimit }) {
      const [value = 0n, offset, length, salt] = stack.popN(inputs)
      if (rules.isActivatedEIP(3860) && Number(length) > MAX_INIT_CODE) {
        throw new evm.EVMError(evm.EVMError.errorMessages.INITCODE_SIZE_VIOLATION)
      }
      const code = memory.read(Number(offset), Number(length), true)
      const salted = salt === undefined ? salt : util.setLengthLeft(util.bigIntToBytes(salt), 32)
      // The gas function has set it.
      stack.push(await interpreter.create(messageGasLimit as bigint, value, code, salted))
    },
  })
  const revert: Instruction = {
    opcode: 0xfd,
    opcodeName: 'REVERT',
    baseFee: 0,
    gasFunction: gasOf(0xfd, () => {
      reverting.isNext = true
    }),
    logicFunction({ stack, memory, interpreter, env }) {
      const [offset, length] = stack.popN(2)
      const data = memory.read(Number(offset), Number(length))
      if (env.isCreate) reverting.hidden = data
      interpreter.revert(env.isCreate ? new Uint8Array(0) : data)
    },
  }
  return [creation('CREATE', 0xf0, 3), creation('CREATE2', 0xf5, 4), revert, ...Object.entries(CALLS).map(call)]
}

/** Where codes may jump to, as long as a frame holds it, by the EVM that runs the frame. */
const jumps = new WeakMap<object, WeakMap<Uint8Array, WeakRef<object>>>()
interface Frame {
  readonly _evm: object
  _getValidJumpDestinations?(code: Uint8Array): object
}

/** The EVM looks for the jumps of a code in each frame anew, and a large contract would take 400 kB in each frame of a recursion. */
function shareJumps(interpreter: object): void {
  const frames: Frame = Object.getPrototypeOf(interpreter)
  const find = frames._getValidJumpDestinations
  if (find === undefined || jumps.has(frames)) return
  jumps.set(frames, new WeakMap())
  replace(frames, '_getValidJumpDestinations', function (this: Frame, code) {
    const shared = jumps.get(this._evm)
    const found = shared?.get(code)?.deref() ?? find.call(this, code)
    shared?.set(code, new WeakRef(found))
    return found
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

type Precompile = NonNullable<ReturnType<EVM['precompiles']['get']>>
type Result = Awaited<ReturnType<Precompile>>

/** How a precompile ends that gets what it does not take. None ever reverts: it has no code that could. */
const FAILED = 'invalid input of a precompile' as ConstructorParameters<typeof EVMError>[0]

/** The precompiles of a hard fork: those of the EVM, except that what the rollup does not have ends the execution. */
function createPrecompiles({ evm }: EvmPackages, rules: Common, state: EvmState, pace: Pace) {
  const failed = (gasLimit: bigint): Result => ({
    returnValue: new Uint8Array(0),
    executionGasUsed: gasLimit,
    exceptionError: new evm.EVMError(FAILED),
  })

  return [...evm.getActivePrecompiles(rules)].map(([text, run]) => {
    const address = withPrefix(text)
    const limited: Precompile = async given => {
      const [refused, how] = refusalOf(Number(address), given.data)
      if (refused !== undefined) state.fail(rollupDiffers(refused, `It calls the precompile ${refused}${how}.`))
      // What costs more than a rehearsal may is not computed, and ends it.
      const gasLimit = pace.budget ? min(given.gasLimit, BigInt(pace.budget.left()) * GAS_A_STEP) : given.gasLimit
      const result = await run({ ...given, gasLimit })
      pace.budget?.spend(Number(result.executionGasUsed / GAS_A_STEP))
      const hasReverted = result.exceptionError?.error === evm.EVMError.errorMessages.REVERT
      return hasReverted ? failed(gasLimit) : result
    }
    return { address, function: limited }
  })
}

/** Precompiles that take pairs of points, or of a point and a factor, with the bytes of a pair. */
const PAIRS: Readonly<Record<number, readonly [name: string, length: number]>> = {
  8: ['ECPAIRING', 192],
  12: ['BLS12_G1MSM', 160],
  14: ['BLS12_G2MSM', 288],
  15: ['BLS12_PAIRING_CHECK', 384],
}

/** What a block of the Linea networks cannot have, because it could not be proven; and what takes a trusted setup, for blobs, of which they have none. */
const REFUSED: Readonly<Record<number, string>> = { 3: 'RIPEMD-160', 9: 'BLAKE2F', 10: 'POINT_EVALUATION' }

/** The name of the precompile, and how it is called. */
function refusalOf(number: number, data: Uint8Array): readonly [precompile?: string, how?: string] {
  if (REFUSED[number] !== undefined) return [REFUSED[number], '']
  const [name, length] = PAIRS[number] ?? ['', Number.POSITIVE_INFINITY]
  if (data.length > MAX_PAIRS * length) return [name, ` with more than ${MAX_PAIRS} pairs`]
  const lengths = number === 5 ? [0, 32, 64].map(at => bytesToBigint(data.subarray(at, at + 32))) : []
  if (lengths.every(length => length <= MAX_MODEXP_BYTES)) return []
  return ['MODEXP', ` with an argument of more than ${MAX_MODEXP_BYTES} bytes`]
}
