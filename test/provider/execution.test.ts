import { getContractAddress } from 'viem'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/entry/index.ts'
import { at, createEndpoints, word } from './endpoints.ts'
import type { FullAccount, FullState } from './full-state.ts'

const CONTRACT = at('c0')
const callOf = (state: FullState) =>
  createEndpoints(state)
    .provider()
    .request({ method: 'eth_call', params: [{ to: CONTRACT }, 'latest'] })

it('undoes the writes of a reverted frame', async () => {
  // Calls itself, which writes slot 0 and reverts; then reads slot 0.
  const code = '0x366016575f5f60015f5f305af1505f545f5260205ff35b60095f555f5ffd'
  const state: FullState = new Map([[CONTRACT, { nonce: 1n, code, storage: { [word(0)]: word(5) } }]])
  expect(await callOf(state)).toBe(word(5))
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
