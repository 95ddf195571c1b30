import { getContractAddress } from 'viem'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { execute, FREE } from '../../src/provider/execute.ts'
import { inPace } from '../../src/provider/pace.ts'
import { at, createEndpoints, UNHURRIED, word } from './endpoints.ts'
import type { FullAccount, FullState } from './full-state.ts'
import { readerOver } from './proving/full-reader.ts'

const CONTRACT = at('c0')
const callOf = (state: FullState) =>
  createEndpoints(state)
    .provider()
    .request({ method: 'eth_call', params: [{ to: CONTRACT }, 'latest'] })

it.each(['', 'ethjs'])('ends a REVERT that the gas does not pay for wherever a pause is due: DEBUG=%s', async debug => {
  vi.stubEnv('DEBUG', debug)
  onTestFinished(() => void vi.unstubAllEnvs())
  // It calls itself with 4096 units of gas, and reverts with 2^64 bytes there; then it returns whether that went well.
  const code = '0x366015575f5f60015f5f30611000f15f5260205ff35b680100000000000000005ffd'
  const reader = readerOver(new Map([[CONTRACT, { nonce: 1n, code }]]))
  const call = { ...FREE, from: at('ca'), to: CONTRACT, data: '0x', value: 0n, gas: null } as const
  const context = { chainId: 1n, hardfork: 'osaka', blockNumber: 1n, environment: {} } as const
  const endings = [false, true].map(isHurried =>
    inPace(UNHURRIED, pace =>
      execute(reader, call, 100_000n, context, {
        ...pace,
        ...(isHurried && { isDue: () => true, giveWay: async () => {} }),
      }),
    ),
  )
  for (const { failure, returnData } of await Promise.all(endings)) {
    expect({ failure, returnData }).toEqual({ failure: null, returnData: word(0) })
  }
})

it('undoes the writes of a reverted frame', async () => {
  // Calls itself, which writes slot 0 and reverts; then reads slot 0.
  const code = '0x366016575f5f60015f5f305af1505f545f5260205ff35b60095f555f5ffd'
  const state: FullState = new Map([[CONTRACT, { nonce: 1n, code, storage: { [word(0)]: word(5) } }]])
  expect(await callOf(state)).toBe(word(5))
})

it('lets a creation fail like any other whose init code begins with 0xef00', async () => {
  // Creates with 0xef00, and then with no code: the address of the second contract shows the nonce that the first has taken.
  const code = '0x61ef0060f01b5f5260025f5ff0505f5f5ff05f5260205ff3'
  const created = getContractAddress({ from: CONTRACT, nonce: 2n }).toLowerCase() as Hex
  expect(await callOf(new Map([[CONTRACT, { nonce: 1n, code }]]))).toBe(word(BigInt(created)))
})

it('creates no contract where an account has storage, code or a nonce', async () => {
  const created = getContractAddress({ from: CONTRACT, nonce: 1n }).toLowerCase() as Hex
  const creator = { nonce: 1n, code: '0x5f5f5ff05f5260205ff3' } as const
  expect(await callOf(new Map([[CONTRACT, creator]]))).toBe(word(BigInt(created)))
  const obstacles: FullAccount[] = [{ storage: { [word(1)]: word(1) } }, { code: '0x00' }, { nonce: 1n }]
  for (const obstacle of obstacles) {
    const state: FullState = new Map<Hex, FullAccount>([
      [CONTRACT, creator],
      [created, obstacle],
    ])
    expect(await callOf(state)).toBe(word(0))
  }
})
