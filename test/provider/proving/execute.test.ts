import { getContractAddress } from 'viem'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HARDFORKS, type Hardfork } from '../../../src/client/network/network.ts'
import { historyContract, historySlot } from '../../../src/entry/blocks.ts'
import type { Hex } from '../../../src/entry/index.ts'
import type { ExecutionContext } from '../../../src/provider/evm.ts'
import { loadEvm, provideEvm } from '../../../src/provider/evm-packages.ts'
import { type CallRequest, execute } from '../../../src/provider/execute.ts'
import type { Environment } from '../../../src/provider/options.ts'
import { type Budget, inPace } from '../../../src/provider/pace.ts'
import type { StateReader } from '../../../src/provider/proven-state.ts'
import { at, UNHURRIED, word } from '../endpoints.ts'
import { CHAIN_ID, type FullAccount, type FullState } from '../full-state.ts'
import { readerOver } from './full-reader.ts'

const [ALICE, OTHER, CONTRACT] = [at('a1'), at('ee'), at('c0')]
const packages = await loadEvm()
/** Returns the word on the stack. Unlike PUSH0, it exists in every hard fork. */
const RETURN = '60005260206000f3'
const push20 = (address: Hex) => `73${address.slice(2)}`

interface Run {
  readonly code?: string
  readonly call?: Partial<CallRequest>
  readonly hardfork?: Hardfork
  readonly environment?: Environment
  readonly gas?: bigint
  readonly more?: readonly [Hex, FullAccount][]
  readonly reader?: Partial<StateReader>
  /** Of a rehearsal. */
  readonly budget?: Budget
}

function run({ code = '', call, hardfork = 'prague', environment = {}, gas = 200_000n, more = [], ...given }: Run) {
  const { reader, budget } = given
  const storage = { [word(1)]: word(5), [word(2)]: word(6) }
  const state: FullState = new Map<Hex, FullAccount>([
    [ALICE, { balance: 1_000_000n }],
    [CONTRACT, { nonce: 1n, code: `0x${code}`, storage }],
    ...more,
  ])
  const request = {
    from: ALICE,
    to: CONTRACT,
    data: '0x',
    value: 0n,
    gas: null,
    gasPrice: 0n,
    maxGasPrice: 0n,
  } as const
  const context: ExecutionContext = { chainId: CHAIN_ID, hardfork, blockNumber: 9n, environment }
  const full = { ...readerOver(state), ...reader }
  return inPace(UNHURRIED, pace =>
    execute(
      full,
      { ...request, accessList: [], ...call },
      gas,
      context,
      budget === undefined ? pace : { ...pace, budget },
    ),
  )
}
const resultOf = async (what: Run) => (await run(what)).returnData
const gasOf = async (what: Run) => (await run(what)).gasUsed

describe('creations', () => {
  it('knows the address of a contract that is created with a salt', async () => {
    const address = getContractAddress({ opcode: 'CREATE2', from: CONTRACT, salt: word(7), bytecode: '0x' })
    expect(await resultOf({ code: `6007600060006000f5${RETURN}` })).toBe(word(BigInt(address)))
  })

  it('returns what a creation reverts with, also 0xef', async () => {
    // The init code stores the byte and reverts with it. The word is the length of the data that this returns.
    const init = '60ef5f5360015ffd'
    expect(await resultOf({ code: `67${init}5f52600860185ff0503d${RETURN}` })).toBe(word(1))
  })

  it('bounds the length of init code since Shanghai (EIP-3860)', async () => {
    const create = (length: string): string => `61${length}60006000f0${RETURN}`
    const created = word(BigInt(getContractAddress({ from: CONTRACT, nonce: 1n })))
    expect(await resultOf({ code: create('c000') })).toBe(created)
    expect((await run({ code: create('c001') })).failure).toContain('initcode')
    expect(await resultOf({ code: create('c001'), hardfork: 'london' })).toBe(created)
  })
})

describe('BLOCKHASH', () => {
  const hash: Hex = `0x${'ab'.repeat(32)}`
  /** Of block 5, four before. */
  const code = `600540${RETURN}`
  const history = (value: Hex): [Hex, FullAccount] => [
    historyContract,
    { nonce: 1n, code: '0x00', storage: { [historySlot(5n)]: value, [word(9999)]: word(1) } },
  ]

  it('is that in the state', async () => {
    const more = [history(hash)]
    expect(await resultOf({ code, more })).toBe(hash)
  })

  it('is unproven where the state holds none', async () => {
    const unproven = { reason: 'VALUE_UNPROVEN', data: { instruction: 'BLOCKHASH' } }
    await expect(run({ code })).rejects.toMatchObject(unproven)
    await expect(run({ code, more: [history(word(0))] })).rejects.toMatchObject(unproven)
  })
})

it('takes all the gas of a precompile that gets what it does not take', async () => {
  // Adds the points (1, 1), which are not on the curve BN254.
  const code = `600160005260016020526000600060406000600661fffffa${RETURN}`
  expect(await resultOf({ code })).toBe(word(0))
  expect(await gasOf({ code })).toBeGreaterThan(21_000n + 0xffffn)
})

it('ends at a precompile in which a rehearsal comes to its bounds', async () => {
  // Calls the identity.
  const code = `6000600060006000600461fffffa${RETURN}`
  expect(await resultOf({ code })).toBe(word(1))
  const spend = () => {
    throw new Error('the bounds')
  }
  await expect(resultOf({ code, budget: { left: () => 1000, spend } })).rejects.toThrow('the bounds')
})

describe('the gas of a transaction', () => {
  it('includes the data, and since Prague has a floor', async () => {
    // Two zeros, one other byte: 4, 4 and 16; in the floor 10, 10 and 40.
    const call = { to: OTHER, data: '0x00ff00' } as const
    const found = await Promise.all(HARDFORKS.map(hardfork => gasOf({ call, hardfork })))
    expect(found).toEqual([21_024n, 21_024n, 21_024n, 21_024n, 21_060n, 21_060n])
  })

  it('includes the creation of a contract, and since Shanghai the words of its code', async () => {
    const call = { to: null, data: `0x${'00'.repeat(33)}` } as const
    const found = await Promise.all(HARDFORKS.map(hardfork => gasOf({ call, hardfork })))
    expect(found).toEqual([53_132n, 53_132n, 53_136n, 53_136n, 53_136n, 53_136n])
  })

  it('must be enough to begin', async () => {
    const call = { to: OTHER, data: '0x00ff00' } as const
    expect(await gasOf({ call, gas: 21_060n })).toBe(21_060n)
    await expect(run({ call, gas: 21_059n })).rejects.toMatchObject({
      ...{ reason: 'EXECUTION_FAILED', data: { error: 'intrinsic gas too low: 21059 of 21060' } },
    })
    expect(await gasOf({ call, gas: 21_024n, hardfork: 'cancun' })).toBe(21_024n)
    await expect(run({ call, gas: 21_023n, hardfork: 'cancun' })).rejects.toThrow('21023 of 21024')
    // What the transaction itself costs is not there for the contract.
    expect(await gasOf({ code: '600154', gas: 23_103n })).toBe(23_103n)
    expect((await run({ code: '600154', gas: 23_102n })).failure).toBe('out of gas')
  })

  it('does not begin a creation with too much code, since Shanghai', async () => {
    const creation = (size: number, hardfork: Hardfork) =>
      run({ call: { to: null, data: `0x${'00'.repeat(size)}` }, hardfork, gas: 1_000_000n })
    const refused = { reason: 'EXECUTION_FAILED', data: { error: 'max initcode size exceeded: 49153 of 49152' } }
    for (const hardfork of HARDFORKS.slice(2)) {
      await expect(creation(49_153, hardfork)).rejects.toMatchObject(refused)
      expect((await creation(49_152, hardfork)).failure).toBe(null)
    }
    expect((await creation(49_153, 'paris')).failure).toBe(null)
  })

  it('is refunded up to a fifth, but not below the floor', async () => {
    const clear = (slot: string) => `600060${slot}55`
    expect(await gasOf({ code: clear('01') })).toBe(21_000n + 5006n - 4800n)
    // A fifth of 31,012 is less than two refunds.
    expect(await gasOf({ code: clear('01') + clear('02') })).toBe(31_012n - 6202n)
    const data: Hex = `0x${'ff'.repeat(200)}`
    expect(await gasOf({ code: clear('01'), call: { data }, hardfork: 'cancun' })).toBe(24_200n + 5006n - 4800n)
    expect(await gasOf({ code: clear('01'), call: { data } })).toBe(29_000n)
  })
})

describe('the sender', () => {
  // Returns the balance of the origin.
  const balance = `3231${RETURN}`

  it('pays for the gas limit in advance', async () => {
    expect(await resultOf({ code: balance, call: { gasPrice: 2n, maxGasPrice: 3n } })).toBe(word(600_000))
    expect(await resultOf({ code: balance })).toBe(word(1_000_000))
    expect(await resultOf({ code: `3a${RETURN}`, call: { gasPrice: 2n, maxGasPrice: 3n } })).toBe(word(2))
    expect(await resultOf({ code: `34${RETURN}`, call: { value: 4n } })).toBe(word(4))
    expect(await resultOf({ code: balance, call: { value: 4n } })).toBe(word(999_996))
  })

  it('must be able to pay the highest price, and the value', async () => {
    const limit = { gas: 100_000n, code: '00' }
    await run({ ...limit, call: { gasPrice: 0n, maxGasPrice: 9n, value: 100_000n } })
    await expect(run({ ...limit, call: { gasPrice: 0n, maxGasPrice: 9n, value: 100_001n } })).rejects.toMatchObject({
      ...{ reason: 'EXECUTION_FAILED', data: { error: 'insufficient funds for gas * price + value' } },
    })
    await expect(run({ ...limit, call: { from: OTHER, value: 1n } })).rejects.toThrow('insufficient funds')
    // An absent account has nothing, and can call nevertheless.
    expect(await resultOf({ code: balance, call: { from: OTHER } })).toBe(word(0))
  })
})

describe('what is warm', () => {
  const balanceOf = (address: Hex) => ({ code: `${push20(address)}3100` })
  const [COLD, WARM] = [21_000n + 3n + 2600n, 21_000n + 3n + 100n]

  it('is the sender, the receiver and the precompiles', async () => {
    for (const address of [ALICE, CONTRACT, `0x${'00'.repeat(19)}01`] as Hex[]) {
      const { gasUsed, accessList } = await run(balanceOf(address))
      expect([gasUsed, accessList], address).toEqual([WARM, []])
    }
    const { gasUsed, accessList } = await run(balanceOf(OTHER))
    expect([gasUsed, accessList]).toEqual([COLD, [{ address: OTHER, storageKeys: [] }]])
  })

  it('is the coinbase since Shanghai, if it is stated', async () => {
    const coinbase: Hex = `0x${'eE'.repeat(20)}`
    const stated = { ...balanceOf(OTHER), environment: { coinbase } }
    const found = await Promise.all(HARDFORKS.map(hardfork => gasOf({ ...stated, hardfork })))
    expect(found).toEqual([COLD, COLD, WARM, WARM, WARM, WARM])
    expect(await gasOf(balanceOf(OTHER))).toBe(COLD)
  })

  it('is what the access list declares, at its own price', async () => {
    const read = { code: '60015400' }
    const plain = await run(read)
    expect(plain.gasUsed).toBe(21_000n + 3n + 2100n)
    expect(plain.accessList).toEqual([{ address: CONTRACT, storageKeys: [word(1)] }])
    const accessList = [
      { address: CONTRACT, storageKeys: [word(1), word(7)] },
      { address: OTHER, storageKeys: [] },
    ]
    const declared = await run({ ...read, call: { accessList } })
    expect(declared.gasUsed).toBe(21_000n + 2n * 2400n + 2n * 1900n + 3n + 100n)
    expect(declared.accessList).toEqual(accessList)
    expect(await gasOf({ ...balanceOf(OTHER), call: { accessList } })).toBe(WARM + 8600n)
    // What is warm anyway is not reported.
    const needless = [{ address: CONTRACT, storageKeys: [] }]
    expect((await run({ code: '00', call: { accessList: needless } })).accessList).toEqual([])
  })
})

it('tells how the call ended', async () => {
  const outcome = async (code: string, call = {}) => {
    const { failure, returnData } = await run({ code, call })
    return [failure, returnData]
  }
  expect(await outcome(`6007${RETURN}`)).toEqual([null, word(7)])
  expect(await outcome('600760005260206000fd')).toEqual(['revert', word(7)])
  expect(await outcome('fe')).toEqual(['invalid opcode', '0x'])
  expect(await outcome(`600035${RETURN}`, { data: word(8) })).toEqual([null, word(8)])
  // The code of a created contract.
  expect(await outcome('', { to: null, data: `0x600160005360016000f3` })).toEqual([null, '0x01'])
  expect(await outcome(`46${RETURN}`)).toEqual([null, word(CHAIN_ID)])
  expect(await outcome(`43${RETURN}`)).toEqual([null, word(9)])
})

const HASH: Hex = `0x${'ab'.repeat(32)}`
const VALUES = [
  ['41', 'COINBASE', { coinbase: OTHER }, word(BigInt(OTHER))],
  ['42', 'TIMESTAMP', { timestamp: 3n }, word(3)],
  ['44', 'PREVRANDAO', { prevRandao: HASH }, HASH],
  ['45', 'GASLIMIT', { gasLimit: 4n }, word(4)],
  ['4a', 'BLOBBASEFEE', { blobBaseFee: 6n }, word(6)],
] as const
it.each(VALUES)('reads only a stated value: %s, %s', async (code, instruction, environment, value) => {
  const refused = { reason: 'VALUE_UNPROVEN', data: { instruction } }
  expect(await resultOf({ code: code + RETURN, environment })).toBe(value)
  await expect(run({ code: code + RETURN })).rejects.toMatchObject(refused)
  // A contract that ignores the failure of another one does not hide it.
  const other = { nonce: 1n, code: `0x${code}${RETURN}` } as const
  const ignoring = `60006000600060006000${push20(OTHER)}5af1${RETURN}`
  await expect(run({ code: ignoring, more: [[OTHER, other]] })).rejects.toMatchObject(refused)
  expect(await resultOf({ code: ignoring, more: [[OTHER, other]], environment })).toBe(word(1))
})

it('reads no difficulty', async () => {
  await expect(run({ code: '44', hardfork: 'london' })).rejects.toMatchObject({ data: { instruction: 'DIFFICULTY' } })
})

it('ends with the error of the reader, even if the contract would go on', async () => {
  const error = new Error('a lie')
  const failing: Partial<StateReader> = {
    getStorage: () => Promise.reject(error),
    getCode: () => Promise.reject(error),
  }
  await expect(run({ code: '60015400', reader: { getStorage: () => Promise.reject(error) } })).rejects.toBe(error)
  const ignoring = `60006000600060006000${push20(OTHER)}5af1${RETURN}`
  const other: FullAccount = { nonce: 1n, code: '0x60015400', storage: { [word(1)]: word(1) } }
  const reader: Partial<StateReader> = { getStorage: () => Promise.reject(error) }
  await expect(run({ code: ignoring, more: [[OTHER, other]], reader })).rejects.toBe(error)
  await expect(run({ code: '00', reader: failing })).rejects.toBe(error)
})

/** Takes an EVM whose calls end like this, until the end of the test. */
function endWith(runCall: () => Promise<unknown>): void {
  const createEVM: typeof packages.evm.createEVM = async options =>
    Object.assign(await packages.evm.createEVM(options), { runCall })
  provideEvm(async () => ({ ...packages, evm: { ...packages.evm, createEVM } }))
  onTestFinished(() => provideEvm(async () => packages))
}

it('passes on an error of the EVM as the failure of the call, and no other error', async () => {
  endWith(() => Promise.reject(new packages.evm.EVMError('value out of range')))
  await expect(run({})).rejects.toMatchObject({ reason: 'EXECUTION_FAILED', data: { error: 'value out of range' } })
  endWith(() => Promise.reject(new RangeError('out of memory')))
  await expect(run({})).rejects.toMatchObject({ reason: 'LIMIT_REACHED', data: { reason: 'LIMIT_REACHED' } })
})

it('does not take an engine without memory for the failure of a transfer', async () => {
  class Account extends packages.util.Account {
    constructor(...given: ConstructorParameters<typeof packages.util.Account>) {
      if (given[1] === 12_345n) throw new RangeError('out of memory')
      super(...given)
    }
  }
  provideEvm(async () => ({ ...packages, util: { ...packages.util, Account } }))
  onTestFinished(() => provideEvm(async () => packages))
  expect((await run({ code: '00', call: { value: 12_346n } })).failure).toBe(null)
  await expect(run({ code: '00', call: { value: 12_345n } })).rejects.toMatchObject({ reason: 'LIMIT_REACHED' })
})

it('takes a result without a refund for one with a refund of nothing', async () => {
  const execResult = { returnValue: Uint8Array.of(1), executionGasUsed: 100n }
  endWith(async () => ({ execResult }))
  const { accessList, effects, reads: _, ...rest } = await run({})
  expect(rest).toEqual({ failure: null, returnData: '0x01', gasUsed: 21_100n })
  expect(accessList).toEqual([])
  expect([effects.logs, effects.destroyed]).toEqual([[], []])
})
