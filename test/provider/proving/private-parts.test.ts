import { createRequire } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import { type EvmPackages, loadEvm, provideEvm } from '../../../src/provider/evm-packages.ts'
import { execute, FREE } from '../../../src/provider/execute.ts'
import { inPace } from '../../../src/provider/pace.ts'
import { at, UNHURRIED, word } from '../endpoints.ts'
import { readerOver } from './full-reader.ts'

/** Parts of the EVM that its types call private: a version may be without them. Calls then take more memory. */

const require = createRequire(import.meta.url)
/** Another copy than that of the other tests. */
const copy: EvmPackages = {
  evm: require('@ethereumjs/evm'),
  common: require('@ethereumjs/common'),
  util: require('@ethereumjs/util'),
}

/** An EVM, and what executes a frame of it. */
async function createParts() {
  const common = copy.common.createCustomCommon({ chainId: 1 }, copy.common.Mainnet, { hardfork: 'osaka' })
  const frames: object[] = []
  const opcode = 0x0c
  const telling = { opcode, opcodeName: 'TELL', baseFee: 0, logicFunction: (state: object) => void frames.push(state) }
  const machine = await copy.evm.createEVM({ common, customOpcodes: [telling] })
  await machine.runCode({ code: Uint8Array.of(opcode), gasLimit: 100n })
  return { machine, frame: Reflect.get(frames[0] as object, 'interpreter') as Record<string, unknown> }
}

it('has the parts of the EVM that its types call private', async () => {
  const { machine, frame } = await createParts()
  const notes = [new Set(), new Map(), new Set()]
  expect(machine.journal['journalDiff'], 'EVM.journal.journalDiff: frames without notes stay').toEqual([[0, notes]])
  const { _getValidJumpDestinations: find } = Object.getPrototypeOf(frame)
  expect(find, 'Interpreter._getValidJumpDestinations: frames share no jumps').toBeTypeOf('function')
  expect(frame['_evm'], 'Interpreter._evm: frames share no jumps').toBe(machine)
})

it('executes calls where the prototypes of the EVM are frozen', async () => {
  const { machine, frame } = await createParts()
  for (const part of [machine, machine.journal, frame]) Object.freeze(Object.getPrototypeOf(part))
  const packages = await loadEvm()
  provideEvm(async () => copy)
  onTestFinished(() => provideEvm(async () => packages))
  // Its init code reverts with one byte, 0xef. Calls itself first, and returns that byte, and whether the call went well.
  const code = '0x36602e575f5f60015f5f305af16860ef5f5360015ffd005f52600860175ff05060015f60203e60405260406020f35b00'
  const contract = at('c0')
  const reader = readerOver(new Map([[contract, { nonce: 1n, code }]]))
  const call = { ...FREE, from: at('ca'), to: contract, data: '0x', value: 0n, gas: null } as const
  const context = { chainId: 1n, hardfork: 'osaka', blockNumber: 1n, environment: { coinbase: at('cb') } } as const
  const result = inPace(UNHURRIED, pace => execute(reader, call, 1_000_000n, context, pace))
  expect(await result).toMatchObject({ failure: null, returnData: `0xef${'00'.repeat(31)}${word(1).slice(2)}` })
})
