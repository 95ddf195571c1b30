import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { bytesToHex } from '../../src/base/bytes.ts'
import { readFinalizedState } from '../../src/client/l1/log-ranges.ts'
import { only } from '../../src/client/sources/endpoints.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import { decodeFinalizedStateLog, finalizedStateTopics } from '../../src/entry/anchor.ts'
import { readRollup } from '../../src/verify/anchor/rollup.ts'

const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
const rollup = readRollup({ address: `0x${'11'.repeat(20)}` })
const logOf = (block: bigint, values: readonly (bigint | number)[], topic = finalizedStateTopics[0]) => ({
  topics: [topic, `0x${word(block)}`],
  data: `0x${values.map(word).join('')}`,
})
const recent = logOf(436n, [1_700_000_000, 12, 3])
const state = { timestamp: 1_700_000_000n, messageNumber: 12n, forcedTransactionNumber: 3n }

it('knows the topics of both versions of the log', () => {
  const types = ['uint256,uint256,uint256,uint256', 'uint256,uint256,uint256']
  const topicOf = (type: string) => bytesToHex(keccak_256(new TextEncoder().encode(`FinalizedStateUpdated(${type})`)))
  expect(finalizedStateTopics).toEqual(types.map(topicOf))
})

it('reads both versions of the log, and nothing else', () => {
  expect(decodeFinalizedStateLog(recent)).toEqual({ l2BlockNumber: 436n, finalizedState: state })
  const old = logOf(436n, [1_700_000_000, 12], finalizedStateTopics[1])
  expect(decodeFinalizedStateLog(old)?.finalizedState).toEqual({ ...state, forcedTransactionNumber: undefined })
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const strange: unknown[] = [
    ...[null, 1, 'log', [], {}, proxy, { ...recent, data: '0x' }, { ...recent, data: `${recent.data}00` }],
    ...[
      { ...recent, data: null },
      { ...recent, topics: [] },
      { ...recent, topics: new Array(2 ** 32 - 1) },
    ],
    { ...recent, topics: [...recent.topics, recent.topics[1]] },
    { ...recent, topics: [`0x${word(1)}`, recent.topics[1]] },
    { ...recent, topics: [finalizedStateTopics[1], recent.topics[1]] },
    Object.create(recent),
    logOf(1n << 64n, [1, 2, 3]),
    logOf(436n, [1n << 64n, 2, 3]),
  ]
  expect(strange.length).toBe(17)
  for (const [index, log] of strange.entries()) expect(decodeFinalizedStateLog(log), `${index}`).toBe(undefined)
})

it('requests the newest logs first, in ranges, and takes only the log of the block', async () => {
  const ranges: string[] = []
  const answers: unknown[] = [
    [],
    [logOf(435n, [1, 2, 3]), null, logOf(436n, [1, 2, 3]), recent, logOf(437n, [9, 9, 9]), { topics: 1 }],
  ]
  const l1 = openProvider({
    request: async ({ params }: { params?: unknown }) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      ranges.push(`${BigInt(fromBlock)}-${BigInt(toBlock)}`)
      return answers.shift() ?? []
    },
  })
  const source = { l1: only(l1), rollup, signal: undefined }
  expect(await readFinalizedState(l1, source, 5_000n, 436n)).toEqual(state)
  expect(ranges).toEqual(['3001-5000', '1001-3000'])
  ranges.length = 0
  expect(await readFinalizedState(l1, source, 5_000n, 436n)).toBe(null)
  expect(ranges).toEqual(['3001-5000', '1001-3000', '0-1000'])
  ranges.length = 0
  expect(await readFinalizedState(l1, source, 10n ** 9n, 436n)).toBe(null)
  expect(ranges.length).toBe(10)
})

it('returns null if no logs are served, and ends when aborted', async () => {
  const fetchFrom = (request: () => Promise<unknown>, signal?: AbortSignal) =>
    readFinalizedState(openProvider({ request }), { rollup, signal }, 5n, 436n)
  const served: unknown[] = [null, {}, 'logs', new Array(2_001).fill(recent)]
  for (const logs of served) expect(await fetchFrom(async () => logs)).toBe(null)
  const refuse = async () => Promise.reject(Object.assign(new Error('no'), { code: -32601 }))
  expect(await fetchFrom(refuse)).toBe(null)
  await expect(fetchFrom(async () => [], AbortSignal.abort())).rejects.toThrow('ABORTED')
})
