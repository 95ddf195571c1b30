import { sha256 } from '@noble/hashes/sha2.js'
import { describe, expect, it } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import type { Hex } from '../../src/entry/index.ts'
import { execute } from '../../src/provider/execute.ts'
import { inPace } from '../../src/provider/pace.ts'
import { at, UNHURRIED } from './endpoints.ts'
import { CHAIN_ID, type FullState } from './full-state.ts'
import { bn1, bn2, digits, precompile } from './precompile-inputs.ts'
import { readerOver } from './proving/full-reader.ts'

const [ALICE, CALLER] = [at('a1'), at('c0')]
const GAS = 3_000_000n

const callOf = (to: Hex, data: Hex) => ({ from: ALICE, to, data, value: 0n })

/** A direct call of a precompile. */
async function run(
  number: number,
  data: Hex,
  { gas = GAS, state = new Map() as FullState, to = precompile(number) } = {},
) {
  const context = { chainId: CHAIN_ID, hardfork: 'prague', blockNumber: 9n, environment: {} } as const
  const request = { ...callOf(to, data), gas: null, gasPrice: 0n, maxGasPrice: 0n, accessList: [] }
  return inPace(UNHURRIED, pace => execute(readerOver(state), request, gas, context, pace))
}

describe('what the rollup does otherwise', () => {
  const lengths = (...all: number[]): Hex => `0x${all.map(length => digits(length, 32)).join('')}`
  const refused: readonly (readonly [string, number, Hex])[] = [
    ['RIPEMD-160', 3, '0x'],
    ['RIPEMD-160', 3, '0x1234'],
    ['BLAKE2F', 9, '0x'],
    ['BLAKE2F', 9, `0x01312d00${'00'.repeat(208)}01`],
    ['POINT_EVALUATION', 10, '0x'],
    ['MODEXP', 5, lengths(513, 0, 0)],
    ['MODEXP', 5, lengths(1, 513, 1)],
    ['MODEXP', 5, lengths(0, 0, 513)],
    ['MODEXP', 5, `0x${'ff'.repeat(32)}`],
    ['ECPAIRING', 8, `0x${'00'.repeat(64 * 192 + 1)}`],
    ['BLS12_G1MSM', 12, `0x${'00'.repeat(64 * 160 + 1)}`],
    ['BLS12_G2MSM', 14, `0x${'00'.repeat(64 * 288 + 1)}`],
    ['BLS12_PAIRING_CHECK', 15, `0x${'00'.repeat(64 * 384 + 1)}`],
  ]

  it.each(refused)('ends a call of %s (%i) with its own error', async (name, number, data) => {
    const error = { reason: 'ROLLUP_DIFFERS', action: 'none', data: { reason: 'ROLLUP_DIFFERS', precompile: name } }
    await expect(run(number, data)).rejects.toMatchObject(error)
    // A contract cannot catch it: it would go on as if the rollup had failed.
    const size = data.length / 2 - 1
    const code: Hex = `0x61${digits(size, 2)}5f5f375f5f61${digits(size, 2)}5f73${precompile(number).slice(2)}5afa5f5260205ff3`
    const state: FullState = new Map([[CALLER, { nonce: 1n, code }]])
    await expect(run(number, data, { state, to: CALLER })).rejects.toMatchObject(error)
  })

  it('executes precompiles that take pairs of points with up to 64 of them', async () => {
    const gas = 16_000_000n
    const zeros = (length: number): Hex => `0x${'00'.repeat(64 * length)}`
    const [none, one]: Hex[] = [`0x${digits(0, 32)}`, `0x${digits(1, 32)}`]
    expect((await run(8, zeros(192), { gas })).returnData).toBe(one)
    expect((await run(15, zeros(384), { gas })).returnData).toBe(one)
    expect((await run(12, zeros(160), { gas })).returnData).toBe(`0x${'00'.repeat(128)}`)
    expect((await run(14, zeros(288), { gas })).returnData).toBe(`0x${'00'.repeat(256)}`)
    expect((await run(8, `0x${bn1(1n)}${bn2(1n)}`, { gas })).returnData).toBe(none)
  })

  it('executes MODEXP with arguments of up to 512 bytes', async () => {
    const data: Hex = `${lengths(512, 512, 512)}${'00'.repeat(511)}03${'00'.repeat(511)}04${'00'.repeat(511)}50`
    expect((await run(5, data, { gas: 10_000_000n })).returnData).toBe(`0x${digits(81 % 80, 512)}`)
    expect((await run(5, `${lengths(1, 1, 1)}030450`)).returnData).toBe('0x01')
    expect((await run(5, '0x')).failure).toBe(null)
    expect((await run(2, '0x')).returnData).toBe(bytesToHex(sha256(new Uint8Array(0))))
  })
})
