import { expect, it } from 'vitest'
import type { Hex } from '../../src/base/bytes.ts'
import { revertReason } from '../../src/provider/error.ts'

const word = (value: number) => value.toString(16).padStart(64, '0')
const ERROR = '0x08c379a0'

it('reads what Solidity itself reverts with, and nothing else', () => {
  const text = Buffer.from('no money').toString('hex').padEnd(64, '0')
  const cases: [string, string | null][] = [
    [`${ERROR}${word(32)}${word(8)}${text}`, 'no money'],
    [`${ERROR}${word(32)}${word(0)}`, ''],
    [`0x4e487b71${word(17)}`, 'Panic(0x11)'],
    // The offset is not 32; the length exceeds the data; the data is too short, or another error's.
    [`${ERROR}${word(64)}${word(8)}${text}`, null],
    [`${ERROR}${word(32)}${word(33)}${text}`, null],
    [`${ERROR}${word(32)}${'f'.repeat(64)}${text}`, null],
    [`${ERROR}${word(32)}`, null],
    [`0x4e487b71${word(17)}00`, null],
    [`0x12345678${word(17)}`, null],
    ['0x', null],
  ]
  for (const [data, reason] of cases) expect(revertReason(data as Hex), data).toBe(reason)
  expect(cases.length).toBe(10)
})
