import { createPublicClient, decodeErrorResult, decodeFunctionResult, encodeFunctionData, http, parseAbi } from 'viem'
import { expect, it } from 'vitest'
import { addDemoBlocks, createService, demoWorld } from '../../../src/devnet/index.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { CONTRACT, ROLLUP, startService, USER, word } from '../../client/servers.ts'
import { askRpc } from './ask.ts'
import { executeCall } from './execute-call.ts'

const PAYEE: Hex = `0x${'b2'.repeat(20)}`
const TOKEN: Hex = `0x${'70'.repeat(20)}`
const PROXY: Hex = `0x${'71'.repeat(20)}`
const MULTICALL: Hex = `0x${'ca'.repeat(20)}`
const ETHER = 10n ** 18n

const abi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function sumOf(address[]) view returns (uint256)',
  'function transfer(address, uint256) returns (bool)',
  'function transferFrom(address, address, uint256) returns (bool)',
  'function approve(address, uint256) returns (bool)',
  'function aggregate3((address target, bool allowFailure, bytes callData)[]) payable returns ((bool success, bytes returnData)[])',
  'error InsufficientBalance(address owner, uint256 balance, uint256 needed)',
  'error InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error CallFailed(uint256 index)',
])
const dataOf = encodeFunctionData
const block = { number: 0n, timestamp: 0n }
const callOf = (to: Hex, data: Hex) => ({ from: USER, to, data, value: 0n, gas: undefined })

it.each([mimc, poseidon2])('has tokens in its $name demo state that an EVM executes', async scheme => {
  const state = demoWorld(scheme)
  const read = async (
    to: Hex,
    functionName: 'balanceOf' | 'totalSupply' | 'name' | 'symbol' | 'decimals',
    of?: Hex,
  ) => {
    const data = dataOf({ abi, functionName, args: of ? [of] : undefined } as Parameters<typeof dataOf>[0])
    const { returnData } = await executeCall(callOf(to, data), state, block)
    return decodeFunctionResult({ abi, functionName, data: returnData })
  }
  expect(await read(TOKEN, 'balanceOf', USER)).toBe(1_000_000n * ETHER)
  expect(await read(TOKEN, 'balanceOf', PAYEE)).toBe(250n * ETHER)
  expect(await read(TOKEN, 'balanceOf', CONTRACT)).toBe(0n)
  expect(await read(TOKEN, 'totalSupply')).toBe(1_002_250n * ETHER)
  expect(await read(TOKEN, 'name')).toBe('Demo token')
  expect(await read(TOKEN, 'decimals')).toBe(18)
  expect(await read(PROXY, 'balanceOf', USER)).toBe(1_000_000n * ETHER)
  expect(await read(PROXY, 'symbol')).toBe('PROX')

  const calls = [TOKEN, PROXY, CONTRACT].map(target => ({
    target,
    allowFailure: true,
    callData: dataOf({ abi, functionName: 'balanceOf', args: [PAYEE] }),
  }))
  const aggregate = dataOf({ abi, functionName: 'aggregate3', args: [calls] })
  const { returnData } = await executeCall(callOf(MULTICALL, aggregate), state, block)
  const results = decodeFunctionResult({ abi, functionName: 'aggregate3', data: returnData })
  expect(results.map(({ success, returnData }) => [success, returnData])).toEqual([
    [true, `0x${(250n * ETHER).toString(16).padStart(64, '0')}`],
    [true, `0x${(250n * ETHER).toString(16).padStart(64, '0')}`],
    [true, '0x'],
  ])
})

it('reverts with custom errors', async () => {
  const state = demoWorld(poseidon2)
  const cases: [Hex, Hex, { errorName: string; args: readonly unknown[] }][] = [
    [
      TOKEN,
      dataOf({ abi, functionName: 'transfer', args: [PAYEE, 2_000_000n * ETHER] }),
      { errorName: 'InsufficientBalance', args: [USER, 1_000_000n * ETHER, 2_000_000n * ETHER] },
    ],
    [
      PROXY,
      dataOf({ abi, functionName: 'transferFrom', args: [PAYEE, USER, 1n] }),
      { errorName: 'InsufficientAllowance', args: [USER, 0n, 1n] },
    ],
    [
      MULTICALL,
      dataOf({ abi, functionName: 'aggregate3', args: [[{ target: TOKEN, allowFailure: false, callData: '0x' }]] }),
      { errorName: 'CallFailed', args: [0n] },
    ],
  ]
  for (const [to, data, expected] of cases) {
    const { returnData, error } = await executeCall(callOf(to, data), state, block)
    expect(error).toBe('revert')
    const { errorName, args } = decodeErrorResult({ abi, data: returnData })
    expect({ errorName, args: args.map(arg => (typeof arg === 'string' ? arg.toLowerCase() : arg)) }).toEqual(expected)
  }
  expect(cases.length).toBe(3)
})

it('serves code and blocks to viem', async () => {
  const { url, service } = await startService()
  const viem = createPublicClient({ transport: http(url, { retryCount: 0 }) })
  const world = demoWorld(poseidon2)
  expect(await viem.getCode({ address: TOKEN })).toBe(world.getCode(TOKEN))
  expect(await viem.getCode({ address: CONTRACT, blockNumber: 0n })).toBe('0x6001600101')
  expect(await viem.getCode({ address: USER })).toBeUndefined()
  const newest = await viem.getBlock()
  expect([newest.number, newest.timestamp]).toEqual([1n, service.chain.timestamp(1n)])
  const genesis = await viem.getBlock({ blockNumber: 0n })
  expect(newest.parentHash).toBe(genesis.hash)
  expect(newest.timestamp).toBeGreaterThan(genesis.timestamp)
  expect((await viem.getBlock({ blockHash: genesis.hash })).number).toBe(0n)
  await expect(viem.getBlock({ blockNumber: 9n })).rejects.toThrow('could not be found')
  await expect(viem.getBlock({ blockHash: word(1) })).rejects.toThrow('could not be found')

  const { pending } = service.chain
  pending.setAccount(USER, { codeHash: word(1) })
  expect(await askRpc(url, 'eth_getCode', [USER, 'pending'])).toMatchObject({ error: { code: -32000 } })
  pending.setAccount(USER, { code: '0x6000' })
  expect(await askRpc(url, 'eth_getCode', [USER, 'pending'])).toMatchObject({ result: '0x6000' })
  expect(await askRpc(url, 'eth_getCode', [USER])).toMatchObject({ result: '0x' })
})

it('changes nothing by executing a call', async () => {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  addDemoBlocks(chain)
  const state = chain.at(8n) ?? demoWorld(poseidon2)
  const before = state.stateRoot()
  const data = dataOf({ abi, functionName: 'transfer', args: [PAYEE, 1n] })
  const { returnData } = await executeCall(callOf(TOKEN, data), state, block)
  expect(BigInt(returnData)).toBe(1n)
  expect(state.stateRoot()).toBe(before)
})
