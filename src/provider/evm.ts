import type { Common } from '@ethereumjs/common'
import type { EVM, EVMError, EVMOpts } from '@ethereumjs/evm'
import { bytesToBigint, type Hex } from '../base/bytes.ts'
import { excerpt } from '../base/errors.ts'
import type { Hardfork } from '../client/network/network.ts'
import { keccak256 } from '../verify/hash/keccak/index.ts'
import { type ProviderError, refusedFor, rollupDiffers } from './error.ts'
import type { EvmPackages } from './evm-packages.ts'
import { bytesOf, type EvmState } from './evm-state.ts'
import { MAX_MODEXP_BYTES, MAX_PAIRS } from './limits.ts'
import type { Environment } from './options.ts'
import { GAS_A_STEP, type Pace } from './pace.ts'
import { readHistory } from './proven-state.ts'

/** The EVM, made to end calls as nodes do, in little memory, and with pauses. */

export interface ExecutionContext {
  readonly chainId: bigint
  readonly hardfork: Hardfork
  readonly blockNumber: bigint
  readonly environment: Environment
  /** For BLOCKHASH. Default: from the state that the call reads. */
  readonly hashAt?: (number: bigint) => Promise<Hex>
}

/** The most code of a transaction that creates a contract, in bytes (EIP-3860). */
export const MAX_INIT_CODE = 49_152
export const CREATION_GAS = 32_000

/** Creates an EVM per execution, so that nothing carries over from one call to the next. */
export async function createEvm(
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
  forgetEmptyFrames(machine.journal)
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

/** Of an error that is no end of a contract, such as one of an engine that has no more memory. */
export const notExecuted = (error: unknown): ProviderError =>
  refusedFor('LIMIT_REACHED', { found: `It could not be executed here: ${excerpt(`${error}`)}` })

/** Unlike an assignment, it succeeds if what the object inherits is frozen. If the object itself is, nothing changes. */
export function replace<T extends object, Name extends keyof T>(object: T, name: Name, value: T[Name]): void {
  Reflect.defineProperty(object, name, { value, writable: true, configurable: true })
}

/**
 * The journal notes what each frame touches, and keeps three collections of every frame for good. Those that stayed empty part nothing
 * if the notes of the same frame are before and after them.
 */
export function forgetEmptyFrames(journal: EVM['journal']): void {
  const commit = journal.commit.bind(journal)
  replace(journal, 'commit', async () => {
    await commit()
    const recent = journal['journalDiff']?.slice(-3)
    const isEmpty = recent?.[1]?.[1].every((notes: { size: number }) => notes.size === 0)
    if (isEmpty && recent?.[0]?.[0] === recent?.[2]?.[0]) journal['journalDiff'].splice(-2)
  })
}

type Instruction = Extract<NonNullable<EVMOpts['customOpcodes']>[number], { logicFunction: unknown }>
type GasOf = Extract<NonNullable<Instruction['gasFunction']>, (...given: never) => Promise<bigint>>
type Tell = (...given: Parameters<GasOf>) => void

/** The EVM's own instructions, which do the same in all hard forks. To collect them takes a tenth of a millisecond. */
const originals = new WeakMap<object, ReturnType<EvmPackages['evm']['getOpcodesForHF']>>()

/** Whether REVERT is what the EVM describes next, and what the creation that has just ended reverts with. */
type Reverting = { isNext: boolean; hidden: Uint8Array | undefined }

/**
 * Calls are as they are, except that they share jumps. So are creations, except that init code may begin with 0xef00: it is executed and
 * fails, while the EVM goes on as if there was no such creation, which would cost almost nothing. What a creation reverts with may begin
 * with 0xef, like code that is forbidden: the EVM would then end it as a failure, which takes all gas and returns nothing. So it does not
 * see that data until the frame has ended.
 */
function createInstructions({ evm, util }: EvmPackages, rules: Common, reverting: Reverting): Instruction[] {
  const own = () => {
    const found = originals.get(evm) ?? evm.getOpcodesForHF(rules)
    originals.set(evm, found)
    return found
  }
  const instruction = (opcodeName: string, opcode: number, what: Partial<Instruction>, tell?: Tell): Instruction => ({
    opcode,
    opcodeName,
    baseFee: 0,
    async gasFunction(...given) {
      tell?.(...given)
      // The EVM has one for each of these instructions.
      return (own().dynamicGasHandlers.get(opcode) as GasOf)(...given)
    },
    logicFunction: (...given) => own().handlers.get(opcode)?.(...given),
    ...what,
  })
  const creation = (inputs: number): Partial<Instruction> => ({
    baseFee: CREATION_GAS,
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
  const revert: Partial<Instruction> = {
    logicFunction({ stack, memory, interpreter, env }) {
      const [offset, length] = stack.popN(2)
      const data = memory.read(Number(offset), Number(length))
      if (env.isCreate) reverting.hidden = data
      interpreter.revert(env.isCreate ? new Uint8Array(0) : data)
    },
  }
  // Until a frame has called, and shown from what all frames inherit: each instruction takes time whenever an EVM is created.
  const calls = sharing.has(evm) ? [] : CALLS
  return [
    instruction('CREATE', 0xf0, creation(3)),
    instruction('CREATE2', 0xf5, creation(4)),
    instruction('REVERT', 0xfd, revert, () => Object.assign(reverting, { isNext: true })),
    ...calls.map(([name, opcode]) => instruction(name, opcode, {}, ({ interpreter }) => shareJumps(evm, interpreter))),
  ]
}

const CALLS = Object.entries({ CALL: 0xf1, CALLCODE: 0xf2, DELEGATECALL: 0xf4, STATICCALL: 0xfa })

/** The packages whose frames share jumps. */
const sharing = new WeakSet<object>()
/** Where codes may jump to, as long as a frame holds it, by the EVM that runs the frame. */
const jumps = new WeakMap<object, WeakMap<Uint8Array, WeakRef<object>>>()
interface Frame {
  readonly _evm: object
  _getValidJumpDestinations?(code: Uint8Array): object
}

/** The EVM looks for the jumps of a code in each frame anew, and a large contract would take 400 kB in each frame of a recursion. */
function shareJumps(evm: object, interpreter: object): void {
  sharing.add(evm)
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

export const withPrefix = (hex: string): Hex => `0x${hex}`
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

type Precompile = NonNullable<ReturnType<EVM['precompiles']['get']>>

/** How a precompile ends that gets what it does not take. None ever reverts: it has no code that could. */
const FAILED = 'invalid input of a precompile' as ConstructorParameters<typeof EVMError>[0]

/** The precompiles of a hard fork: those of the EVM, except that what the rollup does not have ends the execution. */
function createPrecompiles({ evm }: EvmPackages, rules: Common, state: EvmState, pace: Pace) {
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
      return hasReverted ? { ...result, exceptionError: new evm.EVMError(FAILED) } : result
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
