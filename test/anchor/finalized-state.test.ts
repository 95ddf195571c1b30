import { expect, it } from 'vitest'
import { anchorStorageKeys, createEvidence, type FinalizedState, lineaLayout, mappingSlot } from '../../src/anchor.ts'
import type { Hex } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { codeOf } from './helpers.ts'

const rollup = { address: `0x${'11'.repeat(20)}` as Hex }
const newer: FinalizedState = { messageNumber: 12n, forcedTransactionNumber: 3n, timestamp: 5n }
const older: FinalizedState = { messageNumber: 12n, timestamp: 5n }

it('lists the storage keys of the layout, for both contract versions', () => {
  const numbers = anchorStorageKeys(rollup, 436n, newer).map(BigInt)
  const message = BigInt(mappingSlot(334n, 12n))
  expect(numbers).toEqual([BigInt(mappingSlot(282n, 436n)), 281n, 447n, message, BigInt(mappingSlot(452n, 3n))])
  expect(anchorStorageKeys(rollup, 436n, older).map(BigInt)).toEqual(numbers.slice(0, 4))
  expect(anchorStorageKeys(rollup, 436n).map(BigInt)).toEqual(numbers.slice(0, 2))
  const { finalizedState: _, ...layout } = lineaLayout
  expect(anchorStorageKeys({ ...rollup, layout }, 436n, newer).map(BigInt)).toEqual(numbers.slice(0, 2))
})

it('refuses invalid numbers, and reads own properties only', () => {
  const wrong: object[] = [
    { timestamp: 1n << 64n },
    { timestamp: -1n },
    { timestamp: 5 },
    { messageNumber: 1n << 256n },
  ]
  wrong.push({ messageNumber: undefined }, { forcedTransactionNumber: '0x3' }, { forcedTransactionNumber: null })
  for (const change of wrong) {
    const state = { ...newer, ...change } as FinalizedState
    expect(codeOf(() => anchorStorageKeys(rollup, 436n, state))).toBe('CLAIM_INVALID')
    const parts = { scheme: poseidon2, rollup, l2BlockNumber: 436n, address: rollup.address, answer: {} }
    expect(codeOf(() => createEvidence({ ...parts, l1: { proof: {}, finalizedState: state } }))).toBe('CLAIM_INVALID')
  }
  try {
    Reflect.set(Object.prototype, 'forcedTransactionNumber', 3n)
    expect(anchorStorageKeys(rollup, 436n, older).length).toBe(4)
  } finally {
    Reflect.deleteProperty(Object.prototype, 'forcedTransactionNumber')
  }
})
