import { createRequire } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import { forgetEmptyFrames } from '../../../src/provider/evm.ts'
import { type EvmPackages, loadEvm, provideEvm } from '../../../src/provider/evm-packages.ts'
import { execute, FREE } from '../../../src/provider/execute.ts'
import { inPace } from '../../../src/provider/pace.ts'
import { randomOf } from '../../random.ts'
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

it('keeps warm what is warm, in whatever order frames end, and forgets those without notes', async () => {
  const random = randomOf(7)
  const below = (count: number) => Math.floor(random() * count)
  const nothing = async () => {}
  const { machine } = await createParts()
  const { journal } = machine
  Object.assign(journal, { stateManager: { checkpoint: nothing, commit: nothing, revert: nothing } })
  forgetEmptyFrames(journal)
  const addresses = [1, 2, 3].map(number => new Uint8Array(20).fill(number))
  const slots = [1, 2].map(number => new Uint8Array(32).fill(number))
  /** What is warm, and what each open frame found. */
  let warm = new Set<string>()
  const open: Set<string>[] = []
  const compare = () => {
    for (const address of addresses) {
      expect(journal.isWarmedAddress(address)).toBe(warm.has(`${address}`))
      for (const slot of slots) expect(journal.isWarmedStorage(address, slot)).toBe(warm.has(`${address}:${slot}`))
    }
  }
  for (let step = 0; step < 20_000; step++) {
    const [address, slot] = [addresses[below(3)] as Uint8Array, slots[below(2)] as Uint8Array]
    const kind = open.length === 0 || (open.length < 6 && below(2) === 0) ? 'open' : below(9)
    if (kind === 'open') {
      open.push(new Set(warm))
      await journal.checkpoint()
    } else if (kind < 5) {
      const found = open.pop() as Set<string>
      // The outermost frame is reverted, so that the next one finds nothing warm.
      const isCommit = kind < 3 && open.length > 0
      if (!isCommit) warm = found
      await (isCommit ? journal.commit() : journal.revert())
    } else if (kind < 7) {
      journal.addWarmedAddress(address)
      warm.add(`${address}`)
    } else {
      journal.addWarmedStorage(address, slot)
      warm.add(`${address}`).add(`${address}:${slot}`)
    }
    compare()
  }
  while (open.length > 0) {
    warm = open.pop() as Set<string>
    await journal.revert()
  }
  compare()
  for (let depth = 0; depth < 9; depth++) await journal.checkpoint()
  for (let depth = 0; depth < 9; depth++) await journal.commit()
  expect(journal['journalDiff']).toEqual([[0, [new Set(), new Map(), new Set()]]])
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
