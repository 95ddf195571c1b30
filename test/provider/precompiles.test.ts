import { sha256 } from '@noble/hashes/sha2.js'
import { describe, expect, it } from 'vitest'
import { bytesToHex } from '../../src/bytes.ts'
import type { Hex } from '../../src/index.ts'
import { loadEvm } from '../../src/provider/evm-packages.ts'
import { execute } from '../../src/provider/execute.ts'
import { inPace } from '../../src/provider/pace.ts'
import { at, UNHURRIED } from './endpoints.ts'
import { bytesOf, CHAIN_ID, type FullState, runFull } from './full-state.ts'
import {
  ANOTHER_EVALUATION,
  BLS_ORDER,
  BN254_ORDER,
  bn1,
  bn2,
  digits,
  g1,
  g2,
  POINT_EVALUATION,
  precompile,
} from './precompile-inputs.ts'
import { readerOver } from './proving/full-reader.ts'

const packages = await loadEvm()
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
  const { failure, returnData, gasUsed } = await inPace(UNHURRIED, pace =>
    execute(packages, readerOver(state), request, gas, context, pace),
  )
  return { failure, returnData, gasUsed }
}

describe('point evaluation', () => {
  const PROVEN: Hex = `0x${digits(4096, 32)}73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001`
  const NOTHING = `c0${'00'.repeat(47)}`
  /** An input with a part replaced. */
  const withPart = (start: number, hex: string): Hex =>
    `0x${POINT_EVALUATION.slice(2, 2 + 2 * start)}${hex}${POINT_EVALUATION.slice(2 + 2 * start + hex.length)}`
  const hashOf = (commitment: string) => `01${bytesToHex(sha256(bytesOf(`0x${commitment}`))).slice(4)}`

  it('gives the known answers', async () => {
    for (const input of [POINT_EVALUATION, ANOTHER_EVALUATION]) {
      expect(await run(0x0a, input)).toMatchObject({ failure: null, returnData: PROVEN })
    }
    // Of the polynomial that is zero everywhere, commitment and proof are the point at infinity.
    const zero: Hex = `0x${hashOf(NOTHING)}${digits(5, 32)}${digits(0, 32)}${NOTHING}${NOTHING}`
    expect(await run(0x0a, zero)).toMatchObject({ failure: null, returnData: PROVEN })
  })

  it('fails, without a revert, for anything else', async () => {
    const order = digits(BLS_ORDER, 32)
    // On the curve, but not in the subgroup: x = 4.
    const outside = `80${digits(4, 47)}`
    const wrong: Readonly<Record<string, Hex>> = {
      'another value': withPart(64, digits(7, 32)),
      'another place': withPart(32, digits(7, 32)),
      'the proof of another place': withPart(144, ANOTHER_EVALUATION.slice(2 + 288)),
      'another version': withPart(0, '02'),
      'another hash': withPart(31, '9c'),
      'a place outside the field': withPart(32, order),
      'a value outside the field': withPart(64, order),
      'a proof that is no point': withPart(144, 'ff'.repeat(48)),
      'a proof outside the subgroup': withPart(144, outside),
      'a commitment outside the subgroup': `0x${hashOf(outside)}${withPart(96, outside).slice(66)}`,
      'one byte too few': POINT_EVALUATION.slice(0, -2) as Hex,
      'one byte too many': `${POINT_EVALUATION}00`,
    }
    for (const [what, input] of Object.entries(wrong)) {
      const { failure, returnData, gasUsed } = await run(0x0a, input)
      expect([failure === null, failure === 'revert', returnData, gasUsed], what).toEqual([false, false, '0x', GAS])
    }
    expect(Object.keys(wrong)).toHaveLength(12)
    const tooLittle = await run(0x0a, POINT_EVALUATION, { gas: 72_000n })
    expect(tooLittle.failure).toBe('out of gas')
  })
})

describe('precompiles that pause', () => {
  const scalars = [1n, 2n, BLS_ORDER - 1n, BLS_ORDER + 3n, 0n, 77n].map(scalar => digits(scalar, 32))
  const sum1 = scalars.map((scalar, index) => g1(BigInt(index + 1)) + scalar)
  const sum2 = scalars.map((scalar, index) => g2(BigInt(index + 1)) + scalar)
  const [no1, no2] = ['00'.repeat(128), '00'.repeat(256)]
  const wrong1 = digits(1, 64) + digits(1, 64)
  const outside = digits(BLS_ORDER * BLS_ORDER, 64)
  const blsPairs = [g1(6n) + g2(5n), g1(BLS_ORDER - 10n) + g2(3n)]
  const bnPairs = [bn1(6n) + bn2(5n), bn1(BN254_ORDER - 10n) + bn2(3n)]
  const inputs: readonly (readonly [number, string, string])[] = [
    ...[0, 1, 2, 3, 5, 6].map(count => [0x0c, `${count} products in G1`, sum1.slice(0, count).join('')] as const),
    ...[1, 2, 3, 6].map(count => [0x0e, `${count} products in G2`, sum2.slice(0, count).join('')] as const),
    [0x0c, 'a sum of nothing', g1(1n) + digits(0, 32)],
    [0x0c, 'points that cancel out', g1(1n) + digits(1, 32) + no1 + digits(1, 32) + g1(BLS_ORDER - 1n) + digits(1, 32)],
    [0x0c, 'a point that is none, in the second slice', sum1.slice(0, 3).join('') + wrong1 + digits(1, 32)],
    [0x0c, 'one byte too many', `${sum1[0]}00`],
    [0x0c, 'more than 16 bytes of a coordinate', `01${sum1[0]?.slice(2)}`],
    [0x0f, 'no pairs', ''],
    [0x0f, 'pairs that cancel out', blsPairs.join('')],
    [0x0f, 'pairs that do not', `${blsPairs[0]}${blsPairs[0]}${blsPairs[1]}`],
    [0x0f, 'three pairs that cancel out', g1(2n) + g2(3n) + g1(4n) + g2(1n) + g1(BLS_ORDER - 10n) + g2(1n)],
    [0x0f, 'one pair', blsPairs[0] ?? ''],
    [0x0f, 'points at infinity', no1 + g2(1n) + g1(1n) + no2 + no1 + no2],
    [0x0f, 'infinity beside a point that is none', wrong1 + no2],
    [0x0f, 'a coordinate outside the field', g1(1n) + outside + g2(1n).slice(128)],
    [0x0f, 'a point that is none', `${blsPairs.join('')}${wrong1}${g2(1n)}`],
    [0x0f, 'one byte too many', `${blsPairs.join('')}00`],
    [8, 'no pairs', ''],
    [8, 'pairs that cancel out', bnPairs.join('')],
    [8, 'pairs that do not', `${bnPairs[0]}${bnPairs[0]}${bnPairs[1]}`],
    [8, 'one pair', bnPairs[0] ?? ''],
    [8, 'points at infinity', '00'.repeat(64) + bn2(1n) + bn1(1n) + '00'.repeat(128) + '00'.repeat(192)],
    [8, 'infinity beside a point that is none', digits(1, 32) + digits(1, 32) + '00'.repeat(128)],
    [8, 'a coordinate outside the field', digits(2n ** 255n, 32) + digits(2, 32) + bn2(1n)],
    [8, 'one byte too many', `${bnPairs.join('')}00`],
    [6, 'a point that is none', digits(1, 32) + digits(1, 32) + digits(0, 64)],
    [7, 'a point that is none', digits(1, 32) + digits(1, 32) + digits(1, 32)],
    [0x0b, 'a point that is none', wrong1 + wrong1],
    [0x0b, 'a sum', g1(1n) + g1(2n)],
  ]

  it.each(inputs)('does what the precompile %i of the EVM does with %s', async (number, _, input) => {
    const data: Hex = `0x${input}`
    const found = await run(number, data)
    const tokens = bytesOf(data).reduce((sum, byte) => sum + (byte === 0 ? 1n : 4n), 0n)
    const base = 21_000n + 4n * tokens
    const expected = await runFull(new Map(), callOf(precompile(number), data), 9n, GAS - base)
    const [spent, floor] = [base + expected.gas, 21_000n + 10n * tokens]
    expect([found.returnData, found.gasUsed]).toEqual([expected.returnData, spent > floor ? spent : floor])
    // A precompile fails, and never reverts.
    expect(found.failure === null).toBe(expected.failure === null)
    expect(found.failure).not.toBe('revert')
  })
  it('has as many inputs as it means to', () => expect(inputs).toHaveLength(37))

  it('cost what they cost', async () => {
    const cases = [
      [8, `0x${bnPairs.join('')}`],
      [0x0c, `0x${sum1.join('')}`],
    ] as const
    for (const [number, data] of cases) {
      const enough = (await run(number, data)).gasUsed
      expect((await run(number, data, { gas: enough })).failure, `${number}`).toBe(null)
      expect((await run(number, data, { gas: enough - 1n })).failure, `${number}`).toBe('out of gas')
    }
  })
})

describe('what the rollup does otherwise', () => {
  const lengths = (...all: number[]): Hex => `0x${all.map(length => digits(length, 32)).join('')}`
  const refused: readonly (readonly [string, number, Hex])[] = [
    ['RIPEMD-160', 3, '0x'],
    ['RIPEMD-160', 3, '0x1234'],
    ['BLAKE2F', 9, '0x'],
    ['BLAKE2F', 9, `0x01312d00${'00'.repeat(208)}01`],
    ['MODEXP', 5, lengths(513, 0, 0)],
    ['MODEXP', 5, lengths(1, 513, 1)],
    ['MODEXP', 5, lengths(0, 0, 513)],
    ['MODEXP', 5, `0x${'ff'.repeat(32)}`],
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

  it('executes MODEXP with arguments of up to 512 bytes', async () => {
    const data: Hex = `${lengths(512, 512, 512)}${'00'.repeat(511)}03${'00'.repeat(511)}04${'00'.repeat(511)}50`
    expect((await run(5, data, { gas: 10_000_000n })).returnData).toBe(`0x${digits(81 % 80, 512)}`)
    expect((await run(5, `${lengths(1, 1, 1)}030450`)).returnData).toBe('0x01')
    expect((await run(5, '0x')).failure).toBe(null)
    expect((await run(2, '0x')).returnData).toBe(bytesToHex(sha256(new Uint8Array(0))))
  })
})
