import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../../src/base/bytes.ts'
import {
  anchorStorageKeys,
  createBundle,
  decodeFinalizedStateLog,
  type FinalizedState,
  finalizedStateTopics,
  lineaLayout,
} from '../../../src/entry/anchor.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { mappingSlot } from '../../../src/verify/anchor/contract.ts'
import { refusal } from '../../refusal.ts'
import { codeOf } from './helpers.ts'

const rollup = { address: `0x${'11'.repeat(20)}` as Hex }
/** EIP-1967 lists this slot for the address of the code behind a proxy. */
const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const newer: FinalizedState = { messageNumber: 12n, forcedTransactionNumber: 3n, timestamp: 5n }
const older: FinalizedState = { messageNumber: 12n, timestamp: 5n }

it('lists the storage keys of the layout, for both contract versions', () => {
  const numbers = anchorStorageKeys({ rollup, l2BlockNumber: 436n, finalizedState: newer }).map(BigInt)
  const message = BigInt(mappingSlot({ slot: 334n, keys: [12n] }))
  const last = [BigInt(mappingSlot({ slot: 456n, keys: [436n] })), BigInt(IMPLEMENTATION)]
  expect(numbers).toEqual([
    BigInt(mappingSlot({ slot: 282n, keys: [436n] })),
    281n,
    447n,
    message,
    BigInt(mappingSlot({ slot: 452n, keys: [3n] })),
    ...last,
  ])
  expect(anchorStorageKeys({ rollup, l2BlockNumber: 436n, finalizedState: older }).map(BigInt)).toEqual([
    ...numbers.slice(0, 4),
    ...last,
  ])
  expect(anchorStorageKeys({ rollup, l2BlockNumber: 436n }).map(BigInt)).toEqual([...numbers.slice(0, 2), ...last])
  const { finalizedState: _, ...layout } = lineaLayout
  expect(
    anchorStorageKeys({ rollup: { ...rollup, layout }, l2BlockNumber: 436n, finalizedState: newer }).map(BigInt),
  ).toEqual([...numbers.slice(0, 2), ...last])
})

it('accepts the smallest and the largest numbers', () => {
  const smallest = { messageNumber: 0n, forcedTransactionNumber: 0n, timestamp: 0n }
  const most = 2n ** 256n - 1n
  const largest = { messageNumber: most, forcedTransactionNumber: most, timestamp: 2n ** 64n - 1n }
  for (const state of [smallest, largest])
    expect(anchorStorageKeys({ rollup, l2BlockNumber: 0n, finalizedState: state }).length).toBe(7)
  const refusalOf = (change: object) =>
    refusal(() => anchorStorageKeys({ rollup, l2BlockNumber: 0n, finalizedState: { ...newer, ...change } }))
  expect(refusalOf({ timestamp: -1n })).toMatchObject({
    path: 'finalizedState.timestamp',
    expected: 'a bigint from 0 to 2^64 - 1',
  })
  for (const name of ['messageNumber', 'forcedTransactionNumber']) {
    expect(refusalOf({ [name]: most + 1n })).toMatchObject({
      path: `finalizedState.${name}`,
      expected: 'a bigint from 0 to 2^256 - 1',
    })
  }
})

it('refuses invalid numbers, and reads own properties only', () => {
  const wrong: object[] = [
    { timestamp: 1n << 64n },
    { timestamp: -1n },
    { timestamp: 5 },
    { messageNumber: 1n << 256n },
  ]
  wrong.push(
    { messageNumber: undefined },
    { timestmap: 5n },
    { forcedTransactionNumber: '0x3' },
    { forcedTransactionNumber: null },
  )
  for (const change of wrong) {
    const state = { ...newer, ...change } as FinalizedState
    expect(codeOf(() => anchorStorageKeys({ rollup, l2BlockNumber: 436n, finalizedState: state }))).toBe(
      'ARGUMENT_INVALID',
    )
    const parts = { scheme: poseidon2, rollup, l2BlockNumber: 436n, address: rollup.address, answer: {} }
    expect(codeOf(() => createBundle({ ...parts, l1: { proof: {}, finalizedState: state } }))).toBe('ARGUMENT_INVALID')
  }
  try {
    Reflect.set(Object.prototype, 'forcedTransactionNumber', 3n)
    expect(anchorStorageKeys({ rollup, l2BlockNumber: 436n, finalizedState: older }).length).toBe(6)
  } finally {
    Reflect.deleteProperty(Object.prototype, 'forcedTransactionNumber')
  }
})

const word = (value: bigint) => value.toString(16).padStart(64, '0')
const [topic8, topic7] = finalizedStateTopics
const logOf = (topic: string, block: bigint, ...words: bigint[]) => ({
  topics: [topic, `0x${word(block)}`],
  data: `0x${words.map(word).join('')}`,
})

it('knows the topics: the hashes of the event of both contract versions', () => {
  const hashOf = (event: string) => bytesToHex(keccak_256(new TextEncoder().encode(event)))
  expect(finalizedStateTopics).toEqual([
    hashOf('FinalizedStateUpdated(uint256,uint256,uint256,uint256)'),
    hashOf('FinalizedStateUpdated(uint256,uint256,uint256)'),
  ])
})

it('reads the logs of both contract versions', () => {
  expect(decodeFinalizedStateLog(logOf(topic8, 436n, 5n, 12n, 3n))).toEqual({
    l2BlockNumber: 436n,
    finalizedState: { messageNumber: 12n, forcedTransactionNumber: 3n, timestamp: 5n },
  })
  expect(decodeFinalizedStateLog(logOf(topic7, 436n, 5n, 12n))).toEqual({
    l2BlockNumber: 436n,
    finalizedState: { messageNumber: 12n, forcedTransactionNumber: undefined, timestamp: 5n },
  })
  const [most64, most256] = [2n ** 64n - 1n, 2n ** 256n - 1n]
  expect(decodeFinalizedStateLog(logOf(topic8, most64, most64, most256, most256))).toEqual({
    l2BlockNumber: most64,
    finalizedState: { messageNumber: most256, forcedTransactionNumber: most256, timestamp: most64 },
  })
})

it('reads nothing from any other log', () => {
  const log = logOf(topic8, 436n, 5n, 12n, 3n)
  const others: unknown[] = [
    ...[undefined, null, 'log', [], {}],
    { ...log, topics: undefined },
    { ...log, topics: log.topics.slice(0, 1) },
    { ...log, topics: [...log.topics, log.topics[1]] },
    { ...log, topics: [log.topics[0], 436] },
    { ...log, topics: [log.topics[0], '0x1b4'] },
    { ...log, topics: [`0x${'11'.repeat(32)}`, log.topics[1]] },
    { ...log, topics: [topic7, log.topics[1]] },
    logOf(`0x${'11'.repeat(32)}`, 436n, 5n, 12n),
    { ...log, data: undefined },
    { ...log, data: log.data.slice(0, -2) },
    { ...log, data: `${log.data}00` },
    logOf(topic8, 2n ** 64n, 5n, 12n, 3n),
    logOf(topic8, 436n, 2n ** 64n, 12n, 3n),
    logOf(topic8, 436n, 5n, 12n),
    logOf(topic7, 436n, 5n, 12n, 3n),
  ]
  for (const [index, other] of others.entries()) expect(decodeFinalizedStateLog(other), `${index}`).toBe(undefined)
  expect(others.length).toBe(20)
})
